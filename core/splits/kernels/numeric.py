"""Kernels of `numeric.best_cut`: one pass over a sorted list, in which each step moves one sample to the left.

An entry of a list is a `uint32`:

    new value? | class | row          the highest bit is set if the value differs from that of the entry before

A cut is possible only before an entry with that bit. Scores are sums over both sides, larger is purer, in units that
make gain = (score - score of the whole) / weight of the node:

    Gini          sum_k L_k^2 / L + sum_k R_k^2 / R
    entropy       sum_k L_k log2 L_k - L log2 L + the same of R
    error rate    max_k L_k + max_k R_k
    squared error S_L^2 / L + S_R^2 / R       S the sum of centred targets

The winner is the first cut whose score is within a tolerance of the largest. One pass nearly always finds it: a better
score either leaves the winner within the tolerance or is itself the first. Where neither is certain, a second pass
returns the first score that is large enough. Each scan returns the winner's score and position, where position 0 means
that there is no cut; scores that do not exceed `bar` are ignored.

Long lists are first added up in blocks. Let a block hold c_k of class k, m in all, with b_k before it, B in all, and
r_k from its start on, R in all. A cut in the block sends d_k <= c_k of it to the left, d in all. Squares lie below
their chords, and so do reciprocals:

    sum (b_k + d_k)^2 <= sum b_k^2 + sum d_k (2 b_k + c_k)            1 / (B + d) <= 1 / B - d / (B (B + m))

so that the score of a cut in the block exceeds the score before the block by no more than, for Gini and, likewise, for
entropy,

    sum c_k max(0, (2 b_k + c_k) / B - sum b_k^2 / (B (B + m)) - (2 r_k - c_k) / R + sum r_k^2 / (R (R - m)))
    sum max(0, rise of b_k log2 b_k - fall of r_k log2 r_k - c_k (log2 B - log2 R))

A block that cannot exceed the best is skipped. The neighbours of a block that can are seldom skipped: after each such
block, twice as many entries are scanned before the next bound. `growth.kernels.bounds.bound` has better bounds for few
classes.

A score is computed also where values are equal, and whether the value is new is tested only if the score exceeds the
best: it is hard to predict, and a mispredicted branch takes the processor longer than a score.
"""

import numpy as np
from numba import int64, uint32, uint64

from core.arithmetic.kernels.logarithms import log2
from core.arithmetic.logarithms import log2_each
from core.compiler.compile import compiled
from core.criteria.kernels.impurity import ENTROPY, ERROR, GINI, SQUARED

NO_CUT = -1e300
LITTLE = 0.1  # bits of split information, below which a gain is recomputed: dividing by them would magnify rounding
SMALL_COUNT, SMALL_UNIT = 4096, 2.0**44
BLOCK = 32  # entries; the counts of a block fit into a byte for each class
LONG = 128  # entries; for shorter lists a bound does not pay
MOST_PACKED = 8  # classes whose counts fit into one word
MOST_LANES = 3  # classes up to which lists get a bound before any scan, and entries may have flags
CLASS_MASK = 3  # the bits of a class where entries may have flags
FAR = -(1 << 61)


@compiled
def just_below(score):
    """The largest number below a score of any size."""
    return score - abs(score) * 2.0**-53


@compiled
def packed_counts(entries, begin, end, shift):
    """How many entries of a block each class has, in a byte for each class; and whether any of their values is new."""
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    counts, flags = uint64(0), uint32(0)
    for i in range(begin, end):
        entry = entries[i]
        flags |= entry
        counts += uint64(1) << uint64(((entry >> uint32(shift)) & mask) << uint32(3))
    return counts, flags >> uint32(31)


