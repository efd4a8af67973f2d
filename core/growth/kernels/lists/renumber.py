"""A node's samples as a problem of their own: in compact arrays they stay in the processor's cache."""

import numpy as np
from numba import int64, uint32, uint64

from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import list_capacity
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.lists.coded_columns import ORDERED
from core.growth.kernels.node.state import Problem, original_row

CACHED_FLAGS, CACHED_WEIGHTS = 262_144, 65_536  # up to that many rows, a byte or a weight of each stays in the cache
LIST_ROWS = 512  # in subtrees of at most this many rows, lists of few values are faster than tables


@compiled
def is_worth_renumbering(n_rows, problem, rules):
    """Whether to renumber a node's rows: few rows of a large problem, or few enough to turn ordered codes into lists.

    The weights and flags of few rows stay in the cache once their numbers follow one another.
    """
    n, n_cached = problem.classes.shape[0], CACHED_FLAGS if rules.is_counted else CACHED_WEIGHTS
    return (n_rows * 8 <= n and n > n_cached) or (n_rows <= LIST_ROWS < n and has_ordered_codes(problem, rules))


@compiled
def has_ordered_codes(problem, rules):
    """Whether any coded column has an order."""
    n = 0
    for j in range(problem.codes.shape[1]):
        n += rules.coded_kinds[problem.coded[j]] == ORDERED
    return n > 0


@compiled
def is_of_lists(problem):
    """Whether every column is a list."""
    return problem.codes.shape[1] == 0 and problem.bit_columns.shape[0] == 0


@making_arrays
def renumbered(problem, rules, lists, rows, starts, lengths, at, numbering, path):
    """The samples of a node as a problem of their own, with rows numbered from 0 in row order.

    If they are few, ordered coded columns become lists. Fewer rows need fewer bits of an entry, which leaves more for
    flags.
    """
    n_lists, n_coded = problem.lengths.shape[0], problem.codes.shape[1]
    n_rows, first = lengths[at, n_lists], starts[at, n_lists]
    is_short = n_rows <= LIST_ROWS
    n_turned = 0
    for j in range(n_coded):
        n_turned += is_short and rules.coded_kinds[problem.coded[j]] == ORDERED
    n_new = n_lists + n_turned
    capacity = list_capacity(n_rows, problem.has_missing)
    classes, weights, origin = np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_rows, np.uint32)
    numbers = np.empty((n_rows, problem.numbers.shape[1]))
    n_words = (n_new + 63) // 64 if problem.has_missing and rules.criterion == SQUARED else 0
    missing = np.zeros((n_rows, n_words), np.uint64)
    new_rows, new_lists = np.empty(capacity, np.uint32), np.empty((n_new, capacity), np.uint32)
    new_lengths, list_slots = np.zeros(n_new, np.int64), np.empty(n_new, np.int64)
    distinct = np.zeros(n_new, np.bool_)
    codes, coded = np.empty((n_rows, n_coded - n_turned), np.uint32), np.empty(n_coded - n_turned, np.int64)
    old_classes, old_weights = problem.classes, problem.weights
    old_numbers, old_missing, old_codes = problem.numbers, problem.missing, problem.codes
    bits, old_bits = np.empty((n_rows, problem.bits.shape[1]), np.uint64), problem.bits
    values = np.empty((problem.values.shape[0], n_rows))
    for c in range(values.shape[0]):
        for i in range(n_rows):
            values[c, i] = problem.values[c, rows[first + i]]
    for i in range(n_rows):
        row = rows[first + i]
        numbering[row] = i
        new_rows[i] = i
        classes[i], weights[i], origin[i] = old_classes[row], old_weights[row], original_row(problem, row)
        for j in range(numbers.shape[1]):
            numbers[i, j] = old_numbers[row, j]
        for word in range(old_missing.shape[1]):
            missing[i, word] = old_missing[row, word]
        for word in range(bits.shape[1]):
            bits[i, word] = old_bits[row, word]
    shift = bits_of(n_rows)
    for c in range(n_lists):
        list_slots[c] = problem.list_slots[c]
        new_lengths[c] = lengths[at, c]
        n_new_values = renumber_list(
            lists[c], starts[at, c], lengths[at, c], problem.shift, shift, numbering, new_lists[c]
        )
        distinct[c] = n_new_values + 1 >= lengths[at, c]
    turned, kept, n_to_lists, n_kept = np.empty(n_turned, np.int64), np.empty(n_coded - n_turned, np.int64), 0, 0
    for j in range(n_coded):
        a = problem.coded[j]
        if is_short and rules.coded_kinds[a] == ORDERED:
            turned[n_to_lists], list_slots[n_lists + n_to_lists] = j, rules.coded_slots[a]
            n_to_lists += 1
        else:
            kept[n_kept], coded[n_kept] = j, a
            n_kept += 1
    if n_turned > 0:
        fill_lists_of_codes(
            problem, rules, turned, rows, first, n_rows, classes, missing, n_lists, shift, new_lists, new_lengths
        )
    for i in range(n_rows):
        row = rows[first + i]
        for j in range(n_kept):
            codes[i, j] = old_codes[row, kept[j]]
    return Problem(
        new_lists,
        new_lengths,
        distinct,
        list_slots,
        new_rows,
        n_rows,
        classes,
        numbers,
        weights,
        missing,
        problem.has_missing,
        codes,
        coded,
        bits,
        problem.bit_columns,
        origin,
        shift,
        values,
        path.copy(),
    )


