"""Compiled twins of `methods.oblique`."""
