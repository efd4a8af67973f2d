"""Held-out rows spread over a tree, so that the effect of a cut can be told without sending them down again."""

import numpy as np

from core.growth.held_out import HeldOut
from core.growth.samples import Samples
from core.prediction import predict, visits
from core.table import FloatArray, RowArray
from core.tree import TreeView

NOTHING: tuple[RowArray, FloatArray] = (np.empty(0, dtype=np.int64), np.empty(0))


class HeldOutTree:
    """The rows that arrive at every node, with their weights, and the answers of the tree as cut so far."""

    def __init__(self, view: TreeView, samples: Samples) -> None:
        self.tree = view.tree
        self.held_out = HeldOut(samples, predict(view, samples.attributes))
        self._is_leaf = view.is_leaf.copy()
        self._arrived = {visit.node: (visit.rows, visit.weights) for visit in visits(view, samples.attributes)}

    def credit_if_cut(self, node: int) -> float:
        """What the answers would earn with the node as a leaf."""
        return self.held_out.credit_after(*self._change_if_cut(node))

    def cut(self, node: int) -> None:
        """Make the node a leaf."""
        self.held_out.accept(*self._change_if_cut(node))
        self._is_leaf[node] = True

    def _change_if_cut(self, node: int) -> tuple[RowArray, FloatArray]:
        """The rows that arrive at the node, and how their answers change when it answers instead of its leaves."""
        rows, weights = self._arrived.get(node, NOTHING)
        change = np.outer(weights, self.tree.answers[node])
        for leaf in self._leaves_below(node):
            arrived, leaf_weights = self._arrived.get(leaf, NOTHING)
            change[np.searchsorted(rows, arrived)] -= np.outer(leaf_weights, self.tree.answers[leaf])
        return rows, change

    def _leaves_below(self, node: int) -> list[int]:
        leaves, waiting = [], [node]
        while waiting:
            below = waiting.pop()
            if self._is_leaf[below]:
                leaves.append(below)
            else:
                waiting.extend(self.tree.children(below))
        return leaves
