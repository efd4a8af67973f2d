"""Columns of two values as bits: one for each row, 64 columns in a word, so that only set bits cost time.

They replace the tables of `growth.kernels.lists.coded_columns` where every row counts one and no value is missing.
Counts can then be subtracted exactly, so only the higher value, a set bit, is counted.
"""

from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, lowest_bit
from core.growth.kernels.lists.coded_columns import keep
from core.splits.kernels.numeric import NO_CUT, information, score_of_sides, score_of_whole


@compiled
def count_bits(problem, rows, start, n, counts):
    """Fill `counts[column, :]`: how many of the node's rows have the higher value, by class."""
    bits, classes = problem.bits, problem.classes
    for b in range(problem.bit_columns.shape[0]):
        for k in range(counts.shape[1]):
            counts[b, k] = 0
    for i in range(start, start + n):
        row = rows[i]
        for word in range(bits.shape[1]):
            left = bits[row, word]
            while left:
                counts[64 * word + lowest_bit(left), classes[row]] += 1
                left &= left - uint64(1)


@compiled
def search_bits(problem, rules, work, figures, best):
    """Score the one cut of every column, as a candidate in its slot; returns the largest gain so far."""
    totals, left, n_classes, n_codes = figures[1:], work.left, rules.n_classes, problem.codes.shape[1]
    whole, weight = score_of_whole(totals, rules.criterion, n_classes, int64(0))
    for b in range(problem.bit_columns.shape[0]):
        slot, n_right = rules.coded_slots[problem.bit_columns[b]], 0.0
        work.gains[slot], work.scores[slot] = NO_CUT, NO_CUT
        if not work.is_drawn[slot]:
            continue
        for k in range(n_classes):
            left[k] = totals[k] - work.bit_counts[b, k]
            n_right += work.bit_counts[b, k]
        n_left = weight - n_right
        if min(n_left, n_right) > 0.0 and min(n_left, n_right) >= rules.min_leaf - TIE:
            score = score_of_sides(left, totals, n_left, n_right, rules.criterion)
            intrinsic = information(n_left, n_right) if rules.is_ratio else 1.0
            keep(work, slot, n_codes + b, 0, 1, (score - whole) / weight, intrinsic)
            best = max(best, work.gains[slot])
    return best
