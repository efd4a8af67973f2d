"""A first look at a list never passes over its best cut, and what it leaves is searched as the whole list would be."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.splits import block_kernels as blocks
from core.splits.numeric_kernels import NO_CUT, last_place, scan_counts_gini, scan_weights, sum_blocks
from core.ties import TIE

SCALES = st.sampled_from([(1.0, 1.0), (0.2, 1.0), (1e-9, 1.0), (1e-3, 1e3)])  # the lightest and the heaviest row


@st.composite
def lists(draw: st.DrawFn) -> tuple[Any, int, Any, Any]:
    """A list, the bits of its rows, their classes and weights."""
    n, n_classes = draw(st.integers(2, 300)), draw(st.integers(1, blocks.MOST_LANES))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    lightest, heaviest = draw(SCALES)
    weights = np.exp(chance.uniform(np.log(lightest), np.log(heaviest), n))
    rows, row_bits = chance.permutation(n).astype(np.uint32), max(1, (n - 1).bit_length())
    lean = np.linspace(0, draw(st.sampled_from([0.0, 0.5, 1.0])), n)  # how much the class follows the place
    classes = np.where(chance.random(n) < lean, 0, chance.integers(0, n_classes, n)).astype(np.int32)
    is_new = chance.random(n) < draw(st.sampled_from([0.1, 1.0]))
    entries = (is_new.astype(np.uint32) << np.uint32(31)) | (classes.astype(np.uint32) << np.uint32(row_bits)) | rows
    entries[0] &= ~np.uint32(1 << 31)
    by_row = np.empty(n, dtype=np.int32)
    by_row[rows] = classes
    return entries, row_bits, by_row, weights


def by_row(row_bits: int) -> tuple[Any, Any]:
    """`block_kernels.by_row` for Python: an entry's weight is found by its row."""
    return np.uint32(0), np.uint32((1 << row_bits) - 1)


def looked_at(entries: Any, row_bits: int, classes: Any, weights: Any | None) -> tuple[Any, int, Any, float, float]:
    """The sums before each block, how many there are, the units, how many a weight of 1 has, and the doubt."""
    n = len(entries)
    units, scale = np.empty(0, dtype=np.uint64), np.array([1.0, 0.0])
    if weights is not None:
        units, rows = np.empty(n, dtype=np.uint64), np.arange(n, dtype=np.uint32)
        blocks.fill_units(weights, classes, rows, 0, n, weights.sum(), units, scale)
    lefts = np.full((blocks.MOST_LANES + 1, blocks.room_for_lefts(blocks.most_blocks(n))), np.nan, dtype=np.float32)
    n_blocks = blocks.fill_lefts(entries, 0, n, row_bits, by_row(row_bits), units, lefts)
    assert n_blocks == blocks.n_blocks_of(n) <= blocks.most_blocks(n)
    _, known = blocks.score_undivided(lefts, n_blocks)
    return lefts, n_blocks, units, scale[0], 2 * scale[1] + blocks.ROUNDED * known


def gains(entries: Any, row_bits: int, classes: Any, weights: Any) -> tuple[Any, Any]:
    """What a cut before each entry gains, times the weight, and the weight on its smaller side."""
    rows = entries & np.uint32((1 << row_bits) - 1)
    each = np.eye(blocks.MOST_LANES)[classes[rows]] * weights[rows, None]
    left = np.vstack([np.zeros(blocks.MOST_LANES), np.cumsum(each, axis=0)])[:-1]
    right = each.sum(axis=0) - left

    def score(sums: Any) -> Any:
        weight = sums.sum(axis=1)
        return np.divide((sums**2).sum(axis=1), weight, out=np.zeros(len(sums)), where=weight > 0)

    return score(left) + score(right) - score(each.sum(axis=0)[None]), np.minimum(left.sum(axis=1), right.sum(axis=1))


