"""The public library: tables, training, and what was trained. `core` offers its names."""