@compiled
def bits_of(n_rows):
    """How many bits it takes to number the rows."""
    bits = 1
    while (1 << bits) < n_rows:
        bits += 1
    return int64(bits)


@compiled
def renumber_list(entries, start, n, shift, new_shift, numbering, renumbered_entries):
    """Copy a segment of a list with new row numbers of `new_shift` bits; returns how many of its values are new."""
    n_new, first, old, new = uint64(0), uint64(start), uint32(shift), uint32(new_shift)
    mask, flag = (uint32(1) << old) - uint32(1), uint32(1) << uint32(31)
    for i in range(uint64(n)):
        entry = entries[first + i]
        above = ((entry & ~flag) >> old) << new
        renumbered_entries[i] = (entry & flag) | above | numbering[entry & mask]
        n_new += uint64(entry >> uint32(31))
    return int64(n_new)


@making_arrays
def fill_lists_of_codes(problem, rules, columns, rows, first, n_rows, classes, missing, at, shift, lists, lengths):
    """Fill the sorted lists of coded columns, from list `at` on, rows counted from 0, and the bits of `missing`.

    It goes row by row, since the codes of a row are adjacent in memory. `ends[begins[c] + level]` is first where the
    entries of a code of column c start, then where the next of them goes.
    """
    codes, n, shift = problem.codes, columns.shape[0], uint32(shift)
    begins, unknown, n_ends = np.empty(n, np.int64), np.empty(n, np.int64), 0
    for c in range(n):
        a = problem.coded[columns[c]]
        begins[c] = n_ends - rules.coded_starts[a]
        unknown[c] = n_ends + rules.coded_levels[a]
        n_ends += rules.coded_levels[a] + 2
    ends = np.zeros(n_ends, np.int64)
    for i in range(n_rows):
        row = rows[first + i]
        for c in range(n):
            ends[begins[c] + codes[row, columns[c]] + 1] += 1
    for c in range(n):
        lengths[at + c] = n_rows - ends[unknown[c] + 1]
        for end in range(unknown[c] - rules.coded_levels[problem.coded[columns[c]]], unknown[c]):
            ends[end + 1] += ends[end]
    for i in range(n_rows):
        row, entry = rows[first + i], (uint32(classes[i]) << shift) | uint32(i)
        for c in range(n):
            end = begins[c] + codes[row, columns[c]]
            if end < unknown[c]:
                lists[at + c, ends[end]] = entry
                ends[end] += 1
            elif missing.shape[1] > 0:
                missing[i, (at + c) // 64] |= uint64(1) << uint64((at + c) % 64)
    for c in range(n):
        for end in range(unknown[c] - rules.coded_levels[problem.coded[columns[c]]], unknown[c] - 1):
            if 0 < ends[end] < lengths[at + c]:
                lists[at + c, ends[end]] |= uint32(1) << uint32(31)