@compiled
def scan_counts_gini(entries, start, n, shift, totals, left, reciprocal, least, tolerance, bar):
    """The best cut of unweighted classes by Gini: squares are kept as integers, and reciprocals are looked up."""
    for is_second in range(2):
        n_classes = totals.shape[0]
        squares_left, squares_right = int64(0), int64(0)
        for k in range(n_classes):
            left[k] = 0
            squares_right += totals[k] * totals[k]
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
        first, last = uint64(least), uint64(n) - uint64(least)
        n_left, n_right = uint64(0), uint64(n)
        i, end = uint64(start), uint64(start + n)
        in_blocks = n >= LONG and n_classes <= MOST_PACKED
        run = uint64(BLOCK)
        while i < end:
            stop = end
            if in_blocks:
                stop = min(i + uint64(BLOCK), end)
                counts, has_new = packed_counts(entries, i, stop, shift)
                m = stop - i
                by_left, by_right = reciprocal[n_left], reciprocal[n_right]
                bound, after_left, after_right = squares_left * by_left, squares_left, squares_right
                common = squares_right * by_right * reciprocal[n_right - m] - bound * reciprocal[n_left + m]
                bound += squares_right * by_right
                for k in range(n_classes):
                    here = int64((counts >> uint64(8 * k)) & uint64(255))
                    rise, fall = 2 * left[k] + here, 2 * (totals[k] - left[k]) - here
                    after_left += here * rise
                    after_right -= here * fall
                    bound += here * max(0.0, rise * by_left - fall * by_right + common)
                if not (has_new and (n_left == 0 or n_right == m or bound > best - tolerance)):
                    for k in range(n_classes):
                        left[k] += int64((counts >> uint64(8 * k)) & uint64(255))
                    squares_left, squares_right = after_left, after_right
                    n_left += m
                    n_right -= m
                    i, run = stop, uint64(BLOCK)
                    continue
                stop = min(i + run, end)
                run += run
            while i < stop:
                entry = entries[i]
                score = squares_left * reciprocal[n_left] + squares_right * reciprocal[n_right]
                if score > best and entry >> uint32(31) and n_left >= first and n_left <= last:
                    if is_second:
                        return score, i
                    if score - tolerance > chosen:
                        is_unclear |= best >= score - tolerance
                        chosen, position = score, i
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
    return chosen, position


@compiled
def scan_counts_entropy(entries, start, n, shift, totals, left, logs, unit, least, tolerance, bar):
    """The best cut of unweighted classes by entropy.

    n log2 n is looked up as an integer, so that sums in any order are exact.
    """
    n_classes = totals.shape[0]
    in_blocks = n >= LONG and n_classes <= MOST_PACKED
    if in_blocks and bar == NO_CUT:
        bar = bar_between_blocks(entries, start, n, shift, totals, left, logs, unit, least, tolerance)
    for is_second in range(2):
        sum_left, sum_right = int64(0), int64(0)
        for k in range(n_classes):
            left[k] = 0
            sum_right += logs[totals[k]]
        whole_tolerance = int64(tolerance * unit)
        chosen = int64(FAR)
        best, position, is_unclear = chosen, uint64(0), False
        if bar > NO_CUT:
            best = int64(bar * unit)
        mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
        first, last = uint64(least), uint64(n) - uint64(least)
        n_left, n_right = uint64(0), uint64(n)
        i, end = uint64(start), uint64(start + n)
        run = uint64(BLOCK)
        while i < end:
            stop = end
            if in_blocks:
                stop = min(i + uint64(BLOCK), end)
                counts, has_new = packed_counts(entries, i, stop, shift)
                m = stop - i
                is_inside = n_left > 0 and n_right > m
                slope, bound = int64(0), sum_left - logs[n_left] + sum_right - logs[n_right]
                if is_inside:
                    slope = logs[n_left] - logs[n_left - uint64(1)] - logs[n_right + uint64(1)] + logs[n_right]
                after_left, after_right = sum_left, sum_right
                for k in range(n_classes):
                    here = int64((counts >> uint64(8 * k)) & uint64(255))
                    before, behind = left[k], totals[k] - left[k]
                    rise = logs[before + here] - logs[before]
                    fall = logs[behind] - logs[behind - here]
                    after_left += rise
                    after_right -= fall
                    bound += max(int64(0), rise - fall - here * slope)
                if not has_new or (is_inside and bound <= best - whole_tolerance):
                    for k in range(n_classes):
                        left[k] += int64((counts >> uint64(8 * k)) & uint64(255))
                    sum_left, sum_right = after_left, after_right
                    n_left += m
                    n_right -= m
                    i, run = stop, uint64(BLOCK)
                    continue
                stop = min(i + run, end)
                run += run
            while i < stop:
                entry = entries[i]
                score = sum_left - logs[n_left] + sum_right - logs[n_right]
                if score > best and entry >> uint32(31) and n_left >= first and n_left <= last:
                    if is_second:
                        return score / unit, i
                    if score - whole_tolerance > chosen:
                        is_unclear |= best >= score - whole_tolerance
                        chosen, position = score, i
                    best = score
                k = (entry >> uint32(shift)) & mask
                before = left[k]
                behind = totals[k] - before
                sum_left += logs[before + 1] - logs[before]
                sum_right -= logs[behind] - logs[behind - 1]
                left[k] = before + 1
                n_left += uint64(1)
                n_right -= uint64(1)
                i += uint64(1)
        if not is_unclear:
            break
        bar = (best - whole_tolerance - 1) / unit
    return (NO_CUT if position == 0 else chosen / unit), position


