"""The compiled twins of `numeric.best_cut`: one pass over an ascending list, each step moves one sample to the left.

An entry of a list is a `uint32`:

    new value? | class | row          the first bit says that the value differs from the entry before

A cut may only stand before an entry with that bit. Scores are sums over both sides, larger is purer, in units that
make gain = (score - score of the whole) / weight of the node:

    Gini          sum_k L_k^2 / L + sum_k R_k^2 / R
    entropy       sum_k L_k log2 L_k - L log2 L + the same of R
    error rate    max_k L_k + max_k R_k
    squared error S_L^2 / L + S_R^2 / R       S the sum of centred targets

The winner is the first cut whose score is within a tolerance of the largest. One pass nearly always tells: a better
score either leaves the winner within the tolerance or is itself the first. Where it does not tell, a second pass looks
for the first score that is large enough. Each scan returns the winner's score and place, the place 0
standing for none; nothing that does not exceed `bar` is looked for.

Long lists are added up in blocks first. All scores are convex in what moved to the left, so a bound of a block follows
from its ends: `b` before it and `c` in it, m of all classes together, `r` behind it,

    sum_k (b_k + d_k)^2 / (b + d)  <=  sum_k b_k^2 / b  or  (sum_k b_k^2 + m max_k (2 b_k + c_k)) / (b + m)

for d_k <= c_k, the same from the other end for the right side; a block that cannot exceed the best is passed over.
"""

from math import log2

from numba import int64, uint32, uint64

from core.compiled_kernels import compiled

GINI, ENTROPY, ERROR, SQUARED = 0, 1, 2, 3
NO_CUT = -1e300
SMALL_COUNT, SMALL_UNIT = 4096, 2.0**44
BLOCK = 32  # entries; the counts of a block fit into a byte for each class
LONG = 256  # entries; shorter lists are not worth a bound
MOST_PACKED = 8  # classes whose counts fit into one word
FAR = -(1 << 61)


@compiled
def just_below(score):
    """The largest number below a score of whatever size."""
    return score - abs(score) * 2.0**-53


@compiled
def packed_counts(entries, begin, end, shift):
    """How often each class stands in a block, a byte for each; whether any value is new there."""
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    counts, flags = uint64(0), uint32(0)
    for i in range(begin, end):
        entry = entries[i]
        flags |= entry
        counts += uint64(1) << uint64(((entry >> uint32(shift)) & mask) << uint32(3))
    return counts, flags >> uint32(31)


