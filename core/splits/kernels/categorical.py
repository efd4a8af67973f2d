"""Kernels of `categorical` and `rare_categories`: the best split of a column's categories.

The categories that a node holds are copied side by side into slots, in declared order; rare ones share a slot. A slot
is what `categorical` calls a category. The cost of a search depends on the slots, not on the declared categories.

A search describes its candidates (the cuts of an order, the moves of one slot, all groupings) by the weights of both
groups and by the sums of the first group, one feature after the other, so that one loop without branches serves each
feature. A gain is that of `Objective.decrease`, or NO_CUT where there is no valid split. For Gini and squared error it
depends only on how far a group's shares or means are from those of the whole:

    gain = |sum of pulls of a group|^2 / (N_1 N_2)      pull of a slot: weight (features - features of the whole)

For other criteria it is computed from the sums of both groups, as the scores of `splits.kernels.numeric` are.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from numba import uint64

from core.arithmetic import logarithms
from core.arithmetic.kernels.logarithms import log2
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.criteria.kernels.impurity import ENTROPY, ERROR, GINI, SQUARED
from core.splits.categorical import EXHAUSTIVE_LEVELS, LEAST_SHARE, POWER_STEPS
from core.splits.kernels.numeric import NO_CUT, SMALL_COUNT, times_log2

TIMES_LOG2 = np.array([0.0, *(n * logarithms.log2(n) for n in range(1, SMALL_COUNT))])
CLOSE_KEYS = 16  # moves for each slot, beyond which an insertion sort is given up
MOST_SQUARED = 8  # features; beyond, the powers of their scatter cost more than they save

# The rows of the arrays in `Scratch`.
SLOT_OF, ORDER, COUNTS = range(3)
WEIGHTS, DIRECTION, OTHER_WEIGHTS = range(3)
SUMS, FEATURES, PULLS = range(3)
FIRST, SECOND, PART, SCORES, OTHER_SCORES, GAINS = range(6)
TOTALS, MEANS, LEFT, RIGHT, AXIS, NEXT_AXIS, SCATTER = range(7)
MASK, OTHER = range(2)


class Scratch(NamedTuple):
    """Scratch for searching columns one after the other; nothing in it outlives a search.

    The arrays are few, since passing each one takes time.
    """

    positions: np.ndarray  # [SLOT_OF, category], -1 where it is not in the node; [ORDER, i]: a slot; [COUNTS, bucket]
    slots: np.ndarray  # [WEIGHTS, slot], [DIRECTION, slot], [OTHER_WEIGHTS, slot]: of earlier slots in its group
    tables: np.ndarray  # [SUMS, column, slot], [FEATURES, feature, slot], [PULLS, feature, slot]
    candidates: np.ndarray  # [FIRST or SECOND, i]: the groups' weights; [PART, i]: a feature's sum in the first; …
    vectors: np.ndarray  # [TOTALS and so on, feature]; [SCATTER + feature, feature]
    masks: np.ndarray  # [MASK, slot] and so on: whether it is in the first group


class Whole(NamedTuple):
    """The slots of a node: how many they are, how many features each has, and the measures of their splits.

    `unit` is that of the features, `reach` the largest distance of a slot's features from those of the whole.
    """

    n_slots: int
    n_features: int
    weight: float
    unit: float
    reach: float
    score: float


@making_arrays
def scratch_for(n_levels, width):
    """Scratch for columns of up to `n_levels` categories whose sums have `width` entries."""
    n_groupings = 1 << (min(n_levels, EXHAUSTIVE_LEVELS) - 1)
    return Scratch(
        np.empty((3, n_levels + 1), np.int64),
        np.empty((3, n_levels)),
        np.empty((3, width, n_levels)),
        np.empty((6, max(n_levels, n_groupings) + 8)),  # rows a power of two apart evict each other from the cache
        np.empty((SCATTER + width, width)),
        np.empty((2, n_levels), np.bool_),
    )


@compiled
def multiway_is_valid(level_weights, min_weight):
    """`categorical.multiway_is_valid`."""
    n = 0
    for v in range(level_weights.shape[0]):
        n += level_weights[v] > 0.0 and level_weights[v] >= min_weight - TIE
    return n >= 2


@compiled
def multiway_gain(levels, level_weights, criterion, space):
    """The gain of one branch for each category; no split into two groups gains more."""
    start, n_features = feature_columns(levels.shape[1], criterion)
    vectors = space.vectors
    for j in range(n_features):
        vectors[TOTALS, j] = 0.0
    weight, score = 0.0, 0.0
    for v in range(level_weights.shape[0]):
        if level_weights[v] > 0.0:
            weight += level_weights[v]
            score += score_of(levels, v, start, n_features, level_weights[v], criterion)
            for j in range(n_features):
                vectors[TOTALS, j] += levels[v, start + j]
    return (score - score_of(vectors, TOTALS, 0, n_features, weight, criterion)) / weight if weight > 0.0 else 0.0


@compiled
def bound_of_slots(whole, criterion, space):
    """A bound on the gain of any split of the slots into two groups, where their scatter gives one; else -NO_CUT."""
    is_useful = has_useful_scatter(whole.n_features, criterion)
    if is_useful or whole.n_slots > EXHAUSTIVE_LEVELS:
        fill_scatter(whole, space)
    return bound_by_scatter(whole, space) if is_useful else -NO_CUT


@compiled
def one_hot_gains(levels, level_weights, criterion, min_weight, space, gains):
    """`best_split.one_hot_candidates` without their figures: fills `gains`, and returns how many categories have one.

    `gains[v]` is that of category v against the rest, NO_CUT where a side holds too little.
    """
    whole = put_side_by_side(levels, level_weights, criterion, 0.0, space)
    name_each_alone(whole, criterion, min_weight - TIE, space)
    n = 0
    for v in range(level_weights.shape[0]):
        slot = space.positions[SLOT_OF, v]
        gains[v] = space.candidates[GAINS, slot] if slot >= 0 else NO_CUT
        n += gains[v] > NO_CUT
    return n


@compiled
def best_one_vs_rest(levels, level_weights, criterion, tolerance, min_weight, min_category_weight, space, is_in_first):
    """`categorical.best_one_vs_rest` with rare categories merged: returns the gain, fills `is_in_first[category]`."""
    whole = put_side_by_side(levels, level_weights, criterion, min_category_weight, space)
    name_each_alone(whole, criterion, min_weight - TIE, space)
    best = first_within_tie(space.candidates[GAINS], whole.n_slots, tolerance)
    if best < 0:
        return NO_CUT
    for v in range(level_weights.shape[0]):
        is_in_first[v] = space.positions[SLOT_OF, v] == best
    return space.candidates[GAINS, best]


@compiled
def best_two_groups(
    levels, level_weights, criterion, tolerance, min_weight, min_category_weight, floor, space, is_in_first
):
    """`categorical.best_two_groups` with rare categories merged: returns the gain, and a bound on that of any split.

    The groups are written to `is_in_first[category]`. Where the bound is below `floor` there is no search, and the gain
    is NO_CUT.
    """
    whole = put_side_by_side(levels, level_weights, criterion, min_category_weight, space)
    if whole.n_slots < 2:
        return NO_CUT, NO_CUT
    mask, least = space.masks[MASK], min_weight - TIE
    is_line = has_one_direction(whole, criterion)
    if is_line:
        follow_feature(whole, whole.n_features - 1, space)
        bound = best_prefix(whole, criterion, tolerance, 0.0, space, mask)
    else:
        bound = bound_of_slots(whole, criterion, space)
    if bound < floor:
        return NO_CUT, bound
    if is_line and not excludes_any(whole, least, space):
        gain = bound
    elif whole.n_slots <= EXHAUSTIVE_LEVELS:
        gain = best_of_all(whole, criterion, tolerance, least, space, mask)
    else:
        gain = best_prefix(whole, criterion, tolerance, least, space, mask) if is_line else NO_CUT
        if gain < bound:  # otherwise the best cut of the order is the best grouping of all
            gain = best_searched(whole, criterion, tolerance, least, space, mask)
    if gain > NO_CUT:
        name_by_earliest(mask, whole.n_slots)
        spread_over_levels(whole, level_weights.shape[0], space, mask, is_in_first)
    return gain, bound


@compiled
def spread_over_levels(whole, n_levels, space, mask, is_in_first):
    """Fill the group of each declared category; those that are not in the node join the heavier group."""
    first, second = group_weights(mask, whole.n_slots, space.slots)
    for v in range(n_levels):
        slot = space.positions[SLOT_OF, v]
        is_in_first[v] = mask[slot] if slot >= 0 else first >= second - TIE


# Slots and their features


@compiled
def feature_columns(width, criterion):
    """Which of the sums are the features (class weights, or sums of outputs): the first of them, and their number."""
    return (1, (width - 1) // 2) if criterion == SQUARED else (0, width)


@making_arrays
def put_side_by_side(levels, level_weights, criterion, min_category_weight, space):
    """Fill the slots and their features.

    Categories are merged as in `rare_categories`, and classes that are not in the node are left out.
    """
    slots, tables, vectors = space.slots, space.tables, space.vectors
    start, m = feature_columns(levels.shape[1], criterion)
    n = fill_slots(levels, level_weights, min_category_weight, space.positions, slots, tables)
    unit, weight = 1.0, 0.0
    if criterion == SQUARED:
        unit = unit_of(n, m, tables)
    else:
        m = drop_absent_classes(n, m, tables)
    for v in range(n):
        weight += slots[WEIGHTS, v]
        slots[DIRECTION, v] = 0.0
    for j in range(m):
        total, mean = 0.0, 0.0
        for v in range(n):
            feature = tables[SUMS, start + j, v] / slots[WEIGHTS, v]
            if criterion == SQUARED:
                feature /= unit
            tables[FEATURES, j, v] = feature
            total += tables[SUMS, start + j, v]
            mean += feature * slots[WEIGHTS, v]
        mean /= weight
        vectors[TOTALS, j], vectors[MEANS, j] = total, mean
        for v in range(n):
            off = tables[FEATURES, j, v] - mean
            tables[PULLS, j, v] = slots[WEIGHTS, v] * off
            slots[DIRECTION, v] += off * off
    farthest = 0.0
    for v in range(n):
        farthest = max(farthest, slots[DIRECTION, v])
    return Whole(n, m, weight, unit, sqrt(farthest), score_of(vectors, TOTALS, 0, m, weight, criterion))


@compiled
def fill_slots(levels, level_weights, min_category_weight, positions, slots, tables):
    """Copy the sums of the node's categories into slots, and return the number of slots.

    All rare categories share the slot of the first of them.
    """
    n, rare, width = 0, -1, levels.shape[1]
    for v in range(level_weights.shape[0]):
        weight = level_weights[v]
        positions[SLOT_OF, v] = -1
        if weight > 0.0:
            is_rare = weight < min_category_weight - TIE
            if is_rare and rare >= 0:
                positions[SLOT_OF, v] = rare
                slots[WEIGHTS, rare] += weight
                for j in range(width):
                    tables[SUMS, j, rare] += levels[v, j]
            else:
                positions[SLOT_OF, v] = n
                slots[WEIGHTS, n] = weight
                for j in range(width):
                    tables[SUMS, j, n] = levels[v, j]
                if is_rare:
                    rare = n
                n += 1
    return n


@compiled
def drop_absent_classes(n, n_classes, tables):
    """Remove classes without weight from the sums of the slots, closing the gaps; returns how many classes are left."""
    n_kept = 0
    for j in range(n_classes):
        is_present = False
        for v in range(n):
            is_present |= tables[SUMS, j, v] > 0.0
        if is_present:
            if n_kept < j:
                for v in range(n):
                    tables[SUMS, n_kept, v] = tables[SUMS, j, v]
            n_kept += 1
    return n_kept


@compiled
def unit_of(n, n_outputs, tables):
    """`categorical.unit_of` for regression."""
    weight, square = 0.0, 0.0
    for v in range(n):
        weight += tables[SUMS, 0, v]
    for j in range(1 + n_outputs, 1 + 2 * n_outputs):
        total = 0.0
        for v in range(n):
            total += tables[SUMS, j, v]
        square += total
    square = square / weight if n > 0 else 0.0
    return sqrt(square) if square > 0.0 else 1.0


# Gains of candidates


@compiled
def times_log2_of(weight):
    """`splits.kernels.numeric.times_log2`, looked up for small integers."""
    if 0.0 <= weight < SMALL_COUNT:
        whole = uint64(weight)
        if whole == weight:
            return TIMES_LOG2[whole]
    return times_log2(weight)


@compiled
def score_of(table, row, start, n_features, weight, criterion):
    """How pure a set is, by sums in a table's row: one side's part of a score in `splits.kernels.numeric`."""
    if criterion == ENTROPY:
        total = -times_log2_of(weight)
        for j in range(start, start + n_features):
            total += times_log2_of(table[row, j])
        return total
    if criterion == ERROR:
        most = 0.0
        for j in range(start, start + n_features):
            most = max(most, table[row, j])
        return most
    squares = 0.0
    for j in range(start, start + n_features):
        squares += table[row, j] * table[row, j]
    return squares / weight if weight > 0.0 else 0.0


@compiled
def is_by_distance(criterion):
    """Whether gains are computed from pulls; otherwise they are computed from the sums of both groups."""
    return criterion in (GINI, SQUARED)


@compiled
def summands(criterion):
    """The row of `Scratch.tables` that is added up over a group to compute its gain."""
    return PULLS if is_by_distance(criterion) else SUMS


@compiled
def begin_scores(n, criterion, candidates):
    """Set the scores of n candidates to what they are before any feature is added."""
    for i in range(n):
        candidates[SCORES, i], candidates[OTHER_SCORES, i] = 0.0, 0.0
    if criterion == ENTROPY:
        for i in range(n):
            candidates[SCORES, i] = -times_log2_of(candidates[FIRST, i]) - times_log2_of(candidates[SECOND, i])


@compiled
def add_to_scores(n, criterion, total, candidates):
    """Add a feature to the scores of n candidates: PART is the first group's sum, `total` that of both groups."""
    if is_by_distance(criterion):
        for i in range(n):
            candidates[SCORES, i] += candidates[PART, i] * candidates[PART, i]
    elif criterion == ENTROPY:
        for i in range(n):
            part = candidates[PART, i]
            candidates[SCORES, i] += times_log2_of(part) + times_log2_of(total - part)
    else:
        for i in range(n):
            part = candidates[PART, i]
            candidates[SCORES, i] = max(candidates[SCORES, i], part)
            candidates[OTHER_SCORES, i] = max(candidates[OTHER_SCORES, i], total - part)


