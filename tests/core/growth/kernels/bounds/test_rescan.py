"""What a first look leaves of a list is searched as the whole list would be."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.ties import TIE
from core.criteria.kernels.impurity import ENTROPY, GINI
from core.growth.kernels.bounds import rescan as high
from core.growth.kernels.bounds.bound import best_between_blocks, flag_high
from core.growth.kernels.lists.rules import reciprocal_table, times_log2_table
from core.splits.kernels.numeric import (
    NO_CUT,
    SMALL_UNIT,
    last_position,
    scan_counts_entropy,
    scan_counts_gini,
    scan_weights,
    score_of_whole,
    sum_blocks,
)
from tests.core.growth.kernels.bounds.bounded_lists import Blocks, blocks_of, by_row, gains, lists

pytestmark = pytest.mark.bounds

CRITERIA = st.sampled_from([GINI, ENTROPY])
PARTS = st.sampled_from([0.0, 0.5, 0.99])  # of the best gain, above which cuts are looked for


def marked(blocks: Blocks, bar: float, least: float, criterion: int) -> tuple[Any, int]:
    """The blocks that a first look leaves, and how many there are."""
    highs = np.empty(blocks.n_blocks, dtype=np.int64)
    best_between_blocks(blocks.lefts, blocks.n_blocks, least, criterion)
    enough, limit = bar * blocks.unit - blocks.doubt, least * blocks.unit - blocks.doubt
    return highs, flag_high(blocks.lefts, blocks.n_blocks, enough, limit, criterion, highs)


@given(lists(), CRITERIA, PARTS, st.sampled_from([1.0, 5.0]))
def test_counts_are_searched_as_the_whole_list_would_be(
    given_list: Any, criterion: int, part: float, least: float
) -> None:
    entries, row_bits, classes, _ = given_list
    n, n_classes = len(entries), int(classes.max()) + 1
    blocks = blocks_of(entries, row_bits, classes, None, criterion)
    totals, left = np.bincount(classes, minlength=n_classes), np.zeros(n_classes, dtype=np.int64)
    # No gain at all is found or not.
    bar = part * gains(entries, row_bits, classes, np.ones(n), criterion)[0].max() - 1e-9 * n
    highs, n_high = marked(blocks, bar, least, criterion)
    whole, _ = score_of_whole(totals.astype(np.float64), criterion, n_classes, 0)
    given, limits = (entries, 0, n, row_bits, totals, left), (least, TIE * n, whole + bar)
    if criterion == ENTROPY:
        logs = times_log2_table(n, SMALL_UNIT)
        of_blocks = high.scan_high_counts_by_entropy(*given, blocks.lefts, highs, n_high, logs, SMALL_UNIT, *limits)
        assert of_blocks == scan_counts_entropy(*given, logs, SMALL_UNIT, *limits)
    else:
        reciprocal = reciprocal_table(n)
        of_blocks = high.scan_high_counts(*given, blocks.lefts, highs, n_high, reciprocal, *limits)
        assert of_blocks == scan_counts_gini(*given, reciprocal, *limits)


@given(lists(), CRITERIA, PARTS, st.sampled_from([0.0, 1.0, 5.0]))
def test_weights_are_searched_as_the_whole_list_would_be(
    given_list: Any, criterion: int, part: float, least: float
) -> None:
    entries, row_bits, classes, weights = given_list
    n, n_classes = len(entries), int(classes.max()) + 1
    blocks = blocks_of(entries, row_bits, classes, weights, criterion)
    bar = part * gains(entries, row_bits, classes, weights, criterion)[0].max() - 1e-9 * weights.sum()
    totals, room = np.zeros(n_classes), np.empty((n // 8 + 5, n_classes))
    highs, n_high = marked(blocks, bar, least, criterion)
    by = by_row(row_bits)
    high.sum_to_high(entries, 0, n, row_bits, by, weights, highs, n_high, room, totals)
    assert totals == pytest.approx(np.bincount(classes, weights, n_classes), rel=1e-12)
    tolerance, enough = TIE * weights.sum(), score_of_whole(totals, criterion, n_classes, 0)[0] + bar
    last, left, behind = (
        last_position(entries, 0, n, by[1], weights, least),
        np.zeros(2 * n_classes),
        np.zeros(n_classes),
    )
    given, limits = (
        (entries, 0, n, row_bits, by, totals, room, highs, n_high, weights),
        (least, last, tolerance, enough),
    )
    if criterion == ENTROPY:
        score, position = high.scan_high_weights_by_entropy(*given, left, behind, *limits)
    else:
        score, position = high.scan_high_weights(*given, *limits)
    all_totals, all_blocks = np.zeros(n_classes), np.empty((n // 32 + 3, n_classes))
    sum_blocks(entries, 0, n, row_bits, weights, all_blocks, all_totals)
    expected, expected_place = scan_weights(
        entries,
        0,
        n,
        row_bits,
        all_totals,
        left,
        weights,
        criterion,
        least,
        tolerance,
        enough,
        behind,
        all_blocks,
    )
    assert position == expected_place
    assert score == pytest.approx(expected, rel=1e-12, abs=1e-12 * weights.sum()) if position else expected == NO_CUT
