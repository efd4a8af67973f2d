"""Splits on other attributes that imitate one whose value is missing (CART, Breiman et al. 1984, section 5.3).

A surrogate imitates the binary split of a node as well as it can on the rows whose values of both attributes are known:
its agreement is the share of their weight that it sends to the same side. It is kept if it does better than sending all
of them to the side that most of them take. A row without the value follows the first surrogate whose value it has, and
if it has none of them, the heavier branch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import in_row_order, sums_by
from core.arithmetic.ties import TIE, first_within_tie
from core.splits.candidates import midpoint
from core.splits.split import Split, SplitKind
from core.tables.schema import Attribute
from core.tables.table import Column, Table, is_missing

MOST_SURROGATES = 5


@dataclass(frozen=True, slots=True)
class Surrogate:
    """A surrogate split; if `is_reversed`, values up to the threshold go to the second branch.

    A category that no row of the node has goes to neither branch: its branch is -1.
    """

    split: Split
    is_reversed: bool
    agreement: float

    def branches(self, values: Column) -> RowArray:
        """The branch of each cell, -1 where it is missing or a category that no row of the node has."""
        branch = self.split.branches(values)
        return np.where(branch < 0, -1, 1 - branch) if self.is_reversed else branch


def find_surrogates(
    table: Table, rows: RowArray, weights: FloatArray, primary: Split, branch: RowArray
) -> tuple[Surrogate, ...]:
    """The best surrogates of a split, by agreement and then column; `branch` is -1 where its value is missing."""
    found = []
    for column, attribute in enumerate(table.schema):
        if column == primary.column:
            continue
        values = table.columns[column][rows]
        both = np.flatnonzero((branch >= 0) & ~is_missing(values))
        sides = np.eye(2)[branch[both]] * weights[both, None]
        imitate = best_threshold if attribute.has_order else best_sides
        surrogate = imitate(column, attribute, values[both], sides) if len(both) else None
        if surrogate is not None:
            found.append(surrogate)
    ranked: list[Surrogate] = []
    while found and len(ranked) < MOST_SURROGATES:
        ranked.append(found.pop(first_within_tie(np.array([one.agreement for one in found]))))
    return tuple(ranked)


def majority_agreement(groups: FloatArray) -> float:
    """The agreement of sending every row to the side that most weight takes; `groups[g, side]` are weights."""
    whole = in_row_order(groups)
    return float(whole.max() / whole.sum())


def best_threshold(column: int, _: Attribute, values: Column, sides: FloatArray) -> Surrogate | None:
    """The threshold of largest agreement in either direction; None where it does no better than the majority.

    On a tie, the smaller threshold wins, and then the one that is not reversed. `sides[i]` is row i's weight by side.
    """
    distinct, position = np.unique(values.astype(np.float64), return_inverse=True)
    if len(distinct) == 1:
        return None
    groups = sums_by(position, sides, len(distinct))
    up_to, after = np.cumsum(groups, axis=0)[:-1], np.cumsum(groups[::-1], axis=0)[::-1][1:]
    agreeing = np.stack([up_to[:, 0] + after[:, 1], up_to[:, 1] + after[:, 0]], axis=1).ravel()
    agreements = agreeing / in_row_order(groups).sum()
    best = first_within_tie(agreements)
    if agreements[best] <= majority_agreement(groups) + TIE:
        return None
    threshold = midpoint(float(distinct[best // 2]), float(distinct[best // 2 + 1]))
    split = Split(column, SplitKind.THRESHOLD, 2, threshold=threshold)
    return Surrogate(split, bool(best % 2), float(agreements[best]))


def best_sides(column: int, attribute: Attribute, values: Column, sides: FloatArray) -> Surrogate | None:
    """The surrogate that sends each category to the side it agrees with; None if it does no better than the majority.

    On a tie, a category goes to the first side. `sides[i]` is row i's weight by side.
    """
    groups = sums_by(values.astype(np.int64), sides, len(attribute.categories))
    agreement = float(in_row_order(groups.max(axis=1)) / in_row_order(groups).sum())
    if agreement <= majority_agreement(groups) + TIE:
        return None
    second = groups[:, 1] > groups[:, 0] * (1 + TIE)
    branch_of = np.where(groups.sum(axis=1) > 0, second.astype(np.int64), -1)
    split = Split(column, SplitKind.GROUPS, 2, branch_of=tuple(int(branch) for branch in branch_of))
    return Surrogate(split, is_reversed=False, agreement=agreement)


def followed(
    table: Table, rows: RowArray, branch: RowArray, surrogates: Sequence[Surrogate], shares: FloatArray
) -> RowArray:
    """The branch of each row: its own, else that of the first surrogate whose value it has, else the heavier branch."""
    taken = branch.copy()
    for surrogate in surrogates:
        waiting = np.flatnonzero(taken < 0)
        taken[waiting] = surrogate.branches(table.columns[surrogate.split.column][rows[waiting]])
    return np.where(taken < 0, first_within_tie(shares), taken)
