"""The best cut of a column in a node of few rows is the one of `numeric.best_cut`."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.ties import TIE
from core.criteria.impurity import gini, squared_error
from core.criteria.kernels.impurity import GINI
from core.criteria.objective import Objective
from core.growth.kernels.node.scan_few import best_of_counts, best_of_numbers, best_of_weights
from core.splits.numeric import best_cut
from core.tables.target import Task
from tests.core.growth.kernels.lists_of_rows import Rows, rows_of_a_node
from tests.examples import examples

pytestmark = pytest.mark.bounds

LEAST = st.sampled_from([0.0, 1.0, 2.5])


class Work(NamedTuple):
    ordered: Any
    row_classes: Any
    row_numbers: Any
    row_weights: Any
    left: Any


def work_for(node: Rows) -> tuple[Work, Any]:
    """The rows in the order of the column, and how many distinct values come before each row's."""
    _, value = np.unique(node.values, return_inverse=True)
    ordered, left = node.known.astype(np.uint16), np.zeros(node.n_classes)
    return Work(ordered, node.classes, node.numbers[:, 0].copy(), node.weights, left), value.astype(np.uint16)


def assert_same_cut(node: Rows, sums: Any, objective: Objective, least: float, gain: float, position: int) -> None:
    """The place is that of the definition's threshold, and the gain times the weight is what it gains."""
    wanted = best_cut(node.values, sums, node.weights, objective, min_weight=least)
    if wanted is None:
        assert position == 0
        return
    is_left = node.values <= wanted.threshold
    assert position == is_left.sum()
    sides = np.array([[sums[is_left].sum(axis=0), sums[~is_left].sum(axis=0)]])
    weights = np.array([[node.weights[is_left].sum(), node.weights[~is_left].sum()]])
    expected = float(objective.decrease(sides, weights)[0]) * node.weights.sum()
    assert gain == pytest.approx(expected, abs=1e-6 * node.weights.sum())


@given(node=rows_of_a_node(holes=False), least=LEAST)
@examples(40)
def test_whole_weights_by_gini(node: Rows, least: float) -> None:
    node = node._replace(weights=np.ceil(node.weights))
    sums = np.eye(node.n_classes)[node.classes] * node.weights[:, None]
    objective, (work, value) = Objective(Task.CLASSIFICATION, gini, TIE), work_for(node)
    found = best_of_counts(work, value, node.n, node.n_classes, sums.sum(axis=0), least - TIE, TIE)
    assert_same_cut(node, sums, objective, least, *found)


@given(node=rows_of_a_node(holes=False), least=LEAST)
@examples(40)
def test_any_weights_by_gini(node: Rows, least: float) -> None:
    sums = np.eye(node.n_classes)[node.classes] * node.weights[:, None]
    objective, (work, value) = Objective(Task.CLASSIFICATION, gini, TIE), work_for(node)
    found = best_of_weights(work, value, node.n, GINI, node.n_classes, sums.sum(axis=0), least - TIE, TIE)
    assert_same_cut(node, sums, objective, least, *found)


@given(node=rows_of_a_node(holes=False), least=LEAST)
@examples(40)
def test_numbers_by_squared_error(node: Rows, least: float) -> None:
    centre, weights = float(np.average(node.numbers[:, 0], weights=node.weights)), node.weights
    off = node.numbers[:, 0] - centre
    sums = np.stack([weights, off * weights, off * off * weights], axis=1)
    objective, (work, value) = Objective(Task.REGRESSION, squared_error, TIE), work_for(node)
    totals = np.array([weights.sum(), (off * weights).sum()])
    found = best_of_numbers(work, value, node.n, centre, totals, least - TIE, TIE)
    assert_same_cut(node, sums, objective, least, *found)