@compiled
def fill_gains(n, whole, criterion, least, candidates):
    """Compute the gains of n candidates from their complete scores; NO_CUT where a group holds too little."""
    for i in range(n):
        first, second = candidates[FIRST, i], candidates[SECOND, i]
        smaller = min(first, second)
        if is_by_distance(criterion):
            # The pulls of nearly all slots add up to mere rounding, so the smaller group's weight limits the gain.
            most = whole.reach * smaller
            gain = min(candidates[SCORES, i], most * most) / (first * second) * (whole.unit * whole.unit)
        else:
            gain = (candidates[SCORES, i] + candidates[OTHER_SCORES, i] - whole.score) / whole.weight
        candidates[GAINS, i] = gain if smaller > 0.0 and smaller >= least else NO_CUT


@compiled
def first_within_tie(gains, n, tolerance):
    """`ties.first_within_tie` among the first n; -1 if none of them is a valid split."""
    largest = NO_CUT
    for i in range(n):
        largest = max(largest, gains[i])
    if largest == NO_CUT:
        return -1
    least = largest - tolerance
    i = 0
    while gains[i] < least:
        i += 1
    return i


@compiled
def name_each_alone(whole, criterion, least, space):
    """Fill the gains of each slot against all others."""
    n, slots, tables, candidates = whole.n_slots, space.slots, space.tables, space.candidates
    before, after = 0.0, 0.0
    for v in range(n):
        candidates[FIRST, v] = slots[WEIGHTS, v]
        candidates[SECOND, v] = before
        before += slots[WEIGHTS, v]
    for v in range(n - 1, -1, -1):
        candidates[SECOND, v] += after
        after += slots[WEIGHTS, v]
    table = summands(criterion)
    begin_scores(n, criterion, candidates)
    for j in range(whole.n_features):
        for v in range(n):
            candidates[PART, v] = tables[table, j, v]
        add_to_scores(n, criterion, space.vectors[TOTALS, j], candidates)
    fill_gains(n, whole, criterion, least, candidates)


