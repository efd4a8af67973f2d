from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import BinsAs, Bound, ConfidencePruning, MissingStrategy, Numeric, NumericKind
from core.config.presets import resolve
from core.engine.definition import grow
from core.growth.held_out import labels_of
from core.growth.precut import with_cuts
from core.missing.filling import filled, fills_of
from core.prediction.bounds import bounds, is_decided, opened, possible_leaves
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.pruning.confidence import prune_by_confidence
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.history import Ledger
from core.tree.tree import full_view
from tests.core.building import cart, cart_for_numbers, id3, samples_of, table_of
from tests.core.completions import complete_records
from tests.core.strategies import any_tree, crowded_samples, trainings
from tests.core.wild_trees import some_view
from tests.examples import examples


def assert_bounds_of_all_completions(view, records, row):
    """The leaves that can be reached, and the range of each answer, found by filling in the missing cells."""
    tree = view.tree
    reached = leaves_reached(view, complete_records(tree, records, row), MissingPolicy.WEIGHTED)
    assert all(len(one) == 1 for one in reached)
    expected = sorted({one[0][0] for one in reached})
    possible = possible_leaves(view, records, row)
    assert possible == expected
    by_routing = leaves_reached(opened(view, records.schema), records, MissingPolicy.WEIGHTED)[row]
    assert by_routing == [(leaf, 1.0) for leaf in expected]
    limits, answers = bounds(view, possible), tree.answers[expected]
    assert limits[:, 0].tolist() == answers.min(axis=0).tolist()
    assert limits[:, 1].tolist() == answers.max(axis=0).tolist()
    return expected


def assert_decided_by_all_completions(view, records, row, taken, policy):
    """An answer is decided when every completion gives its label; of numbers, the answer itself."""
    every = predict(view, complete_records(view.tree, records, row))
    answer = predict(view, taken.take(np.array([row])), policy)
    if view.tree.task is Task.CLASSIFICATION:
        expected = set(labels_of(every, view.tree.costs)) == set(labels_of(answer, view.tree.costs))
    else:
        expected = len(np.unique(every, axis=0)) == 1 and np.allclose(answer, every[0], rtol=1e-9, atol=0)
    assert is_decided(view, possible_leaves(view, records, row), answer[0]) == expected
    return expected


@examples(100)
@given(trainings(limits=False, max_columns=3, max_rows=9), st.integers(0, 2**32))
def test_bounds_of_grown_trees_are_those_of_all_completions(training, seed):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    records = with_holes(samples.attributes, np.random.default_rng(seed))
    weighted = leaves_reached(full_view(tree), records, MissingPolicy.WEIGHTED)
    for row in range(min(3, records.n_rows)):
        expected = assert_bounds_of_all_completions(full_view(tree), records, row)
        assert {leaf for leaf, _ in weighted[row]} <= set(expected)


@examples(40)
@given(trainings(limits=False, max_columns=3, max_rows=12), st.integers(0, 2**32))
def test_bounds_of_trees_with_intervals_are_those_of_all_completions(training, seed):
    intervals = Numeric(NumericKind.QUANTILE, bins=3, bins_as=BinsAs.INTERVALS)
    samples, algorithm = with_cuts(training[0], intervals), replace(training[1], numeric=intervals)
    tree = grow(samples, algorithm)
    records = with_holes(samples.attributes, np.random.default_rng(seed))
    for row in range(min(3, records.n_rows)):
        assert_bounds_of_all_completions(full_view(tree), records, row)


ANY_SCHEMA = Schema(
    (
        Attribute("n", Kind.NUMERIC),
        Attribute("o", Kind.ORDINAL, ("lo", "mid", "hi")),
        Attribute("c", Kind.CATEGORICAL, ("x", "y", "z")),
    )
)


@examples(150)
@given(st.integers(0, 2**32))
def test_bounds_leave_out_what_tests_on_one_attribute_exclude_together(seed):
    chance = np.random.default_rng(seed)
    tree = any_tree(chance, ANY_SCHEMA)
    cells = (chance.integers(0, 5, 2).astype(float), chance.integers(0, 3, 2), chance.integers(0, 3, 2))
    columns = (cells[0], cells[1].astype(np.int32), cells[2].astype(np.int32))
    records = with_holes(Table(ANY_SCHEMA, columns), chance)
    for row in range(2):
        assert_bounds_of_all_completions(full_view(tree), records, row)


@examples(100)
@given(st.integers(0, 2**32))
def test_decided_is_what_all_completions_say_whatever_the_policy_the_cuts_and_the_costs(seed):
    chance = np.random.default_rng(seed)
    tree = any_tree(chance, ANY_SCHEMA)
    costs = None if chance.random() < 0.5 else chance.choice([0.5, 1.0, 4.0], (2, 2)) * (1 - np.eye(2))
    view = some_view(chance, replace(tree, costs=costs))
    cells = (chance.integers(0, 5, 2).astype(float), chance.integers(0, 3, 2), chance.integers(0, 3, 2))
    table = Table(ANY_SCHEMA, (cells[0], cells[1].astype(np.int32), cells[2].astype(np.int32)))
    records = with_holes(table, chance)
    for row in range(2):
        assert_bounds_of_all_completions(view, records, row)
        for policy in (MissingPolicy.WEIGHTED, MissingPolicy.LAST_NODE, MissingPolicy.MAJORITY_BRANCH):
            assert_decided_by_all_completions(view, records, row, records, policy)
        fills = filled(records, fills_of(table, np.ones(2)))
        assert_decided_by_all_completions(view, records, row, fills, MissingPolicy.WEIGHTED)