@given(lists(), st.booleans(), st.floats(0, 1.2), st.sampled_from([0.0, 1.0, 5.0]))
def test_a_block_without_a_mark_has_no_better_cut(given_list: Any, is_counted: bool, part: float, least: float) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    lefts, n_blocks, _, unit, doubt = looked_at(entries, row_bits, classes, None if is_counted else weights)
    gain, smaller = gains(entries, row_bits, classes, weights)
    bar, highs = part * gain.max(), np.full(n_blocks, -1, dtype=np.int64)
    n_high = blocks.mark_high(lefts, n_blocks, bar * unit - doubt, least * unit - doubt, highs)
    assert (np.diff(highs[:n_high]) > 0).all()
    is_low = ~np.isin(np.arange(n_blocks), highs[:n_high])
    is_passed_over = np.repeat(is_low, int(blocks.block_length(len(entries))))[: len(entries)]
    is_better = (gain > bar + 1e-9 * weights.sum()) & (smaller >= least)
    assert not (is_better & is_passed_over).any()


@given(lists(), st.booleans(), st.sampled_from([0.0, 1.0, 5.0]))
def test_what_is_surely_gained_can_be_had(given_list: Any, is_counted: bool, least: float) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    lefts, n_blocks, _, unit, doubt = looked_at(entries, row_bits, classes, None if is_counted else weights)
    undivided, _ = blocks.score_undivided(lefts, n_blocks)
    best = blocks.best_between_blocks(lefts, n_blocks, least * unit + doubt)
    surely = (best - undivided - doubt) / unit
    gain, smaller = gains(entries, row_bits, classes, weights)
    is_allowed = (entries >> np.uint32(31) == 1) & (smaller >= least)
    assert surely <= gain[is_allowed].max(initial=0.0) + 1e-9 * weights.sum()


@given(lists(), st.booleans(), st.floats(0, 1.2), st.sampled_from([1.0, 5.0]))
def test_a_closer_look_bounds_the_best_cut_on_both_sides(
    given_list: Any, is_counted: bool, part: float, least: float
) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    lefts, n_blocks, units, unit, doubt = looked_at(entries, row_bits, classes, None if is_counted else weights)
    gain, smaller = gains(entries, row_bits, classes, weights)
    is_allowed, rounding = (entries >> np.uint32(31) == 1) & (smaller >= least), 1e-9 * weights.sum()
    best = gain[is_allowed].max(initial=0.0)
    bar, highs = part * best, np.empty(n_blocks, dtype=np.int64)
    n_high = blocks.mark_high(lefts, n_blocks, bar * unit - doubt, least * unit - doubt, highs)
    perhaps, words = max(least * unit - doubt, 0.5), np.empty(blocks.WIDTH, dtype=np.uint64)
    surely, possibly = blocks.best_in_blocks(
        entries,
        0,
        len(entries),
        row_bits,
        by_row(row_bits),
        units,
        lefts,
        n_blocks,
        highs,
        n_high,
        least * unit + doubt,
        perhaps,
        words,
    )
    undivided, _ = blocks.score_undivided(lefts, n_blocks)
    assert (surely - undivided - doubt) / unit <= best + rounding
    assert best <= max(bar, (max(possibly, undivided) - undivided + doubt) / unit) + rounding


@given(lists(), st.sampled_from([0.0, 0.5, 0.99]), st.sampled_from([1.0, 5.0]))
def test_counts_are_searched_as_the_whole_list_would_be(given_list: Any, part: float, least: float) -> None:
    entries, row_bits, classes, _ = given_list
    n, n_classes = len(entries), int(classes.max()) + 1
    lefts, n_blocks, _, _, doubt = looked_at(entries, row_bits, classes, None)
    totals, left = np.bincount(classes, minlength=n_classes), np.zeros(n_classes, dtype=np.int64)
    bar = part * gains(entries, row_bits, classes, np.ones(n))[0].max() - 1e-9 * n  # no gain at all is found or not
    highs = np.empty(n_blocks, dtype=np.int64)
    n_high = blocks.mark_high(lefts, n_blocks, bar - doubt, least, highs)
    reciprocal, whole = np.concatenate([[0.0], 1 / np.arange(1, n + 1)]), (totals**2).sum() / n
    of_blocks = blocks.scan_high_counts(
        entries, 0, n, row_bits, totals, left, lefts, highs, n_high, reciprocal, least, TIE * n, whole + bar
    )
    assert of_blocks == scan_counts_gini(entries, 0, n, row_bits, totals, left, reciprocal, least, TIE * n, whole + bar)


