"""How to train: every option, presets, checks, and reading and writing of configurations."""
