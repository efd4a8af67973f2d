"""Logarithms with the same bits on every machine: what is stored must not depend on the processor.

NumPy has several versions of log2, exp and similar functions, and so has the C library behind `math`. Which one runs
depends on the processor's vector instructions and fused multiplication, and they differ in the last bit. This module
and `powers` use only sums, products and quotients, which IEEE 754 rounds in one way, and exact changes of the exponent.
Results are off by about a unit in the last place at most; powers of two have exact logarithms to base 2.

    log x  =  e log 2 - log r + log(1 + z)        x = 2^e m,  3/4 <= m < 3/2,  z = m r - 1

r is about 1/m, with so few bits that z is exact in two parts; log r comes from a table, and log(1 + z) is a short
series. A number that needs more bits than a float has is the sum of two parts, `high` and `low`. The table is computed
with integers when the module is imported. Near 1, where logarithms are small, r is 1 and its logarithm 0.

Functions with `_each` in their name take arrays, the others numbers: the same operations in the same order.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray

N_POSITIONS = 128  # rows of the table: 64 for m below 1, 64 for the others
SHORTENING = 1.5 * 2.0**28  # adding and subtracting it rounds a number near 1 to 24 bits after the binary point
SPLIT = 134217729.0  # 2^27 + 1: splits a float into two of at most 26 bits (Dekker 1971)
BITS = 160  # after the binary point, in the integers that tables are computed with


def log_of_ratio(above: int, below: int) -> int:
    """log(above / below) as a multiple of 2^-160: 2 (q + q^3/3 + ...), q = (above - below) / (above + below)."""
    q = (abs(above - below) << BITS) // (above + below)
    square, term, total, n = q * q >> BITS, q, 0, 1
    while term:
        total += term // n
        term, n = term * square >> BITS, n + 2
    return 2 * total if above > below else -2 * total


def in_two(number: int, bits: int) -> tuple[float, float]:
    """A multiple of 2^-160 as two floats: one with `bits` bits after the binary point, and the rest."""
    unit = 1 << (BITS - bits)
    high = (number + unit // 2) // unit
    return high / (1 << bits), (number - high * unit) / (1 << BITS)


def _row(position: int) -> tuple[float, ...]:
    """A row of the table: r, -log r and -log2 r, each logarithm in two parts.

    r is about 1/m for the m in the middle of the row's interval.
    """
    middle = 385 + 2 * position if position < 64 else 514 + 4 * (position - 64)  # times 512
    r = 2048 if position in (63, 64) else round(512 * 2048 / middle)  # times 2048
    log = log_of_ratio(2048, r)
    return (r / 2048, *in_two(log, 42), *in_two((log << BITS) // _LOG_2, 42))


_LOG_2 = log_of_ratio(2, 1)
LOG_2, LOG_2_PI = _LOG_2 / (1 << BITS), 1.8378770664093453
LOG_10 = (3 * _LOG_2 + log_of_ratio(5, 4)) / (1 << BITS)
LOG_2_HIGH, LOG_2_LOW = in_two(_LOG_2, 42)  # the high part times an exponent is exact
LOG2_E_HIGH, LOG2_E_LOW = in_two((1 << 2 * BITS) // _LOG_2, 23)  # the high part times that of z is exact
LOG2_E = LOG2_E_HIGH + LOG2_E_LOW
LOG10_2, LOG10_2_LOW = in_two((_LOG_2 << BITS) // (3 * _LOG_2 + log_of_ratio(5, 4)), 53)
TABLE = np.array([_row(position) for position in range(N_POSITIONS)])
_ROWS: list[list[float]] = TABLE.tolist()

# Coefficients of the series log(1 + z) = z + z^2 (-1/2 + z/3 - ...), to base e and to base 2.
C2, C3, C4, C5, C6, C7, C8 = -1 / 2, 1 / 3, -1 / 4, 1 / 5, -1 / 6, 1 / 7, -1 / 8
D2, D3, D4, D5, D6, D7, D8 = (LOG2_E * c for c in (C2, C3, C4, C5, C6, C7, C8))


def log_parts(e: Any, m: Any, rest: Any, r: Any, high: Any, low: Any) -> Any:
    """log(2^e (m + rest)) in two parts; `high` and `low` are the parts of -log r. For numbers and arrays."""
    head = (m + SHORTENING) - SHORTENING
    z_high, z_low = head * r - 1.0, (m - head) * r + rest * r
    z = z_high + z_low
    square = z * z
    series = (C2 + C3 * z) + square * ((C4 + C5 * z) + square * ((C6 + C7 * z) + square * C8))
    return (e * LOG_2_HIGH + high) + z_high, (z_low + square * series) + (low + e * LOG_2_LOW)


def log2_parts(e: Any, m: Any, r: Any, high: Any, low: Any) -> Any:
    """log2(2^e m) in two parts; `high` and `low` are the parts of -log2 r. For numbers and arrays."""
    head = (m + SHORTENING) - SHORTENING
    z_high, z_low = head * r - 1.0, (m - head) * r
    z = z_high + z_low
    square = z * z
    series = (D2 + D3 * z) + square * ((D4 + D5 * z) + square * ((D6 + D7 * z) + square * D8))
    whole, first = e + high, z_high * LOG2_E_HIGH
    total = whole + first
    return total, ((whole - total) + first) + ((z_low * LOG2_E_HIGH + (z * LOG2_E_LOW + square * series)) + low)


def product(a: Any, b: Any) -> Any:
    """a * b exactly, in two parts (Dekker 1971). For numbers and arrays."""
    scaled_a, scaled_b = a * SPLIT, b * SPLIT
    head_a, head_b = scaled_a - (scaled_a - a), scaled_b - (scaled_b - b)
    tail_a, tail_b = a - head_a, b - head_b
    high = a * b
    return high, ((head_a * head_b - high) + head_a * tail_b + tail_a * head_b) + tail_a * tail_b


def in_binary(x: float) -> tuple[float, float]:
    """The exponent e and the mantissa m of a positive number 2^e m, 3/4 <= m < 3/2."""
    m, e = math.frexp(x)
    return (e - 1.0, m + m) if m < 0.75 else (float(e), m)


def row_of(m: float) -> list[float]:
    """The table's row for a mantissa."""
    return _ROWS[int(m * 256.0) - 192 if m < 1.0 else int(m * 128.0) - 64]


