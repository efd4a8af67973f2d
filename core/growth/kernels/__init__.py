"""Compiled twins of `growth`."""
