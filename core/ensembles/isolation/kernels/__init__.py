"""Compiled kernels of `ensembles.isolation`."""
