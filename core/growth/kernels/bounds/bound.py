"""Bounds on the gain of a list's best cut, by Gini or entropy of up to three classes.

`lefts` are the sums of `growth.kernels.bounds.block_sums`; by entropy three more lines hold a term of each class. Where
weights are rounded to units, by r units in total, a gain times the node's weight T is wrong by no more than

    2 r                              by Gini: the score of both sides and that of the whole by at most r each
    r (log2 (T / r) + 4.03)          by entropy

By entropy, dx more of a class on a side that has x of it change the gain by up to log2 (T / x) dx. So a weight rounded
by d, down to nothing at worst, changes it by d (log2 (T / d) + 1.45), and for three classes on two sides the sum is
largest where all six are rounded alike. A list that cannot gain enough even with this error is skipped, and its exact
weights are not added up.
"""

from numba import float32, int64, uint32, uint64

from core.arithmetic.kernels.logarithms import log2
from core.compiler.compile import compiled, lowest_bit
from core.compiler.eight_lanes import WIDTH, eight_times, largest_of
from core.criteria.kernels.impurity import ENTROPY
from core.growth.kernels.bounds import entropy as entropy_kernels
from core.growth.kernels.bounds import gini as gini_kernels
from core.growth.kernels.bounds.block_sums import IS_NEW, LANE, block_length, position_in
from core.splits.kernels.numeric import MOST_LANES, class_mask, ratio

ROUNDED = 2.0**-19  # of the whole weight: twice the error of a Gini score in float32
ROUNDED_LOGS = 2.0**-17  # of the whole weight: twice the error of an entropy score in float32
ROUNDED_UNITS = 2.0**-17  # of the whole weight: what rounding sums of units to float32 adds by entropy
TERMS = IS_NEW + 1  # by entropy, the first line of `lefts` with class terms

gini_before_blocks, entropy_before_blocks = (
    gini_kernels.best_before_blocks,
    entropy_kernels.best_before_blocks,
)
gini_high_blocks, entropy_high_blocks = gini_kernels.high_blocks, entropy_kernels.high_blocks
higher_of_eight = gini_kernels.higher_of_eight
gini_of_eight, entropy_of_eight = gini_kernels.best_of_eight, entropy_kernels.best_of_eight


def n_lines_of(criterion: int) -> int:
    """The number of lines of `lefts`."""
    return TERMS + MOST_LANES if criterion == ENTROPY else TERMS


@compiled
def doubt_of_units(rounded, whole, criterion):
    """By how many units a gain may be wrong, where weights of `whole` units in total were rounded by `rounded`."""
    if criterion == ENTROPY:
        return (rounded * (log2(whole / rounded) + 4.1) if rounded > 0.0 else 0.0) + ROUNDED_UNITS * whole
    return 2.0 * rounded


@compiled
def doubt_of_floats(known, criterion):
    """By how many units a gain may be wrong in float32, where `known` units are known; more than makes a tie."""
    return (ROUNDED_LOGS if criterion == ENTROPY else ROUNDED) * known


@compiled
def score_undivided(lefts, n_blocks, criterion):
    """The score of all entries on one side, and their weight."""
    t0, t1, t2 = float(lefts[0, n_blocks]), float(lefts[1, n_blocks]), float(lefts[2, n_blocks])
    whole = t0 + t1 + t2
    return whole if criterion == ENTROPY else ratio(t0 * t0 + t1 * t1 + t2 * t2, whole), whole


@compiled
def best_between_blocks(lefts, n_blocks, least, criterion):
    """The highest score of a cut between two blocks that leaves `least` on both sides; 0 if there is none.

    By entropy the class terms are stored too, including those after the last block.
    """
    first, second, third, is_new, best = lefts[0], lefts[1], lefts[2], lefts[IS_NEW], float32(0.0)
    t0, t1, t2, one, enough = first[n_blocks], second[n_blocks], third[n_blocks], float32(1.0), float32(least)
    if criterion == ENTROPY:
        terms0, terms1, terms2 = lefts[TERMS], lefts[TERMS + 1], lefts[TERMS + 2]
        for b in range(0, n_blocks + 1, WIDTH):
            score = entropy_before_blocks(
                b, first, second, third, is_new, terms0, terms1, terms2, t0, t1, t2, enough, one
            )
            best = max(best, score)
        return float(best)
    for b in range(0, n_blocks, WIDTH):
        best = max(best, gini_before_blocks(b, first, second, third, is_new, t0, t1, t2, enough, one))
    return float(best)


