"""Chooses what grows a tree: the definition of its method, or kernels that give the same tree."""
