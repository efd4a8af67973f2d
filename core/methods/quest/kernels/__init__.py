"""Compiled twins of `methods.quest`."""
