"""Parses decimal numbers from bytes; equals `float(text)` bit for bit.

A number is m * 10^q with an integer m. If m is at most 2^53 and q from -22 to 22, both factors are exact in float64,
and a single operation rounds correctly (Clinger 1990). Otherwise m is multiplied by 5^q to 128 bits, which nearly
always determines the nearest float64 (Lemire 2021, "Number parsing at a gigabyte per second"). Numbers that neither
settles are left to Python.
"""

import numpy as np
from numba import float64, int64, uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, beyond_ten_mask, equal_mask
from core.compiler.compile import byte_at, compiled, inlined, lowest_bit, whole_at

EXACT, LEFT_TO_PYTHON, NO_NUMBER = 0, 1, 2

MINUS, PLUS, POINT, ZERO, NINE, SMALL_E, LARGE_E = b"-+.09eE"

MOST_DIGITS = 19  # always fit into 64 bits
EXACT_WHOLE, EXACT_POWER = 1 << 53, 22
LEAST_POWER, LARGEST_POWER = -342, 308  # of ten; beyond them, every number of 19 digits is 0 or infinite
FAR_EXPONENT, NO_EXPONENT = 1_000_000_000, 1 << 40

DIGITS_AT_ONCE = 8
ZEROS = 0x3030_3030_3030_3030
FAR_BIT = uint64(1 << BYTES_AT_ONCE)  # after the bytes that are compared

MANTISSA_BITS, BIAS = 52, 1_023
LOW_HALF = (1 << 32) - 1
# The bits of a product below a float64's and two more; if all are set, the factor's lower bits may carry.
ROUNDED_AWAY = (1 << 9) - 1
TIES = (-4, 23)  # powers of ten between which a product can be exactly halfway between two float64


