"""Kernel of `np.unique(values, return_inverse=True)` for columns of few distinct values, by a hash table."""

import numpy as np
from numba import int64, uint16, uint64

from core.compiler.compile import compiled, making_arrays

SLOTS_BITS = 10
NOBODY = 65_535


@making_arrays
def few_values(values, bits, most, distinct, codes):
    """Number the values in the order in which they first occur: fills `distinct[code]` and the `codes` of the rows.

    Missing values have the code `most`. `bits` is the same memory as `values`, read as integers. Returns how many
    values there are, or `most` + 1 if there are more than `most`; the codes are then incomplete.
    """
    slots = np.full(1 << SLOTS_BITS, uint16(NOBODY), np.uint16)
    n, last = int64(0), uint64((1 << SLOTS_BITS) - 1)
    for row in range(values.shape[0]):
        if values[row] != values[row]:
            codes[row] = most
            continue
        slot = ((bits[row] if values[row] != 0.0 else uint64(0)) * uint64(0x9E3779B97F4A7C15)) >> uint64(
            64 - SLOTS_BITS
        )
        while slots[slot] != NOBODY and distinct[slots[slot]] != values[row]:
            slot = (slot + uint64(1)) & last
        if slots[slot] == NOBODY:
            if n == most:
                return most + 1
            slots[slot], distinct[n] = n, values[row]
            n += 1
        codes[row] = slots[slot]
    return n


@compiled
def renamed(codes, names):
    """Replace every code by `names[code]`, in place."""
    for row in range(codes.shape[0]):
        codes[row] = names[codes[row]]
