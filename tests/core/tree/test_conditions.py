import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.definition import grow
from core.splits.split import Split, SplitKind, Term
from core.tables.schema import Attribute, Kind, Schema
from core.tree.conditions import (
    Above,
    AtMost,
    Between,
    IsKnown,
    IsOneOf,
    Linear,
    branch_condition,
    condition_text,
    group_names,
    holds,
    merged,
    number_text,
    path_conditions,
    satisfied,
    satisfied_by,
    says,
    sentence,
)
from core.tree.tree import full_view
from tests.core.building import table_of
from tests.core.completions import complete_records, telling_values
from tests.core.strategies import trainings
from tests.examples import examples

DENSITY = Attribute("密度", Kind.NUMERIC)
TEXTURE = Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", "模糊"))
GRADE = Attribute("等级", Kind.ORDINAL, ("低", "中", "高"))


@pytest.mark.parametrize(
    ("split", "attribute", "conditions"),
    [
        (Split(0, SplitKind.THRESHOLD, 2, threshold=0.5), DENSITY, [AtMost(0, 0.5), Above(0, 0.5)]),
        (Split(0, SplitKind.THRESHOLD, 2, threshold=1.0), GRADE, [IsOneOf(0, (0, 1)), IsOneOf(0, (2,))]),
        (
            Split(0, SplitKind.MULTIWAY, 3, branch_of=(0, 1, 2)),
            TEXTURE,
            [IsOneOf(0, (0,)), IsOneOf(0, (1,)), IsOneOf(0, (2,))],
        ),
        (Split(0, SplitKind.GROUPS, 2, branch_of=(0, 1, 0)), TEXTURE, [IsOneOf(0, (0, 2)), IsOneOf(0, (1,))]),
        (Split(0, SplitKind.ONE_VS_REST, 2, branch_of=(1, 0, 1)), TEXTURE, [IsOneOf(0, (1,)), IsOneOf(0, (0, 2))]),
        (
            Split(0, SplitKind.MERGED, 2, branch_of=(0, 1, 0, 1)),
            TEXTURE,
            [IsOneOf(0, (0, 2)), IsOneOf(0, (1,), or_missing=True)],
        ),
        (
            Split(0, SplitKind.MERGED, 3, branch_of=(0, 1, 0, 2)),
            GRADE,
            [IsOneOf(0, (0, 2)), IsOneOf(0, (1,)), IsOneOf(0, (), or_missing=True)],
        ),
        (
            Split(0, SplitKind.MERGED_INTERVALS, 3, branch_of=(0, 0, 1, 2, 1), cuts=(1.0, 2.0, 3.0)),
            DENSITY,
            [AtMost(0, 2.0), Between(0, 2.0, 3.0, or_missing=True), Above(0, 3.0)],
        ),
        (
            Split(0, SplitKind.MERGED_INTERVALS, 2, branch_of=(0, 0, 1), cuts=(1.0,)),
            DENSITY,
            [IsKnown(0), IsOneOf(0, (), or_missing=True)],
        ),
    ],
)
def test_what_a_branch_asks(split, attribute, conditions):
    assert [branch_condition(split, branch, attribute) for branch in range(split.n_branches)] == conditions


@pytest.mark.parametrize(
    ("condition", "attribute", "in_words", "as_sentence"),
    [
        (AtMost(0, 0.3815), DENSITY, "<= 0.3815", "密度 <= 0.3815"),
        (Above(0, 20.0), DENSITY, "> 20", "密度 > 20"),
        (Between(0, 0.38, 0.6), DENSITY, "> 0.38 and <= 0.6", "0.38 < 密度 <= 0.6"),
        (IsOneOf(0, (0,)), TEXTURE, "= 清晰", "纹理 = 清晰"),
        (IsOneOf(0, (0, 2)), TEXTURE, "in {清晰, 模糊}", "纹理 in {清晰, 模糊}"),
        (IsOneOf(0, (0,), or_missing=True), TEXTURE, "= 清晰 or missing", "(纹理 = 清晰 or missing)"),
        (IsOneOf(0, (), or_missing=True), TEXTURE, "is missing", "纹理 is missing"),
        (Above(0, 20.0, or_missing=True), DENSITY, "> 20 or missing", "(密度 > 20 or missing)"),
        (
            Between(0, 0.38, 0.6, or_missing=True),
            DENSITY,
            "> 0.38 and <= 0.6 or missing",
            "(0.38 < 密度 <= 0.6 or missing)",
        ),
        (IsKnown(0), DENSITY, "is known", "密度 is known"),
    ],
)
def test_conditions_in_words(condition, attribute, in_words, as_sentence):
    assert says(condition, attribute) == in_words
    assert sentence(condition, attribute) == as_sentence