@compiled
def bar_between_blocks(entries, start, n, shift, totals, left, logs, unit, least, tolerance):
    """A score by entropy that some cut between two blocks exceeds by more than a tie; NO_CUT without such a cut.

    No cut with a lower score has to be scanned.
    """
    n_classes, sum_left, sum_right, best = totals.shape[0], int64(0), int64(0), int64(FAR)
    for k in range(n_classes):
        left[k] = 0
        sum_right += logs[totals[k]]
    i, end = uint64(start), uint64(start + n)
    while i + uint64(BLOCK) < end:
        counts, _ = packed_counts(entries, i, i + uint64(BLOCK), shift)
        i += uint64(BLOCK)
        for k in range(n_classes):
            before, behind = left[k], totals[k] - left[k]
            here = int64((counts >> uint64(8 * k)) & uint64(255))
            sum_left += logs[before + here] - logs[before]
            sum_right -= logs[behind] - logs[behind - here]
            left[k] = before + here
        score = sum_left - logs[i - uint64(start)] + sum_right - logs[end - i]
        if score > best and entries[i] >> uint32(31) and min(i - uint64(start), end - i) >= least:
            best = score
    return best / unit - 2.0 * tolerance if best > FAR else NO_CUT


@compiled
def class_mask(shift, n_classes):
    """The mask of an entry's class after the row is shifted out; if classes are few, higher bits may be flags."""
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    return mask & uint32(CLASS_MASK) if n_classes <= MOST_LANES else mask


@compiled
def sum_blocks(entries, start, n, shift, weights, blocks, totals):
    """`blocks[b, :]`: the class weights before block b of a list; `totals`: those of the whole list.

    A short list is one block. Every other entry is added to a separate sum, so that additions do not wait for each
    other.
    """
    n_classes = totals.shape[0]
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = class_mask(shift, n_classes)
    for k in range(n_classes):
        blocks[0, k] = 0.0
    i, end, b, size = uint64(start), uint64(start + n), uint64(1), block_size(n)
    while i < end:
        stop = min(i + size, end)
        here, apart = blocks[b], blocks[b + uint64(1)]
        for k in range(n_classes):
            here[k], apart[k] = blocks[b - uint64(1), k], 0.0
        while i + uint64(1) < stop:
            entry, other = entries[i], entries[i + uint64(1)]
            here[(entry >> uint32(shift)) & mask] += weights[entry & row_mask]
            apart[(other >> uint32(shift)) & mask] += weights[other & row_mask]
            i += uint64(2)
        if i < stop:
            entry = entries[i]
            here[(entry >> uint32(shift)) & mask] += weights[entry & row_mask]
            i += uint64(1)
        for k in range(n_classes):
            here[k] += apart[k]
        b += uint64(1)
    for k in range(n_classes):
        totals[k] = blocks[b - uint64(1), k]


