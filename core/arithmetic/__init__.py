"""Numbers that come out the same everywhere: ties, sums in row order, repeatable chance, sorting."""