@compiled
def gain_of_groups(mask, whole, criterion, least, space):
    """The gain of a grouping, both groups added up in slot order; their sums are left in LEFT and RIGHT."""
    tables, vectors, n, m = space.tables, space.vectors, whole.n_slots, whole.n_features
    start = 1 if criterion == SQUARED else 0
    for j in range(m):
        vectors[LEFT, j], vectors[RIGHT, j] = 0.0, 0.0
    for v in range(n):
        side = LEFT if mask[v] else RIGHT
        for j in range(m):
            vectors[side, j] += tables[SUMS, start + j, v]
    first, second = group_weights(mask, n, space.slots)
    smaller = min(first, second)
    if smaller <= 0.0 or smaller < least:
        return NO_CUT
    score = score_of(vectors, LEFT, 0, m, first, criterion) + score_of(vectors, RIGHT, 0, m, second, criterion)
    return (score - whole.score) / whole.weight


@compiled
def group_weights(mask, n, slots):
    """The weights of both groups, added up in slot order."""
    first, second = 0.0, 0.0
    for v in range(n):
        weight, inside = slots[WEIGHTS, v], 1.0 * mask[v]
        first += weight * inside
        second += weight * (1.0 - inside)
    return first, second


# Orders and their cuts


@compiled
def most_on_a_line(criterion):
    """How many features slots may have and still be on a line: one output, or two classes, whose shares add up to 1."""
    return 1 if criterion == SQUARED else 2