def log_outside(x: float) -> float:
    """The logarithm of 0 or infinity; NaN for numbers without a logarithm."""
    if x == 0.0:
        return -math.inf
    return x if x == math.inf else math.nan


def log2_in_two(x: float) -> tuple[float, float]:
    """log2 x in two parts, for a positive number."""
    e, m = in_binary(x)
    row = row_of(m)
    high, low = log2_parts(e, m, row[0], row[3], row[4])
    return high, low


def log2(x: float) -> float:
    """The logarithm to base 2."""
    if not 0.0 < x < math.inf:
        return log_outside(x)
    high, low = log2_in_two(x)
    return high + low


def log(x: float) -> float:
    """The natural logarithm."""
    if not 0.0 < x < math.inf:
        return log_outside(x)
    e, m = in_binary(x)
    row = row_of(m)
    high, low = log_parts(e, m, 0.0, row[0], row[1], row[2])
    return float(high + low)


def log1p(x: float) -> float:
    """log(1 + x), with full precision for small x."""
    if not -1.0 < x < math.inf:
        return log_outside(x + 1.0)
    total = x + 1.0
    lost = x - (total - 1.0) if abs(x) < 1.0 else 1.0 - (total - x)
    e, m = in_binary(total)
    row = row_of(m)
    high, low = log_parts(e, m, lost * (m / total), row[0], row[1], row[2])
    return float(high + low)


def log10(x: float) -> float:
    """The logarithm to base 10, also of integers beyond the range of floats."""
    if not 0 < x < math.inf:
        return log_outside(x)
    more = max(0, x.bit_length() - 1000) if isinstance(x, int) else 0
    high, low = log2_in_two(float(int(x) >> more) if more else x)
    first, rest = product(high + more, LOG10_2)
    return float(first + (rest + (high * LOG10_2_LOW + low * LOG10_2)))


def log2_each(x: FloatArray) -> FloatArray:
    """The logarithms to base 2."""
    return _each(log2, _log2_block, x)


def log_each(x: FloatArray) -> FloatArray:
    """The natural logarithms."""
    return _each(log, _log_block, x)


def log1p_each(x: FloatArray) -> FloatArray:
    """log(1 + x) of each number."""
    return _each(log1p, _log1p_block, x)


FEW, BLOCK = 32, 4096  # how many numbers are faster one by one, and how many at once stay in the processor's cache


def _each(one: Callable[[float], float], block: Callable[[FloatArray], FloatArray], x: FloatArray) -> FloatArray:
    """Apply a function to each number: one by one if there are few, else block by block."""
    numbers = np.asarray(x, dtype=np.float64)
    flat = numbers.ravel()
    if len(flat) <= FEW:
        found = np.array([one(number) for number in flat.tolist()], dtype=np.float64)
    else:
        found = np.concatenate([block(flat[start : start + BLOCK]) for start in range(0, len(flat), BLOCK)])
    return found.reshape(numbers.shape)


def _log2_block(x: FloatArray) -> FloatArray:
    is_usual, e, m, position = _in_binary_each(x)
    high, low = log2_parts(e, m, *(TABLE[:, column].take(position) for column in (0, 3, 4)))
    return _with_unusual(x, is_usual, high + low)


def _log_block(x: FloatArray) -> FloatArray:
    is_usual, e, m, position = _in_binary_each(x)
    high, low = log_parts(e, m, 0.0, *(TABLE[:, column].take(position) for column in (0, 1, 2)))
    return _with_unusual(x, is_usual, high + low)


def _log1p_block(x: FloatArray) -> FloatArray:
    total = x + 1.0
    is_usual, e, m, position = _in_binary_each(total)
    sum_, part = np.where(is_usual, total, 1.0), np.where(is_usual, x, 0.0)
    lost = np.where(np.abs(part) < 1.0, part - (sum_ - 1.0), 1.0 - (sum_ - part))
    high, low = log_parts(e, m, lost * (m / sum_), *(TABLE[:, column].take(position) for column in (0, 1, 2)))
    return _with_unusual(total, is_usual, high + low)


def _in_binary_each(x: FloatArray) -> Any:
    """Which numbers are positive and finite, and e, m and the table's row of each; the others have those of 1."""
    is_usual = (x > 0.0) & (x < np.inf)
    m, e = np.frexp(np.where(is_usual, x, 1.0))
    is_small = m < 0.75
    m = np.where(is_small, m + m, m)
    position = np.where(m < 1.0, m * 256.0 - 192.0, m * 128.0 - 64.0).astype(np.int64)
    return is_usual, (e - is_small).astype(np.float64), m, position


def _with_unusual(x: FloatArray, is_usual: Any, logs: FloatArray) -> FloatArray:
    """The logarithms, with those of 0, of infinity and of numbers without one filled in."""
    if is_usual.all():
        return logs
    return np.where(is_usual, logs, np.where(x == 0.0, -np.inf, np.where(x == np.inf, np.inf, np.nan)))