@compiled
def flag_high(lefts, n_blocks, gain, least, criterion, highs):
    """Fill `highs` with the blocks where a cut may gain more than `gain` and leave `least` on both sides; how many."""
    first, second, third = lefts[0], lefts[1], lefts[2]
    t0, t1, t2, n_high = first[n_blocks], second[n_blocks], third[n_blocks], uint64(0)
    if gain <= 0.0:  # no more than an empty side gains: any cut that leaves enough will do
        for b in range(n_blocks):
            before, after = first[b] + second[b] + third[b], first[b + 1] + second[b + 1] + third[b + 1]
            highs[n_high] = b
            n_high += uint64((after >= least) & (t0 + t1 + t2 - before >= least))
        return int64(n_high)
    if criterion == ENTROPY:
        return flag_high_by_entropy(lefts, n_blocks, gain, least, highs)
    enough = score_undivided(lefts, n_blocks, criterion)[0] + gain
    for b in range(0, n_blocks, WIDTH):
        bits = gini_high_blocks(b, first, second, third, t0, t1, t2, float32(enough), float32(least))
        n_high = put_positions(bits, b, highs, n_high)
    return int64(n_high)


@compiled
def flag_high_by_entropy(lefts, n_blocks, gain, least, highs):
    """`flag_high` by entropy for a gain above 0, after `best_between_blocks` has stored the class terms."""
    first, second, third, n_high = lefts[0], lefts[1], lefts[2], uint64(0)
    t0, t1, t2 = first[n_blocks], second[n_blocks], third[n_blocks]
    terms0, terms1, terms2 = lefts[TERMS], lefts[TERMS + 1], lefts[TERMS + 2]
    for b in range(0, n_blocks, WIDTH):
        bits = entropy_high_blocks(
            b, first, second, third, terms0, terms1, terms2, t0, t1, t2, float32(gain), float32(least)
        )
        bits &= (uint64(1) << uint64(min(n_blocks - b, WIDTH))) - uint64(1)
        n_high = put_positions(bits, b, highs, n_high)
    return int64(n_high)


@compiled
def put_positions(bits, b, highs, n_high):
    """Append the positions of the set bits, counted from block `b`, to the `n_high` in `highs`; their new number."""
    while bits:
        highs[n_high] = b + lowest_bit(bits)
        bits &= bits - uint64(1)
        n_high += uint64(1)
    return n_high


@compiled
def best_in_blocks(
    entries, start, n, shift, by, units, lefts, n_blocks, highs, n_high, surely, perhaps, criterion, words
):
    """The highest scores of cuts in the high blocks that surely, and that perhaps, leave enough on both sides.

    A cut surely leaves enough if both sides have `surely` units, and perhaps if both have `perhaps`; each limit is
    above 0. A score is 0 if there is no such cut.
    """
    is_counted, size, end, nowhere = units.shape[0] == 0, block_length(n), uint64(start + n), int64(0)
    s, mask = uint32(shift), class_mask(shift, MOST_LANES)
    t0, t1, t2, sure, possible = lefts[0, n_blocks], lefts[1, n_blocks], lefts[2, n_blocks], float32(0.0), float32(0.0)
    for j in range(n_high):
        b = highs[j]
        i, word = uint64(start) + uint64(b) * size, uint64(0)
        stop = min(i + size, end)
        while i < stop:
            n_here = min(uint64(WIDTH), stop - i)
            for lane in range(n_here):
                entry = entries[i + lane]
                words[lane] = word | (uint64(entry >> uint32(31)) << uint64(63))
                if is_counted:
                    word += uint64(1) << (uint64((entry >> s) & mask) * uint64(LANE))
                else:
                    word += units[position_in(entry, by)]
            for lane in range(n_here, uint64(WIDTH)):
                words[lane] = uint64(0)
            i += n_here
            a, c, e = lefts[0, b], lefts[1, b], lefts[2, b]
            if criterion == ENTROPY:
                here = entropy_of_eight(nowhere, words, a, c, e, t0, t1, t2, float32(surely), float32(perhaps))
            else:
                here = gini_of_eight(nowhere, words, a, c, e, t0, t1, t2, float32(surely), float32(perhaps))
            sure, possible = max(sure, here[0]), max(possible, here[1])
    return float(sure), float(possible)


@compiled
def best_of_all(words, n, t0, t1, t2, surely, perhaps):
    """`best_in_blocks` of a whole list by Gini, without blocks, after `fill_words`."""
    nowhere, a, c, e = int64(0), float32(t0), float32(t1), float32(t2)
    sure = eight_times(nowhere, float32(0.0))
    possible = sure
    for i in range(0, n, WIDTH):
        sure, possible = higher_of_eight(i, words, sure, possible, a, c, e, float32(surely), float32(perhaps))
    return float(largest_of(nowhere, sure)), float(largest_of(nowhere, possible))