@compiled
def has_one_direction(whole, criterion):
    """Whether the best grouping of all is a cut of one order."""
    return whole.n_features <= most_on_a_line(criterion)


@compiled
def follow_feature(whole, feature, space):
    """Sort the slots by one of their features."""
    slots, tables = space.slots, space.tables
    for v in range(whole.n_slots):
        slots[DIRECTION, v] = tables[FEATURES, feature, v]
    sort_with_ties(whole.n_slots, space.positions, slots)


@compiled
def sort_with_ties(n, positions, slots):
    """`categorical.ordered` of the slots' directions, some of which become equal to the smallest of their run."""
    sort_slots(n, positions, slots)
    if merge_ties(n, positions, slots):
        sort_slots(n, positions, slots)


@compiled
def merge_ties(n, positions, slots):
    """Replace directions within a tie of their run's smallest by that one; returns whether the slots' order changes."""
    run, last, is_disordered = slots[DIRECTION, positions[ORDER, 0]], positions[ORDER, 0], False
    for i in range(1, n):
        v = positions[ORDER, i]
        if slots[DIRECTION, v] > run + TIE:
            run = slots[DIRECTION, v]
        else:
            slots[DIRECTION, v] = run
            is_disordered |= v < last
        last = v
    return is_disordered


@compiled
def sort_slots(n, positions, slots):
    """Sort the slots by their directions, stably: into buckets of equal width, then by insertion, or by merging."""
    lowest, highest = slots[DIRECTION, 0], slots[DIRECTION, 0]
    for v in range(n):
        lowest, highest = min(lowest, slots[DIRECTION, v]), max(highest, slots[DIRECTION, v])
        positions[COUNTS, v] = 0
        positions[ORDER, v] = v
    if highest <= lowest + TIE:
        return
    positions[COUNTS, n] = 0
    per_position = (n - 1) / (highest - lowest)
    for v in range(n):
        positions[COUNTS, int((slots[DIRECTION, v] - lowest) * per_position) + 1] += 1
    for i in range(1, n):
        positions[COUNTS, i] += positions[COUNTS, i - 1]
    for v in range(n):
        position = int((slots[DIRECTION, v] - lowest) * per_position)
        positions[ORDER, positions[COUNTS, position]] = v
        positions[COUNTS, position] += 1
    if not insertion_sort(n, positions, slots):
        merge_sort(n, positions, slots)


