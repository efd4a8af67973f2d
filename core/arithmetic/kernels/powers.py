"""Kernels of `powers`: the same arithmetic, with powers of two made from their bits."""

from math import floor, inf

import numpy as np
from numba import int64, uint64

from core.arithmetic import logarithms, powers
from core.arithmetic.kernels.logarithms import log2_in_two
from core.arithmetic.powers import LEAST, MOST, N_ROOTS, ROOTS
from core.compiler.compile import compiled, compiled_with, inlined

product = inlined(logarithms.product)
times_log2_e, beyond_root = inlined(powers.times_log2_e), inlined(powers.beyond_root)


@inlined
def two_to(n):
    """2^n for n from -1022 to 1023."""
    return np.uint64(uint64(n + 1023) << uint64(52)).view(np.float64)


@inlined
def times_two_to(x, n):
    """`powers.times_two_to` in two steps, of which only the second may round."""
    half = int64(n) // 2
    return x * two_to(half) * two_to(int64(n) - half)


@inlined
def root_parts(high, low):
    """`powers.root_parts`."""
    position = int64(floor(high * 64.0 + 0.5))
    n = position >> 6
    root = uint64(position - n * N_ROOTS)
    return ROOTS[root, 0], beyond_root((high - position / 64.0) + low, ROOTS[root, 0], ROOTS[root, 1]), float(n)


@compiled
def power_of_two(high, low):
    """`powers.power_of_two`."""
    if not LEAST < high < MOST:
        return 0.0 if high <= LEAST else high * inf
    first, rest, n = root_parts(high, low)
    return times_two_to(first + rest, n)


exp2 = compiled_with(powers.exp2, power_of_two)
exp = compiled_with(powers.exp, times_log2_e, power_of_two)
power = compiled_with(powers.power, log2_in_two, product, power_of_two)