@given(lists(), st.sampled_from([0.0, 0.5, 0.99]), st.sampled_from([0.0, 1.0, 5.0]))
def test_weights_are_searched_as_the_whole_list_would_be(given_list: Any, part: float, least: float) -> None:
    entries, row_bits, classes, weights = given_list
    n, n_classes = len(entries), int(classes.max()) + 1
    lefts, n_blocks, _, unit, doubt = looked_at(entries, row_bits, classes, weights)
    bar = part * gains(entries, row_bits, classes, weights)[0].max() - 1e-9 * weights.sum()
    highs, totals, room = np.empty(n_blocks, dtype=np.int64), np.zeros(n_classes), np.empty((n // 8 + 5, n_classes))
    n_high = blocks.mark_high(lefts, n_blocks, bar * unit - doubt, least * unit - doubt, highs)
    blocks.sum_to_high(entries, 0, n, row_bits, by_row(row_bits), weights, highs, n_high, room, totals)
    assert totals == pytest.approx(np.bincount(classes, weights, n_classes), rel=1e-12)
    tolerance, whole = TIE * weights.sum(), float((totals**2).sum() / totals.sum())
    by, last = by_row(row_bits), last_place(entries, 0, n, by_row(row_bits)[1], weights, least)
    score, place = blocks.scan_high_weights(
        entries, 0, n, row_bits, by, totals, room, highs, n_high, weights, least, last, tolerance, whole + bar
    )
    all_totals, left = np.zeros(n_classes), np.zeros(2 * n_classes)
    all_blocks, behind = np.empty((n // 32 + 3, n_classes)), np.zeros(n_classes)
    sum_blocks(entries, 0, n, row_bits, weights, all_blocks, all_totals)
    expected, expected_place = scan_weights(
        entries,
        0,
        n,
        row_bits,
        all_totals,
        left,
        weights,
        0,
        least,
        tolerance,
        whole + bar,
        behind,
        all_blocks,
    )
    assert place == expected_place
    assert score == pytest.approx(expected, rel=1e-12) if place else expected == NO_CUT


@given(lists())
def test_few_weights_are_added_up_side_by_side(given_list: Any) -> None:
    entries, row_bits, classes, weights = given_list
    n, rows = len(entries), np.arange(len(entries), dtype=np.uint32)
    units, scale = np.empty(n, dtype=np.uint64), np.zeros(2)
    blocks.fill_units_of_few(weights, classes, rows, 0, n, weights.sum(), units, scale)
    in_units = (units >> (classes.astype(np.uint64) * np.uint64(blocks.LANE))).astype(np.float64)
    assert in_units.sum() < 1 << blocks.LANE
    assert scale[1] == pytest.approx(np.abs(in_units - weights * scale[0]).sum())
    shape = blocks.MOST_LANES + 1, blocks.room_for_lefts(blocks.most_blocks(n))
    one_by_one, lefts = np.zeros(shape, dtype=np.float32), np.full(shape, np.nan, dtype=np.float32)
    n_blocks = blocks.fill_lefts(entries, 0, n, row_bits, by_row(row_bits), units, one_by_one)
    words = np.empty(shape[1], dtype=np.uint64)
    assert blocks.fill_lefts_of_few(entries, 0, n, row_bits, units, words, lefts) == n_blocks
    n_read = -(-n_blocks // blocks.WIDTH) * blocks.WIDTH + 1  # by lanes, and the whole after them
    assert (lefts[:, :n_read] == one_by_one[:, :n_read]).all()