@compiled
def scan_counts_gini(entries, start, n, shift, totals, left, reciprocal, least, tolerance, bar):
    """Unweighted classes by Gini: the squares are kept as whole numbers, divisions are looked up."""
    for is_second in range(2):
        n_classes = totals.shape[0]
        squares_left, squares_right = int64(0), int64(0)
        for k in range(n_classes):
            left[k] = 0
            squares_right += totals[k] * totals[k]
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
        first, last = uint64(least), uint64(n) - uint64(least)
        n_left, n_right = uint64(0), uint64(n)
        i, end = uint64(start), uint64(start + n)
        in_blocks = n >= LONG and n_classes <= MOST_PACKED
        while i < end:
            stop = end
            if in_blocks:
                stop = min(i + uint64(BLOCK), end)
                counts, has_new = packed_counts(entries, i, stop, shift)
                m = stop - i
                most_left, most_right, after_left, after_right = int64(0), int64(0), squares_left, squares_right
                for k in range(n_classes):
                    here = int64((counts >> uint64(8 * k)) & uint64(255))
                    before = left[k]
                    behind = totals[k] - before
                    most_left = max(most_left, 2 * before + here)
                    most_right = max(most_right, 2 * behind - here)
                    after_left += here * (2 * before + here)
                    after_right -= here * (2 * behind - here)
                bound_left = max(
                    squares_left * reciprocal[n_left], (squares_left + int64(m) * most_left) * reciprocal[n_left + m]
                )
                bound_right = max(
                    after_right * reciprocal[n_right - m], (after_right + int64(m) * most_right) * reciprocal[n_right]
                )
                if not has_new or bound_left + bound_right <= best - tolerance:
                    for k in range(n_classes):
                        left[k] += int64((counts >> uint64(8 * k)) & uint64(255))
                    squares_left, squares_right = after_left, after_right
                    n_left += m
                    n_right -= m
                    i = stop
                    continue
            while i < stop:
                entry = entries[i]
                if entry >> uint32(31) and n_left >= first and n_left <= last:
                    score = squares_left * reciprocal[n_left] + squares_right * reciprocal[n_right]
                    if score > best:
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
def scan_counts_entropy(entries, start, n, shift, totals, left, logs, unit, least, tolerance, bar):
    """Unweighted classes by entropy: n log2 n is looked up as a whole number, so that sums are exact in any order.

    The bound of a block: by convexity x log2 x of a class rises no steeper than between its ends, and that of the
    whole side no less steep than where the block begins.
    """
    for is_second in range(2):
        n_classes = totals.shape[0]
        sum_left, sum_right = int64(0), int64(0)
        for k in range(n_classes):
            left[k] = 0
            sum_right += logs[totals[k]]
        whole_tolerance = int64(tolerance * unit)
        chosen = int64(FAR)
        best, place, is_unclear = chosen, uint64(0), False
        if bar > NO_CUT:
            best = int64(bar * unit)
        mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
        first, last = uint64(least), uint64(n) - uint64(least)
        n_left, n_right = uint64(0), uint64(n)
        i, end = uint64(start), uint64(start + n)
        in_blocks = n >= LONG and n_classes <= MOST_PACKED
        while i < end:
            stop = end
            if in_blocks:
                stop = min(i + uint64(BLOCK), end)
                counts, has_new = packed_counts(entries, i, stop, shift)
                m = stop - i
                steepest_left, steepest_right, after_left, after_right = 0.0, 0.0, sum_left, sum_right
                for k in range(n_classes):
                    here = int64((counts >> uint64(8 * k)) & uint64(255))
                    if here > 0:
                        before = left[k]
                        behind = totals[k] - before
                        rise = logs[before + here] - logs[before]
                        fall = logs[behind] - logs[behind - here]
                        after_left += rise
                        after_right -= fall
                        steepest_left = max(steepest_left, rise / here)
                        steepest_right = max(steepest_right, fall / here)
                is_needed = bool(has_new) and (n_left == 0 or n_right == m)
                if has_new and not is_needed:
                    over_left = max(0.0, m * (steepest_left - (logs[n_left] - logs[n_left - uint64(1)])))
                    r = n_right - m
                    over_right = max(0.0, m * (steepest_right - (logs[r] - logs[r - uint64(1)])))
                    bound = sum_left - logs[n_left] + after_right - logs[r] + over_left + over_right
                    is_needed = bound > best - whole_tolerance
                if not is_needed:
                    for k in range(n_classes):
                        left[k] += int64((counts >> uint64(8 * k)) & uint64(255))
                    sum_left, sum_right = after_left, after_right
                    n_left += m
                    n_right -= m
                    i = stop
                    continue
            while i < stop:
                entry = entries[i]
                if entry >> uint32(31) and n_left >= first and n_left <= last:
                    score = sum_left - logs[n_left] + sum_right - logs[n_right]
                    if score > best:
                        if is_second:
                            return score / unit, i
                        if score - whole_tolerance > chosen:
                            is_unclear |= best >= score - whole_tolerance
                            chosen, place = score, i
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
    return (NO_CUT if place == 0 else chosen / unit), place


