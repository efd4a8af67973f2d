"""What an answer could become once the missing values are known.

Every way to fill in a record's missing values leads to one leaf. Which leaves can be reached is exact for
axis-parallel trees: attributes can be filled in independently of each other, and each has one value however often a
path tests it, so a leaf is possible when, attribute by attribute, the tests on its path leave some value. A linear test
that lacks a value is taken to allow both branches, whatever else is known: with such tests the leaves found are all
that can be reached, and perhaps some that cannot.

Which values the tests of a path leave does not depend on the record. So a record can reach exactly the leaves that it
reaches by taking every branch at a missing value, except those whose own tests contradict each other. `opened` makes
the tree in which ordinary routing does this, for many records at once.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.ties import TIE
from core.growth.held_out import labels_of
from core.splits.split import Split, SplitKind
from core.tables.schema import Kind, Schema
from core.tables.table import Table, is_missing
from core.tables.target import Task
from core.tree.conditions import interval_of
from core.tree.tree import Tree, TreeView

Values = tuple[float, float] | frozenset[int]  # an interval (above, at most], or codes


def possible_leaves(view: TreeView, records: Table, row: int) -> list[int]:
    """The leaves that the record can reach by some completion of its missing values, left to right."""
    leaves = []
    waiting: list[tuple[int, Mapping[int, Values]]] = [(0, {})]
    while waiting:
        node, left_over = waiting.pop()
        if view.is_leaf[node]:
            leaves.append(node)
            continue
        split, children = view.tree.split(node), view.tree.children(node)
        branch = int(split.branches_of(records.columns, slice(row, row + 1))[0])
        has_own_branch = split.missing_branch >= 0 and is_missing(records.columns[split.column][row : row + 1])[0]
        if branch >= 0 and not has_own_branch:
            waiting.append((children[branch], left_over))
            continue
        if split.kind is SplitKind.LINEAR:
            waiting.extend((child, left_over) for child in reversed(children))
            continue
        before = left_over.get(split.column) or every_value(records.schema, split.column)
        for branch in reversed(range(len(children))):
            values = narrowed(before, split, branch)
            if is_possible(values):
                waiting.append((children[branch], {**left_over, split.column: values}))
    return leaves


def opened(view: TreeView, schema: Schema) -> TreeView:
    """The view with weight 1 for each branch that some value can take: `possible_leaves` by weighted routing.

    A missing value with a branch of its own may still turn out to be any value.
    """
    share = np.zeros(len(view.tree))
    waiting: list[tuple[int, Mapping[int, Values]]] = [(0, {})]
    while waiting:
        node, left_over = waiting.pop()
        share[node] = 1.0
        if view.is_leaf[node]:
            continue
        split, children = view.tree.split(node), view.tree.children(node)
        if split.kind is SplitKind.LINEAR:
            waiting.extend((child, left_over) for child in children)
            continue
        before = left_over.get(split.column) or every_value(schema, split.column)
        for branch, child in enumerate(children):
            values = narrowed(before, split, branch)
            if is_possible(values):
                waiting.append((child, {**left_over, split.column: values}))
    return TreeView(replace(view.tree.without_missing_branches(), share=share), view.is_leaf)


def every_value(schema: Schema, column: int) -> Values:
    """All numbers, or all declared categories."""
    attribute = schema[column]
    return (-math.inf, math.inf) if attribute.kind is Kind.NUMERIC else frozenset(range(len(attribute.categories)))


def narrowed(values: Values, split: Split, branch: int) -> Values:
    """The values that also pass this branch."""
    if isinstance(values, tuple):
        above, at_most = interval_of(split, branch)
        return max(values[0], above), min(values[1], at_most)
    if split.kind in (SplitKind.THRESHOLD, SplitKind.INTERVALS):  # of ordinals
        above, at_most = interval_of(split, branch)
        return frozenset(code for code in values if above < code <= at_most)
    if split.kind is SplitKind.MULTIWAY:  # branch and code are the same number, and there may be very many
        return values & {branch}
    return frozenset(code for code in values if split.branch_of[code] == branch)


def is_possible(values: Values) -> bool:
    """Whether any value is left: a half-open interval of numbers, or some code."""
    return values[0] < values[1] if isinstance(values, tuple) else bool(values)


def kind_of_bounds(tree: Tree) -> str:
    """Whether the bounds of a tree are reached for some values, or may be wider than necessary."""
    return "outer" if tree.has_linear_tests else "exact"


def bounds(view: TreeView, leaves: list[int]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """`[answer, (lowest, highest)]` of each class's probability, or each mean, over the leaves."""
    answers = view.tree.answers[leaves]
    return np.stack([answers.min(axis=0), answers.max(axis=0)], axis=1)


def is_decided(view: TreeView, leaves: list[int], answer: FloatArray) -> bool:
    """Whether every one of the leaves gives the label of this answer; for numbers, the answer itself.

    Where a policy answers from an inner node, or from a leaf that no completion reaches, all leaves may agree on
    something else.
    """
    tree = view.tree
    if tree.task is Task.CLASSIFICATION:
        return bool((tree.labels[leaves] == labels_of(answer[None, :], tree.costs)[0]).all())
    lowest, highest = tree.answers[leaves].min(axis=0), tree.answers[leaves].max(axis=0)
    # A weighted sum of equal numbers is that number up to rounding.
    return bool((lowest == highest).all() and (np.abs(answer - lowest) <= TIE * np.abs(lowest)).all())
