import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.prediction.routing import MissingPolicy, leaves_reached
from core.rules.extraction import Rule, path_rules
from core.rules.matching import Match, MatchState, ordered_matches, path_matches
from core.rules.simplification import OrderedRules
from core.tables.table import Table
from core.tree.conditions import AtMost, IsOneOf
from tests.core.building import table_of
from tests.core.rules.wild_models import decided, wild_model
from tests.examples import examples

FULL, PARTIAL, NONE = MatchState.FULL, MatchState.PARTIAL, MatchState.NONE


@examples(60)
@given(st.integers(0, 2**32))
def test_weights_are_those_of_a_prediction_and_what_is_decided_matches_one_path(seed):
    model, view, records = wild_model(seed)
    rules = path_rules(view, model.attributes)
    reached, whole = leaves_reached(view, records, MissingPolicy.WEIGHTED), decided(view, records)
    for row in range(records.n_rows):
        record = records.take(range(row, row + 1))
        matches = path_matches(rules, record, dict(reached[row]))
        assert sum(match.weight for match in matches) == pytest.approx(1.0)
        assert {rule.leaf for rule, match in zip(rules, matches, strict=True) if match.state is not NONE} == {
            leaf for leaf, _ in reached[row]
        }
        full = [match for match in matches if match.state is FULL]
        assert full == ([Match(FULL, 1.0, True)] if row in whole else [])


def rule(number: int, *conditions: AtMost | IsOneOf) -> Rule:
    return Rule(f"rule_{number}", number, conditions, 0.5, number % 2, (1.0, 1.0))


@pytest.mark.parametrize(
    ("a", "n", "expected"),
    [
        ("u", 1, [Match(FULL, 1.0, True), Match(FULL, 1.0, False)]),
        ("v", 1, [Match(NONE, 0.0, False), Match(FULL, 1.0, True)]),
        (None, 1, [Match(PARTIAL, None, False), Match(FULL, 1.0, True)]),
        ("u", None, [Match(PARTIAL, None, False), Match(PARTIAL, None, False)]),
        ("v", None, [Match(NONE, 0.0, False), Match(PARTIAL, None, False)]),
        ("v", 9, [Match(NONE, 0.0, False), Match(NONE, 0.0, False)]),
    ],
)
def test_the_first_rule_that_holds_fully_decides(a, n, expected):
    whole = table_of({"a": ["u", "v", a], "n": [1, 2, n]})
    ordered = OrderedRules((rule(0, IsOneOf(0, (0,)), AtMost(1, 2.0)), rule(1, AtMost(1, 5.0))), 0)
    assert ordered_matches(ordered, Table(whole.schema, tuple(cells[2:] for cells in whole.columns))) == expected
