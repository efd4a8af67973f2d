"""Which cuts of a sorted list cannot be the best, so that they need not be scored."""