@compiled
def block_size(n):
    """How many entries a block has in a list of n."""
    return uint64(BLOCK) if n >= LONG else uint64(n)


@compiled
def scan_weights(entries, start, n, shift, totals, left, weights, criterion, least, tolerance, bar, behind, blocks):
    """The best cut of weighted classes by any criterion, after `sum_blocks`; the right side is the whole less the left.

    Sums of squares, or of x log2 x, are updated on the way and nearly always show that a cut is no better than the
    best; otherwise its score is computed anew. `left` and `behind` are scratch for the terms of these sums, `left` from
    after the class weights on. Several blocks share a bound: twice as many after two successes, half as many after a
    failure.
    """
    n_classes, whole = totals.shape[0], 0.0
    for k in range(n_classes):
        whole += totals[k]
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = class_mask(shift, n_classes)
    last, size = last_position(entries, start, n, row_mask, weights, least), block_size(n)
    n_blocks = (uint64(n) + size - uint64(1)) // size
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        i, end, run = uint64(start), min(last + uint64(1), uint64(start + n)), size
        width, went_well = uint64(1), False
        while i < end:
            block, passed = (i - uint64(start)) // size, 0.0
            for k in range(n_classes):
                left[k] = blocks[block, k]
                passed += left[k]
            if n >= LONG:
                after, gone = blocks[min(block + width, n_blocks)], 0.0
                for k in range(n_classes):
                    gone += after[k]
                if bound_of_block(left, after, totals, passed, gone, whole, criterion) <= best - tolerance:
                    i, run = i + width * size, size
                    width, went_well = width << uint64(went_well), not went_well
                    continue
                went_well = False
                if width > 1:
                    width = width >> uint64(1)
                    continue
            sum_left, sum_right, margin = 0.0, 0.0, rounding(whole, run, n_classes, criterion)
            for k in range(n_classes):
                behind[k] = term(totals[k] - left[k], criterion)
                left[n_classes + k] = term(left[k], criterion)
                sum_left += left[n_classes + k]
                sum_right += behind[k]
            stop = min(i + run, end)
            run += run
            while i < stop:
                entry = entries[i]
                right = whole - passed
                is_high = may_exceed(best, sum_left, sum_right, passed, right, margin, criterion)
                if is_high and entry >> uint32(31) and passed >= least:
                    score = score_of_sides(left, totals, passed, right, criterion)
                    if score > best:
                        if is_second:
                            return score, i
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, position = score, i
                        best = score
                weight = weights[entry & row_mask]
                k = (entry >> uint32(shift)) & mask
                if criterion == GINI:
                    sum_left += weight * (left[k] + left[k] + weight)
                    sum_right -= weight * (2.0 * (totals[k] - left[k]) - weight)
                elif criterion == ENTROPY:
                    here, rest = term(left[k] + weight, ENTROPY), term(totals[k] - left[k] - weight, ENTROPY)
                    sum_left += here - left[uint32(n_classes) + k]
                    sum_right += rest - behind[k]
                    left[uint32(n_classes) + k], behind[k] = here, rest
                left[k] += weight
                passed += weight
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, position


@compiled
def term(weight, criterion):
    """What a class adds to its side's sum: its squared weight, or about w log2 w."""
    if criterion == GINI:
        return weight * weight
    return about_times_log2(weight) if criterion == ENTROPY else 0.0


@compiled
def rounding(whole, n_added, n_classes, criterion):
    """How much the sums of both sides may be off after `n_added` additions, in the units of `may_exceed`."""
    if criterion == GINI:
        return n_added * 2.0**-49 * whole * whole * whole
    return (n_classes + 2 + n_added * 2.0**-16) * 2.0**-34 * whole


@compiled
def may_exceed(best, sum_left, sum_right, weight_left, weight_right, margin, criterion):
    """False only where the score cannot exceed the best; nothing is divided, and logarithms are approximate."""
    if criterion == GINI:
        return sum_left * weight_right + sum_right * weight_left > best * (weight_left * weight_right) - margin
    if criterion == ENTROPY:
        whole = about_times_log2(weight_left) + about_times_log2(weight_right)
        return sum_left + sum_right - whole > best - margin
    return True


