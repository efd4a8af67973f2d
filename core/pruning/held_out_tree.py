"""Held-out rows at every node of a tree, so that the effect of a cut is known without routing them again."""

from collections.abc import Callable, Iterator

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.growth.held_out import HeldOut, origin_of
from core.growth.samples import Samples
from core.prediction.block_walk import Arrival, BlockWalk
from core.prediction.routing import policy_as_grown, visits
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tables.table import Table
from core.tree.layout import Layout
from core.tree.tree import Tree, TreeView

ROWS_AT_A_TIME = 30_000  # routed down the tree in a fraction of a second
ARRIVING = 0.5  # the approximate part of the work before pruning that routes the rows

Change = tuple[RowArray, FloatArray]
ChangeIfCut = Callable[[int], Change]


class Arrivals:
    """The rows that arrive at every node, ascending, with their weights: those of node v from start[v] to start[v + 1].

    Kernels compute the same arrays.
    """

    def __init__(self, view: TreeView, samples: Samples, *, kernels: bool, watch: Watch) -> None:
        n_nodes, starts = len(view.tree), range(0, len(samples), ROWS_AT_A_TIME)
        arrivals_of = arrivals_by(view, kernels=kernels)
        nodes, rows, weights = [], [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for number, start in enumerate(starts):
            block = samples.attributes.take(samples.rows[start : start + ROWS_AT_A_TIME])
            part = part_of(watch, number / len(starts), (number + 1) / len(starts))
            for node, block_rows, block_weights in arrivals_of(block):
                part(node / n_nodes)
                nodes.append(node)
                rows.append(block_rows + start)
                weights.append(block_weights)
        node_of = np.repeat(np.array(nodes, dtype=np.int64), [len(each) for each in rows[1:]])
        by_node = np.argsort(node_of, kind="stable")  # a node's rows stay ascending, since the blocks are
        self.start = np.concatenate([[0], np.cumsum(np.bincount(node_of, minlength=n_nodes))])
        self.rows, self.weights = np.concatenate(rows)[by_node], np.concatenate(weights)[by_node]

    def at(self, node: int) -> tuple[RowArray, FloatArray]:
        """The rows and weights at a node."""
        here = slice(self.start[node], self.start[node + 1])
        return self.rows[here], self.weights[here]


def arrivals_by(view: TreeView, *, kernels: bool) -> Callable[[Table], Iterator[Arrival]]:
    """A function that routes rows down the tree and yields the arrivals at each node."""
    layout = Layout(view.tree)
    if kernels and layout.suits_blocks:
        walk, policy = BlockWalk(layout, view), policy_as_grown(view.tree)
        return lambda records: walk.arrivals(records, policy)
    return lambda records: ((visit.node, visit.rows, visit.weights) for visit in visits(view, records))


class HeldOutTree:
    """The rows that arrive at every node, with their weights, and the answers of the tree as cut so far."""

    def __init__(
        self, view: TreeView, samples: Samples, *, kernels: bool = False, watch: Watch = ignore_progress
    ) -> None:
        self.tree = view.tree
        self._is_leaf = view.is_leaf.copy()
        self._arrived = Arrivals(view, samples, kernels=kernels, watch=part_of(watch, 0.0, ARRIVING))
        origin = origin_of(self.tree.answers[0], self.tree.task)
        self._answers = self.tree.answers - origin
        answers = np.zeros((len(samples), len(origin)))
        for leaf in watched(view.leaves, part_of(watch, ARRIVING, 1.0)):
            rows, weights = self._arrived.at(leaf)
            answers[rows] += np.outer(weights, self._answers[leaf])
        self.held_out = HeldOut(samples, answers, origin, self.tree.costs)
        self._change_if_cut: ChangeIfCut = self._summed_if_cut
        if kernels:
            self._change_if_cut = fast_change(self.tree, self._is_leaf, self._arrived, self._answers, len(samples))

    def credit_if_cut(self, node: int) -> float:
        """The credit of the answers with the node as a leaf."""
        return self.held_out.credit_after(*self._change_if_cut(node))

    def cut(self, node: int) -> None:
        """Make the node a leaf."""
        self.held_out.accept(*self._change_if_cut(node))
        self._is_leaf[node] = True

    def _summed_if_cut(self, node: int) -> Change:
        """The rows that arrive at the node, and how their answers change when it answers instead of its leaves."""
        rows, weights = self._arrived.at(node)
        change = np.outer(weights, self._answers[node])
        for leaf in self._leaves_below(node):
            arrived, leaf_weights = self._arrived.at(leaf)
            change[np.searchsorted(rows, arrived)] -= np.outer(leaf_weights, self._answers[leaf])
        return rows, change

    def _leaves_below(self, node: int) -> list[int]:
        """The leaves below a node, from right to left."""
        leaves, waiting = [], [node]
        while waiting:
            below = waiting.pop()
            if self._is_leaf[below]:
                leaves.append(below)
            else:
                waiting.extend(self.tree.children(below))
        return leaves


def fast_change(tree: Tree, is_leaf: BoolArray, arrived: Arrivals, answers: FloatArray, n_rows: int) -> ChangeIfCut:
    """`HeldOutTree._summed_if_cut` by a kernel; `is_leaf` is read at every call."""
    from core.pruning.kernels.held_out_tree import change_if_cut  # imports Numba

    leaves, index_of = np.empty(len(tree), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    start, size = arrived.start, tree.size.copy()  # read-only arrays would compile to another version

    def change(node: int) -> Change:
        rows, _ = arrived.at(node)
        changed = np.empty((len(rows), answers.shape[1]))
        change_if_cut(node, size, is_leaf, start, arrived.rows, arrived.weights, answers, leaves, index_of, changed)
        return rows, changed

    return change
