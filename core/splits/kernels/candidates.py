"""Kernels of `candidates`: at which positions of a sorted list to cut.

The lists are those of `splits.kernels.numeric`. The position of a cut is that of the entry after it; there is a cut
before an entry if the entry's highest bit says that its value is new:

    values     1   1   3   4   4            entries, ascending
    positions          2   3                positions[0], positions[1]

Every kernel writes its positions in ascending order and returns how many there are. Thresholds that are not midpoints
are written to the same indices as their positions.
"""

from math import isfinite

from numba import int64, uint32, uint64

from core.arithmetic.kernels.randomness import key_of, uniform
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.splits.candidates import equal_width_threshold as defined_threshold

EVERY_GAP, CLASS_CHANGES, EQUAL_FREQUENCY, EQUAL_WIDTH, AT_RANDOM, DISTANT_VALUES = range(6)  # ways to choose
NO_CLASS = -1  # for a value whose rows have several classes

equal_width_threshold = compiled(defined_threshold)


@compiled
def midpoints_at_changes(entries, start, n, shift, positions):
    """`candidates.midpoints_at_changes`; `single` is the class of a value whose rows all have that class."""
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    n_positions, value, end = 0, int64(start), int64(start + n)
    single, single_before = int64((entries[start] >> uint32(shift)) & mask), int64(NO_CLASS)
    for i in range(start + 1, end + 1):
        is_over = i == end or entries[i] >> uint32(31) > 0  # the entry before was the last one of its value
        here = int64((entries[i] >> uint32(shift)) & mask) if i < end else int64(NO_CLASS)
        if is_over:
            if value > start and (single != single_before or single == NO_CLASS):
                positions[n_positions] = value
                n_positions += 1
            value, single_before, single = i, single, here
        elif here != single:
            single = int64(NO_CLASS)
    return n_positions


@compiled
def equal_frequency(entries, start, n, shift, weights, bins, positions):
    """`candidates.equal_frequency`."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    whole, so_far = 0.0, 0.0
    for i in range(start, start + n):
        whole += weights[entries[i] & row_mask]
    n_positions, j = 0, 1
    for i in range(start, start + n - 1):
        so_far += weights[entries[i] & row_mask]
        if entries[i + 1] >> uint32(31):
            before = j
            while j < bins and so_far >= j * whole / bins - TIE * whole:
                j += 1
            if j > before:
                positions[n_positions] = i + 1
                n_positions += 1
    return n_positions


@compiled
def equal_width(entries, start, n, shift, values, bins, positions, thresholds):
    """`candidates.equal_width`; `values` are by row."""
    low, high = ends(entries, start, n, shift, values)
    for j in range(1, bins):
        thresholds[j - 1] = equal_width_threshold(low, high, j, bins)
    return one_per_gap(entries, start, n, shift, values, bins - 1, positions, thresholds)


@compiled
def at_random(entries, start, n, shift, values, draws, key, positions, thresholds):
    """`candidates.at_random`."""
    low, high = ends(entries, start, n, shift, values)
    for draw in range(draws):
        thresholds[draw] = random_threshold(low, high, key_of(key, draw))
    return one_per_gap(entries, start, n, shift, values, draws, positions, thresholds)


@compiled
def random_threshold(low, high, key):
    """`candidates.random_threshold`."""
    share = uniform(key)
    threshold = low + share * (high - low)
    if not isfinite(threshold):
        threshold = low * (1 - share) + high * share
    return threshold if low <= threshold < high else low


@compiled
def ends(entries, start, n, shift, values):
    """The smallest and the largest value, each from its last row, as in `numeric.distinct_values`."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    i = int64(start)
    while i + 1 < start + n and not entries[i + 1] >> uint32(31):
        i += 1
    return values[entries[i] & row_mask], values[entries[start + n - 1] & row_mask]


@making_arrays
def one_per_gap(entries, start, n, shift, values, n_thresholds, positions, thresholds):
    """`candidates.one_per_gap`; the thresholds that are kept move to the front, in the order of their positions."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    thresholds[:n_thresholds].sort()
    n_positions, position, end = 0, int64(start), int64(start + n)
    for t in range(n_thresholds):
        threshold, after = thresholds[t], end
        while position < after:  # the first entry above the threshold is in [position, after]
            middle = (position + after) // 2
            if values[entries[middle] & row_mask] > threshold:
                after = middle
            else:
                position = middle + 1
        if start < position < end and (n_positions == 0 or positions[n_positions - 1] != position):
            positions[n_positions], thresholds[n_positions] = position, threshold
            n_positions += 1
    return n_positions


@compiled
def first_position(entries, start, n, row_mask, weights, least):
    """The first position with at least `least` weight before it; see `splits.kernels.numeric.last_position`."""
    before, i, end = 0.0, uint64(start), uint64(start + n)
    while i < end and before < least:
        before += weights[entries[i] & row_mask]
        i += uint64(1)
    return i


@compiled
def n_gaps(entries, first, after):
    """How many of the positions from `first` on and before `after` are between different values."""
    n = 0
    for i in range(first, after):
        n += entries[i] >> uint32(31)
    return n
