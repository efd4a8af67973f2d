"""Compiled kernels of `methods.chaid`."""
