"""Compiled twins of `pruning`."""
