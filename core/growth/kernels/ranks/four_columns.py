"""The best cuts of up to four columns at once, in a node of few rows where a number is predicted.

    column    A B C D
    slot 0    b a d d          Each row goes into one slot per column: the number of the node's rows before it.
         1    a d b a          Then one pass over the slots moves a row of each column to the left, in four lanes.
         2    d b a b

Rows of equal value share a slot, and the slots after it are empty. In a node of many rows a slot is the key itself,
which takes no counting, and more slots are empty.

With W and S, the weight and the sum of all rows, and L and M those of the left side, the gain of a cut is

    gain = (M - L S / W)^2 / (L (W - L))
"""

from numba import int64, uint64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_COLUMNS
from core.arithmetic.ties import TIE
from core.compiler.byte_lanes import BYTES_AT_ONCE, below_mask, n_bits
from core.compiler.compile import byte_at, compiled
from core.compiler.four_lanes import FOUR_LANES, four_times, number_in_lane, stepping
from core.growth.kernels.node.column_draw import draw_next, first_of_best, take_back
from core.growth.kernels.ranks.state import KEYS_APART
from core.splits.kernels.numeric import NO_CUT

FEW = 96  # rows: up to here slots are found by counting


@stepping
def with_slot(sums, weights, parts, slot, whole, share, least):
    """Move the rows of a slot to the left; its weight and sum, the best gain, its slot, and the best of all others."""
    passed, moved, best, chosen, other = sums
    passed, moved = passed + weights(0), moved + parts(0)
    right, off = whole - passed, moved - share * passed
    is_cut = (weights(0) > weights(0).all(0.0)) & (passed >= least) & (right >= least)
    gain = (off * off / (passed * right)).where(is_cut, passed.all(NO_CUT))
    is_better = gain > best
    other = best.where(is_better, gain.where(gain > other, other))
    return passed, moved, gain.where(is_better, best), slot.where(is_better, chosen), other


@compiled
def best_of_drawn_numbers(bag, rules, key, first, begin, n, n_keys, figure):
    """The best cut of the columns that a node draws, as its index in `bag.cuts`; -1 if there is none.

    `n_keys` is the number of keys in the subtree, whose rows begin at `first`.
    """
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    most, least, n_slots = NO_CUT, max(rules.min_leaf - TIE, 1.0), n if n <= FEW else n_keys
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        n_keyed, n_together = 0, min(rules.n_drawn - turn, FOUR_LANES) if turn < rules.n_drawn else 1
        while n_keyed < n_together and turn < n_columns:
            bag.keyed[n_keyed] = draw_next(rules, bag.order, bag.taken, for_columns, turn)
            n_keyed += 1
            turn += 1
        take_keys(bag, n_keyed, first, begin, n)
        if n_slots == n and are_distinct(bag, n_keyed):
            set_slots(bag, first, begin, n, figure[1])
        else:
            fill_slots(bag, first, begin, n, n_slots, figure[1])
        n_found, most = search_slots(bag, n_keyed, first, n_slots, figure, least, rules.tolerance, n_found, most)
    take_back(bag.order, bag.taken, turn)
    return first_of_best(bag.drawn, bag.gains, n_found, most, rules.tolerance)


@compiled
def keys_at(bag, column, first):
    """The address of a subtree's keys in a column, one byte per row: they compare as the values do."""
    keys = bag.position if bag.distinct[column] else bag.value
    return uint64(keys.ctypes.data) + uint64(column) * uint64(keys.shape[1]) + uint64(first)


@compiled
def take_keys(bag, n_keyed, first, begin, n):
    """Copy the keys of a node's rows to `lane_keys`, column by column; the last of fewer than four is repeated."""
    rows, keys, keyed, last = bag.small_rows, bag.lane_keys, bag.keyed, n_keyed - 1
    one, two = keys_at(bag, keyed[0], first), keys_at(bag, keyed[min(1, last)], first)
    three, four = keys_at(bag, keyed[min(2, last)], first), keys_at(bag, keyed[last], first)
    for j in range(n):
        row = uint64(rows[begin + j])
        keys[j], keys[KEYS_APART + j] = byte_at(one + row), byte_at(two + row)
        keys[2 * KEYS_APART + j], keys[3 * KEYS_APART + j] = byte_at(three + row), byte_at(four + row)


@compiled
def are_distinct(bag, n_keyed):
    """Whether all values differ in each of the columns searched together."""
    is_distinct = True
    for c in range(n_keyed):
        is_distinct &= bag.distinct[bag.keyed[c]]
    return is_distinct


