"""The public library: tables, training, and trained models. Its names are available from `core`."""
