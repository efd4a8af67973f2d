"""From a table and a configuration to a model."""
