"""Many trees by kernels, from one table that is prepared once."""