@compiled
def set_slots(bag, first, begin, n, centre):
    """`fill_slots` by counting, where every slot gets exactly one row."""
    rows, keys, weights, parts = bag.small_rows, bag.lane_keys, bag.slot_weights, bag.slot_parts
    address, n_full = uint64(keys.ctypes.data), (n - 1) // BYTES_AT_ONCE
    among = ~uint64(0) >> uint64(64 - (n - n_full * BYTES_AT_ONCE))
    for j in range(n):
        row = rows[begin + j]
        weight = bag.weights[first + row]
        part = weight * (bag.numbers[first + row] - centre)
        for c in range(FOUR_LANES):
            at = uint64(FOUR_LANES) * n_below(address + uint64(c * KEYS_APART), keys[c * KEYS_APART + j], n_full, among)
            at += uint64(c)
            weights[at], parts[at], bag.slot_rows[at] = weight, part, row


@compiled
def n_below(keys, key, n_full, among):
    """How many of a node's keys in a column are below `key`: in `n_full` blocks, and under a mask in the last one."""
    below = n_bits(below_mask(keys + uint64(n_full * BYTES_AT_ONCE), key) & among)
    for block in range(n_full):
        below += n_bits(below_mask(keys + uint64(block * BYTES_AT_ONCE), key))
    return below


@compiled
def fill_slots(bag, first, begin, n, n_slots, centre):
    """Add every row's weight, and its part of the sum of centred numbers, to its slot of each column."""
    rows, keys, weights, parts = bag.small_rows, bag.lane_keys, bag.slot_weights, bag.slot_parts
    weights[: FOUR_LANES * n_slots], parts[: FOUR_LANES * n_slots] = 0.0, 0.0
    n_full, is_counted = (n - 1) // BYTES_AT_ONCE, n_slots == n
    address, among = uint64(keys.ctypes.data), ~uint64(0) >> uint64(64 - (n - n_full * BYTES_AT_ONCE))
    for j in range(n):
        row = rows[begin + j]
        weight = bag.weights[first + row]
        part = weight * (bag.numbers[first + row] - centre)
        for c in range(FOUR_LANES):
            key, here = keys[c * KEYS_APART + j], address + uint64(c * KEYS_APART)
            slot = uint64(key)
            if is_counted:
                slot = n_below(here, key, n_full, among)
            at = uint64(FOUR_LANES) * slot + uint64(c)
            weights[at] += weight
            parts[at] += part
            bag.slot_rows[at] = row


@compiled
def search_slots(bag, n_keyed, first, n_slots, figure, least, tolerance, n_found, most):
    """Store each column's best cut if at least a tie with the best gain so far; how many are stored, and that gain."""
    weights, parts, whole, share = bag.slot_weights, bag.slot_parts, figure[0], figure[2] / figure[0]
    sums = four_times(0.0), four_times(0.0), four_times(NO_CUT), four_times(-1.0), four_times(NO_CUT)
    for slot in range(n_slots - 1):
        sums = with_slot(sums, FOUR_LANES * slot, weights, parts, float(slot), whole, share, least)
    _, _, bests, slots, others = sums
    for c in range(n_keyed):
        most = max(most, number_in_lane(bests, c))
    for c in range(n_keyed):
        best, slot = number_in_lane(bests, c), int64(number_in_lane(slots, c))
        if slot >= 0 and best >= most - tolerance:
            if number_in_lane(others, c) >= best - tolerance:
                slot = first_slot(weights, parts, c, whole, share, least, best - tolerance)
            bag.drawn[n_found], bag.gains[n_found] = bag.keyed[c], best
            bag.cuts[n_found] = cut_at(bag, c, slot, first)
            n_found += 1
    return n_found, most


@compiled
def first_slot(weights, parts, c, whole, share, least, enough):
    """The first slot of column c after which a cut gains `enough`; there is one."""
    passed, moved, slot = weights[c], parts[c], int64(0)
    while passed < least or (moved - share * passed) ** 2 / (passed * (whole - passed)) < enough:
        slot += 1
        passed += weights[FOUR_LANES * slot + c]
        moved += parts[FOUR_LANES * slot + c]
    return slot


@compiled
def cut_at(bag, c, slot, first):
    """The cut of column c after a slot, as `packed_cut`; a later slot is not empty."""
    after = slot + 1
    while bag.slot_weights[FOUR_LANES * after + c] == 0.0:
        after += 1
    low, high = bag.slot_rows[FOUR_LANES * slot + c], bag.slot_rows[FOUR_LANES * after + c]
    return packed_cut(byte_at(keys_at(bag, bag.keyed[c], first) + uint64(high)), low, high)


@compiled
def packed_cut(border, low, high):
    """A cut in one number: the key from which on rows go right, the last row before it, and a row that has it."""
    return int64(border) | int64(low) << 8 | int64(high) << 16


@compiled
def parts_of_cut(cut):
    """The key and the two rows of a `packed_cut`."""
    return cut & 255, cut >> 8 & 255, cut >> 16
