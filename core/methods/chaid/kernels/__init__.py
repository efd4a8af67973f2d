"""Compiled twins of `methods.chaid`."""