@compiled
def insertion_sort(n, positions, slots):
    """Insertion sort of slots that are nearly sorted; False when that takes too many moves."""
    moves = 0
    for i in range(1, n):
        v, j = positions[ORDER, i], i
        direction = slots[DIRECTION, v]
        while j > 0 and slots[DIRECTION, positions[ORDER, j - 1]] > direction:
            positions[ORDER, j] = positions[ORDER, j - 1]
            j -= 1
        positions[ORDER, j] = v
        moves += i - j
        if moves > CLOSE_KEYS * n:
            return False
    return True


@compiled
def merge_sort(n, positions, slots):
    """Stable merge sort of slots in any order, from the bottom up."""
    size = 1
    while size < n:
        for start in range(0, n, 2 * size):
            middle, end = min(start + size, n), min(start + 2 * size, n)
            i, j = start, middle
            for k in range(start, end):
                one, other = positions[ORDER, min(i, n - 1)], positions[ORDER, min(j, n - 1)]
                if j == end or (i < middle and slots[DIRECTION, one] <= slots[DIRECTION, other]):
                    positions[COUNTS, k] = one
                    i += 1
                else:
                    positions[COUNTS, k] = other
                    j += 1
        for k in range(n):
            positions[ORDER, k] = positions[COUNTS, k]
        size *= 2


@compiled
def excludes_any(whole, least, space):
    """`categorical.excludes_any` of the sorted slots."""
    lowest, highest = space.positions[ORDER, 0], space.positions[ORDER, whole.n_slots - 1]
    return min(space.slots[WEIGHTS, lowest], space.slots[WEIGHTS, highest]) < least


@compiled
def best_prefix(whole, criterion, tolerance, least, space, mask):
    """`categorical.best_prefix` of the sorted slots: returns the gain, and writes the grouping to `mask`."""
    positions, slots, tables, candidates = space.positions, space.slots, space.tables, space.candidates
    n, table = whole.n_slots, summands(criterion)
    before, after = 0.0, 0.0
    for i in range(n - 1):
        before += slots[WEIGHTS, positions[ORDER, i]]
        candidates[FIRST, i] = before
        after += slots[WEIGHTS, positions[ORDER, n - 1 - i]]
        candidates[SECOND, n - 2 - i] = after
    begin_scores(n - 1, criterion, candidates)
    for j in range(whole.n_features):
        part = 0.0
        for i in range(n - 1):
            part += tables[table, j, positions[ORDER, i]]
            candidates[PART, i] = part
        add_to_scores(n - 1, criterion, space.vectors[TOTALS, j], candidates)
    fill_gains(n - 1, whole, criterion, least, candidates)
    best = first_within_tie(candidates[GAINS], n - 1, tolerance)
    if best < 0:
        return NO_CUT
    for i in range(n):
        mask[positions[ORDER, i]] = i <= best
    return candidates[GAINS, best]


