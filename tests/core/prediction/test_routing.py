import numpy as np
import pytest
from hypothesis import given

from core.engine.definition import grow
from core.prediction.routing import MissingPolicy, leaves_reached, predict, visits
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.tree import full_view
from tests.core.building import cart, id3, samples_of, table_of
from tests.core.completions import complete_records
from tests.core.strategies import trainings
from tests.examples import examples

KINDS = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "y", "z"))}


@examples(100)
@given(trainings())
def test_path_weights_sum_to_1_and_answers_are_their_averages(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    view = full_view(tree)
    answers = predict(view, samples.attributes)
    for row, reached in enumerate(leaves_reached(view, samples.attributes, MissingPolicy.WEIGHTED)):
        leaves = [leaf for leaf, _ in reached]
        assert leaves == sorted(set(leaves))
        assert sum(weight for _, weight in reached) == pytest.approx(1.0)
        average = sum(weight * tree.answers[leaf] for leaf, weight in reached)
        assert answers[row] == pytest.approx(average, rel=1e-12)
        if samples.target.task is Task.CLASSIFICATION:
            assert answers[row].sum() == pytest.approx(1.0)


@examples(60)
@given(trainings(max_columns=3, max_rows=8))
def test_a_complete_record_follows_one_path_under_every_policy(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    records = complete_records(tree, samples.attributes)
    if any(not a.categories and a.kind is not Kind.NUMERIC for a in records.schema):
        return
    expected = leaves_reached(full_view(tree), records, MissingPolicy.WEIGHTED)
    assert all(len(reached) == 1 and reached[0][1] == 1.0 for reached in expected)
    for policy in MissingPolicy:
        assert leaves_reached(full_view(tree), records, policy) == expected


@examples(60)
@given(trainings())
def test_training_rows_arrive_with_the_weights_they_were_grown_with(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    arrived = np.zeros(len(tree))
    for visit in visits(full_view(tree), samples.attributes, weights=samples.weights):
        arrived[visit.node] = visit.weights.sum()
        assert (np.diff(visit.rows) > 0).all()
    assert arrived == pytest.approx(tree.weight, rel=1e-9)


@pytest.fixture
def stump():
    samples = samples_of({"a": ["x", "x", "x", "y", "y", "z"]}, ["p", "p", "q", "q", "q", "p"], kinds=KINDS)
    return grow(samples, id3())


def test_what_a_missing_value_does_under_each_policy(stump):
    view, record = full_view(stump), table_of({"a": [None]}, KINDS)
    assert predict(view, record)[0] == pytest.approx([3 / 6 * 2 / 3 + 1 / 6, 3 / 6 * 1 / 3 + 2 / 6])
    assert predict(view, record, MissingPolicy.LAST_NODE)[0].tolist() == [0.5, 0.5]
    assert predict(view, record, MissingPolicy.MAJORITY_BRANCH)[0] == pytest.approx([2 / 3, 1 / 3])
    assert leaves_reached(view, record, MissingPolicy.LAST_NODE) == [[(0, 1.0)]]
    assert leaves_reached(view, record, MissingPolicy.MAJORITY_BRANCH) == [[(1, 1.0)]]
    assert [leaf for leaf, _ in leaves_reached(view, record, MissingPolicy.WEIGHTED)[0]] == [1, 2, 3]


def test_the_majority_branch_of_equal_shares_is_the_first():
    tree = grow(samples_of({"a": [1, 2, 3, 4]}, ["p", "p", "q", "q"]), cart())
    assert leaves_reached(full_view(tree), table_of({"a": [None]}), MissingPolicy.MAJORITY_BRANCH) == [[(1, 1.0)]]


def test_an_empty_branch_is_not_reached_by_missing_values_but_by_its_own():
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "never", "y"))}
    tree = grow(samples_of({"a": ["x", "x", "y"]}, ["p", "p", "q"], kinds=kinds), id3())
    records = table_of({"a": [None, "never"]}, kinds)
    assert leaves_reached(full_view(tree), records, MissingPolicy.WEIGHTED) == [
        [(1, pytest.approx(2 / 3)), (3, pytest.approx(1 / 3))],
        [(2, 1.0)],
    ]
    assert predict(full_view(tree), records)[1] == pytest.approx([2 / 3, 1 / 3])


def test_no_records_no_answers(stump):
    assert predict(full_view(stump), table_of({"a": []}, KINDS)).shape == (0, 2)
