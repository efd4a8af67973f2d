"""The exact search of those blocks of a list that its bounds have left, the high ones, by Gini or entropy."""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled
from core.criteria.kernels.impurity import ENTROPY
from core.growth.kernels.bounds.block_sums import block_length, position_in
from core.splits.kernels.numeric import (
    FAR,
    NO_CUT,
    about_times_log2,
    class_mask,
    just_below,
    may_exceed,
    ratio,
    rounding,
    score_of_sides,
)

NEARLY = 1.0 - 1e-12  # what rounding leaves of a score, at least


@compiled
def scan_high_counts(entries, start, n, shift, totals, left, lefts, highs, n_high, reciprocal, least, tolerance, bar):
    """The best cut of class counts by Gini in the high blocks: its score and position; 0 for none.

    `splits.kernels.numeric.scan_counts_gini` of these blocks only, each from its counts in `lefts`.
    """
    n_classes, size = totals.shape[0], block_length(n)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last = uint64(least), uint64(n) - uint64(least)
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        for j in range(n_high):
            b = highs[j]
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
def scan_high_counts_by_entropy(
    entries, start, n, shift, totals, left, lefts, highs, n_high, logs, unit, least, tolerance, bar
):
    """The best cut of class counts by entropy in the high blocks: its score and position; 0 for none.

    `splits.kernels.numeric.scan_counts_entropy` of these blocks only, each from its counts in `lefts`.
    """
    n_classes, size, whole_tolerance = totals.shape[0], block_length(n), int64(tolerance * unit)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last, enough = uint64(least), uint64(n) - uint64(least), int64(bar * unit)
    for is_second in range(2):
        best, chosen, position, is_unclear = enough, int64(FAR), uint64(0), False
        for j in range(n_high):
            b = highs[j]
            sum_left, sum_right, n_left = int64(0), int64(0), uint64(b) * size
            for k in range(n_classes):
                left[k] = int64(lefts[k, b])
                sum_left += logs[left[k]]
                sum_right += logs[totals[k] - left[k]]
            i = uint64(start) + n_left
            stop, n_right = min(i + size, uint64(start + n)), uint64(n) - n_left
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
                before, behind = left[k], totals[k] - left[k]
                sum_left += logs[before + 1] - logs[before]
                sum_right -= logs[behind] - logs[behind - 1]
                left[k] = before + 1
                n_left += uint64(1)
                n_right -= uint64(1)
                i += uint64(1)
        if not is_unclear:
            break
        enough = best - whole_tolerance - 1
    return (chosen / unit if position else NO_CUT), position


@compiled
def sum_to_high(entries, start, n, shift, by, weights, highs, n_high, blocks, totals):
    """Fill `blocks[j, :]` with the class weights before the high block j, and `totals` with those of the whole list.

    Four sums run side by side, so that additions do not wait for each other.
    """
    n_classes, size, i = totals.shape[0], block_length(n), uint64(start)
    mask = class_mask(shift, n_classes)
    second, third, fourth = blocks[n_high + 1], blocks[n_high + 2], blocks[n_high + 3]
    for k in range(n_classes):
        totals[k], second[k], third[k], fourth[k] = 0.0, 0.0, 0.0, 0.0
    for j in range(n_high + 1):
        stop = uint64(start) + uint64(highs[j]) * size if j < n_high else uint64(start + n)
        while i + uint64(3) < stop:
            e0, e1, e2, e3 = entries[i], entries[i + uint64(1)], entries[i + uint64(2)], entries[i + uint64(3)]
            totals[(e0 >> uint32(shift)) & mask] += weights[position_in(e0, by)]
            second[(e1 >> uint32(shift)) & mask] += weights[position_in(e1, by)]
            third[(e2 >> uint32(shift)) & mask] += weights[position_in(e2, by)]
            fourth[(e3 >> uint32(shift)) & mask] += weights[position_in(e3, by)]
            i += uint64(4)
        while i < stop:
            totals[(entries[i] >> uint32(shift)) & mask] += weights[position_in(entries[i], by)]
            i += uint64(1)
        for k in range(n_classes):
            blocks[j, k] = (totals[k] + second[k]) + (third[k] + fourth[k])
    for k in range(n_classes):
        totals[k] = blocks[n_high, k]


@compiled
def scan_high_weights(
    entries, start, n, shift, by, totals, blocks, highs, n_high, weights, least, last, tolerance, bar
):
    """The best cut of class weights by Gini in the high blocks: its score and position; 0 for none.

    `splits.kernels.numeric.scan_weights` of these blocks only, after `sum_to_high`; `last` is the list's
    `last_position`.
    """
    size, n_classes = block_length(n), totals.shape[0]
    t0, t1, t2 = totals[0], totals[1] if n_classes > 1 else 0.0, totals[2] if n_classes > 2 else 0.0
    whole = t0 + t1 + t2
    mask = class_mask(shift, n_classes)
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        for j in range(n_high):
            l0, l1, l2 = blocks[j, 0], blocks[j, 1] if n_classes > 1 else 0.0, blocks[j, 2] if n_classes > 2 else 0.0
            i = uint64(start) + uint64(highs[j]) * size
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
                            chosen, position = score, i
                        best = score
                weight, k = weights[position_in(entry, by)], (entry >> uint32(shift)) & mask
                l0 += weight if k == 0 else 0.0
                l1 += weight if k == 1 else 0.0
                l2 += weight if k == 2 else 0.0
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, position


@compiled
def scan_high_weights_by_entropy(
    entries, start, n, shift, by, totals, blocks, highs, n_high, weights, left, behind, least, last, tolerance, bar
):
    """The best cut of class weights by entropy in the high blocks: its score and position; 0 for none.

    `splits.kernels.numeric.scan_weights` of these blocks only, after `sum_to_high`; like it, this keeps approximate
    terms w log2 w in `left`, after the weights, and in `behind`.
    """
    size, n_classes, whole = block_length(n), totals.shape[0], 0.0
    for k in range(n_classes):
        whole += totals[k]
    mask, margin = class_mask(shift, n_classes), rounding(whole, size, n_classes, ENTROPY)
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        for j in range(n_high):
            sum_left, sum_right, passed = 0.0, 0.0, 0.0
            for k in range(n_classes):
                left[k] = blocks[j, k]
                left[n_classes + k], behind[k] = about_times_log2(left[k]), about_times_log2(totals[k] - left[k])
                sum_left += left[n_classes + k]
                sum_right += behind[k]
                passed += left[k]
            i = uint64(start) + uint64(highs[j]) * size
            stop = min(i + size, uint64(start + n))
            while i < stop:
                entry, right = entries[i], whole - passed
                is_high = may_exceed(best, sum_left, sum_right, passed, right, margin, ENTROPY)
                if is_high and entry >> uint32(31) and passed >= least and i <= last:
                    score = score_of_sides(left, totals, passed, right, ENTROPY)
                    if score > best:
                        if is_second:
                            return score, i
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, position = score, i
                        best = score
                weight, k = weights[position_in(entry, by)], (entry >> uint32(shift)) & mask
                here, rest = about_times_log2(left[k] + weight), about_times_log2(totals[k] - left[k] - weight)
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
