import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.impurity import entropy, error_rate, gini, shares, squared_error
from tests.core.strategies import WEIGHTS
from tests.golden_tables import golden_samples

CLASS_IMPURITIES = [entropy, gini, error_rate]


@pytest.mark.parametrize(
    ("impurity", "class_weights", "expected"),
    [
        (entropy, [8, 9], 0.9975),
        (entropy, [1, 1], 1.0),
        (entropy, [1, 1, 1, 1], 2.0),
        (gini, [8, 9], 1 - (8 / 17) ** 2 - (9 / 17) ** 2),
        (gini, [1, 1, 2], 1 - 2 / 16 - 4 / 16),
        (error_rate, [8, 9], 8 / 17),
        (error_rate, [1, 1, 2], 0.5),
    ],
)
def test_worked_impurities(impurity, class_weights, expected):
    assert impurity(np.array(class_weights, dtype=float)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "expected"), [("watermelon_2.0", 0.9975), ("watermelon_3.0", 0.9975), ("app_recommendation", 1.4591)]
)
def test_entropies_of_the_golden_tables(table, expected):
    samples = golden_samples(table)
    weights, _ = samples.target.summary(samples.rows, samples.weights)
    assert entropy(weights) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize("impurity", CLASS_IMPURITIES)
@pytest.mark.parametrize("class_weights", [[0.0, 5.0, 0.0], [1e-6, 0.0, 0.0], [0.0, 0.0, 0.0]])
def test_a_single_class_and_no_weight_are_exactly_pure(impurity, class_weights):
    assert impurity(np.array(class_weights)) == 0.0


@pytest.mark.parametrize("impurity", CLASS_IMPURITIES)
@given(st.lists(st.lists(st.sampled_from((0.0, *WEIGHTS)), min_size=3, max_size=3), min_size=1, max_size=4))
def test_one_formula_serves_one_set_and_many(impurity, sets):
    together = impurity(np.array(sets))
    assert together.shape == (len(sets),)
    assert [impurity(np.array(one)) for one in sets] == pytest.approx(list(together), abs=1e-15)
    assert (together >= 0).all()


@given(st.lists(st.sampled_from(WEIGHTS), min_size=1, max_size=6))
def test_entropy_is_the_sum_by_the_book(class_weights):
    whole = math.fsum(class_weights)
    by_hand = math.fsum(-w / whole * math.log2(w / whole) for w in class_weights)
    assert entropy(np.array(class_weights)) == pytest.approx(by_hand, abs=1e-12)


@given(st.lists(st.tuples(st.integers(-50, 50), st.sampled_from(WEIGHTS)), min_size=1, max_size=8))
def test_squared_error_is_the_weighted_variance(rows):
    values, weights = np.array([v for v, _ in rows], dtype=float), np.array([w for _, w in rows])
    moments = np.array([weights.sum(), weights @ values, weights @ values**2])
    mean = weights @ values / weights.sum()
    by_hand = weights @ (values - mean) ** 2 / weights.sum()
    assert squared_error(moments) == pytest.approx(by_hand, abs=1e-9)


def test_squared_error_adds_up_over_outputs():
    one = squared_error(np.array([2.0, 4.0, 10.0]))  # values 1 and 3
    other = squared_error(np.array([2.0, 0.0, 2.0]))  # values -1 and 1
    assert squared_error(np.array([2.0, 4.0, 0.0, 10.0, 2.0])) == one + other == 2.0


def test_squared_error_without_weight_is_nothing():
    assert squared_error(np.zeros((2, 3))).tolist() == [0.0, 0.0]


def test_shares_of_nothing_are_nothing():
    assert shares(np.array([[0.0, 0.0], [1.0, 3.0]])).tolist() == [[0.0, 0.0], [0.25, 0.75]]
