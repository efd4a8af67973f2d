from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.criteria.impurity import entropy, gini, squared_error
from core.criteria.objective import Objective
from core.splits.candidates import midpoints_at_changes
from core.splits.numeric import best_cut, best_cuts, both_sides
from core.tables.target import ClassTarget, NumberTarget, Task
from tests.core.strategies import NUMBERS, WEIGHTS
from tests.golden_tables import golden_samples

ENTROPY = Objective(Task.CLASSIFICATION, entropy)


def cut_of(values, classes, *, weights=None, min_weight=0.0, **options):
    """The best cut of some values by information gain."""
    values, classes = np.array(values, dtype=float), np.array(classes, dtype=np.int32)
    weights = np.ones(len(values)) if weights is None else np.array(weights, dtype=float)
    target = ClassTarget(tuple("ABCDEF"[: classes.max() + 1]), classes)
    sums = target.statistics(np.arange(len(values)), weights)
    return best_cut(values, sums, weights, ENTROPY, min_weight=min_weight, **options)


@pytest.mark.parametrize(("column", "threshold"), [("密度", 0.3815), ("含糖率", 0.126)])
def test_thresholds_of_watermelon_3_0(column, threshold):
    samples = golden_samples("watermelon_3.0")
    cut = cut_of(samples.attributes.values(column), samples.target.codes)
    assert cut.threshold == pytest.approx(threshold, abs=1e-12)
    assert cut.n_thresholds == 16


def test_age_in_app_recommendation_is_cut_at_20():
    samples = golden_samples("app_recommendation")
    assert cut_of(samples.attributes.values("age"), samples.target.codes).threshold == 20


def test_temperature_has_two_candidates_at_class_changes():
    samples = golden_samples("temperature")
    values, classes = samples.attributes.columns[0], samples.target.codes
    assert cut_of(values, classes, choose=midpoints_at_changes).n_thresholds == 2
    assert cut_of(values, classes).n_thresholds == 5
    assert cut_of(values, classes, choose=midpoints_at_changes).threshold in (54, 85)


def test_a_tie_goes_to_the_smaller_threshold_whatever_the_order_of_rows():
    assert cut_of([1, 2, 3, 4], [0, 1, 1, 0]).threshold == 1.5
    assert cut_of([4, 3, 2, 1], [0, 1, 1, 0]).threshold == 1.5
    assert cut_of([3, 1, 4, 2], [1, 0, 0, 1], weights=[0.1] * 4).threshold == 1.5


def test_a_constant_or_single_value_has_no_cut():
    assert cut_of([5, 5, 5], [0, 1, 0]) is None
    assert cut_of([5], [0]) is None
    assert cut_of([0.0, -0.0], [0, 1]) is None


def test_both_sides_need_the_least_weight():
    values, classes = [1, 2, 3, 4], [0, 1, 1, 1]
    assert cut_of(values, classes, min_weight=1).threshold == 1.5
    assert cut_of(values, classes, min_weight=2).threshold == 2.5
    assert cut_of(values, classes, min_weight=2.1) is None
    assert cut_of(values, classes, weights=[0.5, 1, 1, 1], min_weight=1).threshold == 2.5


def test_a_side_that_misses_the_least_weight_by_rounding_passes():
    assert cut_of([1] * 10 + [2] * 10, [0] * 10 + [1] * 10, weights=[0.1] * 20, min_weight=1).threshold == 1.5


def test_thresholds_tried_are_counted_also_where_a_side_is_too_small():
    assert cut_of([1, 2, 3, 4], [0, 1, 1, 1], min_weight=2).n_thresholds == 3


@given(
    st.lists(st.tuples(st.sampled_from(NUMBERS), st.integers(0, 2), st.sampled_from(WEIGHTS)), min_size=2, max_size=9)
)
def test_the_cut_is_the_best_by_exact_sums(rows):
    values = [value for value, *_ in rows]
    cut = cut_of(values, [code for _, code, _ in rows], weights=[weight for *_, weight in rows])
    distinct = sorted(set(values))
    if len(distinct) == 1:
        assert cut is None
        return
    gains = [exact_gini_decrease(rows, low) for low in distinct[:-1]]
    assume(all(max(gains) == gain or max(gains) - gain > Fraction(1, 10**9) for gain in gains))
    weights = np.array([weight for *_, weight in rows])
    target = ClassTarget(("A", "B", "C"), np.array([code for _, code, _ in rows], dtype=np.int32))
    sums = target.statistics(np.arange(len(rows)), weights)
    found = best_cut(np.array(values), sums, weights, replace(ENTROPY, impurity=gini), min_weight=0)
    best = gains.index(max(gains))
    assert found.threshold == midway(distinct[best], distinct[best + 1])


def exact_gini_decrease(rows, low):
    """The decrease of the Gini value when `low` is the largest value on the left."""

    def weighted_gini(part):
        whole = sum((Fraction(w) for *_, w in part), Fraction(0))
        by_class = [sum((Fraction(w) for _, c, w in part if c == code), Fraction(0)) for code in range(3)]
        return whole - sum((weight**2 for weight in by_class), Fraction(0)) / whole

    whole = sum((Fraction(w) for *_, w in rows), Fraction(0))
    left, right = [r for r in rows if r[0] <= low], [r for r in rows if r[0] > low]
    return (weighted_gini(rows) - weighted_gini(left) - weighted_gini(right)) / whole


def midway(low, high):
    rounded = float((Fraction(low) + Fraction(high)) / 2)
    return rounded if rounded < high else low


def test_numbers_far_from_0_are_cut_where_they_change():
    numbers = 1e8 + np.array([[0.0], [0.25], [1.0], [1.25]])
    target, weights = NumberTarget(numbers), np.ones(4)
    sums = target.statistics(np.arange(4), weights)
    objective = Objective(Task.REGRESSION, squared_error, 1e-12)
    assert best_cut(np.arange(4.0), sums, weights, objective, min_weight=0).threshold == 1.5


def test_both_sides_are_added_up():
    sides = both_sides(np.array([[1.0], [2.0], [4.0]]), np.array([0, 1]))
    assert sides[..., 0].tolist() == [[1.0, 6.0], [3.0, 4.0]]


@given(st.integers(0, 2**32), st.sampled_from([entropy, gini, squared_error]))
def test_columns_searched_together_are_cut_as_each_by_itself(seed, impurity):
    chance = np.random.default_rng(seed)
    n_rows = int(chance.integers(1, 30))
    pools = chance.choice(NUMBERS, size=(int(chance.integers(1, 5)), 6))
    values = np.stack([chance.choice(pool, size=n_rows) for pool in pools])
    values[chance.random(values.shape) < chance.choice([0.0, 0.3, 0.9])] = np.nan
    weights = chance.choice(WEIGHTS, size=n_rows)
    task = Task.REGRESSION if impurity is squared_error else Task.CLASSIFICATION
    target = ClassTarget(tuple("ABC"), chance.integers(0, 3, n_rows).astype(np.int32))
    if task is Task.REGRESSION:
        target = NumberTarget(chance.normal(size=(n_rows, 2)).round(1))
    objective = Objective(task, impurity)
    sums, least = target.statistics(np.arange(n_rows), weights), float(chance.choice([0.0, 1.0, 2.0]))
    each = []
    for column in values:
        known = ~np.isnan(column)
        cut = None
        if known.any():
            cut = best_cut(column[known], sums[known], weights[known], objective, min_weight=least)
        each.append(cut)
    assert best_cuts(values, sums, weights, objective, min_weight=least) == each