def test_missing_satisfies_only_what_says_so():
    cells, codes = np.array([0.5, np.nan]), np.array([1, -1], dtype=np.int32)
    for condition in (AtMost(0, 1.0), Above(0, 0.0), Between(0, 0.0, 1.0), IsKnown(0)):
        assert satisfied(condition, cells).tolist() == [True, False] == [holds(condition, 0.5), holds(condition, None)]
    for condition in (AtMost(0, 1.0, or_missing=True), Above(0, 0.0, or_missing=True)):
        assert satisfied(condition, cells).tolist() == [True, True] == [holds(condition, 0.5), holds(condition, None)]
    assert satisfied(IsOneOf(0, (1,), or_missing=True), codes).tolist() == [True, True]
    assert satisfied(IsOneOf(0, (), or_missing=True), codes).tolist() == [False, True]


def test_merged_conditions_include_missing_only_where_all_do():
    both = [IsOneOf(0, (0, 1), or_missing=True), IsOneOf(0, (1, 2), or_missing=True)]
    assert merged(both) == [IsOneOf(0, (1,), or_missing=True)]
    assert merged([both[0], IsOneOf(0, (1, 2))]) == [IsOneOf(0, (1,))]
    assert merged([AtMost(1, 3.0, or_missing=True), Above(1, 1.0)]) == [Between(1, 1.0, 3.0)]
    assert merged([IsKnown(1), IsKnown(1)]) == [IsKnown(1)]
    assert merged([IsKnown(1), AtMost(1, 3.0)]) == [AtMost(1, 3.0)]


def test_groups_are_named_by_their_values_or_the_interval_they_make():
    merged_values = Split(0, SplitKind.MERGED, 2, branch_of=(0, 1, 0, 1))
    assert group_names(merged_values, (1, 3), TEXTURE) == ["稍糊", None]
    intervals = Split(0, SplitKind.MERGED_INTERVALS, 2, branch_of=(0, 0, 1, 1), cuts=(1.0, 2.0))
    assert group_names(intervals, (0, 1), DENSITY) == ["<= 2"]
    assert group_names(intervals, (2, 3), DENSITY) == ["> 2", None]


@pytest.mark.parametrize(
    ("number", "text"), [(3.0, "3"), (-0.0, "0"), (0.1, "0.1"), (1e300, "1e+300"), (-2.5, "-2.5"), (1e16, "1e+16")]
)
def test_numbers_in_words(number, text):
    assert number_text(number) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back_as_themselves(number):
    assert float(number_text(number)) == number


@pytest.mark.parametrize(
    ("condition", "value", "expected"),
    [
        (AtMost(0, 1.0), 1.0, True),
        (Above(0, 1.0), 1.0, False),
        (Above(0, 1.0), math.nextafter(1.0, 2.0), True),
        (Between(0, 1.0, 2.0), 1.0, False),
        (Between(0, 1.0, 2.0), 2.0, True),
        (IsOneOf(0, (0, 2)), 2, True),
        (IsOneOf(0, (0, 2)), 1, False),
    ],
)
def test_conditions_hold_up_to_their_upper_edge(condition, value, expected):
    assert holds(condition, value) is expected


def test_merging_makes_one_interval_or_set_per_attribute_in_order_of_appearance():
    path = [Above(1, 0.2), IsOneOf(0, (0, 1, 3)), AtMost(1, 0.9), IsOneOf(0, (1, 2, 3)), Above(1, 0.1), AtMost(2, 5.0)]
    assert merged(path) == [Between(1, 0.2, 0.9), IsOneOf(0, (1, 3)), AtMost(2, 5.0)]
    assert merged([Between(0, 0.0, 9.0), Between(0, 2.0, 11.0)]) == [Between(0, 2.0, 9.0)]
    assert merged([Above(0, 1.0), Above(0, 2.0)]) == [Above(0, 2.0)]
    assert merged([]) == []


