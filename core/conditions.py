"""What a branch asks of a record, and the same for all the branches of a path taken together.

A condition is read with `match`; a new kind fails type checking until every reader handles it.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.schema import Attribute, Kind, Schema
from core.splits.split import Split, SplitKind
from core.table import BoolArray, Column
from core.tree import Tree


@dataclass(frozen=True, slots=True)
class AtMost:
    """value <= threshold"""

    column: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Above:
    """value > threshold"""

    column: int
    threshold: float


@dataclass(frozen=True, slots=True)
class Between:
    """above < value <= at_most"""

    column: int
    above: float
    at_most: float


@dataclass(frozen=True, slots=True)
class IsOneOf:
    """The value is one of these, given as codes in declared order; ordinals are read this way too."""

    column: int
    codes: tuple[int, ...]


Condition = AtMost | Above | Between | IsOneOf


def branch_condition(split: Split, branch: int, attribute: Attribute) -> Condition:
    """What sends a record down this branch."""
    if split.kind is SplitKind.MULTIWAY:  # branch and code are the same number, and there may be very many
        return IsOneOf(split.column, (branch,))
    if split.kind not in (SplitKind.THRESHOLD, SplitKind.INTERVALS):
        return IsOneOf(split.column, tuple(code for code, taken in enumerate(split.branch_of) if taken == branch))
    above, at_most = interval_of(split, branch)
    if attribute.kind is Kind.ORDINAL:
        codes = range(len(attribute.categories))
        return IsOneOf(split.column, tuple(code for code in codes if above < code <= at_most))
    return _interval(split.column, above, at_most)


def interval_of(split: Split, branch: int) -> tuple[float, float]:
    """The numbers (above, at most] that go down a branch of a threshold or of intervals."""
    cuts = (split.threshold,) if split.kind is SplitKind.THRESHOLD else split.cuts
    ends = (-math.inf, *cuts, math.inf)
    return ends[branch], ends[branch + 1]


def path_conditions(tree: Tree, node: int, schema: Schema) -> list[Condition]:
    """The conditions from the root to a node, one for each test."""
    conditions: list[Condition] = []
    while node > 0:
        parent = int(tree.parent[node])
        split = tree.split(parent)
        conditions.append(branch_condition(split, int(tree.branch[node]), schema[split.column]))
        node = parent
    return conditions[::-1]


def merged(conditions: Iterable[Condition]) -> list[Condition]:
    """One condition per attribute, in the order in which attributes first appear: an interval or a set."""
    intervals: dict[int, tuple[float, float]] = {}
    sets: dict[int, tuple[int, ...]] = {}
    order: dict[int, None] = {}
    for condition in conditions:
        order.setdefault(condition.column)
        low, high = intervals.get(condition.column, (-math.inf, math.inf))
        match condition:
            case IsOneOf(column, codes):
                also = set(codes)  # there may be very many
                sets[column] = tuple(code for code in sets.get(column, codes) if code in also)
            case AtMost(column, threshold):
                intervals[column] = low, min(high, threshold)
            case Above(column, threshold):
                intervals[column] = max(low, threshold), high
            case Between(column, above, at_most):
                intervals[column] = max(low, above), min(high, at_most)
    return [
        IsOneOf(column, sets[column]) if column in sets else _interval(column, *intervals[column]) for column in order
    ]


def _interval(column: int, above: float, at_most: float) -> Condition:
    if above == -math.inf:
        return AtMost(column, at_most)
    return Above(column, above) if at_most == math.inf else Between(column, above, at_most)


def holds(condition: Condition, value: float | int) -> bool:
    """Whether a known value (a number, or a code) satisfies the condition."""
    match condition:
        case AtMost(_, threshold):
            return value <= threshold
        case Above(_, threshold):
            return value > threshold
        case Between(_, above, at_most):
            return above < value <= at_most
        case IsOneOf(_, codes):
            return value in codes


def satisfied(condition: Condition, values: Column) -> BoolArray:
    """Which cells of the condition's column are known and satisfy it."""
    match condition:
        case AtMost(_, threshold):
            return values <= threshold
        case Above(_, threshold):
            return values > threshold
        case Between(_, above, at_most):
            return (above < values) & (values <= at_most)
        case IsOneOf(_, codes):
            return np.isin(values, codes)


def says(condition: Condition, attribute: Attribute) -> str:
    """The condition in words, without the attribute's name in front where the form allows it."""
    match condition:
        case AtMost(_, threshold):
            return f"<= {number_text(threshold)}"
        case Above(_, threshold):
            return f"> {number_text(threshold)}"
        case Between(_, above, at_most):
            return f"> {number_text(above)} and <= {number_text(at_most)}"
        case IsOneOf(_, (code,)):
            return f"= {attribute.categories[code]}"
        case IsOneOf(_, codes):
            return "in {" + ", ".join(attribute.categories[code] for code in codes) + "}"


def sentence(condition: Condition, attribute: Attribute) -> str:
    """The condition as a reader says it: `纹理 = 清晰`, `0.38 < 密度 <= 0.6`."""
    if isinstance(condition, Between):
        return f"{number_text(condition.above)} < {attribute.name} <= {number_text(condition.at_most)}"
    return f"{attribute.name} {says(condition, attribute)}"


def number_text(number: float) -> str:
    """The shortest decimal that reads back as the same number; whole numbers without a point."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(float(number))
