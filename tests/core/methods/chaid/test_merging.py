from itertools import combinations
from math import log10

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.criteria.significance import likelihood_ratio_tests, moment_tests, pearson_tests
from core.methods.chaid.merging import (
    Categories,
    Merging,
    log10_ways,
    merged,
    pairs_with_floating,
    pairs_with_order,
    pairs_without_order,
    ways_with_floating,
    ways_with_order,
    ways_without_order,
)
from core.tables.target import Task
from tests.core.chaid_reference import reference_of_numbers, reference_of_table
from tests.examples import examples

TESTS = {"pearson": pearson_tests, "likelihood_ratio": likelihood_ratio_tests}
ALPHAS = st.sampled_from([0.05, 0.2, 0.01, 0.5])


def categories_of(table, *, has_order=False, has_missing=False):
    sums = np.array(table, dtype=float)
    return Categories(sums, sums.sum(axis=1), Task.CLASSIFICATION, has_order, has_missing)


def categories_of_numbers(numbers, *, has_order=False, has_missing=False):
    every = [y for group in numbers for y in group]
    centre = sum(every) / len(every)
    sums = np.array([[len(g), sum(y - centre for y in g), sum((y - centre) ** 2 for y in g)] for g in numbers])
    return Categories(sums, sums[:, 0], Task.REGRESSION, has_order, has_missing)


def how(test=pearson_tests, *, alpha_merge=0.05, alpha_split=0.05, min_weight=1.0, bonferroni=True):
    return Merging(test, alpha_merge, alpha_split, min_weight, bonferroni)


def groups_of(found):
    return [] if found is None else list(found.groups)


def several(groups):
    return groups if len(groups) > 1 else []


@st.composite
def tables(draw, most=7):
    n_classes = draw(st.integers(2, 3))
    row = st.lists(st.integers(0, 40), min_size=n_classes, max_size=n_classes).filter(any)
    return draw(st.lists(row, min_size=2, max_size=most))


@st.composite
def lists_of_numbers(draw):
    numbers = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=12)
    return draw(st.lists(numbers, min_size=2, max_size=6))


@pytest.mark.slow
@examples(150)
@given(tables(), st.booleans(), st.booleans(), st.sampled_from(list(TESTS)), ALPHAS, st.booleans(), st.integers(1, 60))
def test_groups_of_classes_are_those_of_the_text(table, has_order, has_missing, kind, alpha, divides, min_weight):
    alpha_split = alpha if divides else None
    categories = categories_of(table, has_order=has_order, has_missing=has_missing)
    found = merged(categories, how(TESTS[kind], alpha_merge=alpha, alpha_split=alpha_split, min_weight=min_weight))
    reference = reference_of_table(table, kind, has_order=has_order, has_missing=has_missing)
    assert groups_of(found) == several(reference.merged(alpha, alpha_split, min_weight))


@examples(100)
@given(lists_of_numbers(), st.booleans(), st.booleans(), ALPHAS, st.booleans(), st.integers(1, 20))
@example([[0.0], [0.0, 1.0, 1.0], [0.0] * 5], False, False, 0.05, False, 1)  # two categories of the same number
def test_groups_of_numbers_are_those_of_the_text(numbers, has_order, has_missing, alpha, divides, min_weight):
    alpha_split = alpha if divides else None
    categories = categories_of_numbers(numbers, has_order=has_order, has_missing=has_missing)
    found = merged(categories, how(moment_tests, alpha_merge=alpha, alpha_split=alpha_split, min_weight=min_weight))
    reference = reference_of_numbers(numbers, has_order=has_order, has_missing=has_missing)
    assert groups_of(found) == several(reference.merged(alpha, alpha_split, min_weight))


@examples(100)
@given(tables(), st.booleans(), st.booleans(), st.sampled_from(list(TESTS)), st.integers(1, 60))
def test_exhaustive_groups_are_those_of_the_text(table, has_order, has_missing, kind, min_weight):
    categories = categories_of(table, has_order=has_order, has_missing=has_missing)
    found = merged(categories, how(TESTS[kind], alpha_merge=None, alpha_split=None, min_weight=min_weight))
    reference = reference_of_table(table, kind, has_order=has_order, has_missing=has_missing)
    assert groups_of(found) == several(reference.exhaustively(min_weight))


@examples(50)
@given(tables(most=14), st.booleans())
def test_every_category_is_in_one_group_and_neighbours_stay_together(table, has_order):
    found = merged(categories_of(table, has_order=has_order), how())
    if found is None:
        return
    assert sorted(v for group in found.groups for v in group) == list(range(len(table)))
    if has_order:
        assert all(list(group) == list(range(group[0], group[-1] + 1)) for group in found.groups)


def test_categories_alike_are_merged_and_others_are_not():
    found = merged(categories_of([[40, 10], [41, 9], [10, 40], [12, 38], [39, 11]]), how())
    assert found.groups == ((0, 1, 4), (2, 3))
    assert found.significance.statistic == pytest.approx(250 * (120 * 78 - 30 * 22) ** 2 / (150 * 100 * 142 * 108))


