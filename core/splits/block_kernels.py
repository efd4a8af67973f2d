"""A first look at a list: whether any of its cuts can gain enough, by Gini and up to three classes.

Classes stand side by side in one word, so that one addition moves an entry to the left, whatever its class:

    weight of class 2 | weight of class 1 | weight of class 0

Where every row counts one, these are counts. Else weights are rounded to whole units. The score of a side,
sum_k L_k^2 / L, changes by no more than a class weight does: so no score is wrong by more than half a unit for each
entry, neither is that of the whole, and a gain is known up to one unit for each entry. A list that cannot gain enough
by that is passed over, and its weights are not added up as they are.
"""

from numba import int64, uint32, uint64

from core.compiled_kernels import compiled
from core.splits.numeric_kernels import NO_CUT, just_below, last_place, ratio

MOST_LANES = 3  # classes
NEARLY = 1.0 - 1e-12  # what rounding may take of a score
LANE = 21  # bits for each class
LONGEST_BLOCK = 32  # entries
SHORT, MIDDLING = 255, 4095  # entries of the longest lists that have shorter blocks
MOST_UNITS = ((1 << LANE) - 1) // LONGEST_BLOCK  # of a row


@compiled
def fill_units(weights, classes, units):
    """The weights of all rows in units; how many units a weight of 1 has: the heaviest row has as many as fit."""
    heaviest = 0.0
    for row in range(weights.shape[0]):
        heaviest = max(heaviest, weights[row])
    unit = MOST_UNITS / heaviest
    for row in range(weights.shape[0]):
        units[row] = in_units(weights[row], unit, classes[row])
    return unit


@compiled
def in_units(weight, unit, k):
    """A row's weight in whole units, in the place of its class."""
    return uint64(weight * unit + 0.5) << (uint64(k) * uint64(LANE))


@compiled
def block_length(n):
    """How many entries a block of a list of n has: short lists are bounded closely, long ones cheaply."""
    return uint64(8) if n <= SHORT else uint64(16) if n <= MIDDLING else uint64(LONGEST_BLOCK)


@compiled
def n_blocks_of(n):
    """How many blocks a list of n entries has."""
    size = int64(block_length(n))
    return (n + size - 1) // size


@compiled
def most_blocks(n):
    """How many blocks a list of up to n entries has at the most."""
    return max(n_blocks_of(n), n_blocks_of(min(n, MIDDLING)), n_blocks_of(min(n, SHORT)))


@compiled
def fill_lefts(entries, start, n, shift, units, lefts):
    """`lefts[k, b]`: what class k weighs before block b, and in the last place on the whole; how many blocks there are.

    Rows count one where there are no units.
    """
    is_counted, size = units.shape[0] == 0, block_length(n)
    first, second, third, lane_mask = lefts[0], lefts[1], lefts[2], uint64((1 << LANE) - 1)
    w0, w1, w2 = int64(0), int64(0), int64(0)
    i, end, b = uint64(start), uint64(start + n), uint64(0)
    while i < end:
        stop = min(i + size, end)
        word = count_word(entries, i, stop, shift) if is_counted else unit_word(entries, i, stop, shift, units)
        first[b], second[b], third[b] = float(w0), float(w1), float(w2)
        w0 += int64(word & lane_mask)
        w1 += int64((word >> uint64(LANE)) & lane_mask)
        w2 += int64(word >> uint64(2 * LANE))
        i, b = stop, b + uint64(1)
    first[b], second[b], third[b] = float(w0), float(w1), float(w2)
    return int64(b)


@compiled
def count_word(entries, begin, end, shift):
    """How many of some entries have each class."""
    s, word, i = uint32(shift), uint64(0), begin
    mask = (uint32(1) << (uint32(31) - s)) - uint32(1)
    while i < end:
        word += uint64(1) << (uint64((entries[i] >> s) & mask) * uint64(LANE))
        i += uint64(1)
    return word


@compiled
def unit_word(entries, begin, end, shift, units):
    """What some entries weigh by class, in units; eight at a time, since blocks have so many or a multiple."""
    mask, word, i = (uint32(1) << uint32(shift)) - uint32(1), uint64(0), begin
    while i + uint64(8) <= end:
        word += (
            units[entries[i] & mask]
            + units[entries[i + uint64(1)] & mask]
            + units[entries[i + uint64(2)] & mask]
            + units[entries[i + uint64(3)] & mask]
        ) + (
            units[entries[i + uint64(4)] & mask]
            + units[entries[i + uint64(5)] & mask]
            + units[entries[i + uint64(6)] & mask]
            + units[entries[i + uint64(7)] & mask]
        )
        i += uint64(8)
    while i < end:
        word += units[entries[i] & mask]
        i += uint64(1)
    return word


