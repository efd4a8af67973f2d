"""A node's samples as a problem of their own: side by side, what is known of them stays in the processor's cache."""

import numpy as np
from numba import uint32, uint64

from core.compiled_kernels import compiled
from core.growth.growth_state import Problem
from core.growth.table_kernels import ORDERED
from core.splits.block_kernels import fill_units
from core.splits.numeric_kernels import SQUARED

CACHED_ROWS = 4096
LIST_ROWS = 512  # in subtrees of so few rows lists of few values are quicker than tables


@compiled
def is_worth_renumbering(n_rows, problem):
    """Whether a node's rows are few among those numbered: side by side their weights and marks stay in the cache."""
    n = problem.classes.shape[0]
    return (n_rows * 8 <= n and n > CACHED_ROWS) or (n_rows <= LIST_ROWS < n and problem.codes.shape[1] > 0)


@compiled
def original_row(problem, row):
    """The row's number in the whole table."""
    return problem.origin[row] if problem.origin.shape[0] > 0 else row


@compiled
def renumbered(problem, rules, lists, rows, starts, lengths, at, numbering):
    """The samples of a node as a problem of its own, its rows numbered from 0 in row order.

    When they are few, coded columns with an order become lists.
    """
    n_lists, n_coded = problem.lengths.shape[0], problem.codes.shape[1]
    n_rows, first = lengths[at, n_lists], starts[at, n_lists]
    is_short = n_rows <= LIST_ROWS
    n_turned = 0
    for j in range(n_coded):
        n_turned += is_short and rules.coded_kinds[problem.coded[j]] == ORDERED
    n_new = n_lists + n_turned
    room = n_rows + n_rows // 4 if problem.has_missing else n_rows
    classes, weights, origin = np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_rows, np.uint32)
    numbers = np.empty((n_rows, problem.numbers.shape[1]))
    n_words = (n_new + 63) // 64 if problem.has_missing and rules.criterion == SQUARED else 0
    missing = np.zeros((n_rows, n_words), np.uint64)
    new_rows, new_lists = np.empty(room, np.uint32), np.empty((n_new, room), np.uint32)
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
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for c in range(n_lists):
        list_slots[c] = problem.list_slots[c]
        new_lengths[c] = lengths[at, c]
        n_distinct = uint32(1)
        for i in range(lengths[at, c]):
            entry = lists[c, starts[at, c] + i]
            new_lists[c, i] = (entry & ~mask) | numbering[entry & mask]
            n_distinct += entry >> uint32(31)
        distinct[c] = n_distinct >= lengths[at, c]
    turned, kept = n_lists, 0
    for j in range(n_coded):
        a = problem.coded[j]
        if is_short and rules.coded_kinds[a] == ORDERED:
            list_slots[turned] = rules.coded_slots[a]
            new_lengths[turned] = list_of_codes(
                problem, rules, j, rows, first, n_rows, classes, missing, turned, new_lists[turned]
            )
            turned += 1
        else:
            coded[kept] = a
            for i in range(n_rows):
                codes[i, kept] = old_codes[rows[first + i], j]
            kept += 1
    units, unit = np.empty(n_rows if problem.units.shape[0] > 0 else 0, np.uint64), 0.0
    if units.shape[0] > 0:
        unit = fill_units(weights, classes, units)
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
        problem.shift,
        values,
        units,
        unit,
    )


@compiled
def list_of_codes(problem, rules, j, rows, first, n_rows, classes, missing, at, entries):
    """The sorted list of coded column j, rows counted from 0; rows that do not know it are marked. How long it is."""
    n_levels, start = rules.coded_levels[problem.coded[j]], rules.coded_starts[problem.coded[j]]
    ends, codes, shift = np.zeros(n_levels + 2, np.int64), problem.codes, uint32(problem.shift)
    for i in range(n_rows):
        ends[codes[rows[first + i], j] - start + 1] += 1
    n_known = n_rows - ends[n_levels + 1]
    for v in range(n_levels):
        ends[v + 1] += ends[v]
    for i in range(n_rows):
        code = codes[rows[first + i], j] - start
        if code == n_levels:
            if missing.shape[1] > 0:
                missing[i, at // 64] |= uint64(1) << uint64(at % 64)
        else:
            entries[ends[code]] = (uint32(classes[i]) << shift) | uint32(i)
            ends[code] += 1
    for v in range(n_levels - 1):
        if 0 < ends[v] < n_known:
            entries[ends[v]] |= uint32(1) << uint32(31)
    return n_known