def test_only_neighbours_are_merged_where_there_is_an_order():
    table = [[40, 10], [10, 40], [41, 9]]
    assert merged(categories_of(table), how()).groups == ((0, 2), (1,))
    assert merged(categories_of(table, has_order=True), how()).groups == ((0,), (1,), (2,))


def test_missing_floats_to_any_group():
    table = [[40, 10], [10, 40], [41, 9]]
    assert merged(categories_of(table, has_order=True, has_missing=True), how()).groups == ((0, 2), (1,))


def test_what_differs_within_a_group_is_divided_again():
    # 2 and 3 join 4, then 1 joins them, though 1 by itself differs from the three.
    table = [[63, 21], [54, 66], [33, 54], [30, 72], [42, 72]]
    kept, divided = (merged(categories_of(table), how(alpha_split=alpha)) for alpha in (None, 0.05))
    assert kept.groups == ((0,), (1, 2, 3, 4))
    assert divided.groups == ((0,), (1,), (2, 3, 4))


def test_the_last_two_are_merged_too():
    assert merged(categories_of([[10, 10], [11, 9]]), how()) is None


def test_small_groups_join_what_they_are_like():
    table = [[50, 10], [10, 50], [6, 0]]
    assert merged(categories_of(table, has_order=True), how(alpha_merge=0.5)).groups == ((0,), (1,), (2,))
    small = merged(categories_of(table, has_order=True), how(alpha_merge=0.5, min_weight=10))
    assert small.groups == ((0,), (1, 2))  # its only neighbour


def test_many_categories_come_down_to_what_made_them():
    chance = np.random.default_rng(3)
    high = chance.random(60) < 0.5
    successes = chance.binomial(200, np.where(high, 0.7, 0.3))
    table = np.stack([successes, 200 - successes], axis=1)
    groups = merged(categories_of(table), how(alpha_merge=1e-12, alpha_split=None)).groups
    assert groups == tuple(sorted([tuple(np.flatnonzero(high).tolist()), tuple(np.flatnonzero(~high).tolist())]))


@examples(20)
@given(tables(most=20))
def test_the_same_table_gives_the_same_groups_whatever_the_names_of_classes(table):
    found, mirrored = (merged(categories_of(rows), how()) for rows in (table, [row[::-1] for row in table]))
    assert groups_of(found) == groups_of(mirrored)


def partitions(categories):
    """Every way to make groups of a list."""
    if not categories:
        return [[]]
    first, *others = categories
    found = []
    for size in range(len(others) + 1):
        for joined in combinations(others, size):
            rest = [v for v in others if v not in joined]
            found += [[(first, *joined), *more] for more in partitions(rest)]
    return found


def is_run(group):
    return list(group) == list(range(group[0], group[-1] + 1))


@pytest.mark.parametrize("c", range(2, 8))
def test_multipliers_count_the_ways_to_make_groups(c):
    every = partitions(list(range(c)))
    ordered = [groups for groups in every if all(map(is_run, groups))]
    floating = [
        groups
        for groups in every
        if all(is_run(known) for group in groups if (known := [v for v in group if v < c - 1]))
    ]
    for r in range(2, c + 1):
        assert ways_without_order(c, r) == sum(len(groups) == r for groups in every)
        assert ways_with_order(c, r) == sum(len(groups) == r for groups in ordered)
        assert ways_with_floating(c, r) == sum(len(groups) == r for groups in floating)


@pytest.mark.parametrize("c", range(2, 12))
def test_exhaustive_multipliers_count_the_pairs_of_every_step(c):
    assert pairs_without_order(c, 2) == sum(k * (k - 1) // 2 for k in range(2, c + 1))
    assert pairs_with_order(c, 2) == sum(k - 1 for k in range(2, c + 1))
    assert pairs_with_floating(c, 2) == sum(2 * k - 3 for k in range(2, c + 1))


def test_the_adjusted_p_counts_the_ways_and_is_at_most_1():
    table = [[40, 10], [41, 9], [10, 40], [12, 38], [39, 11]]
    found = merged(categories_of(table), how())
    assert found.log10_adjusted_p == pytest.approx(found.significance.log10_p_value + log10(15))
    plain = merged(categories_of(table), how(bonferroni=False))
    assert plain.log10_adjusted_p == plain.significance.log10_p_value
    weak = merged(categories_of([[20, 10], [10, 20], [15, 15], [12, 18], [19, 11]]), how(alpha_merge=0.99))
    assert weak is None or weak.log10_adjusted_p <= 0.0


def test_multipliers_of_very_many_categories_have_logarithms():
    many = categories_of([[1, 1]] * 500)
    assert log10_ways(many, 40, exhaustive=False) == pytest.approx(753, abs=1)
