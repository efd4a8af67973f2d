"""Compiled twins of `ensembles.isolation`."""
