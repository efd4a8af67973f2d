"""Thresholds as C4.5's programs report them.

A threshold t is found as the midpoint of two neighbouring values of a node. Release 8 and J48 then lower it to the
largest value in the whole training set that does not exceed it:

    t' = max {v : v a known training value, v <= t}

Every training row goes the same way by either number. Trees here keep the midpoints; t' is for comparisons with trees
of those programs.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.growth.best_split import Candidate
from core.splits.split import SplitKind
from core.tables.table import Column, Table
from core.tree.tree import SPLIT_KINDS, Tree


def data_thresholds(tree: Tree, attributes: Table) -> FloatArray:
    """Each node's threshold, lowered for numeric attributes; thresholds of ordinal attributes stay."""
    reported = tree.threshold.copy()
    is_threshold = tree.kind == SPLIT_KINDS.index(SplitKind.THRESHOLD)
    for column, attribute in enumerate(attributes.schema):
        nodes = np.flatnonzero(is_threshold & (tree.column == column))
        if attribute.is_numeric and len(nodes):
            reported[nodes] = lowered(tree.threshold[nodes], sorted_values(attributes.columns[column]))
    return reported


def lowered_candidates(considered: Mapping[int, Sequence[Candidate]], attributes: Table) -> dict[int, list[Candidate]]:
    """The candidates of each node, with the thresholds of numeric attributes lowered."""
    values = {
        column: sorted_values(attributes.columns[column])
        for column, attribute in enumerate(attributes.schema)
        if attribute.is_numeric
    }

    def reported(candidate: Candidate) -> Candidate:
        split = candidate.split
        if split.kind is not SplitKind.THRESHOLD or split.column not in values:
            return candidate
        threshold = float(lowered(np.array([split.threshold]), values[split.column])[0])
        return replace(candidate, split=replace(split, threshold=threshold))

    return {node: [reported(one) for one in candidates] for node, candidates in considered.items()}


def sorted_values(values: Column) -> FloatArray:
    """The known values of a numeric column, ascending."""
    return np.sort(values[~np.isnan(values)]).astype(np.float64)


def lowered(thresholds: FloatArray, values: FloatArray) -> FloatArray:
    """For each threshold, the largest of the ascending values that does not exceed it; there is always one."""
    positions = np.searchsorted(values, thresholds, side="right") - 1
    assert (positions >= 0).all()
    return values[positions]
