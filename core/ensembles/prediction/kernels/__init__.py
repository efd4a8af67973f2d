"""Compiled twins of `ensembles.prediction`."""