@compiled
def scan_weights(entries, start, n, shift, totals, left, weights, criterion, least, tolerance, bar, before):
    """Weighted classes by any criterion of classes; the right side is the whole less the left.

    The second half of `left` is where every other entry of a block is added up, so that additions do not wait for each
    other.
    """
    for is_second in range(2):
        n_classes = totals.shape[0]
        whole = 0.0
        for k in range(n_classes):
            left[k], left[n_classes + k] = 0.0, 0.0
            whole += totals[k]
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        row_mask = (uint32(1) << uint32(shift)) - uint32(1)
        mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
        last = last_place(entries, start, n, row_mask, weights, least)
        gone = 0.0
        block, end = uint64(start), uint64(start + n)
        size = uint64(BLOCK) if n >= LONG else uint64(n)
        while block < end:
            block_end = min(block + size, end)
            passed = gone
            if n >= LONG:
                has_new = uint32(0)
                for k in range(n_classes):
                    before[k] = left[k]
                i = block
                while i + uint64(1) < block_end:
                    entry, other = entries[i], entries[i + uint64(1)]
                    has_new |= entry | other
                    left[(entry >> uint32(shift)) & mask] += weights[entry & row_mask]
                    left[uint32(n_classes) + ((other >> uint32(shift)) & mask)] += weights[other & row_mask]
                    i += uint64(2)
                if i < block_end:
                    entry = entries[i]
                    has_new |= entry
                    left[(entry >> uint32(shift)) & mask] += weights[entry & row_mask]
                gone = 0.0
                for k in range(n_classes):
                    left[k] += left[n_classes + k]
                    left[n_classes + k] = 0.0
                    gone += left[k]
                if (
                    not has_new >> uint32(31)
                    or bound_of_block(before, left, totals, passed, gone, whole, criterion) <= best - tolerance
                ):
                    block = block_end
                    continue
                for k in range(n_classes):
                    left[k] = before[k]
            for i in range(block, block_end):
                entry = entries[i]
                if entry >> uint32(31) and passed >= least and i <= last:
                    right = whole - passed
                    if may_exceed(best, left, totals, passed, right, criterion):
                        score = score_of_sides(left, totals, passed, right, criterion)
                        if score > best:
                            if is_second:
                                return score, uint64(i)
                            if score - tolerance > chosen:
                                is_unclear |= best >= score - tolerance
                                chosen, place = score, uint64(i)
                            best = score
                weight = weights[entry & row_mask]
                left[(entry >> uint32(shift)) & mask] += weight
                passed += weight
            gone = passed
            block = block_end
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place


@compiled
def bound_of_block(before, after, totals, gone_before, gone, whole, criterion):
    """What no cut in a block can exceed, from the left class weights before and after it."""
    n_classes = totals.shape[0]
    m = gone - gone_before
    behind = whole - gone
    most_left, most_right, sum_left, sum_right = 0.0, 0.0, 0.0, 0.0
    if criterion == GINI:
        for k in range(n_classes):
            rest = totals[k] - after[k]
            here = after[k] - before[k]
            most_left = max(most_left, before[k] + after[k])
            most_right = max(most_right, 2.0 * rest + here)
            sum_left += before[k] * before[k]
            sum_right += rest * rest
        bound_left = max(ratio(sum_left, gone_before), ratio(sum_left + m * most_left, gone))
        return bound_left + max(ratio(sum_right, behind), ratio(sum_right + m * most_right, behind + m))
    if criterion == ENTROPY:
        if gone_before <= 0.0 or behind <= 0.0:
            return -NO_CUT
        for k in range(n_classes):
            here = after[k] - before[k]
            logs, logs_right = times_log2(before[k]), times_log2(totals[k] - after[k])
            sum_left += logs
            sum_right += logs_right
            if here > 0.0:
                most_left = max(most_left, (times_log2(after[k]) - logs) / here)
                most_right = max(most_right, (times_log2(totals[k] - before[k]) - logs_right) / here)
        slope, slope_right = log2(gone_before) + 1.4426950408889634, log2(behind) + 1.4426950408889634
        bound_left = sum_left - times_log2(gone_before) + max(0.0, m * (most_left - slope))
        return bound_left + sum_right - times_log2(behind) + max(0.0, m * (most_right - slope_right))
    for k in range(n_classes):
        most_left = max(most_left, after[k])
        most_right = max(most_right, totals[k] - before[k])
    return most_left + most_right


