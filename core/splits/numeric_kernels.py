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
score either leaves the winner within the tolerance or is itself the first. Where it does not tell, `is_unclear` asks
for a second pass, which looks for the first score of at least `floor`. Each scan returns the winner's score and place,
the place 0 standing for none.
"""

from math import log2

from numba import int64, uint32, uint64

from core.compiled_kernels import compiled

GINI, ENTROPY, ERROR, SQUARED = 0, 1, 2, 3
NO_CUT = -1e300
SMALL_COUNT, SMALL_UNIT = 4096, 2.0**44
BLOCK = 32
MOST_CORNERED = 4  # classes; beyond, a block has too many corners


@compiled
def just_below(score):
    """The largest number below a score of whatever size."""
    return score - abs(score) * 2.0**-53


@compiled
def scan_counts_gini(entries, start, n, shift, totals, left, reciprocal, least, tolerance, floor):
    """Unweighted classes by Gini: the squares are kept as whole numbers, divisions are looked up."""
    squares_left, squares_right = int64(0), int64(0)
    for k in range(totals.shape[0]):
        left[k] = 0
        squares_right += totals[k] * totals[k]
    best, chosen, place, is_unclear = max(NO_CUT, floor), NO_CUT, uint64(0), False
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last = uint64(least), uint64(n) - uint64(least)
    n_left, n_right = uint64(0), uint64(n)
    i, end = uint64(start), uint64(start + n)
    while i < end:
        entry = entries[i]
        if entry >> uint32(31) and n_left >= first and n_left <= last:
            score = squares_left * reciprocal[n_left] + squares_right * reciprocal[n_right]
            if score > best:
                if floor > NO_CUT:
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
    if is_unclear:
        return scan_counts_gini(
            entries, start, n, shift, totals, left, reciprocal, least, tolerance, just_below(best - tolerance)
        )
    return chosen, place


@compiled
def scan_counts_entropy(entries, start, n, shift, totals, left, logs, unit, least, tolerance, floor):
    """Unweighted classes by entropy: n log2 n is looked up as a whole number, so that sums are exact in any order."""
    sum_left, sum_right = int64(0), int64(0)
    for k in range(totals.shape[0]):
        left[k] = 0
        sum_right += logs[totals[k]]
    whole_tolerance = int64(tolerance * unit)
    chosen = int64(-(1 << 61))
    best, place, is_unclear = chosen, uint64(0), False
    if floor > NO_CUT:
        best = int64(floor * unit)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last = uint64(least), uint64(n) - uint64(least)
    n_left, n_right = uint64(0), uint64(n)
    i, end = uint64(start), uint64(start + n)
    while i < end:
        entry = entries[i]
        if entry >> uint32(31) and n_left >= first and n_left <= last:
            score = sum_left - logs[n_left] + sum_right - logs[n_right]
            if score > best:
                if floor > NO_CUT:
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
    if is_unclear:
        return scan_counts_entropy(
            entries, start, n, shift, totals, left, logs, unit, least, tolerance, (best - whole_tolerance - 1) / unit
        )
    return (NO_CUT if place == 0 else chosen / unit), place


@compiled
def scan_weights(entries, start, n, shift, totals, left, weights, criterion, least, tolerance, floor, scratch):
    """Weighted classes by any criterion of classes; the right side is the whole less the left.

    Scores are convex in the left class weights, so within a block none exceeds the best corner of the box that they
    move in: most blocks are only added up.
    """
    n_classes = totals.shape[0]
    whole = 0.0
    for k in range(n_classes):
        left[k] = 0.0
        whole += totals[k]
    best, chosen, place, is_unclear = max(NO_CUT, floor), NO_CUT, uint64(0), False
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    last = last_place(entries, start, n, row_mask, weights, least)
    before, corner = scratch[0], scratch[1]
    gone = 0.0
    block, end = uint64(start), uint64(start + n)
    while block < end:
        block_end = min(block + uint64(BLOCK), end)
        gone_before, is_any_new = gone, uint32(0)
        for k in range(n_classes):
            before[k] = left[k]
        for i in range(block, block_end):
            entry = entries[i]
            is_any_new |= entry >> uint32(31)
            weight = weights[entry & row_mask]
            left[(entry >> uint32(shift)) & mask] += weight
            gone += weight
        if is_any_new and exceeds(best, before, left, corner, totals, whole, criterion):
            for k in range(n_classes):
                corner[k] = before[k]
            passed = gone_before
            for i in range(block, block_end):
                entry = entries[i]
                if entry >> uint32(31) and passed >= least and i <= last:
                    score = score_of_sides(corner, totals, passed, whole - passed, criterion)
                    if score > best:
                        if floor > NO_CUT:
                            return score, uint64(i)
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, place = score, uint64(i)
                        best = score
                weight = weights[entry & row_mask]
                corner[(entry >> uint32(shift)) & mask] += weight
                passed += weight
        block = block_end
    if is_unclear:
        return scan_weights(
            entries,
            start,
            n,
            shift,
            totals,
            left,
            weights,
            criterion,
            least,
            tolerance,
            just_below(best - tolerance),
            scratch,
        )
    return chosen, place


@compiled
def exceeds(best, low, high, corner, totals, whole, criterion):
    """Whether some corner between two vectors of left class weights has a larger score; yes when there are too many."""
    n_classes = totals.shape[0]
    if n_classes > MOST_CORNERED or best == NO_CUT:
        return True
    for number in range(1 << n_classes):
        gone = 0.0
        for k in range(n_classes):
            corner[k] = high[k] if (number >> k) & 1 else low[k]
            gone += corner[k]
        if gone > 0.0 and score_of_sides(corner, totals, gone, whole - gone, criterion) > best:
            return True
    return False


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
def scan_numbers(entries, start, n, shift, whole, whole_sum, weights, numbers, centre, least, tolerance, floor):
    """One number to predict: only the sum of the centred targets moves from right to left.

    Blocks are passed over as in `scan_weights`; the box is that of the left weight and of the left sum.
    """
    best, chosen, place, is_unclear = max(NO_CUT, floor), NO_CUT, uint64(0), False
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    last = last_place(entries, start, n, row_mask, weights, least)
    gone, sum_left = 0.0, 0.0
    block, end = uint64(start), uint64(start + n)
    while block < end:
        block_end = min(block + uint64(BLOCK), end)
        passed, moved, lowest, highest = gone, sum_left, sum_left, sum_left
        for i in range(block, block_end):
            row = entries[i] & row_mask
            weight = weights[row]
            gone += weight
            sum_left += weight * (numbers[row] - centre)
            lowest, highest = min(lowest, sum_left), max(highest, sum_left)
        is_needed = best == NO_CUT or passed <= 0.0 or gone >= whole
        if not is_needed:
            for weight in (passed, gone):
                for moment in (lowest, highest):
                    behind = whole_sum - moment
                    is_needed |= moment * moment / weight + ratio(behind * behind, whole - weight) > best
        if is_needed:
            for i in range(block, block_end):
                entry = entries[i]
                if entry >> uint32(31) and passed >= least and i <= last:
                    behind = whole_sum - moved
                    score = moved * moved / passed + ratio(behind * behind, whole - passed)
                    if score > best:
                        if floor > NO_CUT:
                            return score, uint64(i)
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, place = score, uint64(i)
                        best = score
                row = entry & row_mask
                passed += weights[row]
                moved += weights[row] * (numbers[row] - centre)
        block = block_end
    if is_unclear:
        return scan_numbers(
            entries,
            start,
            n,
            shift,
            whole,
            whole_sum,
            weights,
            numbers,
            centre,
            least,
            tolerance,
            just_below(best - tolerance),
        )
    return chosen, place
