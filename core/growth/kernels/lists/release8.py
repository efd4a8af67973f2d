"""Kernels of `release8`: C4.5 as programmed.

Its node limit of 2m and its m for categories need no code here: they are limits of the rules, in which its tolerance is
included.
"""

from numba import uint32

from core.arithmetic.kernels.logarithms import log2
from core.compiler.compile import compiled
from core.growth.kernels.lists.coded_columns import information_of_levels
from core.growth.kernels.node.split_list import BOTH
from core.growth.release8_tolerances import NEAR_AVERAGE, SAME_VALUE, TOLERANCE
from core.splits.kernels.numeric import NO_CUT, information_of


@compiled
def least_side(least, known, n_classes):
    """The least weight on each side of a threshold: m or, if larger, min(25, a tenth of the known weight per class)."""
    return max(least, min(25.0, 0.1 * known / n_classes) - TOLERANCE)


@compiled
def distant_values(entries, first, after, shift, values, positions):
    """Fill `positions` with the cuts in [first, after) between values that differ enough; returns how many."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    n = 0
    for i in range(first, after):
        if entries[i] >> uint32(31):
            low, high = values[entries[i - 1] & row_mask], values[entries[i] & row_mask]
            if low + SAME_VALUE < high:
                positions[n] = i
                n += 1
    return n


@compiled
def first_largest(scores, whole, weight):
    """`release8.first_largest` for gains of (score - whole) / weight; -1 if no gain is large enough."""
    best, largest = -1, 0.0
    for position in range(scores.shape[0]):
        gain = (scores[position] - whole) / weight
        if gain > largest + TOLERANCE:
            best, largest = position, gain
    return best


@compiled
def figures_of_threshold(rules, work, slot, left, right, weight):
    """`release8.figures` of a threshold: its corrected gain and its ratio, or no candidate if it gains too little."""
    if rules.is_corrected:
        work.gains[slot] -= log2(work.n_allowed[slot]) / weight
    if work.gains[slot] < TOLERANCE:
        work.gains[slot] = NO_CUT
        return
    information = 0.0
    for part in (left, right, weight - left - right):
        if part > 0.0:
            information += part / weight * log2(weight / part)
    work.scores[slot] = work.gains[slot] / information if information > TOLERANCE else 0.0


@compiled
def ratios_of_categories(problem, rules, work, weight):
    """Set the gain ratios of multiway splits; missing values, which are the last code, count as one more branch."""
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        slot, first = rules.coded_slots[a], rules.coded_starts[a]
        if work.gains[slot] > NO_CUT:
            missing = work.level_weights[first + rules.coded_levels[a]]
            information = information_of_levels(work.level_weights[first : first + work.n_held[a]], weight)
            information += information_of(missing / weight)
            work.scores[slot] = work.gains[slot] / information if information > TOLERANCE else 0.0


@compiled
def choose_in_sequence(gains, scores, is_in_average):
    """`release8.best_split`: the slot of the winner; -1 for a leaf."""
    n, average = 0, 0.0
    for slot in range(gains.shape[0]):
        if gains[slot] > NO_CUT and is_in_average[slot]:
            n += 1
            average += gains[slot]
    if n == 0:
        return -1
    average /= n
    best, largest = -1, 0.0
    for slot in range(gains.shape[0]):
        if gains[slot] > NO_CUT and gains[slot] >= average - NEAR_AVERAGE and scores[slot] > largest + TOLERANCE:
            best, largest = slot, scores[slot]
    return best


@compiled
def missing_weight(weights, rows, start, n, side):
    """The weight of the node's rows whose value is missing, added up in row order."""
    missing = 0.0
    for i in range(start, start + n):
        if side[rows[i]] == BOTH:
            missing += weights[rows[i]]
    return missing
