"""Compiled twins of `ensembles.balance`."""
