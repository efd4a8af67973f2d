"""Sorts a column into a list of entries: makes keys that sort like its values, sorts them, and writes the entries.

The upper bits of a key hold as much of the value as fits, the lower ones the row and the class:

    sign and first bits of the value | row | class

Keys are made in row order and sorted by a stable radix sort, with one pass for each group of bits from the lowest of
the value to the highest. It needs no vector instructions. `np.sort` is as fast on processors with the instructions that
it prefers, and takes five times as long on others.
"""

import numpy as np
from numba import int64, uint32, uint64

from core.compiler.compile import compiled, making_arrays

LONGEST_RUN = 64
DIGIT = 11  # bits that a pass sorts by; their counts stay in the cache
MOST_DIGITS = 6  # of a word
SHORT = 48  # values; up to here a list is sorted by insertion alone
FEW, FEW_DIGITS, SOME_DIGITS = 4096, 2, 3  # digits that nearly always tell up to FEW values apart, and more values


@compiled
def sortable_keys(values, bits, classes, class_bits, row_bits, keys):
    """Fill `keys` with keys that sort like the known values, and return how many values are known.

    A key is the float's bits, changed so that they sort; its lowest bits are replaced by the row and the class. `bits`
    is the memory of `values`, read as integers.
    """
    low = (uint64(1) << uint64(row_bits + class_bits)) - uint64(1)
    sign = uint64(1) << uint64(63)
    n = uint64(0)
    for row in range(values.shape[0]):
        key = bits[row]
        if key == sign:  # -0.0 is 0.0
            key = uint64(0)
        key ^= sign | (uint64(0) - (key >> uint64(63)))  # negative numbers in reverse, below the others
        keys[n] = (key & ~low) | (uint64(row) << uint64(class_bits)) | uint64(classes[row])
        n += uint64(values[row] == values[row])
    return n


@making_arrays
def sort_keys(keys, buffers, low_bits, counts):
    """`np.sort` of keys whose low bits ascend already; returns the sorted keys, which are in `keys` or in `buffers`.

    `buffers` is as long as `keys`. `counts[d, :]` becomes the position of the next key by its digit d. A digit that all
    keys share needs no pass.
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
    """`counts[d, digit]`: how many keys have `digit` as their digit d, counted from the lowest bit of the value."""
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
def insertion_sort_runs(keys, values, class_bits, row_bits, unsorted):
    """Sort the values whose keys differ only in bits that are not sorted yet, by insertion; False if a run is too long.

    `unsorted` is the mask of these bits, the lowest ones; it contains at least those that hold the row and the class.
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
    """Write the entries of a column (whether the value is new, the class, the row), and return how many values are new.

    A value is new if it differs from the one before. Keys with different upper bits belong to different values, so that
    few values have to be compared.
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
    """Write the list of the known values; return how many they are, and how many of them are new.

    Bits that all keys share are not sorted by, and a few digits after them are nearly always enough; if not, all bits
    of the keys are sorted by. Where too many values differ only in bits that no key holds, the values themselves are
    sorted.
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
        if insertion_sort_runs(keys, values, class_bits, row_bits, unsorted):
            return n, list_entries(keys, values, class_bits, row_bits, entries)
    order = np.argsort(values, kind="mergesort")  # NaN come last
    for i in range(n):
        row = uint64(order[i])
        keys[i] = (row << uint64(class_bits)) | uint64(classes[row])  # without upper bits
    return n, list_entries(keys, values, class_bits, row_bits, entries)


@compiled
def differing_bits(keys, low_bits):
    """How many of the lowest bits contain all bits that differ between the keys; at least `low_bits`."""
    differing, n_bits = uint64(0), int64(low_bits)
    for i in range(keys.shape[0]):
        differing |= keys[i] ^ keys[0]
    while n_bits < 64 and differing >> uint64(n_bits):
        n_bits += 1
    return n_bits
