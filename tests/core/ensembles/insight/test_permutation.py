"""Answers to rows with one column shuffled: what changes is added, and nothing else is asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.ensembles.insight import permutation
from core.ensembles.insight.permutation import ShuffledAnswers
from core.ensembles.prediction.predictor import ForestPredictor
from core.evaluation.importance import shuffled_order
from core.tables.table import Table
from tests.core.building import cart
from tests.core.ensembles.insight.test_proximity import clouds, forest_from
from tests.core.strategies import trainings

pytestmark = pytest.mark.bounds


def with_column(table, column, order):
    columns = list(table.columns)
    columns[column] = columns[column][order]
    return Table(table.schema, tuple(columns))


@given(trainings(max_rows=14, max_outputs=2), st.integers(0, 9))
def test_the_answers_are_those_to_the_shuffled_table(training, seed):
    samples, algorithm = training
    forest = forest_from(samples, algorithm, n_trees=3, seed=seed)
    table, predictor = samples.attributes, ForestPredictor(forest)
    asked = ShuffledAnswers(forest, table, kernels=False)
    scale = max(1.0, np.abs(asked.plain()).max())
    assert asked.plain() == pytest.approx(predictor.average(table, kernels=False), abs=1e-9 * scale)
    for column in range(len(table.schema)):
        order = shuffled_order(table.n_rows, column, seed, 0)
        wanted = predictor.average(with_column(table, column, order), kernels=False)
        assert asked.when_shuffled(column)(order) == pytest.approx(wanted, abs=1e-9 * scale)


@given(trainings(max_rows=14, max_outputs=2), st.integers(0, 9), st.booleans())
def test_the_kernels_give_the_same_bits(training, seed, all_answer):
    samples, algorithm = training
    forest, table = forest_from(samples, algorithm, n_trees=3, seed=seed), samples.attributes
    answering = None
    if not all_answer:
        answering = np.random.default_rng(seed).random((3, table.n_rows)) < 0.5
        answering[0] |= ~answering.any(axis=0)
    by_definition, by_kernels = (ShuffledAnswers(forest, table, answering, kernels=k) for k in (False, True))
    assert by_kernels.plain().tobytes() == by_definition.plain().tobytes()
    for column in range(len(table.schema)):
        one, other = by_definition.when_shuffled(column), by_kernels.when_shuffled(column)
        for repeat in range(2):
            order = shuffled_order(table.n_rows, column, seed, repeat)
            assert other(order).tobytes() == one(order).tobytes()


@pytest.mark.parametrize("holes", [False, True])
def test_blocks_do_not_show(monkeypatch, holes):
    samples = clouds(700)
    if holes:
        samples.attributes.columns[2][::9] = np.nan
    forest, table = forest_from(samples, cart(max_depth=5), n_trees=4), samples.attributes
    by_definition = ShuffledAnswers(forest, table, kernels=False)
    orders = [shuffled_order(700, column, 0, 0) for column in range(4)]
    wanted = [by_definition.when_shuffled(column)(orders[column]).tobytes() for column in range(4)]
    for n_rows in (64, 4096):
        monkeypatch.setattr(permutation, "BLOCK_ROWS", n_rows)
        by_kernels = ShuffledAnswers(forest, table, kernels=True)
        assert [by_kernels.when_shuffled(column)(orders[column]).tobytes() for column in range(4)] == wanted
