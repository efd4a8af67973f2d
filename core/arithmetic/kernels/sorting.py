"""A column as a sorted list of rows: keys that sort like its values, their order, and the entries of the list.

A key has in its upper bits as much of the value as there is room for, then the row and the class:

    sign and first bits of the value | row | class

Keys are made in row order, and one pass over them for each group of bits, from the lowest of the value to the highest,
sorts them: what is equal in a group keeps its order. That needs no vector instructions. `np.sort` is as fast where it
has the right ones, and takes five times as long where it has the wrong ones.
"""

import numpy as np
from numba import int64, uint32, uint64

from core.compiler.compile import compiled, making_arrays

LONGEST_RUN = 64
DIGIT = 11  # bits that a pass looks at; their counts stay in the cache
MOST_DIGITS = 6  # of a word
SHORT = 48  # values that are put in their places one by one
FEW, FEW_DIGITS, SOME_DIGITS = 4096, 2, 3  # upper bits that nearly always tell so many values apart, and more


@compiled
def sortable_keys(values, bits, classes, class_bits, row_bits, keys):
    """Fill `keys` with what sorts like the known values: the ordered bits of the float; the lowest hold row and class.

    `bits` is the same memory as `values`, read as whole numbers. Returns how many values are known.
    """
    low = (uint64(1) << uint64(row_bits + class_bits)) - uint64(1)
    sign = uint64(1) << uint64(63)
    n = uint64(0)
    for row in range(values.shape[0]):
        key = bits[row]
        if key == sign:  # -0.0 is 0.0
            key = uint64(0)
        key ^= sign | (uint64(0) - (key >> uint64(63)))  # negative numbers backwards, below the others
        keys[n] = (key & ~low) | (uint64(row) << uint64(class_bits)) | uint64(classes[row])
        n += uint64(values[row] == values[row])
    return n


@making_arrays
def sort_keys(keys, buffers, low_bits, counts):
    """`np.sort` of keys whose low bits ascend already; they end up in `keys` or in the room, which is as long.

    `counts[d, :]` becomes where the next key goes by its digit d. A digit that all keys share needs no pass.
    """
    n, mask, shift = uint64(keys.shape[0]), uint64((1 << DIGIT) - 1), uint64(DIGIT)
    n_digits = (64 - low_bits + DIGIT - 1) // DIGIT
    count_digits(keys, low_bits, n_digits, counts)
    for d in range(n_digits):
        positions, first = counts[d], uint64(low_bits) + uint64(d) * shift
        if n == 0 or positions[(keys[0] >> first) & mask] == n:
            continue
        position = uint32(0)
        for digit in range(1 << DIGIT):
            here = positions[digit]
            positions[digit] = position
            position += here
        i = uint64(0)
        while i < n:
            key = keys[i]
            digit = (key >> first) & mask
            buffers[positions[digit]] = key
            positions[digit] += uint32(1)
            i += uint64(1)
        keys, buffers = buffers, keys
    return keys


@compiled
def count_digits(keys, low_bits, n_digits, counts):
    """`counts[d, digit]`: how many keys have it in place d, counted from the lowest bit of the value."""
    mask = uint64((1 << DIGIT) - 1)
    for d in range(n_digits):
        for digit in range(1 << DIGIT):
            counts[d, digit] = 0
    for i in range(keys.shape[0]):
        value = keys[i] >> uint64(low_bits)
        for d in range(n_digits):
            counts[d, value & mask] += uint32(1)
            value >>= uint64(DIGIT)


@compiled
def settle_runs(keys, values, class_bits, row_bits, unsorted):
    """Order the values whose keys differ only in bits that are not sorted yet; False when a run is too long.

    `unsorted` are these bits, the lowest ones; at least those that made room for the row and the class.
    """
    low = (uint64(1) << uint64(row_bits + class_bits)) - uint64(1)
    shift, run = uint64(class_bits), int64(0)
    for i in range(1, keys.shape[0]):
        if keys[i] ^ keys[i - 1] > unsorted:
            run = i
            continue
        key = keys[i]
        value, j = values[(key & low) >> shift], i - 1
        if i - run > LONGEST_RUN and value != values[(keys[j] & low) >> shift]:
            return False
        while j >= run and values[(keys[j] & low) >> shift] > value:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key
    return True


@compiled
def list_entries(keys, values, class_bits, row_bits, entries):
    """Write the entries of a column: whether the value is new, the class, the row; how many are new.

    Keys whose upper bits differ belong to different values, so that few values have to be looked up.
    """
    low, shift = (uint64(1) << uint64(row_bits + class_bits)) - uint64(1), uint64(class_bits)
    class_mask = (uint64(1) << shift) - uint64(1)
    before, n_new = keys[0] if keys.shape[0] > 0 else uint64(0), int64(0)
    for i in range(keys.shape[0]):
        key = keys[i]
        row = (key & low) >> shift
        is_new = uint32(1)
        if key ^ before <= low:
            is_new = uint32(values[row] != values[(before & low) >> shift])
        n_new += is_new
        entries[i] = (is_new << uint32(31)) | (uint32(key & class_mask) << uint32(row_bits)) | uint32(row)
        before = key
    return n_new


@making_arrays
def sorted_list(values, classes, class_bits, row_bits, buffers, counts, entries):
    """Write the list of the known values: how many they are, and how many of them are new.

    Bits that all keys share tell nothing, and a few after them nearly always enough; else all that a key has are
    looked at. Where too many values are closer than that, the values are sorted themselves.
    """
    low_bits, bits = row_bits + class_bits, values.view(np.uint64)
    for looks_at_all in range(2):
        n = sortable_keys(values, bits, classes, class_bits, row_bits, buffers[0])
        keys, first = buffers[0, :n], uint64(low_bits)
        if not looks_at_all:
            n_digits = FEW_DIGITS if n <= FEW else SOME_DIGITS
            first = uint64(max(low_bits, differing_bits(keys, low_bits) - n_digits * DIGIT))
        unsorted = (uint64(1) << first) - uint64(1)
        if n <= SHORT:
            unsorted = ~uint64(0)
        else:
            keys = sort_keys(keys, buffers[1, :n], first, counts)
        if settle_runs(keys, values, class_bits, row_bits, unsorted):
            return n, list_entries(keys, values, class_bits, row_bits, entries)
    order = np.argsort(values, kind="mergesort")  # NaN come last
    for i in range(n):
        row = uint64(order[i])
        keys[i] = (row << uint64(class_bits)) | uint64(classes[row])  # without upper bits
    return n, list_entries(keys, values, class_bits, row_bits, entries)


@compiled
def differing_bits(keys, low_bits):
    """How many bits of the keys are not the same in all of them; at least the low ones."""
    differing, n_bits = uint64(0), int64(low_bits)
    for i in range(keys.shape[0]):
        differing |= keys[i] ^ keys[0]
    while n_bits < 64 and differing >> uint64(n_bits):
        n_bits += 1
    return n_bits