@compiled
def about_times_log2(weight):
    """w log2 w with an error of at most 2^-36 w; 0 where the weight is only rounding."""
    return weight * about_log2(weight) if weight > TINY else 0.0


@compiled
def about_log2(weight):
    """log2 of a number above `TINY`, approximately: its exponent, a table of mantissas, and a series for the rest."""
    bits = np.float64(weight).view(np.uint64)
    at = (bits >> uint64(52 - TABLE_BITS)) & uint64((1 << TABLE_BITS) - 1)
    mantissa = np.uint64((bits & uint64(0xFFFFFFFFFFFFF)) | uint64(0x3FF0000000000000)).view(np.float64)
    rest = mantissa * TABLE_INVERSES[at] - 1.0
    exponent = np.float64(int64(bits >> uint64(52)) - int64(1023))
    return exponent + TABLE_LOGS[at] + rest * (LOG2_E - rest * (LOG2_E / 2 - rest * (LOG2_E / 3)))


TABLE_BITS, LOG2_E, TINY = 8, 1.4426950408889634, 1e-300
TABLE_LOGS = log2_each((np.arange(1 << TABLE_BITS) + 0.5) / (1 << TABLE_BITS) + 1)
TABLE_INVERSES = 1 / ((np.arange(1 << TABLE_BITS) + 0.5) / (1 << TABLE_BITS) + 1)


@compiled
def bound_of_block(before, after, totals, gone_before, gone, whole, criterion):
    """A bound on the score of any cut in a block, from the left class weights before and after it."""
    n_classes, rest, behind = totals.shape[0], whole - gone_before, whole - gone
    if criterion == ERROR:
        most_left, most_right = 0.0, 0.0
        for k in range(n_classes):
            most_left = max(most_left, after[k])
            most_right = max(most_right, totals[k] - before[k])
        return most_left + most_right
    if gone_before < TINY or behind < TINY:
        return -NO_CUT
    over, sum_left, sum_right = 0.0, 0.0, 0.0
    if criterion == GINI:
        for k in range(n_classes):
            sum_left += before[k] * before[k]
            sum_right += (totals[k] - before[k]) * (totals[k] - before[k])
        by_left, by_right = 1.0 / gone_before, 1.0 / rest
        common = sum_right * by_right / behind - sum_left * by_left / gone
        for k in range(n_classes):
            rise, fall = before[k] + after[k], 2.0 * totals[k] - before[k] - after[k]
            over += (after[k] - before[k]) * max(0.0, rise * by_left - fall * by_right + common)
        return sum_left * by_left + sum_right * by_right + over
    log_left, log_right = about_log2(gone_before), about_log2(rest)
    for k in range(n_classes):
        left, right = about_times_log2(before[k]), about_times_log2(totals[k] - before[k])
        rise, fall = about_times_log2(after[k]) - left, right - about_times_log2(totals[k] - after[k])
        over += max(0.0, rise - fall - (after[k] - before[k]) * (log_left - log_right))
        sum_left += left
        sum_right += right
    score = sum_left - gone_before * log_left + sum_right - rest * log_right
    return score + over + rounding(whole, BLOCK, n_classes, ENTROPY)


@compiled
def score_of_sides(left, totals, weight_left, weight_right, criterion):
    """The score of a cut, which is how pure both sides are, by class weights."""
    if criterion == GINI:
        squares_left, squares_right = 0.0, 0.0
        for k in range(totals.shape[0]):
            behind = totals[k] - left[k]
            squares_left += left[k] * left[k]
            squares_right += behind * behind
        return squares_left / weight_left + ratio(squares_right, weight_right)
    if criterion == ENTROPY:
        total = -times_log2(weight_left) - times_log2(weight_right)
        for k in range(totals.shape[0]):
            total += times_log2(left[k]) + times_log2(totals[k] - left[k])
        return total
    most_left, most_right = 0.0, 0.0
    for k in range(totals.shape[0]):
        most_left = max(most_left, left[k])
        most_right = max(most_right, totals[k] - left[k])
    return most_left + most_right


