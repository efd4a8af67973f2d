"""Answers to whole tables are those to each record: bit for bit what a reader would add up."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.held_out import labels_of
from core.prediction.answers import Answering, answers_of_leaves
from core.prediction.bounds import bounds, is_decided, possible_leaves
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy, leaves_reached, predict
from core.records.records import EncodedRecords, State
from core.tables.table import Table, is_missing
from core.tables.target import Task
from core.tree.tree import TreeView
from tests.core.both_engines import grow
from tests.core.prediction.test_bounds import with_holes
from tests.core.strategies import trainings
from tests.core.wild_trees import some_view
from tests.examples import examples

pytestmark = pytest.mark.bounds


def sent(table: Table) -> EncodedRecords:
    states = np.stack([is_missing(values) * np.uint8(State.MISSING) for values in table.columns], axis=1)
    return EncodedRecords(table, states if states.any() else None)


def assert_answers_are_those_of_each_record(view: TreeView, table: Table, policy: MissingPolicy) -> None:
    tree, records = view.tree, sent(table)
    for kernels in (False, True):
        found = Answering(Predictor(view), table.schema).answers(records, policy, kernels=kernels)
        assert found.values.tobytes() == predict(view, table, policy).tobytes()
        assert found.ends.by_row() == leaves_reached(view, table, policy)
        few = found.take(np.arange(len(found))[::-3])
        assert np.array_equal(few.values, found.values[::-3])
        assert np.array_equal(few.bounds, found.bounds[::-3])
        leaves = answers_of_leaves(tree, found.whole[found.whole >= 0])
        for name in ("values", "counts", "bounds", "is_decided"):
            assert np.array_equal(getattr(leaves, name), getattr(found, name)[found.whole >= 0])
        for row, reached in enumerate(found.ends.by_row()):
            possible = possible_leaves(view, table, row)
            assert np.array_equal(found.bounds[row], bounds(view, possible))
            assert found.is_decided[row] == is_decided(view, possible, found.values[row])
            assert (found.whole[row] >= 0) == ([(leaf, 1.0) for leaf in possible] == reached)
            if tree.task is Task.CLASSIFICATION:
                assert found.labels[row] == labels_of(found.values[row : row + 1], tree.costs)[0]
            else:
                squares = sum(
                    weight * (tree.variances[tree.answering[leaf]] + (tree.answers[leaf] - found.values[row]) ** 2)
                    for leaf, weight in reached
                )
                assert np.allclose(found.spreads[row], np.sqrt(squares), rtol=1e-12, atol=0)
            weight = math.fsum(weight * tree.weight[tree.answering[leaf]] for leaf, weight in reached)
            assert math.isclose(found.counts[row], weight, rel_tol=1e-12)


@examples(60)
@given(trainings(max_columns=4, max_rows=20), st.integers(0, 2**32), st.sampled_from(MissingPolicy))
def test_answers_of_grown_trees(training, seed, policy):
    samples, algorithm = training
    tree, _ = grow(samples, algorithm)
    chance = np.random.default_rng(seed)
    assert_answers_are_those_of_each_record(some_view(chance, tree), with_holes(samples.attributes, chance), policy)
