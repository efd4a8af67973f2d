"""Compiled twins of `arithmetic`."""
