"""Which rules hold for a record: fully, partially, or not.

A path rule holds partially if values that it tests are missing; its weight is the weight of the record at its leaf, as
in a prediction. Simplified rules are no paths and have no such weight; one that may hold is reported, but does not
answer.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.rules.extraction import Rule
from core.rules.simplification import OrderedRules
from core.tables.table import Table, is_missing
from core.tree.conditions import Condition, Linear, holds, satisfied_by


class MatchState(StrEnum):
    """How far a rule holds for a record."""

    FULL = "full"  # all its conditions hold
    PARTIAL = "partial"  # no condition is known to fail, but some value is missing
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Match:
    """How far a rule holds, the record's weight at it (None if undefined), and whether it decides."""

    state: MatchState
    weight: float | None
    decides: bool


def path_matches(rules: Sequence[Rule], record: Table, reached: Mapping[int, float]) -> list[Match]:
    """The matches of path rules for a table of one record; `reached` has the weights of the leaves that answer it."""
    matches = []
    for rule in rules:
        weight = reached.get(rule.leaf, 0.0)
        is_full = weight > 0 and state_of(rule, record) is MatchState.FULL
        state = MatchState.FULL if is_full else MatchState.PARTIAL if weight > 0 else MatchState.NONE
        matches.append(Match(state, weight, weight == 1.0))
    return matches


def ordered_matches(ordered: OrderedRules, record: Table) -> list[Match]:
    """The matches of simplified rules, in their order, for a table of one record."""
    deciding = int(ordered.deciding(record)[0])
    weights = {MatchState.FULL: 1.0, MatchState.PARTIAL: None, MatchState.NONE: 0.0}
    states = [state_of(rule, record) for rule in ordered.rules]
    return [Match(state, weights[state], index == deciding) for index, state in enumerate(states)]


def state_of(rule: Rule, record: Table) -> MatchState:
    """FULL if all conditions of a rule hold, NONE if one fails, otherwise PARTIAL."""
    state = MatchState.FULL
    for condition in rule.conditions:
        if lacks_values(condition, record):
            is_passed = not isinstance(condition, Linear) and condition.or_missing
            state = state if is_passed else MatchState.PARTIAL
        elif isinstance(condition, Linear):
            if not satisfied_by(condition, record)[0]:
                return MatchState.NONE
        elif not holds(condition, record.columns[condition.column][0]):
            return MatchState.NONE
    return state


def lacks_values(condition: Condition, record: Table) -> bool:
    """Whether a value that the condition tests is missing."""
    columns = [term.column for term in condition.terms] if isinstance(condition, Linear) else [condition.column]
    return any(is_missing(record.columns[column][:1])[0] for column in columns)
