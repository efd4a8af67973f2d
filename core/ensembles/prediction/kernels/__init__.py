"""Compiled kernels of `ensembles.prediction`."""