# All groupings of few categories


@compiled
def best_of_all(whole, criterion, tolerance, least, space, mask):
    """The best of `categorical.all_groupings`: returns the gain, and writes the grouping to `mask`.

    Grouping i has slot j + 1 in the first group where bit j of i is set. Each slot doubles the number of groupings, so
    that a sum costs one addition for each grouping:

        groupings 0 1 2 3,  with slot 3 added to the first group:  groupings 4 5 6 7
    """
    tables, candidates, n, table = space.tables, space.candidates, whole.n_slots, summands(criterion)
    n_groupings = (1 << (n - 1)) - 1
    fill_weights_of_all(n, space.slots, candidates)
    begin_scores(n_groupings, criterion, candidates)
    for j in range(whole.n_features):
        candidates[PART, 0] = tables[table, j, 0]
        for v in range(1, n):
            half, entry = 1 << (v - 1), tables[table, j, v]
            for i in range(half):
                candidates[PART, half + i] = candidates[PART, i] + entry
        add_to_scores(n_groupings, criterion, space.vectors[TOTALS, j], candidates)
    fill_gains(n_groupings, whole, criterion, least, candidates)
    best = first_within_tie(candidates[GAINS], n_groupings, tolerance)
    if best < 0:
        return NO_CUT
    mask[0] = True
    for j in range(n - 1):
        mask[j + 1] = (best >> j) & 1 == 1
    return candidates[GAINS, best]


@compiled
def fill_weights_of_all(n, slots, candidates):
    """Fill the weights of both groups of every grouping, added up in slot order."""
    candidates[FIRST, 0], candidates[SECOND, 0] = slots[WEIGHTS, 0], 0.0
    for v in range(1, n):
        half, weight = 1 << (v - 1), slots[WEIGHTS, v]
        for i in range(half):
            candidates[FIRST, half + i] = candidates[FIRST, i] + weight
            candidates[SECOND, half + i] = candidates[SECOND, i]
            candidates[SECOND, i] += weight


# A search among the groupings of many categories


@making_arrays
def best_searched(whole, criterion, tolerance, least, space, mask):
    """The best of `categorical.searched_groupings`: returns the gain, and writes the grouping to `mask`.

    The scatter of the slots must be known; if they are on a line, their order instead.
    """
    n, n_found, largest = whole.n_slots, 0, NO_CUT
    found, gains = np.empty((16, n), np.bool_), np.empty(16)
    is_line = has_one_direction(whole, criterion)
    for number in range(1 if is_line else 1 + whole.n_features):
        if number > 0:
            follow_feature(whole, number - 1, space)
        elif not is_line:
            follow_principal_component(whole, space)
        gain, is_start = best_prefix(whole, criterion, tolerance, least, space, mask), True
        if gain > NO_CUT:
            name_by_earliest(mask, n)
            gain = gain_of_groups(mask, whole, criterion, least, space)
            is_going_on = True
            while is_going_on and not is_among(mask, found, n_found, n):
                if n_found == gains.shape[0]:
                    found, gains = with_more_capacity(found, gains)
                copy_mask(mask, found[n_found], n)
                gains[n_found] = gain
                n_found += 1
                largest = max(largest, gain)
                is_going_on = is_start or gain >= largest - tolerance
                if is_going_on:
                    better = improve(mask, gain, whole, criterion, tolerance, least, space)
                    is_going_on, gain, is_start = better > NO_CUT, better, False
    best = first_within_tie(gains, n_found, tolerance)
    if best < 0:
        return NO_CUT
    copy_mask(found[best], mask, n)
    return gains[best]


@making_arrays
def with_more_capacity(found, gains):
    """Copies with capacity for twice as many groupings and their gains."""
    n_found, n = found.shape
    more_found, more_gains = np.empty((2 * n_found, n), np.bool_), np.empty(2 * n_found)
    for i in range(n_found):
        copy_mask(found[i], more_found[i], n)
        more_gains[i] = gains[i]
    return more_found, more_gains


