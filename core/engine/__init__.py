"""Which code grows a tree: the definition of its method, or compiled kernels that give the same tree."""
