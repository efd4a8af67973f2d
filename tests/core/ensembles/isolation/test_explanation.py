"""Why a way is short."""

import numpy as np
import pytest
from hypothesis import given

from core.config.options import Isolation
from core.ensembles.isolation.explanation import expected_lengths, explained_lengths
from core.ensembles.isolation.isolation import grow_isolation
from core.ensembles.isolation.scores import IsolationPredictor
from core.prediction.routing import predict
from core.tree.conditions import satisfied_by
from core.tree.tree import full_view
from tests.core.ensembles.isolation.test_isolation import numeric_table
from tests.core.strategies import tables


@given(tables(min_rows=2, max_rows=20))
def test_the_parts_sum_to_the_length(table):
    isolation = grow_isolation(table, Isolation(n_trees=4), seed=1)
    found = explained_lengths(isolation, table)
    wanted = IsolationPredictor(isolation).path_lengths(table, kernels=False)
    for one, length in zip(found, wanted.tolist(), strict=True):
        assert one.length == pytest.approx(length)
        assert one.expected + sum(one.by_attribute) == pytest.approx(length)
        assert len(one.by_attribute) == len(table.schema)
        assert one.depth <= one.length + 1e-12


def test_what_is_expected_is_the_mean_of_the_sample():
    table = numeric_table(np.random.default_rng(0).normal(size=(200, 3)))
    tree = grow_isolation(table, Isolation(n_trees=1, sample_size=1.0), seed=0).forest.tree(0)
    assert expected_lengths(tree)[0] == pytest.approx(predict(full_view(tree), table).mean())


def test_the_attribute_that_sets_a_record_apart_shortens_its_way():
    numbers = np.random.default_rng(0).normal(size=(500, 3))
    numbers[7, 1] = 40.0
    table = numeric_table(numbers)
    isolation = grow_isolation(table, Isolation(n_trees=100), seed=0)
    odd, usual = explained_lengths(isolation, table.take(np.array([7, 8])), n_paths=5)
    assert odd.length < usual.length
    assert odd.by_attribute[1] < -1.5
    assert odd.by_attribute[1] < min(odd.by_attribute[0], odd.by_attribute[2]) - 1
    assert len(odd.shortest) == 5
    assert [way.length for way in odd.shortest] == sorted(way.length for way in odd.shortest)


def test_the_shortest_ways_hold_for_the_record():
    table = numeric_table(np.random.default_rng(0).normal(size=(300, 3)))
    isolation = grow_isolation(table, Isolation(n_trees=30), seed=0)
    record = table.take(np.array([5]))
    (found,) = explained_lengths(isolation, record)
    lengths = [predict(full_view(isolation.forest.tree(number)), record)[0, 0] for number in range(30)]
    assert [(way.length, way.tree) for way in found.shortest] == sorted(zip(lengths, range(30), strict=True))[:3]
    for way in found.shortest:
        assert way.conditions
        assert all(satisfied_by(condition, record)[0] for condition in way.conditions)