@compiled
def copy_mask(mask, into, n):
    """Copy a mask slot by slot: a loop compiles in a fraction of the time that an assignment of slices takes."""
    for v in range(n):
        into[v] = mask[v]


@compiled
def name_by_earliest(mask, n):
    """`categorical.with_earliest`, in place."""
    if not mask[0]:
        for v in range(n):
            mask[v] = not mask[v]


@compiled
def is_among(mask, found, n_found, n):
    """Whether a grouping was found before."""
    for i in range(n_found):
        v = 0
        while v < n and found[i, v] == mask[v]:
            v += 1
        if v == n:
            return True
    return False


@compiled
def fill_scatter(whole, space):
    """Fill the scatter of the slots' features about those of the whole.

    Four sums are made at a time, each in slot order, so that additions do not wait for each other.
    """
    m, tables, vectors = whole.n_features, space.tables, space.vectors
    for i in range(0, m, 2):
        for j in range(0, m, 2):
            last_i, last_j = min(i + 1, m - 1), min(j + 1, m - 1)
            mean, last_mean = vectors[MEANS, j], vectors[MEANS, last_j]
            first_first, first_last, last_first, last_last = 0.0, 0.0, 0.0, 0.0
            for v in range(whole.n_slots):
                first_pull, last_pull = tables[PULLS, i, v], tables[PULLS, last_i, v]
                off, last_off = tables[FEATURES, j, v] - mean, tables[FEATURES, last_j, v] - last_mean
                first_first += first_pull * off
                first_last += first_pull * last_off
                last_first += last_pull * off
                last_last += last_pull * last_off
            vectors[SCATTER + i, j], vectors[SCATTER + i, last_j] = first_first, first_last
            vectors[SCATTER + last_i, j], vectors[SCATTER + last_i, last_j] = last_first, last_last


@compiled
def has_useful_scatter(n_features, criterion):
    """Whether the scatter gives a better bound than the multiway gain, at low enough cost."""
    return is_by_distance(criterion) and most_on_a_line(criterion) < n_features <= MOST_SQUARED


@making_arrays
def bound_by_scatter(whole, space):
    """A bound on the gain of any split into two groups, by Gini or squared error.

    Two groups differ along one direction, and along no direction do the slots differ by more than the largest
    eigenvalue of their scatter, which is at most the eighth root of the trace of its eighth power.
    """
    m, vectors, trace = whole.n_features, space.vectors, 0.0
    for j in range(m):
        trace += vectors[SCATTER + j, j]
    if trace <= 0.0:
        return 0.0
    power, square = np.empty((m, m)), np.empty((m, m))
    for i in range(m):
        for j in range(m):
            power[i, j] = vectors[SCATTER + i, j] / trace
    for _ in range(2):
        for i in range(m):
            for j in range(m):
                square[i, j] = 0.0
                for k in range(m):
                    square[i, j] += power[i, k] * power[k, j]
        power, square = square, power
    eighth = 0.0
    for i in range(m):
        for j in range(m):
            eighth += power[i, j] * power[i, j]
    return sqrt(sqrt(sqrt(eighth))) * trace * whole.unit * whole.unit / whole.weight


@compiled
def follow_principal_component(whole, space):
    """Sort the slots by `categorical.principal_component`; their scatter must be known."""
    slots, tables, vectors, n = space.slots, space.tables, space.vectors, whole.n_slots
    power_method(whole.n_features, vectors)
    for v in range(n):
        slots[DIRECTION, v] = 0.0
    for j in range(whole.n_features):
        mean, along = vectors[MEANS, j], vectors[AXIS, j]
        for v in range(n):
            slots[DIRECTION, v] += (tables[FEATURES, j, v] - mean) * along
    sort_with_ties(n, space.positions, slots)


@compiled
def power_method(m, vectors):
    """The axis of `categorical.principal_component`, from the scatter; 0 if the slots do not differ."""
    largest, start = 0.0, 0
    for j in range(m):
        largest = max(largest, vectors[SCATTER + j, j])
        vectors[AXIS, j] = 0.0
    if largest == 0.0:
        return
    while vectors[SCATTER + start, start] / largest < 1.0 - TIE:
        start += 1
    for j in range(m):
        vectors[AXIS, j] = vectors[SCATTER + start, j] / largest
    for _ in range(POWER_STEPS):
        longest = 0.0
        for j in range(m):
            total = 0.0
            for i in range(m):
                total += vectors[SCATTER + i, j] * vectors[AXIS, i]
            vectors[NEXT_AXIS, j] = total
            longest = max(longest, abs(total))
        for j in range(m):
            vectors[AXIS, j] = vectors[NEXT_AXIS, j] / longest


