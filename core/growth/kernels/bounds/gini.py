"""Scores by Gini of eight blocks, or of eight cuts, at once, to bound the gain of a list's best cut.

The score of a side, sum_k L_k^2 / L, changes by no more than a class weight does.
"""

from itertools import product

from numba import types

from core.compiler.eight_lanes import EIGHT, in_lanes
from core.growth.kernels.bounds.block_sums import LANE


@in_lanes(types.uint64)
def high_blocks(first, second, third, t0, t1, t2, enough, least):
    """Which of eight blocks may have a cut that scores more than `enough` and leaves `least` on both sides, as bits.

    Scores are convex: no cut in a block exceeds the highest of its corners, where of each class either all or nothing
    goes left. The last corner, all of the block, is the first of the next block. An empty side scores 0.
    """
    whole, high = t0 + t1 + t2, None
    corners = [
        [(left, left * left, (total - left) * (total - left)) for left in (lefts(0), lefts(1))]
        for lefts, total in ((first, t0), (second, t1), (third, t2))
    ]
    for a, c, e in list(product(*corners))[:-1]:
        left, squares_left, squares_right = a[0] + c[0] + e[0], a[1] + c[1] + e[1], a[2] + c[2] + e[2]
        # squares_left / left + squares_right / right > enough, without a division
        is_high = squares_right * left > (whole - left) * (enough * left - squares_left)
        high = is_high if high is None else high | is_high
    before, after = first(0) + second(0) + third(0), first(1) + second(1) + third(1)
    return (high & (after >= least) & (whole - before >= least)).as_bits()


def score_of_sides(a, c, e, t0, t1, t2):
    """Lane by lane: the weight on each side of a cut, and its score."""
    r0, r1, r2 = t0 - a, t1 - c, t2 - e
    left, right = a + c + e, r0 + r1 + r2  # not the whole minus the left: squares and sum must be of the same numbers
    return left, right, (a * a + c * c + e * e) / left + (r0 * r0 + r1 * r1 + r2 * r2) / right


@in_lanes(types.float32)
def best_before_blocks(first, second, third, is_new, t0, t1, t2, least, one):
    """The highest score of a cut before one of eight blocks that leaves `least`, above 0, on both sides; 0 if none."""
    left, right, score = score_of_sides(first(0), second(0), third(0), t0, t1, t2)
    return score.where((left >= least) & (right >= least) & (is_new(0) >= one)).largest()


@in_lanes(types.UniTuple(EIGHT[types.float32], 2))
def higher_of_eight(words, sure, possible, t0, t1, t2, surely, perhaps):
    """Lane by lane, the higher of the scores so far and that of a cut before one of eight entries.

    `sure` is the highest of cuts that leave `surely` on both sides, `possible` of those that leave `perhaps`. A word
    holds all class weights left of the cut, and in its highest bit whether the value is new.
    """
    word = words(0)
    a, c, e, is_new = word.part(0, LANE), word.part(LANE, LANE), word.part(2 * LANE, LANE), word.has_highest_bit()
    left, right, score = score_of_sides(a, c, e, t0, t1, t2)
    return tuple(
        score.where((left >= least) & (right >= least) & is_new).larger(highest)
        for least, highest in ((surely, sure), (perhaps, possible))
    )


@in_lanes(types.UniTuple(types.float32, 2))
def best_of_eight(words, a, c, e, t0, t1, t2, surely, perhaps):
    """The highest scores of cuts before one of eight entries that leave `surely`, and `perhaps`, on both sides.

    The class weights left of a cut are a, c and e plus those in its word; the highest bit of the word says whether the
    value is new. A score is 0 if there is no such cut.
    """
    word = words(0)
    a, c, e = a + word.part(0, LANE), c + word.part(LANE, LANE), e + word.part(2 * LANE, LANE)
    left, right, score = score_of_sides(a, c, e, t0, t1, t2)
    sure = score.where((left >= surely) & (right >= surely) & word.has_highest_bit())
    return sure.largest(), score.where((left >= perhaps) & (right >= perhaps) & word.has_highest_bit()).largest()