def five_to(power: int) -> int:
    """The 128 leading bits of 5^power, truncated; rounded up if it is a reciprocal that could divide m evenly."""
    if power >= 0:
        return _leading(5**power << 128)
    whole = 5**-power
    if whole < 1 << 64:
        return 2 ** (whole.bit_length() + 127) // whole + 1
    return _leading(2 ** (2 * whole.bit_length() + 128) // whole)


def _leading(number: int) -> int:
    return number >> (number.bit_length() - 128)


_FIVES = [five_to(power) for power in range(LEAST_POWER, LARGEST_POWER + 1)]
UPPER = np.array([five >> 64 for five in _FIVES], dtype=np.uint64)
LOWER = np.array([five & ((1 << 64) - 1) for five in _FIVES], dtype=np.uint64)
TENS = np.array([10.0**power for power in range(EXACT_POWER + 1)])
TENS_OF_DIGITS = np.array([10**power for power in range(9)], dtype=np.uint64)
SMALLEST_TWO = -1_074
TWOS = np.array([2.0**power for power in range(SMALLEST_TWO, 1_024)])


@inlined
def is_digit(byte):
    """Whether a byte is one of 0 to 9."""
    return ZERO <= byte <= NINE


@inlined
def few_digits(at, n):
    """The number of n digits at an address, at most eight, all at once.

    Neighbours are combined: 1 2 3 4 5 6 7 8 become 12 34 56 78, and these 1234 5678.
    """
    half = uint64(4) * (uint64(DIGITS_AT_ONCE) - n)  # in two steps, because a shift by all bits of a word is undefined
    word = (uint64(whole_at(at)) ^ uint64(ZEROS)) << half << half
    word = (word * uint64(10) + (word >> uint64(8))) & uint64(0x00FF_00FF_00FF_00FF)
    word = (word * uint64(100) + (word >> uint64(16))) & uint64(0x0000_FFFF_0000_FFFF)
    return (word * uint64(10_000) + (word >> uint64(32))) & uint64(LOW_HALF)


@inlined
def digits(before, at, n):
    """The number formed by `before` followed by n digits at an address."""
    while n > uint64(DIGITS_AT_ONCE):
        before = before * uint64(100_000_000) + few_digits(at, uint64(DIGITS_AT_ONCE))
        at += uint64(DIGITS_AT_ONCE)
        n -= uint64(DIGITS_AT_ONCE)
    return before * TENS_OF_DIGITS[n] + few_digits(at, n)


@inlined
def read_decimal(at):
    """Parse the JSON number at an address: its end, its value, whether that is settled, and whether it has no fraction.

    It must be followed by a byte that no number contains, and readable memory. The end is found first and
    independently, because everything else waits for it.
    """
    one, is_negative = uint64(1), byte_at(at) == MINUS
    others = beyond_ten_mask(at, ZERO) & ~uint64(is_negative) | FAR_BIT
    point = others & (~others + one) & equal_mask(at, POINT)  # the first byte that is no digit, if it is a point
    end, first, is_whole = at + uint64(lowest_bit(others ^ point)), at + uint64(is_negative), point == uint64(0)
    whole_end = at + uint64(lowest_bit(others))
    n_whole, n_fraction = whole_end - first, uint64(0) if is_whole else end - whole_end - one
    is_usual = (
        end - at < uint64(BYTES_AT_ONCE)
        and n_whole > uint64(0)
        and (byte_at(first) != ZERO or n_whole == one)
        and (is_whole or n_fraction > uint64(0))
        and n_whole + n_fraction <= uint64(MOST_DIGITS)
        and byte_at(end) != SMALL_E
        and byte_at(end) != LARGE_E
    )
    if not is_usual:
        return read_any_decimal(at)
    mantissa = digits(uint64(0), first, n_whole)
    if not is_whole:
        mantissa = digits(mantissa, whole_end + one, n_fraction)
    value, settled = nearest(mantissa, -int64(n_fraction))
    if is_negative and not (is_whole and mantissa == uint64(0)):
        value = -value
    return end, value, settled, is_whole


@compiled
def read_any_decimal(at):
    """`read_decimal` for any number of digits, one after the other."""
    one, ten = uint64(1), uint64(10)
    is_whole, n_digits, mantissa, power = True, 0, uint64(0), 0
    is_negative = byte_at(at) == MINUS
    if is_negative:
        at += one
    first = at
    while is_digit(byte_at(at)):
        mantissa = mantissa * ten + uint64(byte_at(at) - ZERO)
        n_digits += int64(mantissa != uint64(0))
        at += one
    if at == first or (byte_at(first) == ZERO and at > first + one):
        return at, 0.0, NO_NUMBER, is_whole
    if byte_at(at) == POINT:
        at += one
        first, is_whole = at, False
        while is_digit(byte_at(at)):
            mantissa = mantissa * ten + uint64(byte_at(at) - ZERO)
            n_digits += int64(mantissa != uint64(0))
            at += one
        power -= int64(at - first)
        if at == first:
            return at, 0.0, NO_NUMBER, is_whole
    if byte_at(at) == SMALL_E or byte_at(at) == LARGE_E:
        at, exponent = read_exponent(at + one)
        is_whole = False
        power += exponent
        if exponent == NO_EXPONENT:
            return at, 0.0, NO_NUMBER, is_whole
    if n_digits > MOST_DIGITS:
        return at, 0.0, LEFT_TO_PYTHON, is_whole
    value, settled = nearest(mantissa, power)
    if is_negative and not (is_whole and mantissa == uint64(0)):
        value = -value
    return at, value, settled, is_whole


@compiled
def read_exponent(at):
    """Parse the exponent whose sign or first digit is at an address: its end, and its value or NO_EXPONENT."""
    sign, exponent = 1, 0
    if byte_at(at) == MINUS or byte_at(at) == PLUS:
        sign = -1 if byte_at(at) == MINUS else 1
        at += uint64(1)
    if not is_digit(byte_at(at)):
        return at, NO_EXPONENT
    while is_digit(byte_at(at)):
        exponent = min(exponent * 10 + int64(byte_at(at) - ZERO), FAR_EXPONENT)
        at += uint64(1)
    return at, sign * exponent


@inlined
def nearest(mantissa, power):
    """The float64 nearest to mantissa * 10^power, and whether it is settled."""
    if mantissa == uint64(0):
        return 0.0, EXACT
    if mantissa <= uint64(EXACT_WHOLE) and -EXACT_POWER <= power <= EXACT_POWER:
        if power < 0:
            return float64(int64(mantissa)) / TENS[-power], EXACT
        return float64(int64(mantissa)) * TENS[power], EXACT
    if power < LEAST_POWER or power > LARGEST_POWER:
        return 0.0, LEFT_TO_PYTHON
    return nearest_by_product(mantissa, power)


@compiled
def nearest_by_product(mantissa, power):
    """`nearest` from the leading bits of mantissa * 5^power."""
    shift = leading_zeros(mantissa)
    mantissa <<= uint64(shift)
    index = power - LEAST_POWER
    upper, lower = product(mantissa, UPPER[index])
    if upper & uint64(ROUNDED_AWAY) == uint64(ROUNDED_AWAY):
        carried, _ = product(mantissa, LOWER[index])
        lower += carried
        upper += uint64(lower < carried)
    if lower == ~uint64(0):
        return 0.0, LEFT_TO_PYTHON
    top = upper >> uint64(63)
    n_cut = top + uint64(64 - MANTISSA_BITS - 3)
    rounded = upper >> n_cut
    exponent = ((217_706 * power) >> 16) + 63 + int64(top) - shift + BIAS  # 217706 / 2^16 is log2 of 10
    if exponent <= 0:
        return 0.0, LEFT_TO_PYTHON
    may_be_tie = lower <= uint64(1) and TIES[0] <= power <= TIES[1] and rounded & uint64(3) == uint64(1)
    if may_be_tie and rounded << n_cut == upper:
        rounded &= ~uint64(1)
    rounded = (rounded + (rounded & uint64(1))) >> uint64(1)
    if exponent >= 2 * BIAS:  # near the largest, rounding may make it infinite
        return 0.0, LEFT_TO_PYTHON
    return float64(rounded) * TWOS[exponent - BIAS - MANTISSA_BITS - SMALLEST_TWO], EXACT


@compiled
def product(a, b):
    """The upper and lower 64 bits of a * b."""
    half, low = uint64(32), uint64(LOW_HALF)
    a_low, a_high, b_low, b_high = a & low, a >> half, b & low, b >> half
    one, other = a_low * b_high, a_high * b_low
    middle = ((a_low * b_low) >> half) + (one & low) + (other & low)
    return a_high * b_high + (one >> half) + (other >> half) + (middle >> half), a * b


@compiled
def leading_zeros(word):
    """The number of zeros above the highest set bit of a word, which is not 0."""
    n = 0
    for width in (32, 16, 8, 4, 2, 1):
        if word >> uint64(64 - width) == uint64(0):
            word <<= uint64(width)
            n += width
    return n
