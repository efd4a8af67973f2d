"""Buffers for the nodes of small subtrees until the tree is assembled."""

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.compiler.mapped_arrays import in_pages

# Fields of a node: the number of nodes in its subtree, the slot of its split or -1, the rows on both sides of the cut.
SIZE, SLOT, LOW, HIGH, N_SPLIT_FIELDS = 0, 1, 2, 3, 4
# Its figures: the gain of its split, its share of its parent's known weight; then those of `node_figures`.
GAIN, SHARE, FIGURES = 0, 1, 2

NodeBuffers = tuple[NDArray[np.int32], FloatArray]


def node_buffers(n_nodes: int, n_figures: int) -> NodeBuffers:
    """Buffers for the nodes of small subtrees, each subtree depth first; they take memory as they are filled."""
    return in_pages((n_nodes, N_SPLIT_FIELDS), np.int32), in_pages((n_nodes, FIGURES + n_figures))
