"""Kernels of `logarithms`: the same arithmetic, with e, m and the table's row taken from the bits of a number."""

import numpy as np
from numba import int64, uint64

from core.arithmetic import logarithms
from core.arithmetic.logarithms import TABLE
from core.compiler.compile import compiled, inlined

THREE_QUARTERS, ONE = 0x3FE8000000000000, 0x3FF0000000000000  # the bits of 0.75 and of 1
LEAST_BITS, USUAL = 0x0010000000000000, 0x7FE0000000000000  # the least positive normal number, and how many there are
SCALE, SCALED_BY = 2.0**54, 54
ROW = 5
FLAT = TABLE.ravel().copy()

log_parts, log2_parts = inlined(logarithms.log_parts), inlined(logarithms.log2_parts)
log_outside = compiled(logarithms.log_outside)


@inlined
def bits_of(x):
    """The bits of a number."""
    return np.float64(x).view(np.uint64)


@inlined
def is_usual(bits):
    """Whether these are the bits of a positive, finite and normal number."""
    return bits - uint64(LEAST_BITS) < uint64(USUAL)


@inlined
def in_binary(bits):
    """`logarithms.in_binary` and `row_of`, from a number's bits: e, m and the index at which the table's row begins."""
    beyond = bits - uint64(THREE_QUARTERS)
    e = int64(beyond) >> int64(52)
    m = np.uint64(bits - (uint64(e) << uint64(52))).view(np.float64)
    return np.float64(e), m, ((beyond >> uint64(45)) & uint64(127)) * uint64(ROW)


@compiled
def log2(x):
    """`logarithms.log2`."""
    bits = bits_of(x)
    if not is_usual(bits):
        return unusual_log2(np.float64(x))
    e, m, row = in_binary(bits)
    high, low = log2_parts(e, m, FLAT[row], FLAT[row + uint64(3)], FLAT[row + uint64(4)])
    return high + low


@compiled
def unusual_log2(x):
    """`logarithms.log2` of a number that is not positive, not finite or not normal."""
    high, low = log2_in_two(x) if 0.0 < x < np.inf else (log_outside(x), 0.0)
    return high + low


@compiled
def log2_in_two(x):
    """`logarithms.log2_in_two`."""
    bits, scaled_by = bits_of(x), 0.0
    if not is_usual(bits):
        bits, scaled_by = bits_of(x * SCALE), SCALED_BY
    e, m, row = in_binary(bits)
    return log2_parts(e - scaled_by, m, FLAT[row], FLAT[row + uint64(3)], FLAT[row + uint64(4)])


@compiled
def log_of_sum(x, lost):
    """log(x + lost), where x is the rounded sum and `lost` is what rounding took from it."""
    bits, scaled_by = bits_of(x), 0.0
    if not is_usual(bits):
        if not 0.0 < x < np.inf:
            return log_outside(x)
        bits, scaled_by = bits_of(x * SCALE), SCALED_BY
    e, m, row = in_binary(bits)
    rest = lost * (m / x) if lost != 0.0 else 0.0
    high, low = log_parts(e - scaled_by, m, rest, FLAT[row], FLAT[row + uint64(1)], FLAT[row + uint64(2)])
    return high + low


@compiled
def log(x):
    """`logarithms.log`."""
    return log_of_sum(np.float64(x), 0.0)


@compiled
def log1p(x):
    """`logarithms.log1p`."""
    total = x + 1.0
    if not -1.0 < x < np.inf:
        return log_outside(total)
    return log_of_sum(total, x - (total - 1.0) if abs(x) < 1.0 else 1.0 - (total - x))
