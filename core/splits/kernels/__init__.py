"""Compiled twins of `splits`."""
