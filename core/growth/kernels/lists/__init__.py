"""Kernels that grow one tree from sorted lists of rows and coded columns."""
