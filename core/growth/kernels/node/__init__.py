"""Kernels that all growers share: sums of a node, whether it is a leaf, splitting its rows and lists, column draws."""
