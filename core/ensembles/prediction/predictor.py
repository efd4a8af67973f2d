"""What the trees of a forest answer together: to one record or to many, each by the fastest method available.

The answer is the mean of the trees' answers, added up in their order; all methods give the bits of `average_of_trees`.
"""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.compiler.permission import KernelNotCompiled
from core.ensembles.forest import Forest
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.one_record import AverageOfRecord, average_of_record
from core.ensembles.prediction.packed_trees import suits_packing
from core.ensembles.prediction.walk import ForestWalk
from core.ensembles.voting import TreeAnswers, average
from core.prediction.predictor import Predictor
from core.prediction.record_walk import Reached, RecordWalk, TreeLists, cells_of, ends_of_lists, taken_branch
from core.prediction.routing import Ends, MissingPolicy, ends, predict
from core.records.records import Cells
from core.tables.table import Table
from core.tree.layout import Layout
from core.tree.tree import Tree, full_view

FEW_RECORDS = 20  # up to this many are answered one by one: a block of rows takes as long as fifty records


def average_of_trees(forest: Forest, table: Table, policy: MissingPolicy, *, kernels: bool = False) -> FloatArray:
    """`[row, output]`: the mean of `prediction.predict` over the trees, added up in their order. The definition.

    With `kernels`, each tree is evaluated by the kernels of single trees, which support every policy.
    """
    total = np.zeros((table.n_rows, forest.columns["values"].shape[1]))
    for number in range(len(forest)):
        total += answers_of(forest.tree(number), table, policy, kernels=kernels)
    return total / len(forest)


def answers_by_tree(forest: Forest, table: Table, policy: MissingPolicy, *, kernels: bool = False) -> TreeAnswers:
    """What each tree answers each row, and the training weight of the leaves, averaged by their part of the row."""
    answers, weights = [], []
    for number in range(len(forest)):
        tree = forest.tree(number)
        answers.append(answers_of(tree, table, policy, kernels=kernels))
        view = full_view(tree)
        reached = Predictor(view).ends(table, policy, kernels=True) if kernels else ends(view, table, policy)
        weights.append(reached.total(tree.weight[reached.nodes][:, None])[:, 0])
    return TreeAnswers(np.stack(answers), np.stack(weights))


def running_sums(
    forest: Forest, table: Table, policy: MissingPolicy, counted: Iterable[BoolArray], *, kernels: bool = False
) -> Iterator[FloatArray]:
    """After each tree: `[row, output]`, the sum of the answers of the trees so far to the rows that count for them."""
    sums = np.zeros((table.n_rows, forest.columns["values"].shape[1]))
    for number, counts in enumerate(counted):
        rows = np.flatnonzero(counts)
        sums[rows] += answers_of(forest.tree(number), table.take(rows), policy, kernels=kernels)
        yield sums


def answers_of(tree: Tree, table: Table, policy: MissingPolicy, *, kernels: bool) -> FloatArray:
    """`prediction.predict` of one tree."""
    view = full_view(tree)
    return Predictor(view).batch(table, policy, kernels=True) if kernels else predict(view, table, policy)


def ends_by_tree(forest: Forest, cells: Cells, policy: MissingPolicy) -> Ends:
    """The nodes that answer a record, tree by tree, with their weights; nodes are numbered through all trees."""
    return ends_of_lists([_reached(forest, number, cells, policy) for number in range(len(forest))])


def possible_ends_by_tree(forest: Forest, cells: Cells) -> Ends:
    """The leaves that a record reaches if every branch is taken where a value is missing; each weighs 1."""
    return ends_of_lists([_possible(forest, number, cells) for number in range(len(forest))])


def _reached(forest: Forest, number: int, cells: Cells, policy: MissingPolicy) -> Reached:
    tree, start = forest.tree(number), int(forest.start[number])
    walk = RecordWalk(TreeLists(Layout(tree)), full_view(tree))
    return [(start + node, weight) for node, weight in walk.reached(cells, policy)]


def _possible(forest: Forest, number: int, cells: Cells) -> Reached:
    tree, start = forest.tree(number), int(forest.start[number])
    found, waiting = list[tuple[int, float]](), [0]
    while waiting:
        node = waiting.pop()
        if tree.size[node] == 1:
            found.append((start + node, 1.0))
            continue
        split, children = tree.split(node), tree.children(node)
        is_known = all(cells[column] == cells[column] for column in split.columns)
        branch = taken_branch(split, cells) if is_known else -1
        waiting.extend(reversed(children) if branch < 0 else [children[branch]])
    return found


