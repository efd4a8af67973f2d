"""Rules that trees of a forest have in common.

Every node within the first DEEPEST tests of a tree is a rule: the conditions on the path to it, merged, and its answer.
Two trees hardly ever choose exactly equal thresholds, so thresholds are moved to the nearest of the training values'
N_CELLS-quantiles (ties to the smaller one), and rules that are then equal are one rule (as in SIRUS: Bénard, Biau, da
Veiga and Scornet 2021).
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Numeric, NumericKind
from core.ensembles.forest import Forest
from core.growth.precut import bin_cuts
from core.growth.samples import Samples
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.schema import Schema
from core.tables.table import is_missing
from core.tables.target import Task
from core.tree.conditions import Above, AtMost, Between, Condition, Linear, merged, path_conditions
from core.tree.tree import Tree

DEEPEST = 3
N_CELLS = 10

Conditions = tuple[Condition, ...]
Cells = tuple[FloatArray, ...]  # by column: the thresholds that others are moved to, ascending; empty if none is moved
Labels = dict[int, int | None]  # by tree: the class that follows, None where numbers are predicted


def cells_of(samples: Samples) -> Cells:
    """The quantiles of each column of numbers; none where it was cut before growth, as all trees share those cuts."""
    table, numeric = samples.attributes, Numeric(NumericKind.QUANTILE, bins=N_CELLS)
    are_cut = [cuts is not None for cuts in samples.cuts] or [False] * len(table.schema)
    return tuple(
        np.array(
            bin_cuts(values[known].astype(np.float64), samples.weights[known], numeric)
            if attribute.is_numeric and not is_cut and (known := ~is_missing(values)).any()
            else ()
        )
        for attribute, values, is_cut in zip(table.schema, table.columns, are_cut, strict=True)
    )


def occurrences(
    forest: Forest, schema: Schema, cells: Cells, watch: Watch = ignore_progress
) -> dict[Conditions, Labels]:
    """Every rule, with the trees that found it and the class that follows there, if classes are predicted."""
    found: dict[Conditions, Labels] = {}
    for number in watched(range(len(forest)), watch):
        tree = forest.tree(number)
        for node in nodes_near_the_root(tree):
            conditions = canonical(merged(path_conditions(tree, node, schema)), cells)
            if conditions is not None:
                label = int(tree.labels[node]) if forest.task is Task.CLASSIFICATION else None
                found.setdefault(conditions, {}).setdefault(number, label)
    return found


def nodes_near_the_root(tree: Tree) -> Iterator[int]:
    """The nodes of depth 1 to DEEPEST that received training weight."""
    yield from np.flatnonzero((tree.depth > 0) & (tree.depth <= DEEPEST) & (tree.weight > 0)).tolist()


def canonical(conditions: list[Condition], cells: Cells) -> Conditions | None:
    """The conditions by column, with thresholds moved to the nearest quantiles; None if no value satisfies them."""
    moved_conditions = [moved(condition, cells) for condition in conditions]
    known = [condition for condition in moved_conditions if condition is not None]
    if len(known) < len(conditions):
        return None
    return tuple(sorted(known, key=lambda one: (isinstance(one, Linear), one.column, repr(one))))


def moved(condition: Condition, cells: Cells) -> Condition | None:
    """The condition with its thresholds moved; None where no value is left between them."""
    positions = cells[condition.column]
    if len(positions) == 0:
        return condition
    match condition:
        case AtMost(_, threshold) | Above(_, threshold):
            return replace(condition, threshold=nearest(positions, threshold))
        case Between(_, above, at_most):
            low, high = nearest(positions, above), nearest(positions, at_most)
            return replace(condition, above=low, at_most=high) if low < high else None
        case _:
            return condition


def nearest(positions: FloatArray, threshold: float) -> float:
    """The nearest of some ascending numbers, ties to the smaller one."""
    after = int(np.searchsorted(positions, threshold))
    around = positions[max(0, after - 1) : after + 1]
    return float(around[np.argmin(np.abs(around / 2 - threshold / 2))])
