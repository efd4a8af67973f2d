"""Kernels of `arithmetic`."""
