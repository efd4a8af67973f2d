"""Compiled kernels of `prediction`."""
