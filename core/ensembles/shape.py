"""Parents, children and depths in the trees of a forest, for all at once; nodes are numbered through all trees."""

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, RowArray
from core.ensembles.forest import AnyArray

TOP_DEPTHS = 6  # that are laid out breadth first


class Shape:
    """What follows from the sizes of subtrees."""

    def __init__(self, start: RowArray, size: AnyArray) -> None:
        self.start, self.size = start, size.astype(np.int64)

    @cached_property
    def is_leaf(self) -> BoolArray:
        return self.size == 1

    @property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each node; a root is its own."""
        return self._family[0]

    @property
    def n_children(self) -> NDArray[np.int32]:
        """How many nodes are right below each node."""
        return self._family[1]

    @property
    def branch(self) -> NDArray[np.int32]:
        """Which of its parent's children each node is."""
        return self._family[2]

    @cached_property
    def _family(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
        """Parents, numbers of children, and which child of its parent a node is.

        Computed for the first children of all nodes, then the second, and so on: each starts where the last ends.
        """
        parent, n_children = np.arange(len(self.size), dtype=np.int32), np.zeros(len(self.size), dtype=np.int32)
        branch, above = np.zeros(len(self.size), dtype=np.int32), np.flatnonzero(self.size > 1)
        child = above + 1
        while len(above):
            parent[child], branch[child] = above, n_children[above]
            n_children[above] += 1
            after = child + self.size[child]
            has_more = after < above + self.size[above]
            above, child = above[has_more], after[has_more]
        return parent, n_children, branch

    @cached_property
    def first_child(self) -> RowArray:
        """The position of each node's first child in `by_parent`; that of a leaf means nothing.

        Children are in the order of their parents: those of small depth, which every record passes, breadth first, so
        that few cache lines hold all of them; the others depth first, near to where their paths continue.
        """
        above, tree = np.flatnonzero(self.size > 1), np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        turn = tree[above] * (TOP_DEPTHS + 1) + np.minimum(self.depth[above], TOP_DEPTHS)
        above = above[np.argsort(turn, kind="stable")]
        positions, n_children = np.zeros(len(self.size), dtype=np.int64), self.n_children[above]
        positions[above] = np.cumsum(n_children, dtype=np.int64) - n_children + 1 + tree[above]  # roots are there too
        return positions

    @cached_property
    def by_parent(self) -> NDArray[np.uint32]:
        """The node at each position: a tree's root first, and siblings adjacent."""
        positions = self.first_child[self.parent] + self.branch
        positions[self.start[:-1]] = self.start[:-1]
        order = np.empty(len(positions), dtype=np.uint32)
        order[positions] = np.arange(len(positions))
        return order

    @cached_property
    def depth(self) -> RowArray:
        """How many tests lead to each node."""
        nodes = np.arange(len(self.size))
        begins = np.bincount(nodes + 1, minlength=len(nodes) + 1)
        ends = np.bincount(nodes + self.size, minlength=len(nodes) + 1)
        return np.cumsum(begins - ends)[:-1]

    @property
    def depths(self) -> RowArray:
        """By tree, how many tests its longest path has."""
        return np.maximum.reduceat(self.depth, self.start[:-1])
