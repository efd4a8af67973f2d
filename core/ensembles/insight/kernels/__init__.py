"""Compiled kernels of `ensembles.insight`."""
