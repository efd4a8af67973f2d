"""A first look at a list never passes over its best cut, and never promises more than a cut has."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiler.eight_lanes import WIDTH
from core.criteria.kernels.impurity import ENTROPY, GINI
from core.growth.kernels.bounds import block_sums as blocks
from core.growth.kernels.bounds import bound as bounds
from core.growth.kernels.bounds.block_sums import block_length
from core.splits.kernels.numeric import MOST_LANES
from tests.core.growth.kernels.bounds.bounded_lists import blocks_of, by_row, gains, heaviest_class, lists

pytestmark = pytest.mark.bounds

CRITERIA = st.sampled_from([GINI, ENTROPY])


@given(lists(), CRITERIA, st.booleans(), st.floats(0, 1.2), st.sampled_from([0.0, 1.0, 5.0]))
def test_a_block_without_a_mark_has_no_better_cut(
    given_list: Any, criterion: int, is_counted: bool, part: float, least: float
) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    blocks = blocks_of(entries, row_bits, classes, None if is_counted else weights, criterion)
    bounds.best_between_blocks(blocks.lefts, blocks.n_blocks, 0.0, criterion)
    gain, smaller = gains(entries, row_bits, classes, weights, criterion)
    bar, highs = part * gain.max(), np.full(blocks.n_blocks, -1, dtype=np.int64)
    enough, limit = bar * blocks.unit - blocks.doubt, least * blocks.unit - blocks.doubt
    n_high = bounds.flag_high(blocks.lefts, blocks.n_blocks, enough, limit, criterion, highs)
    assert (np.diff(highs[:n_high]) > 0).all()
    is_low = ~np.isin(np.arange(blocks.n_blocks), highs[:n_high])
    is_passed_over = np.repeat(is_low, int(block_length(len(entries))))[: len(entries)]
    is_better = (gain > bar + 1e-9 * weights.sum()) & (smaller >= least)
    assert not (is_better & is_passed_over).any()


@given(lists(), CRITERIA, st.booleans(), st.sampled_from([0.0, 1.0, 5.0]))
def test_what_is_surely_gained_can_be_had(given_list: Any, criterion: int, is_counted: bool, least: float) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    blocks = blocks_of(entries, row_bits, classes, None if is_counted else weights, criterion)
    undivided, _ = bounds.score_undivided(blocks.lefts, blocks.n_blocks, criterion)
    best = bounds.best_between_blocks(blocks.lefts, blocks.n_blocks, least * blocks.unit + blocks.doubt, criterion)
    surely = (best - undivided - blocks.doubt) / blocks.unit
    gain, smaller = gains(entries, row_bits, classes, weights, criterion)
    is_allowed = (entries >> np.uint32(31) == 1) & (smaller >= least)
    assert surely <= gain[is_allowed].max(initial=0.0) + 1e-9 * weights.sum()


@given(lists(), CRITERIA, st.booleans(), st.floats(0, 1.2), st.sampled_from([1.0, 5.0]))
def test_a_closer_look_bounds_the_best_cut_on_both_sides(
    given_list: Any, criterion: int, is_counted: bool, part: float, least: float
) -> None:
    entries, row_bits, classes, weights = given_list
    weights = np.ones(len(entries)) if is_counted else weights
    blocks = blocks_of(entries, row_bits, classes, None if is_counted else weights, criterion)
    bounds.best_between_blocks(blocks.lefts, blocks.n_blocks, least, criterion)
    gain, smaller = gains(entries, row_bits, classes, weights, criterion)
    is_allowed, rounding = (entries >> np.uint32(31) == 1) & (smaller >= least), 1e-9 * weights.sum()
    best = gain[is_allowed].max(initial=0.0)
    bar, highs, words = part * best, np.empty(blocks.n_blocks, dtype=np.int64), np.empty(WIDTH, dtype=np.uint64)
    enough, limit = bar * blocks.unit - blocks.doubt, least * blocks.unit - blocks.doubt
    n_high = bounds.flag_high(blocks.lefts, blocks.n_blocks, enough, limit, criterion, highs)
    surely, possibly = bounds.best_in_blocks(
        entries,
        0,
        len(entries),
        row_bits,
        by_row(row_bits),
        blocks.units,
        blocks.lefts,
        blocks.n_blocks,
        highs,
        n_high,
        least * blocks.unit + blocks.doubt,
        max(limit, 0.5),
        criterion,
        words,
    )
    undivided, _ = bounds.score_undivided(blocks.lefts, blocks.n_blocks, criterion)
    assert (surely - undivided - blocks.doubt) / blocks.unit <= best + rounding
    assert best <= max(bar, (max(possibly, undivided) - undivided + blocks.doubt) / blocks.unit) + rounding


@given(lists(), st.sampled_from([0.0, 1.0, 5.0]))
def test_a_look_at_all_cuts_bounds_the_best_one_on_both_sides(given_list: Any, least: float) -> None:
    entries, row_bits, classes, weights = given_list
    n, rows = len(entries), np.arange(len(entries), dtype=np.uint32)
    units, words, scale = np.empty(n, dtype=np.uint64), np.empty(n + WIDTH, dtype=np.uint64), np.zeros(2)
    blocks.fill_units_of_few(weights, classes, rows, 0, n, heaviest_class(classes, weights), units, scale)
    whole = blocks.fill_words(entries, 0, n, row_bits, units, words)
    in_units, known = np.bincount(classes, weights * scale[0], MOST_LANES), sum(whole)
    assert whole == pytest.approx(in_units, abs=n)
    doubt = bounds.doubt_of_units(scale[1], weights.sum() * scale[0], GINI) + bounds.doubt_of_floats(known, GINI)
    limit = least * scale[0]
    surely, possibly = bounds.best_of_all(words, n, *whole, limit + doubt, max(limit - doubt, 0.5))
    gain, smaller = gains(entries, row_bits, classes, weights, GINI)
    best = gain[(entries >> np.uint32(31) == 1) & (smaller >= least)].max(initial=0.0)
    undivided, rounding = sum(each**2 for each in whole) / known, 1e-9 * weights.sum()
    assert (surely - undivided - doubt) / scale[0] <= best + rounding
    assert best <= (max(possibly, undivided) - undivided + doubt) / scale[0] + rounding


@pytest.mark.parametrize("criterion", [GINI, ENTROPY])
@pytest.mark.parametrize("n", [100, 3_000, 100_000, 1_000_000])
def test_float32_tells_gains_up_to_the_doubt(criterion: int, n: int) -> None:
    chance = np.random.default_rng(n)
    entries = (np.arange(n) >= chance.integers(1, n - 1, 3)[:, None]).sum(axis=0) % 3  # classes in runs: large gains
    entries = np.where(chance.random(n) < 0.1, chance.integers(0, 3, n), entries).astype(np.uint32)
    classes, weights = entries.astype(np.int32), np.ones(n)
    row_bits = max(1, (n - 1).bit_length())
    entries = (np.uint32(1 << 31) | (entries << np.uint32(row_bits)) | np.arange(n, dtype=np.uint32)).astype(np.uint32)
    blocks = blocks_of(entries, row_bits, classes, None, criterion)
    gain, _ = gains(entries, row_bits, classes, weights, criterion)
    undivided, _ = bounds.score_undivided(blocks.lefts, blocks.n_blocks, criterion)
    size = int(block_length(n))
    for least in (1, n // 10, n // 3):
        between = np.arange(size, n, size)
        between = between[(between >= least) & (n - between >= least)]
        told = bounds.best_between_blocks(blocks.lefts, blocks.n_blocks, least, criterion) - undivided
        assert told == pytest.approx(gain[between].max(), abs=blocks.doubt / 2)
