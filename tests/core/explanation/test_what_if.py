import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.explanation.what_if import TellingValues, WhatIf, most_telling, telling_values, what_if
from core.growth.held_out import labels_of
from core.prediction.predictor import Predictor
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy
from core.splits.split import Split, SplitKind
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.conditions import Above, AtMost, Between, IsOneOf, holds
from tests.core.wild_trees import some_view, wild_schema, wild_table, wild_tree
from tests.examples import examples


@examples(100)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from(list(MissingPolicy)))
def test_whatever_a_missing_value_is_some_telling_value_gives_its_answer(seed, surrogates, policy):
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    view = some_view(chance, wild_tree(chance, schema, surrogates=surrogates, sums=False))
    tree, predictor = view.tree, Predictor(view)
    cells = list(cells_of(wild_table(chance, schema, 1))[0])
    inner = [node for node in view.nodes if not view.is_leaf[node]]
    tests = [tree.split(node) for node in inner] + [one.split for node in inner for one in tree.surrogates_of(node)]
    for column in {split.column for split in tests}:
        telling = telling_values(column, schema[column], [split for split in tests if split.column == column])
        answers = what_if(predictor, cells, telling, policy)
        if schema[column].is_numeric:
            values = [-1e9, 1e9, *(chance.integers(-4, 20, 5) / 4).tolist(), *telling.cuts]
        else:
            values = range(len(schema[column].categories))
        for value in values:
            (position,) = [i for i in range(len(telling.values)) if stands_for(telling, i, value)]
            cells[column] = value
            assert predictor.one(cells, policy) == tuple(answers.answers[position])
        if tree.task is Task.CLASSIFICATION:
            assert list(answers.labels) == labels_of(answers.answers).tolist()


def stands_for(telling, position, value):
    condition = telling.condition([i == position for i in range(len(telling.values))], position)
    return condition is None or holds(condition, value)


NUMBERS = telling_values(
    3, Attribute("x", Kind.NUMERIC), [Split(3, SplitKind.THRESHOLD, 2, threshold=t) for t in (2.0, 1.0, 2.0)]
)


@pytest.mark.parametrize(
    ("is_like", "position", "condition"),
    [
        ([True, False, False], 0, AtMost(3, 1.0)),
        ([True, True, False], 1, AtMost(3, 2.0)),
        ([False, True, False], 1, Between(3, 1.0, 2.0)),
        ([False, True, True], 2, Above(3, 1.0)),
        ([True, False, True], 2, Above(3, 2.0)),
    ],
)
def test_neighbours_that_are_alike_make_one_interval(is_like, position, condition):
    assert NUMBERS.condition(is_like, position) == condition


def test_all_values_make_no_condition():
    assert NUMBERS.condition([True, True, True], 1) is None


def test_categories_that_are_alike_make_one_set():
    colours = Attribute("c", Kind.CATEGORICAL, ("x", "y", "z", "w"))
    splits = [
        Split(0, SplitKind.GROUPS, 2, branch_of=(0, 1, 0, 1)),
        Split(0, SplitKind.GROUPS, 2, branch_of=(0, 0, 0, 1)),
    ]
    telling = telling_values(0, colours, splits)
    assert telling.groups == ((0, 2), (1,), (3,))
    assert telling.condition([True, False, True], 2) == IsOneOf(0, (0, 2, 3))


def test_the_most_telling_value_changes_the_label():
    answer = np.array([0.6, 0.4])
    first = WhatIf(TellingValues(0, (0.0, 1.0)), np.array([[1.0, 0.0], [0.5, 0.5]]), (0, 0))
    second = WhatIf(TellingValues(1, (0.0, 1.0)), np.array([[0.7, 0.3], [0.4, 0.6]]), (0, 1))
    assert not first.changes(answer, 0).any()
    assert most_telling([first, second], answer, 0) == (1, 1)


def test_targets_of_other_units_count_alike():
    answer = np.array([0.0, 0.0])
    far = WhatIf(TellingValues(0, (0.0, 1.0)), np.array([[0.0, 0.0], [1000.0, 0.0]]), None)
    both = WhatIf(TellingValues(1, (0.0, 1.0)), np.array([[900.0, 1.0], [0.0, 0.0]]), None)
    assert most_telling([far, both], answer, None) == (1, 0)
    assert both.changes(answer, None).tolist() == [True, False]
    assert both.like(0) == [True, False]
