"""Kernels of `criteria`."""
