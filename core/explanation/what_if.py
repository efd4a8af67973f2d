"""What an answer would become if one missing value were known and the others stayed as they are."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, nextafter

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.ties import TIE, first_within_tie
from core.growth.held_out import labels_of
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy
from core.records.records import Cells
from core.splits.split import Split
from core.tables.schema import Attribute
from core.tables.target import Task
from core.tree.conditions import Above, AtMost, Condition, IsOneOf, merged


@dataclass(frozen=True, slots=True)
class TellingValues:
    """Representative values of a column: every joint outcome of some tests on it occurs once among them.

    `values[i]` represents the numbers (cuts[i - 1], cuts[i]], or the codes `groups[i]`.
    """

    column: int
    values: tuple[float, ...]
    cuts: tuple[float, ...] = ()
    groups: tuple[tuple[int, ...], ...] = ()

    def condition(self, is_like: Sequence[bool], index: int) -> Condition | None:
        """The condition that the value at `index` and those like it satisfy; None if all values are alike.

        Of numbers, only those next to it count as like it; of categories, all.
        """
        if all(is_like):
            return None
        if self.groups:
            codes = (code for group, one in zip(self.groups, is_like, strict=True) if one for code in group)
            return IsOneOf(self.column, tuple(sorted(codes)))
        first, last = index, index
        while first > 0 and is_like[first - 1]:
            first -= 1
        while last < len(self.cuts) and is_like[last + 1]:
            last += 1
        above = [Above(self.column, self.cuts[first - 1])] if first > 0 else []
        at_most = [AtMost(self.column, self.cuts[last])] if last < len(self.cuts) else []
        return merged([*above, *at_most])[0]


def telling_values(column: int, attribute: Attribute, splits: Iterable[Split]) -> TellingValues:
    """Representative values for the tests on a column; the last number is above every cut."""
    tests = list(splits)
    if attribute.is_numeric:
        ends = (split.cuts if split.kind.has_cuts else (split.threshold,) for split in tests)
        cuts = tuple(sorted({cut for of_split in ends for cut in of_split}))
        return TellingValues(column, (*cuts, nextafter(cuts[-1], inf) if cuts else 0.0), cuts=cuts)
    codes = np.arange(len(attribute.categories), dtype=np.int32)
    groups: dict[tuple[int, ...], list[int]] = {}
    outcomes = zip(*(split.branches(codes).tolist() for split in tests), strict=True)
    for code, outcome in enumerate(outcomes):
        groups.setdefault(outcome, []).append(code)
    every = tuple(tuple(group) for group in groups.values())
    return TellingValues(column, tuple(float(group[0]) for group in every), groups=every)


@dataclass(frozen=True)
class WhatIf:
    """The answers that an attribute's values would give; `labels` are classes, None for numbers."""

    telling: TellingValues
    answers: FloatArray
    labels: tuple[int, ...] | None

    def changes(self, answer: FloatArray, label: int | None) -> BoolArray:
        """Which values would give another label than this one; for numbers, another answer."""
        if self.labels is not None:
            return np.array([one != label for one in self.labels])
        return np.any(np.abs(self.answers - answer) > TIE * np.abs(answer), axis=1)

    def like(self, index: int) -> list[bool]:
        """Which values give the same label as the value at `index`; for numbers, the same answer."""
        if self.labels is not None:
            return [one == self.labels[index] for one in self.labels]
        return (self.answers == self.answers[index]).all(axis=1).tolist()


def what_if(predictor: Predictor, cells: Cells, telling: TellingValues, policy: MissingPolicy) -> WhatIf:
    """The answers of a record for each representative value of an attribute."""
    before, after = tuple(cells[: telling.column]), tuple(cells[telling.column + 1 :])
    answers = np.array([predictor.one((*before, value, *after), policy) for value in telling.values])
    tree = predictor.view.tree
    is_class = tree.task is Task.CLASSIFICATION
    return WhatIf(telling, answers, tuple(labels_of(answers, tree.costs).tolist()) if is_class else None)


def most_telling(possible: Sequence[WhatIf], answer: FloatArray, label: int | None) -> tuple[int, int]:
    """The attribute and the value that change the answer most, among attributes that can change it.

    Ties go to the first. Several targets are compared in units of the largest change of each.
    """
    moves = [np.abs(one.answers - answer) for one in possible]
    furthest = np.max([move.max(axis=0) for move in moves], axis=0)
    lengths = [
        np.where(one.changes(answer, label), (move / np.where(furthest > 0, furthest, 1.0)).sum(axis=1), -1.0)
        for one, move in zip(possible, moves, strict=True)
    ]
    index = first_within_tie(np.array([length.max() for length in lengths]))
    return index, first_within_tie(lengths[index])
