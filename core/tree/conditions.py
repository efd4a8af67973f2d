"""The conditions that a branch, or all branches of a path, require of a record.

A condition is read with `match`; a new kind fails type checking until every reader handles it. `or_missing` means that
a missing value satisfies it too: only CHAID, for which missing may be a category, has such branches.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray
from core.splits.split import Split, SplitKind, Term, weighted_sums
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table, is_missing
from core.tree.tree import Tree


@dataclass(frozen=True, slots=True)
class AtMost:
    """value <= threshold"""

    column: int
    threshold: float
    or_missing: bool = False


@dataclass(frozen=True, slots=True)
class Above:
    """value > threshold"""

    column: int
    threshold: float
    or_missing: bool = False


@dataclass(frozen=True, slots=True)
class Between:
    """above < value <= at_most"""

    column: int
    above: float
    at_most: float
    or_missing: bool = False


@dataclass(frozen=True, slots=True)
class IsOneOf:
    """The value is one of these, given as codes in declared order; ordinals are read this way too.

    Of numbers there are none: only a missing value satisfies it then.
    """

    column: int
    codes: tuple[int, ...]
    or_missing: bool = False


@dataclass(frozen=True, slots=True)
class IsKnown:
    """The value is any number, but not missing."""

    column: int
    or_missing: bool = False


@dataclass(frozen=True, slots=True)
class Linear:
    """A weighted sum is at most the threshold, or above it; `column` is that of its first term."""

    column: int
    terms: tuple[Term, ...]
    threshold: float
    is_above: bool

    @property
    def side(self) -> str:
        """How the sum compares with the threshold."""
        return ">" if self.is_above else "<="


OnOneAttribute = AtMost | Above | Between | IsOneOf | IsKnown
Condition = OnOneAttribute | Linear


def branch_condition(split: Split, branch: int, attribute: Attribute) -> Condition:
    """The condition for this branch; `attribute` is the split's, for a linear test the first one's."""
    if split.kind is SplitKind.LINEAR:
        return Linear(split.column, split.terms, split.threshold, branch == 1)
    if split.kind is SplitKind.MULTIWAY:  # branch and code are equal, and there may be very many
        return IsOneOf(split.column, (branch,))
    or_missing = split.missing_branch == branch
    if split.kind in (SplitKind.GROUPS, SplitKind.ONE_VS_REST, SplitKind.MERGED):
        return IsOneOf(split.column, codes_of(split, branch, len(attribute.categories)), or_missing)
    above, at_most = interval_of(split, branch)
    if attribute.kind is Kind.ORDINAL:
        codes = range(len(attribute.categories))
        return IsOneOf(split.column, tuple(code for code in codes if above < code <= at_most))
    return _interval(split.column, above, at_most, or_missing=or_missing)


def codes_of(split: Split, branch: int, n_codes: int) -> tuple[int, ...]:
    """The values, or intervals, that go down a branch of groups."""
    return tuple(code for code in range(n_codes) if split.branch_of[code] == branch)


def interval_of(split: Split, branch: int) -> tuple[float, float]:
    """The numbers (above, at most] that go down a branch of a threshold or of intervals; (inf, -inf] if none do."""
    cuts = (split.threshold,) if split.kind is SplitKind.THRESHOLD else split.cuts
    ends, first, last = (-math.inf, *cuts, math.inf), branch, branch
    if split.kind is SplitKind.MERGED_INTERVALS:
        intervals = codes_of(split, branch, len(cuts) + 1)
        if not intervals:
            return math.inf, -math.inf
        first, last = intervals[0], intervals[-1]
    return ends[first], ends[last + 1]


def group_names(split: Split, group: Iterable[int], attribute: Attribute) -> list[str | None]:
    """CHAID's group in words: its values, or the interval it makes; None for missing."""
    n_codes = len(split.branch_of) - 1
    names: list[str] = []
    known = [code for code in group if code < n_codes]
    if known and split.kind is SplitKind.MERGED_INTERVALS:
        ends = (-math.inf, *split.cuts, math.inf)
        names = [says(_interval(split.column, ends[known[0]], ends[known[-1] + 1]), attribute)]
    elif known:
        names = [attribute.categories[code] for code in known]
    return [*names, *([None] if n_codes in group else [])]


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
    """One condition per attribute, in the order in which attributes first appear; linear ones keep their order."""
    every = list(conditions)
    by_column = {one.column: one for one in merged_by_attribute(one for one in every if not isinstance(one, Linear))}
    in_order = (one if isinstance(one, Linear) else by_column.pop(one.column, None) for one in every)
    return [one for one in in_order if one is not None]


def merged_by_attribute(conditions: Iterable[OnOneAttribute]) -> list[OnOneAttribute]:
    """One condition per attribute, in the order in which attributes first appear: an interval or a set."""
    intervals: dict[int, tuple[float, float]] = {}
    sets: dict[int, tuple[int, ...]] = {}
    or_missing: dict[int, bool] = {}  # in the order of the attributes
    for condition in conditions:
        or_missing[condition.column] = condition.or_missing and or_missing.get(condition.column, True)
        low, high = intervals.get(condition.column, (-math.inf, math.inf))
        match condition:
            case IsKnown(column):
                intervals[column] = low, high
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
        IsOneOf(column, sets[column], also_missing)
        if column in sets
        else _interval(column, *intervals[column], or_missing=also_missing)
        for column, also_missing in or_missing.items()
    ]


