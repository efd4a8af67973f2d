"""Compiled kernels of `pruning`."""
