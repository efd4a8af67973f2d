"""A column's keys in order, and its list of rows, beside NumPy's sorts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.arithmetic.arrays import FloatArray
from core.arithmetic.kernels.sorting import DIGIT, MOST_DIGITS, sort_keys, sorted_list
from core.growth.kernels.lists.problem import fill_list

pytestmark = pytest.mark.bounds


@given(arrays(np.uint64, st.integers(0, 200)), st.integers(8, 40), st.integers(0, 63))
def test_keys_are_sorted_as_numpy_does(upper, low_bits, n_shared):
    shared = np.uint64(2**64 - 1) >> np.uint64(n_shared)  # the first bits are the same in all keys
    low = np.uint64((1 << low_bits) - 1)
    keys = (upper & shared & ~low) | np.arange(len(upper), dtype=np.uint64)
    wanted = np.sort(keys)
    counts = np.empty((MOST_DIGITS, 1 << DIGIT), dtype=np.uint32)
    found = sort_keys(keys, np.empty_like(keys), low_bits, counts)
    assert (found == wanted).all()


FAR_AND_CLOSE = np.append(1.7e9 + np.arange(3000) / 64, -1.0)  # most differ in their last bits only
LISTS = {
    "distinct": np.random.default_rng(0).normal(size=5000),
    "repeated": np.random.default_rng(1).integers(-20, 20, 3000).astype(float),
    "far and close": np.random.default_rng(2).permutation(FAR_AND_CLOSE),
    "neighbours": np.random.default_rng(3).permutation(1.0 + np.arange(3000) * 2.0**-52),
    "short": np.array([3.0, np.nan, 1.0, 3.0, 2.0, -0.0, 0.0]),
    "unknown": np.full(5, np.nan),
}


@pytest.mark.parametrize("values", LISTS.values(), ids=LISTS.keys())
def test_a_list_by_one_kernel_is_that_of_numpy(values):
    n, class_bits, row_bits = len(values), 1, 13
    classes, entries = np.arange(n, dtype=np.int32) % 2, np.empty(n, dtype=np.uint32)
    room, counts = np.empty((2, n), dtype=np.uint64), np.empty((MOST_DIGITS, 1 << DIGIT), dtype=np.uint32)
    n_known, n_new = sorted_list(values, classes, class_bits, row_bits, room, counts, entries)
    order = np.argsort(values, kind="stable")[:n_known]
    assert n_known == np.count_nonzero(~np.isnan(values))
    assert (entries[:n_known] & ((1 << row_bits) - 1)).tolist() == order.tolist()
    assert ((entries[:n_known] >> row_bits) & 1).tolist() == classes[order].tolist()
    is_new = np.append(False, values[order][1:] != values[order][:-1])[:n_known]
    assert (entries[:n_known] >> 31).tolist() == is_new.tolist()
    assert n_new == is_new.sum()


CLOSE = 1.0 + np.arange(150) * 2.0**-52


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(0).normal(size=3000),
        np.random.default_rng(1).integers(-20, 20, 3000).astype(float),
        np.random.default_rng(2).permutation(CLOSE),  # so many have the same key that the values are sorted
        np.array([0.0, -0.0, np.nan, -1e300, 5e-324, 1e300, np.nan, 0.0]),
        np.full(5, np.nan),
    ],
    ids=["distinct", "repeated", "close", "odd", "unknown"],
)
def test_a_list_has_the_known_rows_in_the_order_of_their_values(values: FloatArray):
    n, class_bits, row_bits = len(values), 2, 12
    classes = (np.arange(n) % 3).astype(np.int32)
    entries = np.zeros(n, dtype=np.uint32)
    n_known, is_distinct = fill_list(values, classes, class_bits, row_bits, np.empty((2, n), dtype=np.uint64), entries)
    order = np.argsort(values, kind="stable")[:n_known]
    rows = entries[:n_known] & np.uint32((1 << row_bits) - 1)
    is_new = np.diff(values[order], prepend=values[order[:1]]) > 0
    assert n_known == np.count_nonzero(~np.isnan(values))
    assert (rows == order).all()
    assert ((entries[:n_known] >> np.uint32(row_bits)) & np.uint32(3) == classes[order]).all()
    assert (entries[:n_known] >> np.uint32(31) == is_new).all()
    assert is_distinct == (is_new.sum() + 1 == n_known)