@examples(60)
@given(st.sampled_from([Task.CLASSIFICATION, Task.REGRESSION]), st.integers(0, 2**32))
def test_decided_is_what_all_completions_say_of_trees_grown_with_surrogates(task, seed):
    chance = np.random.default_rng(seed)
    samples = crowded_samples(chance, task, min_rows=8, max_rows=12, max_columns=3, max_outputs=2)
    algorithm = cart() if task is Task.CLASSIFICATION else cart_for_numbers()
    tree = grow(samples, replace(algorithm, missing=MissingStrategy.SURROGATE))
    view, records = some_view(chance, tree), with_holes(samples.attributes, chance)
    for row in range(3):
        assert_bounds_of_all_completions(view, records, row)
        for policy in MissingPolicy:
            assert_decided_by_all_completions(view, records, row, records, policy)


def test_bounds_and_decided_hold_where_branches_were_raised():
    chance, seen = np.random.default_rng(4), set()
    release8 = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)
    while len(seen) < 2:
        samples = crowded_samples(chance, Task.CLASSIFICATION, min_rows=30, max_rows=60, max_columns=3)
        ledger = Ledger(grow(samples, release8))
        prune_by_confidence(ledger, ConfidencePruning(bound=Bound.NORMAL, raising=True), release8, samples)
        history = ledger.finished()
        records = with_holes(samples.attributes, chance)
        for step in sorted(history.raises):
            view = history.view(step)
            for row in range(6):
                assert_bounds_of_all_completions(view, records, row)
                seen.add(assert_decided_by_all_completions(view, records, row, records, MissingPolicy.WEIGHTED))


def test_a_number_from_an_inner_node_is_not_decided_by_leaves_that_agree_on_another():
    # b is asked first, then a; where a is y both leaves say 9, but the node that asks for b says 9.5.
    samples = samples_of({"a": list("xyxy"), "b": list("uuvv")}, [0.0, 9.0, 20.0, 9.0])
    tree = grow(samples, cart_for_numbers())
    assert tree.column[0] == 1
    records = table_of(
        {"a": ["y"], "b": [None]}, {attribute.name: attribute for attribute in samples.attributes.schema}
    )
    for policy, answer in ((MissingPolicy.WEIGHTED, 9.0), (MissingPolicy.LAST_NODE, 9.5)):
        assert predict(full_view(tree), records, policy).tolist() == [[answer]]
        decided = assert_decided_by_all_completions(full_view(tree), records, 0, records, policy)
        assert decided == (policy is MissingPolicy.WEIGHTED)


def with_holes(table, chance):
    """The table with more cells missing."""
    columns = []
    for values in table.columns:
        hole = chance.random(len(values)) < 0.6
        columns.append(np.where(hole, np.nan if values.dtype == np.float64 else -1, values).astype(values.dtype))
    return Table(table.schema, tuple(columns))


def test_a_number_tested_twice_has_one_value():
    # n <= 1.5: p; n <= 2.5: q; else p. Under n <= 1.5 the leaf beyond 2.5 cannot be reached together with it.
    samples = samples_of({"n": [1, 1, 2, 2, 3, 3], "a": list("xyxyxy")}, list("ppqqpp"))
    tree = grow(samples, cart())
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "y"))}
    records = table_of({"n": [None, 1], "a": ["x", None]}, kinds)
    leaves = possible_leaves(full_view(tree), records, 0)
    assert len(leaves) == 3
    assert bounds(full_view(tree), leaves).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert bounds(full_view(tree), possible_leaves(full_view(tree), records, 1)).tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_empty_branches_count_as_possible():
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "never", "y"))}
    tree = grow(samples_of({"a": ["x", "x", "y"]}, ["p", "p", "q"], kinds=kinds), id3())
    assert possible_leaves(full_view(tree), table_of({"a": [None]}, kinds), 0) == [1, 2, 3]


def test_a_known_number_narrows_the_bounds():
    samples = samples_of({"a": list("xxyy"), "n": [1.0, 2.0, 1.0, 2.0]}, [0.0, 1.0, 10.0, 12.0])
    tree = grow(samples, cart_for_numbers())
    view = full_view(tree)
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "y"))}
    limits = bounds(view, possible_leaves(view, table_of({"a": [None], "n": [1]}, kinds), 0))
    assert limits.tolist() == [[0.0, 10.0]]


def test_bounds_of_nothing_missing_are_the_answer():
    samples = samples_of({"n": [1, 2, 3, 4]}, list("ppqq"))
    tree = grow(samples, cart())
    leaves = possible_leaves(full_view(tree), samples.attributes, 0)
    assert leaves == [1]
    assert bounds(full_view(tree), leaves) == pytest.approx(np.array([[1.0, 1.0], [0.0, 0.0]]))
