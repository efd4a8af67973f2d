"""Arithmetic with the same results on every machine: ties, sums in row order, repeatable random numbers, sorting."""
