"""Balancing classes of very different size in the rows of a tree."""
