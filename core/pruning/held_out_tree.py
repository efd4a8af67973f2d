"""Held-out rows spread over a tree, so that the effect of a cut can be told without sending them down again."""

import numpy as np

from core.growth.held_out import HeldOut, origin_of
from core.growth.samples import Samples
from core.prediction import visits
from core.table import FloatArray, RowArray
from core.tree import TreeView

NOTHING: tuple[RowArray, FloatArray] = (np.empty(0, dtype=np.int64), np.empty(0))


class HeldOutTree:
    """The rows that arrive at every node, with their weights, and the answers of the tree as cut so far."""

    def __init__(self, view: TreeView, samples: Samples) -> None:
        self.tree = view.tree
        self._is_leaf = view.is_leaf.copy()
        self._arrived = {visit.node: (visit.rows, visit.weights) for visit in visits(view, samples.attributes)}
        origin = origin_of(self.tree.answers[0], self.tree.task)
        self._answers = self.tree.answers - origin
        answers = np.zeros((len(samples), len(origin)))
        for node, (rows, weights) in self._arrived.items():
            if self._is_leaf[node]:
                answers[rows] += np.outer(weights, self._answers[node])
        self.held_out = HeldOut(samples, answers, origin, self.tree.costs)

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
        change = np.outer(weights, self._answers[node])
        for leaf in self._leaves_below(node):
            arrived, leaf_weights = self._arrived.get(leaf, NOTHING)
            change[np.searchsorted(rows, arrived)] -= np.outer(leaf_weights, self._answers[leaf])
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
