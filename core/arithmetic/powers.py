"""Powers with the same bits on every machine; `logarithms` explains why, and what `high` and `low` parts are.

    2^y  =  2^n 2^(j/64) 2^t        |t| <= 1/128

A table holds 2^(j/64), and a short series gives 2^t. Other powers are powers of 2 whose exponents have two parts.
"""

import math
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import (
    BITS,
    LOG2_E_HIGH,
    LOG2_E_LOW,
    LOG_2,
    SPLIT,
    in_two,
    log2_in_two,
    product,
)

N_ROOTS = 64
LEAST, MOST = -1100.0, 1100.0  # outside, 2^y is 0 or infinite
SMALL = 1 / 64  # up to this |x|, e^x - 1 is computed by a series
BY_6, BY_24, BY_120, BY_720, BY_5040 = 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040


def _roots() -> FloatArray:
    """`[j, :]`: 2^(j/64) in two parts."""
    root, powers = 2 << BITS, [1 << BITS]
    for _ in range(6):
        root = math.isqrt(root << BITS)
    for _ in range(1, N_ROOTS):
        powers.append(powers[-1] * root >> BITS)
    return np.array([in_two(power, 52) for power in powers])


ROOTS = _roots()
_ROWS: list[list[float]] = ROOTS.tolist()


def times_log2_e(x: Any) -> Any:
    """x log2 e in two parts. For numbers and arrays."""
    scaled = x * SPLIT
    head = scaled - (scaled - x)
    first, rest = head * LOG2_E_HIGH, (x - head) * LOG2_E_HIGH + x * LOG2_E_LOW
    total = first + rest
    return total, (first - total) + rest


def beyond_root(t: Any, high: Any, low: Any) -> Any:
    """2^(j/64) 2^t - high, where high + low is 2^(j/64)."""
    z = t * LOG_2
    square = z * z
    series = z + square * ((0.5 + z * BY_6) + square * ((BY_24 + z * BY_120) + square * BY_720))
    return low + high * series


def small_expm1(x: Any) -> Any:
    """e^x - 1 for small x."""
    square = x * x
    series = (0.5 + x * BY_6) + square * ((BY_24 + x * BY_120) + square * (BY_720 + x * BY_5040))
    return x + square * series


def less_one(high: Any, low: Any) -> Any:
    """high + low - 1 without cancellation (Knuth's sum of two)."""
    total = high - 1.0
    back = total - high
    return total + ((high - (total - back)) + (-1.0 - back) + low)


def times_two_to(x: float, n: float) -> float:
    """x 2^n."""
    try:
        return math.ldexp(x, int(n))
    except OverflowError:
        return math.copysign(math.inf, x)


def root_parts(high: float, low: float) -> tuple[float, float, float]:
    """2^(high + low) as a, b and n of (a + b) 2^n, for a sum between `LEAST` and `MOST`."""
    position = math.floor(high * 64.0 + 0.5)
    n = position // N_ROOTS
    root_high, root_low = _ROWS[position - n * N_ROOTS]
    return root_high, beyond_root((high - position / 64.0) + low, root_high, root_low), float(n)


def power_of_two(high: float, low: float) -> float:
    """2^(high + low)."""
    if not LEAST < high < MOST:
        return 0.0 if high <= LEAST else high * math.inf
    first, rest, n = root_parts(high, low)
    return times_two_to(first + rest, n)


def exp2(x: float) -> float:
    """2^x."""
    return power_of_two(x, 0.0)


def exp(x: float) -> float:
    """e^x."""
    if not LEAST < x < MOST:
        return 0.0 if x <= LEAST else x * math.inf
    high, low = times_log2_e(x)
    return power_of_two(high, low)


def expm1(x: float) -> float:
    """e^x - 1, with full precision for small x."""
    if not -50.0 < x < 700.0:
        return -1.0 if x <= -50.0 else exp(x)
    if abs(x) <= SMALL:
        return float(small_expm1(x))
    high, low = times_log2_e(x)
    first, rest, n = root_parts(high, low)
    return float(less_one(times_two_to(first, n), times_two_to(rest, n)))


def power(base: float, exponent: float) -> float:
    """base^exponent, for a positive base."""
    if exponent == 1.0:
        return base
    high, low = log2_in_two(base)
    first, rest = product(high, exponent)
    return power_of_two(first, rest + low * exponent)


def exp2_each(x: FloatArray) -> FloatArray:
    """2^x of each number."""
    return _power_of_two_each(x, np.zeros_like(x))


def exp_each(x: FloatArray) -> FloatArray:
    """e^x of each number."""
    high, low = times_log2_e(np.clip(x, LEAST, MOST))
    return _power_of_two_each(high, low)


def expm1_each(x: FloatArray) -> FloatArray:
    """e^x - 1 of each number below 700."""
    x = np.maximum(x, -50.0)
    high, low = times_log2_e(x)
    first, rest, n = _root_parts_each(high, low)
    far = less_one(np.ldexp(first, n), np.ldexp(rest, n))
    return np.where(x <= -50.0, -1.0, np.where(np.abs(x) <= SMALL, small_expm1(x), far))


def _power_of_two_each(high: FloatArray, low: FloatArray) -> FloatArray:
    is_usual = (high > LEAST) & (high < MOST)
    first, rest, n = _root_parts_each(np.where(is_usual, high, 0.0), np.where(is_usual, low, 0.0))
    with np.errstate(over="ignore", under="ignore"):
        powers = np.ldexp(first + rest, n)
    unusual = np.where(np.isnan(high), np.nan, np.where(high > 0.0, np.inf, 0.0))
    return np.where(is_usual, powers, unusual)


def _root_parts_each(high: FloatArray, low: FloatArray) -> Any:
    position = np.floor(high * 64.0 + 0.5)
    n = np.floor(position / N_ROOTS)
    row = ROOTS[(position - n * N_ROOTS).astype(np.int64)]
    first = row[..., 0]
    return first, beyond_root((high - position / 64.0) + low, first, row[..., 1]), n.astype(np.int32)
