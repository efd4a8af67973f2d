"""Compiled kernels of `records`."""
