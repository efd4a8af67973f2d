"""Scans for one number to predict, with weighted rows.

What a scan needs of a row is stored as a pair, so that one memory access fetches it.
"""

from numba import uint32, uint64

from core.compiler.compile import compiled
from core.growth.kernels.node.scan_few import may_exceed
from core.splits.kernels.numeric import NO_CUT, just_below, ratio


@compiled
def fill_pairs(problem, rows, start, n, centre, pairs):
    """Fill `pairs[row]` for the rows of a node: the weight, and the weight times the centred number."""
    weights, numbers = problem.weights, problem.numbers
    for i in range(start, start + n):
        row = rows[i]
        pairs[row, 0], pairs[row, 1] = weights[row], weights[row] * (numbers[row, 0] - centre)


@compiled
def scan_pairs(entries, start, n, shift, whole, whole_sum, pairs, least, tolerance, bar):
    """`splits.kernels.numeric.scan_numbers` on the pairs of `fill_pairs`, entry by entry instead of in blocks."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    last, behind = uint64(start + n), 0.0
    while last > uint64(start) and behind < least:
        last -= uint64(1)
        behind += pairs[entries[last] & row_mask, 0]
    end = min(last + uint64(1), uint64(start + n))
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, uint64(0), False
        passed, moved, i = 0.0, 0.0, uint64(start)
        while i < end:
            entry = entries[i]
            behind, right = whole_sum - moved, whole - passed
            if may_exceed(best, moved * moved, behind * behind, passed, right) and entry >> uint32(31):
                score = moved * moved / passed + ratio(behind * behind, right)
                if score > best and passed >= least:
                    if is_second:
                        return score, i
                    if score - tolerance > chosen:
                        is_unclear |= best >= score - tolerance
                        chosen, position = score, i
                    best = score
            row = entry & row_mask
            passed += pairs[row, 0]
            moved += pairs[row, 1]
            i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, position