@examples(80)
@given(trainings(max_columns=3, max_rows=9))
def test_merged_conditions_hold_when_all_conditions_of_the_path_do(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    schema = samples.attributes.schema
    for leaf in full_view(tree).leaves:
        path = path_conditions(tree, leaf, schema)
        assert len(path) == tree.depth[leaf]
        together = merged(path)
        assert len({condition.column for condition in together}) == len(together)
        for condition in together:
            for value in telling_values(tree, samples.attributes, condition.column):
                each = all(holds(one, value) for one in path if one.column == condition.column)
                assert holds(condition, value) is each


@examples(40)
@given(trainings(max_columns=2, max_rows=8))
def test_conditions_of_a_path_are_those_that_lead_there(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    records = complete_records(tree, samples.attributes)
    for node in range(1, len(tree)):
        parent = int(tree.parent[node])
        split = tree.split(parent)
        branch = tree.children(parent).index(node)
        condition = branch_condition(split, branch, samples.attributes.schema[split.column])
        values = records.columns[split.column]
        assert [holds(condition, value) for value in values] == (split.branches(values) == branch).tolist()


def test_intervals_are_read_as_at_most_between_and_above():
    split = Split(0, SplitKind.INTERVALS, 3, cuts=(0.5, 1.5))
    of_numbers = [branch_condition(split, branch, DENSITY) for branch in range(3)]
    assert of_numbers == [AtMost(0, 0.5), Between(0, 0.5, 1.5), Above(0, 1.5)]
    of_grades = [branch_condition(split, branch, GRADE) for branch in range(3)]
    assert of_grades == [IsOneOf(0, (0,)), IsOneOf(0, (1,)), IsOneOf(0, (2,))]
    assert split.branches(np.array([0.5, 0.6, 1.5, 1.6, np.nan])).tolist() == [0, 1, 1, 2, -1]
    assert split.branches(np.array([0, 1, 2, -1], dtype=np.int32)).tolist() == [0, 1, 2, -1]


SUM = (Term(0, -0.57123), Term(1, 0.3, 0), Term(2, 0.82456))
SIDES = Split(0, SplitKind.LINEAR, 2, threshold=0.123456, terms=SUM)
MELON = Schema((DENSITY, TEXTURE, Attribute("含糖率", Kind.NUMERIC)))


def test_a_linear_condition_tells_what_is_added_first_and_rounds():
    below, above = (branch_condition(SIDES, branch, DENSITY) for branch in (0, 1))
    assert condition_text(below, MELON) == "0.3 纹理=清晰 + 0.825 含糖率 - 0.571 密度 <= 0.1235"
    assert condition_text(above, MELON) == "0.3 纹理=清晰 + 0.825 含糖率 - 0.571 密度 > 0.1235"
    only_less = Linear(0, (Term(0, -1.0), Term(2, -0.5)), 0.0, True)
    assert condition_text(only_less, MELON) == "- 1 密度 - 0.5 含糖率 > 0"


def test_linear_conditions_are_merged_with_nothing():
    below = branch_condition(SIDES, 0, DENSITY)
    assert merged([AtMost(0, 3.0), below, Above(2, 1.0), AtMost(0, 2.0)]) == [AtMost(0, 2.0), below, Above(2, 1.0)]


def test_a_linear_condition_needs_every_value():
    columns = {"密度": [0.0, 0.0, 1.0, None], "纹理": ["清晰", "稍糊", None, "清晰"], "含糖率": [0.0, 0.1, 0.0, 1.0]}
    records = table_of(columns, {"纹理": TEXTURE})
    below, above = (branch_condition(SIDES, branch, DENSITY) for branch in (0, 1))
    assert satisfied_by(below, records).tolist() == [False, True, False, False]
    assert satisfied_by(above, records).tolist() == [True, False, False, False]