@compiled
def improve(mask, gain, whole, criterion, tolerance, least, space):
    """`categorical.improved` in place: returns the new gain, or NO_CUT if the grouping stays.

    Before and after, LEFT and RIGHT hold the sums of the grouping. They are added up only for a grouping that seems
    better by the gain it was found with; half the tolerance is far more than two ways to add up can differ by.
    """
    n, other = whole.n_slots, space.masks[OTHER]
    follow_gradient(mask, whole, criterion, space)
    for is_move in (False, True):
        if is_move:
            new_gain = best_move(mask, whole, criterion, tolerance, least, space, other)
        else:
            new_gain = best_prefix(whole, criterion, tolerance, least, space, other)
        if new_gain - 0.5 * tolerance > gain:
            name_by_earliest(other, n)
            new_gain = gain_of_groups(other, whole, criterion, least, space)
            if new_gain - tolerance > gain:
                copy_mask(other, mask, n)
                return new_gain
    return NO_CUT


@compiled
def follow_gradient(mask, whole, criterion, space):
    """Sort the slots by `categorical.gradient_direction` of a grouping whose sums are in LEFT and RIGHT."""
    slots, tables, vectors, n = space.slots, space.tables, space.vectors, whole.n_slots
    first, second = group_weights(mask, n, slots)
    replace_by_attraction(vectors, LEFT, whole, first, criterion)
    replace_by_attraction(vectors, RIGHT, whole, second, criterion)
    for v in range(n):
        slots[DIRECTION, v] = 0.0
    for j in range(whole.n_features):
        along = vectors[RIGHT, j] - vectors[LEFT, j]
        for v in range(n):
            slots[DIRECTION, v] += tables[FEATURES, j, v] * along
    sort_with_ties(n, space.positions, slots)


@compiled
def replace_by_attraction(vectors, row, whole, weight, criterion):
    """Replace a group's sums by `categorical.ATTRACTIONS` of its features."""
    most = 0.0
    for j in range(whole.n_features):
        vectors[row, j] = vectors[row, j] / weight / whole.unit
        most = max(most, vectors[row, j])
    for j in range(whole.n_features):
        if criterion == ENTROPY:
            vectors[row, j] = log2(max(vectors[row, j], LEAST_SHARE))
        elif criterion == ERROR:
            vectors[row, j] = 1.0 if vectors[row, j] >= most - TIE else 0.0


@compiled
def best_move(mask, whole, criterion, tolerance, least, space, moved):
    """`categorical.best_move`: returns the gain, and writes the grouping to `moved`.

    Candidate 0 is the grouping itself; candidate v + 1 has slot v in the other group.
    """
    n, tables, candidates, table = whole.n_slots, space.tables, space.candidates, summands(criterion)
    fill_weights_of_moves(mask, n, space.slots, candidates)
    begin_scores(n + 1, criterion, candidates)
    for j in range(whole.n_features):
        part = 0.0
        for v in range(n):
            part += tables[table, j, v] * mask[v]
        candidates[PART, 0] = part
        for v in range(n):
            candidates[PART, v + 1] = part + tables[table, j, v] * (1.0 - 2.0 * mask[v])
        add_to_scores(n + 1, criterion, space.vectors[TOTALS, j], candidates)
    fill_gains(n + 1, whole, criterion, least, candidates)
    best = first_within_tie(candidates[GAINS], n + 1, tolerance)
    if best < 0:
        return NO_CUT
    for v in range(n):
        moved[v] = mask[v] != (v == best - 1)
    return candidates[GAINS, best]


@compiled
def fill_weights_of_moves(mask, n, slots, candidates):
    """Fill the weights of both groups for every move; what is left of a group is added up, never subtracted."""
    first, second = 0.0, 0.0
    for v in range(n):
        weight, inside = slots[WEIGHTS, v], 1.0 * mask[v]
        slots[OTHER_WEIGHTS, v] = first * inside + second * (1.0 - inside)
        first += weight * inside
        second += weight * (1.0 - inside)
    candidates[FIRST, 0], candidates[SECOND, 0] = first, second
    first_after, second_after = 0.0, 0.0
    for v in range(n - 1, -1, -1):
        weight, inside = slots[WEIGHTS, v], 1.0 * mask[v]
        outside = 1.0 - inside
        others = slots[OTHER_WEIGHTS, v] + (first_after * inside + second_after * outside)
        candidates[FIRST, v + 1] = others * inside + (first + weight) * outside
        candidates[SECOND, v + 1] = (second + weight) * inside + others * outside
        first_after += weight * inside
        second_after += weight * outside
