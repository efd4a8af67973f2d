"""Compiled kernels of `methods.quest`."""
