"""Where the nodes of small subtrees are kept until the tree is put together."""

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.compiler.mapped_arrays import in_pages

# What is kept of a node: how many nodes its subtree has, the slot of its split or -1, the rows on both sides of a cut.
SIZE, SLOT, LOW, HIGH, N_SPLIT_FIELDS = 0, 1, 2, 3, 4
# Its figures: what its split gains, its part of its parent's known weight; then those of `node_figures`.
GAIN, SHARE, FIGURES = 0, 1, 2

NodeBuffers = tuple[NDArray[np.int32], FloatArray]


def node_buffers(n_nodes: int, n_figures: int) -> NodeBuffers:
    """Room for the nodes of small subtrees, each subtree depth first; it takes memory as it is filled."""
    return in_pages((n_nodes, N_SPLIT_FIELDS), np.int32), in_pages((n_nodes, FIGURES + n_figures))
