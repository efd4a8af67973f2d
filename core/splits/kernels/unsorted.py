"""`numeric.best_cut` as a kernel for unsorted values: it makes their sorted list, and then scans it."""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint32

from core.arithmetic.kernels.sorting import DIGIT, MOST_DIGITS, sorted_list
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.splits import candidates
from core.splits.kernels.numeric import BLOCK, NO_CUT, scan_weights, score_of_whole, sum_blocks
from core.splits.numeric import NO_GAIN

midpoint = compiled(candidates.midpoint)


class Labels(NamedTuple):
    """What is known of samples besides their values (class and weight of each), and how a cut is judged."""

    classes: Any
    weights: Any
    n_classes: Any
    criterion: Any
    min_weight: Any


class Buffers(NamedTuple):
    """Scratch for sorting and scanning; `totals` are the class weights of the samples whose value is known."""

    keys: Any
    counts: Any
    entries: Any
    blocks: Any
    left: Any
    behind: Any
    totals: Any


@making_arrays
def buffers_for(n, n_classes):
    """Scratch for up to n samples."""
    return Buffers(
        np.empty((2, n), np.uint64),
        np.empty((MOST_DIGITS, 1 << DIGIT), np.uint32),
        np.empty(n, np.uint32),
        np.empty((n // BLOCK + 4, n_classes)),
        np.empty(2 * n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
    )


@compiled
def bits_for(n):
    """How many bits it takes to number n things; at least one."""
    n_bits = 1
    while (n - 1) >> n_bits:
        n_bits += 1
    return n_bits


@compiled
def best_cut(values, labels, buffers):
    """The gain of the best cut (`NO_GAIN` if there is none), its threshold, and how many cuts the known values have."""
    row_bits, class_bits = bits_for(values.shape[0]), bits_for(labels.n_classes)
    n, n_new = sorted_list(values, labels.classes, class_bits, row_bits, buffers.keys, buffers.counts, buffers.entries)
    if n_new == 0:
        return NO_GAIN, np.nan, n_new
    start = int64(0)  # not a literal, for which the kernels it is passed to would be compiled once more
    sum_blocks(buffers.entries, start, n, row_bits, labels.weights, buffers.blocks, buffers.totals)
    whole, known = score_of_whole(buffers.totals, labels.criterion, labels.n_classes, 0)
    score, position = scan_weights(
        buffers.entries,
        start,
        n,
        row_bits,
        buffers.totals,
        buffers.left,
        labels.weights,
        labels.criterion,
        labels.min_weight - TIE,
        TIE * known,
        NO_CUT,
        buffers.behind,
        buffers.blocks,
    )
    if position == 0:
        return NO_GAIN, np.nan, n_new
    mask = (uint32(1) << uint32(row_bits)) - uint32(1)
    low, high = values[buffers.entries[position - 1] & mask], values[buffers.entries[position] & mask]
    return (score - whole) / known, midpoint(low, high), n_new