def policy_as_grown(forest: Forest) -> MissingPolicy:
    """How the trees' own training rows were routed."""
    return MissingPolicy.SURROGATE if forest.surrogates else MissingPolicy.WEIGHTED


class ForestPredictor:
    """A forest, ready to answer. Without a policy records are routed as it was grown.

    Kernels are only used if the caller allows it: they may have to be compiled, which takes seconds.
    """

    def __init__(self, forest: Forest) -> None:
        self.forest, self.layout, self.as_grown = forest, ForestLayout(forest), policy_as_grown(forest)
        self.is_prepared = False

    def prepare(self) -> None:
        """Build what all predictions by kernels share; without this call the first of them has to wait for it."""
        if self._by_kernels:
            _ = self._walk, self._suits_packing and self._of_record
        self.is_prepared = True

    def average(
        self, table: Table, policy: MissingPolicy | None = None, *, kernels: bool, threads: int = 1
    ) -> FloatArray:
        """`average_of_trees`: class probabilities, or means, for every row."""
        policy = policy or self.as_grown
        if kernels and policy in self._by_kernels:
            with suppress(KernelNotCompiled):
                if 0 < table.n_rows <= FEW_RECORDS and self._suits_packing:
                    return np.array([self.one(cells, policy, kernels=True) for cells in cells_of(table)])
                return self._walk.average(table, policy, threads)
        return average_of_trees(self.forest, table, policy, kernels=kernels)

    def by_tree(self, table: Table, policy: MissingPolicy | None = None, *, kernels: bool) -> TreeAnswers:
        """`answers_by_tree`: the answer of each tree, for voting."""
        policy = policy or self.as_grown
        if kernels and policy in self._by_kernels:
            with suppress(KernelNotCompiled):
                return self._walk.by_tree(table, policy)
        return answers_by_tree(self.forest, table, policy, kernels=kernels)

    def running_sums(
        self, table: Table, counted: Iterable[BoolArray], policy: MissingPolicy | None = None, *, kernels: bool
    ) -> Iterator[FloatArray]:
        """`running_sums`: sums over the first trees; every turn yields the same array, updated."""
        policy = policy or self.as_grown
        if kernels and policy in self._by_kernels and policy is not MissingPolicy.LAST_NODE:
            return self._walk.running_sums(table, policy, counted)
        return running_sums(self.forest, table, policy, counted, kernels=kernels)

    def one(self, cells: Cells, policy: MissingPolicy | None = None, *, kernels: bool) -> tuple[float, ...]:
        """Class probabilities, or means, for one record; `cells` in the schema's order, NaN where they are missing."""
        if kernels:
            try:
                if self._suits_packing and (answer := self._of_record(cells)):
                    return answer  # nothing is missing, so the policy does not matter
                if (policy or self.as_grown) in self._by_kernels:
                    return self._walk.one(cells, policy or self.as_grown)
            except KernelNotCompiled:
                pass
        policy = policy or self.as_grown
        reached = ends_by_tree(self.forest, cells, policy)
        return tuple(average(reached.total(self.layout.answers(reached.nodes))).tolist())

    def ends(self, cells: Cells, policy: MissingPolicy | None = None, *, kernels: bool) -> Ends:
        """`ends_by_tree`: the nodes that answer a record, tree by tree."""
        policy = policy or self.as_grown
        if kernels and policy in self._by_kernels:
            with suppress(KernelNotCompiled):
                return self._walk.ends(cells, policy)
        return ends_by_tree(self.forest, cells, policy)

    def possible_ends(self, cells: Cells, *, kernels: bool) -> Ends:
        """`possible_ends_by_tree`: the leaves that a record can reach for some values of what is missing."""
        if kernels and MissingPolicy.WEIGHTED in self._by_kernels:
            with suppress(KernelNotCompiled):
                return self._walk.possible_ends(cells)
        return possible_ends_by_tree(self.forest, cells)

    @cached_property
    def _by_kernels(self) -> tuple[MissingPolicy, ...]:
        """The policies that kernels support for this forest; none with linear tests, and never surrogates."""
        if self.forest.terms or not self.layout.suits_keys:
            return ()
        return tuple(
            each for each in MissingPolicy if each is not MissingPolicy.SURROGATE or not self.forest.surrogates
        )

    @cached_property
    def _suits_packing(self) -> bool:
        return bool(self._by_kernels) and suits_packing(self.layout)

    @cached_property
    def _of_record(self) -> AverageOfRecord:
        return average_of_record(self.layout)

    @cached_property
    def _walk(self) -> ForestWalk:
        return ForestWalk(self.layout)
