"""Compiled twins of `ensembles.insight`."""
