"""Multivariate trees: tests on weighted sums of attributes."""