@compiled
def may_exceed(best, left, totals, weight_left, weight_right, criterion):
    """False only where the score cannot exceed the best; told without a division."""
    if criterion != GINI or weight_right <= 0.0:
        return True
    squares_left, squares_right = 0.0, 0.0
    for k in range(totals.shape[0]):
        behind = totals[k] - left[k]
        squares_left += left[k] * left[k]
        squares_right += behind * behind
    enough = best * weight_left * weight_right
    return squares_left * weight_right + squares_right * weight_left > enough - abs(enough) * 1e-14


@compiled
def score_of_sides(left, totals, weight_left, weight_right, criterion):
    """How pure both sides are, by class weights."""
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
    """The score of rows undivided, and their weight; `totals` are class weights, or the weight and the sums."""
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
def information(left, right):
    """The intrinsic value of two branches, in bits."""
    left, right = left / (left + right), right / (left + right)
    return left * log2(1.0 / left) + right * log2(1.0 / right)


@compiled
def last_place(entries, start, n, row_mask, weights, least):
    """The last place with enough weight behind it, added up from the end: a difference would not be exact."""
    behind, i = 0.0, uint64(start + n)
    while i > uint64(start) and behind < least:
        i -= uint64(1)
        behind += weights[entries[i] & row_mask]
    return i


@compiled
def ratio(part, whole):
    """part / whole, and 0 where rounding left nothing of the whole."""
    return part / whole if whole > 0.0 else 0.0


@compiled
def times_log2(weight):
    """w log2 w, and 0 for what rounding left of nothing."""
    return weight * log2(weight) if weight > 0.0 else 0.0


@compiled
def scan_numbers(entries, start, n, shift, whole, whole_sum, weights, numbers, centre, is_unit, least, tolerance, bar):
    """One number to predict: only the sum of the centred targets moves from right to left.

    A block is bounded by the corners of a box that the left weight and the left sum move in: at the most all that is
    above the centre comes first, at the least all that is below.
    """
    for is_second in range(2):
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        row_mask = (uint32(1) << uint32(shift)) - uint32(1)
        last = last_place(entries, start, n, row_mask, weights, least)
        gone, sum_left = 0.0, 0.0
        block, end = uint64(start), uint64(start + n)
        size = uint64(BLOCK) if n >= LONG else uint64(n)
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
            if is_needed:
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
                                    chosen, place = score, uint64(i)
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
    return chosen, place


@compiled
def parts_of_block(entries, begin, end, row_mask, numbers, centre):
    """The sums of what lies above the centre and of what lies below, in a block of rows of weight 1.

    Every other entry is added up apart, so that additions do not wait for each other.
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
    """Several numbers to predict: `totals` and `left` hold the weight, then the sum of each centred output."""
    for is_second in range(2):
        n_outputs = numbers.shape[1]
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        row_mask = (uint32(1) << uint32(shift)) - uint32(1)
        last = last_place(entries, start, n, row_mask, weights, least)
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
                        chosen, place = score, uint64(i)
                    best = score
            row = entry & row_mask
            weight = weights[row]
            left[0] += weight
            for j in range(n_outputs):
                left[1 + j] += weight * (numbers[row, j] - centres[j])
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place


@compiled
def score_of_moments(left, totals, n_outputs):
    """The score of `score_of_sums`, summed over the outputs."""
    squares_left, squares_right = 0.0, 0.0
    for j in range(1, 1 + n_outputs):
        behind = totals[j] - left[j]
        squares_left += left[j] * left[j]
        squares_right += behind * behind
    return squares_left / left[0] + ratio(squares_right, totals[0] - left[0])
