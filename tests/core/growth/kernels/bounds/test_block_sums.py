"""What short lists weigh in blocks is the same whether classes stand side by side or are taken apart one by one."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from core.growth.kernels.bounds import block_sums as blocks
from tests.core.growth.kernels.bounds.bounded_lists import by_row, heaviest_class, lists

pytestmark = pytest.mark.bounds


@given(lists())
def test_few_weights_are_added_up_side_by_side(given_list: Any) -> None:
    entries, row_bits, classes, weights = given_list
    n, rows = len(entries), np.arange(len(entries), dtype=np.uint32)
    units, scale = np.empty(n, dtype=np.uint64), np.zeros(2)
    blocks.fill_units_of_few(weights, classes, rows, 0, n, heaviest_class(classes, weights), units, scale)
    in_units = (units >> (classes.astype(np.uint64) * np.uint64(blocks.LANE))).astype(np.float64)
    assert heaviest_class(classes, in_units) < 1 << blocks.LANE
    assert scale[1] == pytest.approx(np.abs(in_units - weights * scale[0]).sum())
    shape = blocks.MOST_LANES + 1, blocks.length_of_lefts(blocks.most_blocks(n))
    one_by_one, lefts = np.zeros(shape, dtype=np.float32), np.full(shape, np.nan, dtype=np.float32)
    n_blocks = blocks.fill_lefts(entries, 0, n, row_bits, by_row(row_bits), units, one_by_one)
    words = np.empty(shape[1], dtype=np.uint64)
    assert blocks.fill_lefts_of_few(entries, 0, n, row_bits, units, words, lefts) == n_blocks
    n_read = -(-n_blocks // blocks.WIDTH) * blocks.WIDTH + 1  # by lanes, and the whole after them
    assert (lefts[:, :n_read] == one_by_one[:, :n_read]).all()
