"""Use cases of models: reading and deleting them."""
