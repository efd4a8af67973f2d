"""One record down a tree, in plain Python: for a few records nothing is faster, and nothing has to be compiled.

Equal to `routing.visits` for one record. Cells are numbers, or codes of categories; NaN where they are missing.
"""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from math import nan

import numpy as np

from core.arithmetic.ties import first_within_tie
from core.missing.surrogates import Surrogate
from core.prediction.routing import Ends, MissingPolicy
from core.records.records import Cells
from core.splits.split import Split, SplitKind, Term
from core.tables.table import Column, Table
from core.tree.layout import Layout
from core.tree.tree import TreeView

Reached = list[tuple[int, float]]


class TreeLists:
    """A layout as Python lists, shared by all views of the tree."""

    def __init__(self, layout: Layout) -> None:
        self.tree = layout.tree
        self.nodes: list[int] = layout.order.tolist()
        self.columns: list[int] = self.tree.column[layout.order].tolist()
        is_linear = layout.is_linear[layout.order]
        self.thresholds: list[float] = np.where(is_linear, nan, layout.full.threshold).tolist()
        self.first: list[int] = layout.full.first.tolist()
        self.n_branches: list[int] = layout.full.n_branches.tolist()
        self.shares: list[float] = layout.full.share.tolist()
        self.needs_values = bool((self.tree.missing_branch < 0).all())  # no branches for missing values
        self.n_outputs = self.tree.values.shape[1]
        self.all_answers = layout.full.answers[:, : self.n_outputs]
        self.answers: dict[int, tuple[float, ...]] = {}  # of reached leaves


class RecordWalk:
    """Predicts single records with a view of a tree."""

    def __init__(self, lists: TreeLists, view: TreeView) -> None:
        self._lists = lists
        self._columns = lists.columns.copy()  # -1 in the view's leaves
        for position in np.flatnonzero(view.is_leaf[view.tree.by_parent]).tolist():
            self._columns[position] = -1

    def answer(self, cells: Cells, policy: MissingPolicy) -> tuple[float, ...]:
        """Class probabilities, or means, equal to those of `routing.predict`."""
        position = self._down(0, cells)
        if self._columns[position] < 0:
            return self._lists.answers.get(position) or self._answer_of(position)
        total = [0.0] * self._lists.n_outputs
        for end, weight in self._ends(position, cells, policy):
            answer = self._lists.answers.get(end) or self._answer_of(end)
            total = [so_far + weight * part for so_far, part in zip(total, answer, strict=True)]
        return tuple(total)

    def leaf(self, cells: Cells) -> int:
        """The leaf of the record; -1 where a value that its path tests is missing."""
        position = self._down(0, cells)
        is_there = self._columns[position] < 0 and (self._lists.needs_values or self._knows_all_above(position, cells))
        return self._lists.nodes[position] if is_there else -1

    def _knows_all_above(self, position: int, cells: Cells) -> bool:
        """Whether the record took no branch for missing values on its path."""
        tree, node = self._lists.tree, self._lists.nodes[position]
        while node > 0:
            node = int(tree.parent[node])
            value = cells[int(tree.column[node])]
            if value != value:
                return False
        return True

    def reached(self, cells: Cells, policy: MissingPolicy) -> Reached:
        """The nodes that answer, left to right, with their weights, equal to those of `routing.leaves_reached`."""
        nodes = self._lists.nodes
        return [(nodes[position], weight) for position, weight in self._ends(self._down(0, cells), cells, policy)]

    def _answer_of(self, position: int) -> tuple[float, ...]:
        answer = self._lists.answers[position] = tuple(self._lists.all_answers[position].tolist())
        return answer

    def _down(self, position: int, cells: Cells) -> int:
        """Where a record gets from a position: to a leaf, or to the first node whose value is missing."""
        columns, thresholds, first = self._columns, self._lists.thresholds, self._lists.first
        while (column := columns[position]) >= 0:
            value = cells[column]
            if value <= thresholds[position]:
                position = first[position]
            elif value > thresholds[position]:
                position = first[position] + 1
            else:  # missing, or not a threshold
                branch = taken_branch(self._lists.tree.split(self._lists.nodes[position]), cells)
                if branch < 0:
                    return position
                position = first[position] + branch
        return position

    def _ends(self, position: int, cells: Cells, policy: MissingPolicy) -> Reached:
        """The positions where parts of the record end, left to right; all of it arrived at `position`."""
        ends: Reached = []
        waiting = [(position, 1.0)]
        while waiting:
            position, weight = waiting.pop()
            if self._columns[position] < 0 or policy is MissingPolicy.LAST_NODE:
                ends.append((position, weight))
                continue
            first = self._lists.first[position]
            shares = self._lists.shares[first : first + self._lists.n_branches[position]]
            if policy is not MissingPolicy.WEIGHTED:
                branch = self._branch_without_value(position, shares, cells, policy)
                waiting.append((self._down(first + branch, cells), weight))
                continue
            for branch in reversed(range(len(shares))):
                part = weight * shares[branch]
                if part > 0:
                    waiting.append((self._down(first + branch, cells), part))
        return ends

    def _branch_without_value(self, position: int, shares: list[float], cells: Cells, policy: MissingPolicy) -> int:
        """The branch that the policy takes where the value is missing."""
        if policy is MissingPolicy.SURROGATE:
            branch = followed(self._lists.tree.surrogates_of(self._lists.nodes[position]), cells)
            if branch >= 0:
                return branch
        return first_within_tie(np.array(shares))


def taken_branch(split: Split, cells: Cells) -> int:
    """`Split.branches_of` one record."""
    if split.kind is not SplitKind.LINEAR:
        return branch_of(split, cells[split.column])
    total = weighted_sum(split.terms, cells)
    return -1 if total != total else int(total > split.threshold)


def weighted_sum(terms: Sequence[Term], cells: Cells) -> float:
    """`weighted_sums` of one record."""
    total = 0.0
    for term in terms:
        value = cells[term.column]
        if value != value:
            return nan
        total += term.weight * (value if term.code < 0 else value == term.code)
    return total


def branch_of(split: Split, value: float) -> int:
    """`Split.branches` of one cell."""
    if value != value:
        return split.missing_branch
    if split.kind is SplitKind.THRESHOLD:
        return int(value > split.threshold)
    if split.kind is SplitKind.INTERVALS:
        return bisect_left(split.cuts, value)
    if split.kind is SplitKind.MERGED_INTERVALS:
        return split.branch_of[bisect_left(split.cuts, value)]
    return split.branch_of[int(value)]


def followed(surrogates: Iterable[Surrogate], cells: Cells) -> int:
    """The branch of the first surrogate whose value is known; -1 if there is none."""
    for surrogate in surrogates:
        branch = branch_of(surrogate.split, cells[surrogate.split.column])
        if branch >= 0:
            return 1 - branch if surrogate.is_reversed else branch
    return -1


def ends_of_lists(reached: Sequence[Reached]) -> Ends:
    """The ends of several records, as arrays."""
    starts = np.cumsum([0, *map(len, reached)])
    nodes = np.array([node for of_record in reached for node, _ in of_record], dtype=np.int64)
    return Ends(starts, nodes, np.array([weight for of_record in reached for _, weight in of_record], dtype=np.float64))


def cells_of(table: Table) -> list[tuple[float, ...]]:
    """The rows of a table as cells."""
    return list(zip(*map(_cells, table.columns), strict=True))


def _cells(values: Column) -> list[float]:
    return values.tolist() if values.dtype == np.float64 else [nan if code < 0 else code for code in values.tolist()]
