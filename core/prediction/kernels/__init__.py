"""Compiled twins of `prediction`."""
