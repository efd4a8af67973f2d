"""Compiled kernels of `ensembles.balance`."""
