"""Compiled kernels of `methods.oblique`."""