@compiled
def score_undivided(lefts, n_blocks):
    """The score of all entries on one side, and their weight."""
    t0, t1, t2 = lefts[0, n_blocks], lefts[1, n_blocks], lefts[2, n_blocks]
    return ratio(t0 * t0 + t1 * t1 + t2 * t2, t0 + t1 + t2), t0 + t1 + t2


@compiled
def is_high(left, squares_left, squares_right, whole, enough):
    """Whether a cut scores more than enough, told without a division; never where a side is empty."""
    right = whole - left
    return int64(squares_left * right + squares_right * left > enough * (left * right))


@compiled
def mark_high(lefts, n_blocks, gain, least, highs):
    """`highs[b]`: whether a cut in block b may gain more with so much on both sides, 0 if not; how many may.

    Scores are convex: no cut of a block exceeds all its corners, where of each class either all or nothing goes left.
    The last corner, all of the block, is the first of the next one. There are no branches, so that several blocks are
    looked at by one instruction.
    """
    t0, t1, t2 = lefts[0, n_blocks], lefts[1, n_blocks], lefts[2, n_blocks]
    whole, n_high = t0 + t1 + t2, 0
    first, second, third = lefts[0], lefts[1], lefts[2]
    enough = score_undivided(lefts, n_blocks)[0] + gain
    if gain <= 0.0:  # an empty side would do
        for b in range(n_blocks):
            highs[b] = 1
        return n_blocks
    for b in range(n_blocks):
        a, c, e, next_a, next_c, next_e = first[b], second[b], third[b], first[b + 1], second[b + 1], third[b + 1]
        l0, l1, l2, next_l0, next_l1, next_l2 = a * a, c * c, e * e, next_a * next_a, next_c * next_c, next_e * next_e
        r0, r1, r2, next_r0, next_r1, next_r2 = t0 - a, t1 - c, t2 - e, t0 - next_a, t1 - next_c, t2 - next_e
        r0, r1, r2 = r0 * r0, r1 * r1, r2 * r2
        next_r0, next_r1, next_r2 = next_r0 * next_r0, next_r1 * next_r1, next_r2 * next_r2
        high = (
            is_high(a + c + e, l0 + l1 + l2, r0 + r1 + r2, whole, enough)
            | is_high(next_a + c + e, next_l0 + l1 + l2, next_r0 + r1 + r2, whole, enough)
            | is_high(a + next_c + e, l0 + next_l1 + l2, r0 + next_r1 + r2, whole, enough)
            | is_high(a + c + next_e, l0 + l1 + next_l2, r0 + r1 + next_r2, whole, enough)
            | is_high(next_a + next_c + e, next_l0 + next_l1 + l2, next_r0 + next_r1 + r2, whole, enough)
            | is_high(next_a + c + next_e, next_l0 + l1 + next_l2, next_r0 + r1 + next_r2, whole, enough)
            | is_high(a + next_c + next_e, l0 + next_l1 + next_l2, r0 + next_r1 + next_r2, whole, enough)
        )
        high &= int64(next_a + next_c + next_e >= least) & int64(whole - (a + c + e) >= least)
        highs[b] = high
        n_high += high
    return n_high


@compiled
def best_between_blocks(lefts, n_blocks, entries, start, size, least, scores):
    """The highest score of a cut between two blocks that leaves so much on both sides; 0 where there is none.

    `scores` is room for those of all blocks.
    """
    t0, t1, t2 = lefts[0, n_blocks], lefts[1, n_blocks], lefts[2, n_blocks]
    whole, best, first, second, third = t0 + t1 + t2, 0.0, lefts[0], lefts[1], lefts[2]
    for b in range(n_blocks):
        a, c, e = first[b], second[b], third[b]
        left, r0, r1, r2 = a + c + e, t0 - a, t1 - c, t2 - e
        scores[b] = (a * a + c * c + e * e) / left + (r0 * r0 + r1 * r1 + r2 * r2) / (whole - left)
    for b in range(1, n_blocks):
        if scores[b] > best:
            left = first[b] + second[b] + third[b]
            if min(left, whole - left) >= least and entries[uint64(start) + uint64(b) * size] >> uint32(31):
                best = scores[b]
    return best


