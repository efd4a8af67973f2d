"""Compiled twins of `criteria`."""