@compiled
def score_of_whole(totals, criterion, n_classes, n_outputs):
    """The score of the rows without a cut, and their weight; `totals` are class weights, or the weight and the sums."""
    weight, squares, logs, most = 0.0, 0.0, 0.0, 0.0
    if criterion == SQUARED:
        for j in range(n_outputs):
            squares += totals[1 + j] * totals[1 + j]
        return squares / totals[0], totals[0]
    for k in range(n_classes):
        weight += totals[k]
        squares += totals[k] * totals[k]
        most = max(most, totals[k])
        if criterion == ENTROPY:
            logs += times_log2(totals[k])
    if criterion == GINI:
        return squares / weight, weight
    return (logs - times_log2(weight) if criterion == ENTROPY else most), weight


@compiled
def gain_of_sides(sums, n_classes, left, right):
    """The information gain on the known rows from shares, as in the definition.

    The rounding of w log2 w would show once the gain is divided by a small split information.
    """
    known, gain = left + right, 0.0
    for k in range(n_classes):
        gain += information_of((sums[k] + sums[n_classes + k]) / known)
        gain -= left / known * information_of(sums[k] / left)
        gain -= right / known * information_of(sums[n_classes + k] / right)
    return gain


@compiled
def information_of(share):
    """What a part with this share adds to the entropy."""
    return share * log2(1.0 / share) if share > 0.0 else 0.0


@compiled
def information(left, right):
    """The intrinsic value of a split into two branches, in bits."""
    return information_of(left / (left + right)) + information_of(right / (left + right))


@compiled
def last_position(entries, start, n, row_mask, weights, least):
    """The last position with at least `least` weight behind it.

    The weight is added up from the end: a difference would not be exact.
    """
    behind, i = 0.0, uint64(start + n)
    while i > uint64(start) and behind < least:
        i -= uint64(1)
        behind += weights[entries[i] & row_mask]
    return i


@compiled
def ratio(part, whole):
    """part / whole; 0 where the whole is only rounding."""
    return part / whole if whole > 0.0 else 0.0


@compiled
def times_log2(weight):
    """w log2 w; 0 where the weight is not positive, which may be rounding."""
    return weight * log2(weight) if weight > 0.0 else 0.0


@compiled
def fill_times_log2(table, unit):
    """Write n log2 n to `table[n]`, as an integer multiple of 1/unit."""
    for n in range(1, table.shape[0]):
        table[n] = int64(np.rint(times_log2(float(n)) * unit))


@compiled
def scan_numbers(entries, start, n, shift, whole, whole_sum, weights, numbers, centre, is_unit, least, tolerance, bar):
    """The best cut for one number to predict: only the sum of the centred targets moves from right to left.

    A block is bounded by the corners of a box that holds all pairs of left weight and left sum in it: the sum is
    largest if all parts above the centre come first, smallest if all parts below it do.
    """
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        row_mask = (uint32(1) << uint32(shift)) - uint32(1)
        last = last_position(entries, start, n, row_mask, weights, least)
        gone, sum_left = 0.0, 0.0
        block, end, size = uint64(start), uint64(start + n), block_size(n)
        run = size
        while block < end:
            block_end = min(block + size, end)
            passed, moved = gone, sum_left
            is_needed = True
            if n >= LONG:
                above, below = 0.0, 0.0
                if is_unit:
                    above, below = parts_of_block(entries, block, block_end, row_mask, numbers, centre)
                    gone += block_end - block
                else:
                    for i in range(block, block_end):
                        row = entries[i] & row_mask
                        part = weights[row] * (numbers[row, 0] - centre)
                        gone += weights[row]
                        above += max(part, 0.0)
                        below += min(part, 0.0)
                sum_left += above + below
                lowest, highest = moved + below, moved + above
                is_needed = passed <= 0.0 or gone >= whole
                if not is_needed:
                    bound = max(
                        max(
                            score_of_sums(lowest, whole_sum, passed, whole),
                            score_of_sums(highest, whole_sum, passed, whole),
                        ),
                        max(
                            score_of_sums(lowest, whole_sum, gone, whole),
                            score_of_sums(highest, whole_sum, gone, whole),
                        ),
                    )
                    is_needed = bound > best - tolerance
            if not is_needed:
                run = size
            else:
                block_end = min(block + run, end)
                run += run
                for i in range(block, block_end):
                    entry = entries[i]
                    if entry >> uint32(31) and passed >= least and i <= last:
                        behind, right = whole_sum - moved, whole - passed
                        enough = best * passed * right
                        reached = moved * moved * right + behind * behind * passed
                        if right <= 0.0 or reached > enough - abs(enough) * 1e-14:
                            score = score_of_sums(moved, whole_sum, passed, whole)
                            if score > best:
                                if is_second:
                                    return score, uint64(i)
                                if score - tolerance > chosen:
                                    is_unclear |= best >= score - tolerance
                                    chosen, position = score, uint64(i)
                                best = score
                    row = entry & row_mask
                    weight = 1.0 if is_unit else weights[row]
                    passed += weight
                    moved += weight * (numbers[row, 0] - centre)
                gone, sum_left = passed, moved
            block = block_end
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, position


