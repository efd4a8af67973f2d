"""The sums of a node, added up in row order."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.kernels.impurity import GINI, SQUARED
from core.growth.kernels.node.split_list import BOTH, LEFT
from core.growth.kernels.node.sums import node_figures
from tests.core.growth.kernels.lists_of_rows import Rows, rows_of_a_node
from tests.examples import examples

pytestmark = pytest.mark.bounds


class Problem(NamedTuple):
    weights: Any
    classes: Any
    numbers: Any


class Rules(NamedTuple):
    criterion: int
    n_classes: int
    is_counted: bool


def added(parts: Any) -> float:
    """A sum in the order of the rows."""
    total = 0.0
    for part in parts:
        total += float(part)
    return total


@pytest.mark.parametrize("is_counted", [False, True])
@given(node=rows_of_a_node(), share=st.sampled_from([1.0, 0.3]))
@examples(25)
def test_class_weights_are_added_up_in_row_order(node: Rows, share: float, is_counted: bool) -> None:
    weights = np.ones(node.n) if is_counted else node.weights
    side = np.where(np.isnan(node.values), BOTH, LEFT).astype(np.uint8)
    rows, start = np.append([0, 0], np.arange(node.n)).astype(np.uint32), 2
    counts, figures = np.zeros(node.n_classes, dtype=np.int64), np.full(1 + node.n_classes, np.nan)
    problem = Problem(weights, node.classes, node.numbers)
    rules = Rules(GINI, node.n_classes, is_counted)
    is_pure = node_figures(problem, rules, rows, start, node.n, side, 1.0 if is_counted else share, counts, figures)
    here = weights if is_counted else np.where(side == BOTH, weights * share, weights)
    assert figures[0] == added(here)
    assert figures[1:].tolist() == [added(here[node.classes == k]) for k in range(node.n_classes)]
    assert is_pure == (len(set(node.classes.tolist())) == 1)


@given(node=rows_of_a_node(), share=st.sampled_from([1.0, 0.3]), n_outputs=st.integers(1, 2))
@examples(25)
def test_moments_of_numbers_are_added_up_in_row_order(node: Rows, share: float, n_outputs: int) -> None:
    numbers = np.hstack([node.numbers, -2.0 * node.numbers])[:, :n_outputs].copy()
    side = np.where(np.isnan(node.values), BOTH, LEFT).astype(np.uint8)
    figures, counts = np.full(1 + 4 * n_outputs, np.nan), np.zeros(1, dtype=np.int64)
    problem, rules = Problem(node.weights, node.classes, numbers), Rules(SQUARED, 1, False)
    is_pure = node_figures(problem, rules, np.arange(node.n, dtype=np.uint32), 0, node.n, side, share, counts, figures)
    here = np.where(side == BOTH, node.weights * share, node.weights)
    centres, moments, squares, around = figures[1:].reshape(4, n_outputs)
    assert figures[0] == added(here)
    for j in range(n_outputs):
        assert centres[j] == added(here * numbers[:, j]) / figures[0]
        off = numbers[:, j] - centres[j]
        assert moments[j] == added(off * here)
        assert squares[j] == added(off * off * here)
        apart = numbers[:, j] - (centres[j] + moments[j] / figures[0])
        assert around[j] == added(here * (apart * apart))
    assert is_pure == bool((numbers == numbers[0]).all())
