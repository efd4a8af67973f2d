"""Super-classes, points of equal density and discriminant coordinates, beside the paper's own formulas."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.methods.quest.discriminant import discriminant_coordinates, equal_density, middle, super_classes, united

SIDES = st.tuples(st.floats(0.01, 100), st.floats(-50, 50), st.floats(0.01, 50))


def log_density(side, x):
    weight, mean, variance = side
    return math.log(weight) - 0.5 * math.log(variance) - (x - mean) ** 2 / (2 * variance)


def published_roots(a, b):
    """The roots of a d^2 + b d + c = 0, as the paper writes them; none where they are not real."""
    (weight_a, mean_a, var_a), (weight_b, mean_b, var_b) = a, b
    square, linear = var_a - var_b, 2 * (mean_a * var_b - mean_b * var_a)
    odds = math.log(weight_a * math.sqrt(var_b) / (weight_b * math.sqrt(var_a)))
    constant = mean_b**2 * var_a - mean_a**2 * var_b + 2 * var_a * var_b * odds
    roots = np.roots([square, linear, constant])
    return [float(root.real) for root in roots if abs(root.imag) < 1e-9]


@given(SIDES, SIDES)
def test_both_sides_are_equally_dense_at_the_root_nearest_to_their_means(a, b):
    assume(abs(a[2] - b[2]) > 1e-3 and abs(a[1] - b[1]) > 1e-3)
    found, roots = equal_density(*a, *b), published_roots(a, b)
    if not roots:
        assert found == middle(a[1], b[1])
        return
    assert log_density(a, found) == pytest.approx(log_density(b, found), rel=1e-6, abs=1e-6)
    for mean in (a[1], b[1]):
        assert abs(found - mean) <= min(abs(root - mean) for root in roots) + 1e-4 * (1 + abs(found))
    assert equal_density(*b, *a) == pytest.approx(found, rel=1e-9, abs=1e-9)


def test_equal_variances_have_one_point():
    # (m_a + m_b)/2 - s^2/(m_a - m_b) log(P_a/P_b)
    expected = 2.0 - 3.0 / (1.0 - 3.0) * math.log(4.0)
    assert equal_density(4.0, 1.0, 3.0, 1.0, 3.0, 3.0) == pytest.approx(expected)


def test_one_mean_has_two_points_of_which_the_smaller_is_taken():
    found = equal_density(1.0, 5.0, 1.0, 1.0, 5.0, 4.0)
    assert found < 5.0
    assert log_density((1.0, 5.0, 1.0), found) == pytest.approx(log_density((1.0, 5.0, 4.0), found))
    assert equal_density(1.0, 5.0, 2.0, 3.0, 5.0, 2.0) == 5.0


def test_two_means_begin_at_the_extremes():
    means = np.array([0.0, 10.0, 4.0, 5.5, 9.0])
    assert super_classes(np.ones(5), means).tolist() == [False, True, False, True, True]
    assert super_classes(np.array([1, 1, 0, 1, 1.0]), means)[2] == np.False_  # a class that is not there


def test_where_all_means_are_one_the_heaviest_class_stands_alone():
    assert super_classes(np.array([2.0, 5.0, 5.0, 1.0]), np.full(4, 0.3)).tolist() == [False, True, False, False]


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=8))
def test_super_classes_are_two_runs_of_means(means):
    second = super_classes(np.ones(len(means)), np.array(means))
    assert 0 < second.sum() < len(means)
    if max(means) - min(means) > 1e-6:
        assert max(np.array(means)[~second]) <= min(np.array(means)[second])


def test_united_is_the_mean_and_variance_of_all_rows():
    a, b = np.array([1.0, 2.0, 6.0]), np.array([4.0, 5.0])
    weight, mean, variance = united(
        np.array([3.0, 9.0, 2.0]),
        np.array([a.mean(), 99.0, b.mean()]),
        np.array([3 * a.var(), 1.0, 2 * b.var()]),
        np.array([True, False, True]),
        is_second=True,
    )
    rows = np.append(a, b)
    assert (weight, mean, variance) == (5.0, pytest.approx(rows.mean()), pytest.approx(rows.var()))


def published_coordinates(table):
    """The largest discriminant coordinate by two singular value decompositions, as the paper gives it."""
    whole, by_category, by_class = table.sum(), table.sum(axis=1), table.sum(axis=0)
    mean = by_category / whole
    total = np.diag(by_category) - np.outer(by_category, by_category) / whole
    apart = [table[:, k] / by_class[k] - mean for k in range(table.shape[1])]
    between = sum(weight * np.outer(v, v) for weight, v in zip(by_class, apart, strict=True))
    q, d, _ = np.linalg.svd(total)
    scale = np.array([1 / math.sqrt(value) if value > 1e-9 * d[0] else 0.0 for value in d])
    vectors, values, _ = np.linalg.svd(np.diag(scale) @ q.T @ between @ q @ np.diag(scale))
    return vectors[:, 0] @ np.diag(scale) @ q.T, values


@given(st.integers(0, 10_000))
def test_coordinates_are_the_papers_up_to_scale(seed):
    chance = np.random.default_rng(seed)
    table = chance.integers(0, 9, size=(chance.integers(2, 9), chance.integers(2, 6))).astype(np.float64)
    table += np.where(table.sum(axis=1) == 0, 1.0, 0.0)[:, None]
    table += np.where(table.sum(axis=0) == 0, 1.0, 0.0)
    expected, values = published_coordinates(table)
    assume(values[0] > 1e-6 and (len(values) < 2 or values[1] < 0.999 * values[0]))
    found, weights = discriminant_coordinates(table), table.sum(axis=1)
    found, expected = (each - weights @ each / weights.sum() for each in (found, expected))
    agreement = (weights * found) @ expected / math.sqrt((weights * found) @ found * ((weights * expected) @ expected))
    assert abs(agreement) == pytest.approx(1.0, abs=1e-7)


def test_two_classes_order_categories_by_their_share():
    table = np.array([[3.0, 1.0], [0.0, 0.0], [1.0, 5.0], [2.0, 2.0]])
    found = discriminant_coordinates(table)
    assert found[0] < found[3] < found[2]
    assert found[1] == 0


def test_categories_that_say_nothing_have_one_place():
    assert discriminant_coordinates(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])).tolist() == [0.0, 0.0, 0.0]
    assert discriminant_coordinates(np.array([[5.0, 0.0], [3.0, 0.0]])).tolist() == [0.0, 0.0]
