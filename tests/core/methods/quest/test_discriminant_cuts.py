"""Where QUEST cuts, and what it does where discriminant analysis gives no cut that will do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.class_moments import class_moments
from core.methods.quest.discriminant import equal_density, middle
from core.methods.quest.discriminant_cuts import best_cut, best_groups, nearest_cut
from core.methods.quest.kernels import discriminant as discriminant_kernels

pytestmark = pytest.mark.bounds


def cut(values, classes, weights=None, *, min_weight=1.0, n_classes=2):
    given_weights = np.ones(len(values)) if weights is None else np.array(weights, dtype=np.float64)
    codes = np.array(classes, dtype=np.int32)
    return best_cut(np.array(values, dtype=np.float64), codes, given_weights, n_classes, min_weight=min_weight)


def test_the_cut_is_where_both_classes_are_equally_dense():
    a, b = [1.0, 2.0, 3.0, 4.0], [6.0, 9.0, 12.0]
    found = cut(a + b, [0] * 4 + [1] * 3)
    assert found == pytest.approx(equal_density(4, 2.5, np.var(a), 3, 9.0, np.var(b)))


def test_three_classes_make_two_sides_first():
    values, classes = [1.0, 2.0, 2.5, 3.5, 20.0, 23.0], [0, 0, 1, 1, 2, 2]
    expected = equal_density(4, np.mean(values[:4]), np.var(values[:4]), 2, 21.5, np.var(values[4:]))
    assert cut(values, classes, n_classes=3) == pytest.approx(expected)


def test_beside_a_class_that_does_not_vary():
    assert cut([5, 5, 5, 6, 8, 1], [0, 0, 0, 1, 1, 1]) == 3.0  # one mean: below it
    assert cut([5, 5, 5, 6, 8, 4], [0, 0, 0, 1, 1, 1]) == 5.5  # towards the other's mean
    assert cut([5, 5, 5, 6, 1, 2], [0, 0, 0, 1, 1, 1]) == 3.5
    assert cut([5, 5, 7, 7], [0, 0, 1, 1]) == 6.0


def test_without_a_point_of_equal_density_the_middle_of_the_means():
    a, b = [5.0, 6.0], [0.0, 10.0] * 40  # so many of b that it is denser everywhere
    assert cut(a + b, [0] * 2 + [1] * 80) == middle(5.5, 5.0)


def test_a_cut_that_leaves_too_little_gives_way_to_the_nearest_that_does_not():
    values, classes = [1, 2, 3, 4, 5, 6, 7, 100], [0, 0, 0, 0, 0, 0, 0, 1]
    assert cut(values, classes) == 53.5
    assert cut(values, classes, min_weight=2) == 6.5
    assert cut(values, classes, min_weight=4) == 4.5
    assert cut(values, classes, min_weight=5) is None


def test_nothing_to_cut():
    assert cut([1, 2, 3], [0, 0, 0]) is None
    assert cut([4, 4, 4], [0, 1, 0]) is None
    assert cut([], []) is None


def test_groups_part_along_the_coordinate():
    table = np.array([[9.0, 1.0], [0.0, 0.0], [1.0, 9.0], [8.0, 2.0], [2.0, 9.0]])
    mask = best_groups(table, min_weight=1)
    assert mask is not None
    assert mask.tolist() == [True, False, False, True, False]  # what no row has is with the heavier group
    assert best_groups(table[:1], min_weight=1) is None
    assert best_groups(np.ones((3, 2)), min_weight=1) is None


@given(st.integers(0, 10_000))
def test_a_cut_has_enough_on_both_sides(seed):
    values, classes, weights, n_classes, least = drawn(seed)
    found = best_cut(values, classes, weights, n_classes, min_weight=least)
    if found is not None:
        assert weights[values <= found].sum() >= least - 1e-9
        assert weights[values > found].sum() >= least - 1e-9
        assert min((values <= found).sum(), (values > found).sum()) > 0


@pytest.mark.parametrize(("wanted", "expected"), [(1e30, 0.55), (-1e30, 0.15), (0.65, 0.55), (0.05, 0.15)])
def test_the_nearest_cut_with_enough_on_both_sides(wanted, expected):
    """Far away all distances are the same but for rounding."""
    values, weights = np.array([0.5, 0.1, 0.7, 0.2, 0.6]), np.array([1.0, 2.0, 1.0, 1.0, 1.0])
    assert nearest_cut(values, weights, wanted, 2.0) == pytest.approx(expected)
    left = float(weights[values <= wanted].sum())
    by_kernel = discriminant_kernels.nearest_cut(values, weights, left, 2.0, buffers_for(5, 2))
    assert by_kernel == nearest_cut(values, weights, wanted, 2.0)


@given(st.integers(0, 10_000))
def test_the_kernel_cuts_in_the_same_place(seed):
    values, classes, weights, n_classes, least = drawn(seed)
    moments = class_moments(values, classes, weights, n_classes)
    figures = np.array([moments.weights, moments.means, moments.variations])
    expected = best_cut(values, classes, weights, n_classes, min_weight=least)
    if not discriminant_kernels.can_be_cut(moments.weights, least):
        assert expected is None
        return
    column = with_unknown(np.random.default_rng(seed), values, classes, weights)
    by_kernel = discriminant_kernels.best_cut(
        *column, figures, moments.centre, least, buffers_for(len(column[0]), n_classes)
    )
    if expected is None:
        assert np.isnan(by_kernel[0])
    else:
        assert by_kernel == (
            expected,
            weights[values <= expected].cumsum()[-1],
            weights[values > expected].cumsum()[-1],
        )


def with_unknown(chance, values, classes, weights):
    """Rows among them whose value is not known, as the kernel takes all of them."""
    positions = np.sort(chance.integers(0, len(values) + 1, chance.integers(0, 4)))
    entries = np.arange(len(values), dtype=np.uint64) << np.uint64(32) | classes.astype(np.uint64)
    return (
        np.insert(values, positions, np.nan),
        np.insert(entries, positions, np.uint64(0)),
        np.insert(weights, positions, 5.0),
    )


def buffers_for(n, n_classes):
    return discriminant_kernels.Buffers(np.empty(n_classes, dtype=np.bool_), *np.empty((4, n)))


def drawn(seed):
    """Few distinct values, neighbouring floats, weights of very different size."""
    chance = np.random.default_rng(seed)
    n, n_classes = int(chance.integers(1, 25)), int(chance.integers(2, 6))
    pool = chance.choice([0.0, 0.1, 0.3, 0.30000000000000004, 1.0, 7.0, -2.5, 1e8, 1e-30], size=chance.integers(1, 6))
    values = chance.choice(pool, size=n) if chance.random() < 0.6 else chance.normal(size=n)
    weights = chance.choice([1.0, 1.0, 0.001, 3.0, 1000.0], size=n)
    classes = chance.integers(0, n_classes, n).astype(np.int32)
    return values, classes, weights, n_classes, float(chance.choice([0, 1, 2.5]))