@compiled
def scan_high_counts(entries, start, n, shift, totals, left, lefts, highs, n_blocks, reciprocal, least, tolerance, bar):
    """`numeric_kernels.scan_counts_gini` of the blocks that are high."""
    n_classes, size = totals.shape[0], block_length(n)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last = uint64(least), uint64(n) - uint64(least)
    for is_second in range(2):
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        for b in range(n_blocks):
            if highs[b] == 0:
                continue
            squares_left, squares_right, n_left = int64(0), int64(0), uint64(b) * size
            for k in range(n_classes):
                left[k] = int64(lefts[k, b])
                squares_left += left[k] * left[k]
                squares_right += (totals[k] - left[k]) * (totals[k] - left[k])
            i = uint64(start) + n_left
            stop, n_right = min(i + size, uint64(start + n)), uint64(n) - n_left
            while i < stop:
                entry = entries[i]
                score = squares_left * reciprocal[n_left] + squares_right * reciprocal[n_right]
                if score > best and entry >> uint32(31) and n_left >= first and n_left <= last:
                    if is_second:
                        return score, i
                    if score - tolerance > chosen:
                        is_unclear |= best >= score - tolerance
                        chosen, place = score, i
                    best = score
                k = (entry >> uint32(shift)) & mask
                before = left[k]
                squares_left += 2 * before + 1
                squares_right -= 2 * (totals[k] - before) - 1
                left[k] = before + 1
                n_left += uint64(1)
                n_right -= uint64(1)
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place


@compiled
def sum_to_high(entries, start, n, shift, weights, highs, n_blocks, blocks, totals):
    """`blocks[b, :]`: the class weights before each high block b; `totals`: of all.

    Every fourth entry is added up apart, so that additions do not wait for each other.
    """
    n_classes, size, i = totals.shape[0], block_length(n), uint64(start)
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    second, third, fourth = blocks[n_blocks + 1], blocks[n_blocks + 2], blocks[n_blocks + 3]
    for k in range(n_classes):
        totals[k], second[k], third[k], fourth[k] = 0.0, 0.0, 0.0, 0.0
    for b in range(n_blocks + 1):
        if b < n_blocks and highs[b] == 0:
            continue
        stop = min(uint64(start) + uint64(b) * size, uint64(start + n))
        while i + uint64(3) < stop:
            e0, e1, e2, e3 = entries[i], entries[i + uint64(1)], entries[i + uint64(2)], entries[i + uint64(3)]
            totals[(e0 >> uint32(shift)) & mask] += weights[e0 & row_mask]
            second[(e1 >> uint32(shift)) & mask] += weights[e1 & row_mask]
            third[(e2 >> uint32(shift)) & mask] += weights[e2 & row_mask]
            fourth[(e3 >> uint32(shift)) & mask] += weights[e3 & row_mask]
            i += uint64(4)
        while i < stop:
            totals[(entries[i] >> uint32(shift)) & mask] += weights[entries[i] & row_mask]
            i += uint64(1)
        for k in range(n_classes):
            blocks[b, k] = (totals[k] + second[k]) + (third[k] + fourth[k])
    for k in range(n_classes):
        totals[k] = blocks[n_blocks, k]


@compiled
def scan_high_weights(entries, start, n, shift, totals, blocks, highs, n_blocks, weights, least, tolerance, bar):
    """`numeric_kernels.scan_weights` of the blocks that are high, after `sum_to_high`."""
    size, n_classes = block_length(n), totals.shape[0]
    t0, t1, t2 = totals[0], totals[1] if n_classes > 1 else 0.0, totals[2] if n_classes > 2 else 0.0
    whole = t0 + t1 + t2
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    last = last_place(entries, start, n, row_mask, weights, least)
    for is_second in range(2):
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        for b in range(n_blocks):
            if highs[b] == 0:
                continue
            l0, l1, l2 = blocks[b, 0], blocks[b, 1] if n_classes > 1 else 0.0, blocks[b, 2] if n_classes > 2 else 0.0
            i = uint64(start) + uint64(b) * size
            stop = min(i + size, uint64(start + n))
            while i < stop:
                entry = entries[i]
                r0, r1, r2, left = t0 - l0, t1 - l1, t2 - l2, l0 + l1 + l2
                right, squares_left = whole - left, l0 * l0 + l1 * l1 + l2 * l2
                squares_right = r0 * r0 + r1 * r1 + r2 * r2
                is_near = squares_left * right + squares_right * left > NEARLY * best * (left * right)
                if is_near and entry >> uint32(31) and left >= least and i <= last:
                    score = squares_left / left + ratio(squares_right, right)
                    if score > best:
                        if is_second:
                            return score, i
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, place = score, i
                        best = score
                weight, k = weights[entry & row_mask], (entry >> uint32(shift)) & mask
                l0 += weight if k == 0 else 0.0
                l1 += weight if k == 1 else 0.0
                l2 += weight if k == 2 else 0.0
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place