def _interval(column: int, above: float, at_most: float, *, or_missing: bool = False) -> OnOneAttribute:
    if above == math.inf:
        return IsOneOf(column, (), or_missing)
    if above == -math.inf:
        return IsKnown(column, or_missing) if at_most == math.inf else AtMost(column, at_most, or_missing)
    return Above(column, above, or_missing) if at_most == math.inf else Between(column, above, at_most, or_missing)


def holds(condition: OnOneAttribute, value: float | int | None) -> bool:
    """Whether a value (a number, or a code; None when it is missing) satisfies the condition."""
    if value is None:
        return condition.or_missing
    match condition:
        case IsKnown():
            return True
        case AtMost(_, threshold):
            return value <= threshold
        case Above(_, threshold):
            return value > threshold
        case Between(_, above, at_most):
            return above < value <= at_most
        case IsOneOf(_, codes):
            return value in codes


def satisfied(condition: OnOneAttribute, values: Column) -> BoolArray:
    """Which cells of the condition's column satisfy it."""
    known = satisfied_when_known(condition, values)
    return known | is_missing(values) if condition.or_missing else known


def satisfied_when_known(condition: OnOneAttribute, values: Column) -> BoolArray:
    """Which cells are known and satisfy it."""
    match condition:
        case IsKnown():
            return ~is_missing(values)
        case AtMost(_, threshold):
            return values <= threshold
        case Above(_, threshold):
            return values > threshold
        case Between(_, above, at_most):
            return (above < values) & (values <= at_most)
        case IsOneOf(_, codes):
            return np.isin(values, codes)


def satisfied_by(condition: Condition, records: Table) -> BoolArray:
    """Which records satisfy the condition."""
    if not isinstance(condition, Linear):
        return satisfied(condition, records.columns[condition.column])
    sums = weighted_sums(condition.terms, records.columns, slice(None))
    return sums > condition.threshold if condition.is_above else sums <= condition.threshold


def says(condition: OnOneAttribute, attribute: Attribute) -> str:
    """The condition in words, without the attribute's name in front if the form allows it."""
    match condition:
        case IsOneOf(_, (), True):
            return "is missing"
        case _:
            return says_of_known(condition, attribute) + (" or missing" if condition.or_missing else "")


def says_of_known(condition: OnOneAttribute, attribute: Attribute) -> str:
    """The condition on known values in words, without the attribute's name in front where the form allows it."""
    match condition:
        case IsKnown():
            return "is known"
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


def sentence(condition: OnOneAttribute, attribute: Attribute) -> str:
    """The condition as a reader says it: `纹理 = 清晰`, `0.38 < 密度 <= 0.6`, `(纹理 = 清晰 or missing)`."""
    match condition:
        case IsOneOf(_, (), True):
            return f"{attribute.name} is missing"
        case Between(_, above, at_most):
            said = f"{number_text(above)} < {attribute.name} <= {number_text(at_most)}"
        case _:
            said = f"{attribute.name} {says_of_known(condition, attribute)}"
    return f"({said} or missing)" if condition.or_missing else said


def outcome_text(condition: Condition, schema: Schema) -> str:
    """The condition in words, without the attribute's name in front; a linear one is written in full."""
    if isinstance(condition, Linear):
        return condition_text(condition, schema)
    return says(condition, schema[condition.column])


def condition_text(condition: Condition, schema: Schema) -> str:
    """The condition as a reader says it; of a linear one the numbers are rounded."""
    if isinstance(condition, Linear):
        return f"{sum_text(condition.terms, schema)} {condition.side} {rounded(condition.threshold, 4)}"
    return sentence(condition, schema[condition.column])


def sum_text(terms: Iterable[Term], schema: Schema) -> str:
    """A weighted sum: what is added first, then what is taken away, with weights to three digits."""
    in_order = sorted(terms, key=lambda term: term.weight < 0)
    parts = [
        f"{'- ' if term.weight < 0 else '+ '}{rounded(abs(term.weight), 3)} {term_name(term, schema)}"
        for term in in_order
    ]
    return " ".join(parts).removeprefix("+ ")


def term_name(term: Term, schema: Schema) -> str:
    """What a term multiplies: an attribute, or `attribute=category`."""
    attribute = schema[term.column]
    return attribute.name if term.code < 0 else f"{attribute.name}={attribute.categories[term.code]}"


def rounded(number: float, digits: int) -> str:
    """A number rounded to `digits` significant digits."""
    return number_text(float(f"{number:.{digits}g}"))


def number_text(number: float) -> str:
    """The shortest decimal that reads back as the same number; whole numbers without a point."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e16 else repr(float(number))
