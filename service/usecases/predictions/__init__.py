"""Use cases of predictions."""