@compiled
def parts_of_block(entries, begin, end, row_mask, numbers, centre):
    """The sums of the parts above and of those below the centre, in a block of rows of weight 1.

    Every other entry is added to a separate sum, so that additions do not wait for each other.
    """
    above, below, more_above, more_below = 0.0, 0.0, 0.0, 0.0
    i = begin
    while i + uint64(1) < end:
        part = numbers[entries[i] & row_mask, 0] - centre
        other = numbers[entries[i + uint64(1)] & row_mask, 0] - centre
        above += max(part, 0.0)
        below += min(part, 0.0)
        more_above += max(other, 0.0)
        more_below += min(other, 0.0)
        i += uint64(2)
    if i < end:
        part = numbers[entries[i] & row_mask, 0] - centre
        above += max(part, 0.0)
        below += min(part, 0.0)
    return above + more_above, below + more_below


@compiled
def score_of_sums(sum_left, whole_sum, weight_left, whole):
    """S_L^2 / L + S_R^2 / R."""
    behind = whole_sum - sum_left
    return sum_left * sum_left / weight_left + ratio(behind * behind, whole - weight_left)


@compiled
def scan_outputs(entries, start, n, shift, totals, left, weights, numbers, centres, least, tolerance, bar):
    """The best cut for several numbers to predict.

    `totals` and `left` hold the weight, then the sum of each centred output.
    """
    for is_second in range(2):
        n_outputs = numbers.shape[1]
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        row_mask = (uint32(1) << uint32(shift)) - uint32(1)
        last = last_position(entries, start, n, row_mask, weights, least)
        for j in range(1 + n_outputs):
            left[j] = 0.0
        for i in range(uint64(start), uint64(start + n)):
            entry = entries[i]
            if entry >> uint32(31) and left[0] >= least and i <= last:
                score = score_of_moments(left, totals, n_outputs)
                if score > best:
                    if is_second:
                        return score, uint64(i)
                    if score - tolerance > chosen:
                        is_unclear |= best >= score - tolerance
                        chosen, position = score, uint64(i)
                    best = score
            row = entry & row_mask
            weight = weights[row]
            left[0] += weight
            for j in range(n_outputs):
                left[1 + j] += weight * (numbers[row, j] - centres[j])
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, position


@compiled
def score_of_moments(left, totals, n_outputs):
    """S_L^2 / L + S_R^2 / R, summed over the outputs."""
    squares_left, squares_right = 0.0, 0.0
    for j in range(1, 1 + n_outputs):
        behind = totals[j] - left[j]
        squares_left += left[j] * left[j]
        squares_right += behind * behind
    return squares_left / left[0] + ratio(squares_right, totals[0] - left[0])
