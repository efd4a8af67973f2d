"""Kernels of `splits`."""
