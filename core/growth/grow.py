"""TreeGenerate: greedy, top-down.

A node becomes a leaf when (1) all its samples have one class, (2) no attribute is left or all samples agree on every
attribute, (3) it received no sample, or a limit on growth is reached. A categorical attribute used in a multiway split,
or one cut into intervals, is spent on that path; the others may be used again below.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.randomness import path_key, root_key
from core.arithmetic.sums import in_row_order
from core.arithmetic.ties import first_within_tie
from core.config.options import Algorithm, MissingStrategy
from core.criteria.objective import Objective
from core.growth.best_split import Candidate, NodeSamples, node_samples, objective_of
from core.growth.column_draw import ColumnDraw, searches
from core.growth.node import GrowingNode, finished_tree
from core.growth.routing import Route, routed, surrogates_of
from core.growth.samples import Samples
from core.growth.stopping import is_terminal, is_worth_it
from core.missing.fractional_weights import branch_shares
from core.tables.progress import Watch, ignore_progress
from core.tables.target import ClassTarget
from core.tree.tree import Tree

ChooseSplit = Callable[[Samples, NodeSamples, Algorithm, Objective, Collection[int]], Candidate | None]


def grow(
    samples: Samples,
    algorithm: Algorithm,
    *,
    choose: ChooseSplit,
    seed: int = 0,
    draw: ColumnDraw | None = None,
    watch: Watch = ignore_progress,
) -> Tree:
    """The full tree.

    `choose` returns the split of a node. `draw` says how nodes draw the columns that they may test; without it they may
    test all. `watch` is called with the share of the work that is done, from 0 to 1, and may raise to end it.
    """
    grower = Grower(samples, algorithm, choose, watch, draw)
    root = grower.node(samples.rows, samples.weights, depth=0, share=1.0, spent=frozenset(), parent=None)
    root.key = root_key(seed)
    if algorithm.stopping.max_leaves is None:
        grower.grow_depth_first(root)
    else:
        grower.grow_best_first(root, algorithm.stopping.max_leaves)
    has_surrogates = algorithm.missing is MissingStrategy.SURROGATE
    return finished_tree(root, samples.target.task, samples.cuts, has_surrogates=has_surrogates)


class Grower:
    """The samples and rules that all nodes of one tree share."""

    def __init__(
        self,
        samples: Samples,
        algorithm: Algorithm,
        choose: ChooseSplit,
        watch: Watch,
        draw: ColumnDraw | None = None,
    ) -> None:
        self.samples, self.algorithm, self.watch, self.draw, self.choose = samples, algorithm, watch, draw, choose
        self.objective: Objective = objective_of(algorithm, samples)
        self.finished_weight = 0.0
        self.whole_weight = float(samples.weights.sum())

    def grow_depth_first(self, root: GrowingNode) -> None:
        """Split nodes left to right, each subtree before the next."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            found = self.best_split(node)
            if found is None:
                self.finish(node)
            else:
                self.divide(node, found)
                waiting.extend(reversed(node.children))

    def grow_best_first(self, root: GrowingNode, max_leaves: int) -> None:
        """Split the node of largest weight x gain next, on a tie the node met first, up to `max_leaves` leaves.

        A split that would exceed `max_leaves` is skipped.
        """
        n_leaves = 1
        waiting = list(self._with_splits([root]))
        while waiting:
            merits = np.array([node.weight * found.gain for node, found in waiting])
            best = first_within_tie(merits, self.objective.tolerance * self.whole_weight)
            node, found = waiting.pop(best)
            if n_leaves + found.split.n_branches - 1 > max_leaves:
                self.finish(node)
                continue
            n_leaves += found.split.n_branches - 1
            self.divide(node, found)
            waiting.extend(self._with_splits(node.children))

    def _with_splits(self, nodes: list[GrowingNode]) -> Iterator[tuple[GrowingNode, Candidate]]:
        for node in nodes:
            found = self.best_split(node)
            if found is None:
                self.finish(node)
            else:
                yield node, found

    def best_split(self, node: GrowingNode) -> Candidate | None:
        """The split to make in the node; None if it is to be a leaf."""
        stopping = self.algorithm.stopping
        if node.weight == 0 or is_terminal(stopping, depth=node.depth, weight=node.weight, impurity=node.impurity):
            return None
        if self.samples.target.is_pure(node.rows):
            return None
        here = node_samples(self.samples, node.rows, node.weights, key=node.key, tick=self.tell)
        for undrawn in searches(self.draw, node.key, len(self.samples.attributes.schema), node.spent):
            with_drawn = replace(here, undrawn=undrawn)
            found = self.choose(self.samples, with_drawn, self.algorithm, self.objective, node.spent)
            if found is not None:
                return found if is_worth_it(stopping, found, self.objective) else None
        return None

    def divide(self, node: GrowingNode, found: Candidate) -> None:
        """Split a node: create its children, and send them the rows with a known value and those without."""
        split, shares = found.split, branch_shares(found.branch_weights)
        spent = node.spent | {split.column} if split.kind.spends else node.spent
        if self.algorithm.missing is MissingStrategy.SURROGATE:
            node.surrogates = surrogates_of(self.samples, node.rows, node.weights, split)
        route = Route(split, shares, node.surrogates, node.key)
        received = routed(self.samples, self.algorithm, node.rows, node.weights, route)
        node.chosen = found
        node.children = [
            self.node(rows, weights, depth=node.depth + 1, share=float(share), spent=spent, parent=node)
            for (rows, weights), share in zip(received, shares, strict=True)
        ]
        for number, child in enumerate(node.children):
            child.key = path_key(node.key, number)
        node.forget_rows()

    def node(
        self,
        rows: RowArray,
        weights: FloatArray,
        *,
        depth: int,
        share: float,
        spent: frozenset[int],
        parent: GrowingNode | None,
    ) -> GrowingNode:
        """A node with the figures of its samples; without samples its weight and all its sums are 0."""
        if len(rows) == 0:
            assert parent is not None
            values, variances = np.zeros_like(parent.values), np.zeros_like(parent.variances)
            return GrowingNode(rows, weights, depth, share, spent, 0.0, 0.0, values, variances)
        target = self.samples.target
        values, variances = target.summary(rows, weights)
        sums = values if isinstance(target, ClassTarget) else target.statistics(rows, weights).sum(axis=0)
        weight, impurity = float(in_row_order(weights)), float(self.objective.impurity(sums))
        return GrowingNode(rows, weights, depth, share, spent, weight, impurity, values, variances)

    def finish(self, node: GrowingNode) -> None:
        """Make a node a leaf, and report progress."""
        self.finished_weight += node.weight
        node.forget_rows()
        self.tell()

    def tell(self) -> None:
        """Report the share of the weight that is in finished leaves."""
        self.watch(min(1.0, self.finished_weight / self.whole_weight))
