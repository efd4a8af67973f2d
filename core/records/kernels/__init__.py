"""Compiled twins of `records`."""
