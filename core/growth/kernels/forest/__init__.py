"""Growing many trees by kernels, from samples that are prepared once."""
