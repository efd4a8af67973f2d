"""Scores by entropy of eight blocks, or of eight cuts, at once in float32, to bound the gain of a list's best cut.

Let T be the weight of all classes and t_k that of class k, of which a cut leaves A and a_k on the left. Its gain,
times T, is

    T h(A / T) - sum_k t_k h(a_k / t_k)          h(p) = -p log2 p - (1 - p) log2 (1 - p)

None of these terms exceeds T, whereas sums of a log2 a would leave float32 few digits for the gain. T is added to each
gain to make a score, so that a score of 0 says that there is no cut. A gain is wrong by less than 2^-18 T where the
sums are whole numbers: each h by 2^-20 for its logarithms and by 2^-21 for its shares, the rest is a few roundings.
"""

from numba import types

from core.compiler.eight_lanes import in_lanes
from core.growth.kernels.bounds.block_sums import LANE

# The polynomial nearest to log2 (1 + x) for x from 0 to 1: its factors of x, x^2, ...; its error is at most 3.1e-7.
NEAREST = (
    1.442667841911316,
    -0.7205854654312134,
    0.4735534191131592,
    -0.32590195536613464,
    0.1942943036556244,
    -0.07955771684646606,
    0.015529913827776909,
)


def about_log2(shares):
    """Lane by lane: log2 p for p from 0 to 1, such that p log2 p is wrong by at most 2^-21; finite for 0."""
    beyond_one, total = shares.mantissa() - shares.all(1.0), shares.all(NEAREST[-1])
    for factor in reversed(NEAREST[:-1]):
        total = total.times_plus(beyond_one, shares.all(factor))
    return total.times_plus(beyond_one, shares.exponent())


def reciprocal(number):
    """Lane by lane: 1 / x, and 0 for 0."""
    return (number.all(1.0) / number).where(number > number.all(0.0))


def term(left, right, by_whole):
    """Lane by lane: -t h(a / t) from the weights on the left and on the right of a cut; `by_whole` is 1 / t."""
    return left.times_plus(about_log2(left * by_whole), right * about_log2(right * by_whole))


def score_of_sides(lefts, totals):
    """Lane by lane: the weight on each side of a cut, its score, and the term of each class."""
    rights = [total - left for left, total in zip(lefts, totals, strict=True)]
    terms = [term(left, right, reciprocal(total)) for left, right, total in zip(lefts, rights, totals, strict=True)]
    (a, c, e), (r0, r1, r2), (t0, t1, t2) = lefts, rights, totals
    left, right, whole = a + c + e, r0 + r1 + r2, t0 + t1 + t2
    return left, right, whole + (terms[0] + terms[1] + terms[2] - term(left, right, reciprocal(whole))), terms


@in_lanes(types.float32)
def best_before_blocks(first, second, third, is_new, terms0, terms1, terms2, t0, t1, t2, least, one):
    """The highest score of a cut before one of eight blocks that leaves `least`, above 0, on both sides; 0 if none.

    `growth.kernels.bounds.gini.best_before_blocks` by entropy; also stores the class terms of the eight blocks.
    """
    left, right, score, terms = score_of_sides((first(0), second(0), third(0)), (t0, t1, t2))
    for line, of_class in zip((terms0, terms1, terms2), terms, strict=True):
        line.put(0, of_class)
    return score.where((left >= least) & (right >= least) & (is_new(0) >= one)).largest()


@in_lanes(types.uint64)
def high_blocks(first, second, third, terms0, terms1, terms2, t0, t1, t2, gain, least):
    """Which of eight blocks may have a cut that gains more than `gain` and leaves `least` on both sides, as bits.

    For any p, T h(A / T) <= -A log2 p - (T - A) log2 (1 - p); the bound is closest with p the share on the left in the
    middle of the block. The bound on the gain is then a sum over classes, convex in each, so it is largest where of
    each class either all or nothing of the block goes left.
    """
    whole, half = t0 + t1 + t2, t0.all(0.5)
    before, after = first(0) + second(0) + third(0), first(1) + second(1) + third(1)
    middle, by_whole, bound = (before + after) * half, reciprocal(whole), None
    log_left, log_right = about_log2(middle * by_whole), about_log2((whole - middle) * by_whole)
    for lefts, terms, total in ((first, terms0, t0), (second, terms1, t1), (third, terms2, t2)):
        none, every = (terms(i) - lefts(i) * log_left - (total - lefts(i)) * log_right for i in range(2))
        bound = none.larger(every) if bound is None else bound + none.larger(every)
    return ((bound > gain) & (after >= least) & (whole - before >= least)).as_bits()


@in_lanes(types.UniTuple(types.float32, 2))
def best_of_eight(words, a, c, e, t0, t1, t2, surely, perhaps):
    """The highest scores of cuts before one of eight entries that leave `surely`, and `perhaps`, on both sides.

    `growth.kernels.bounds.gini.best_of_eight` by entropy.
    """
    word = words(0)
    lefts = a + word.part(0, LANE), c + word.part(LANE, LANE), e + word.part(2 * LANE, LANE)
    left, right, score, _ = score_of_sides(lefts, (t0, t1, t2))
    sure = score.where((left >= surely) & (right >= surely) & word.has_highest_bit())
    return sure.largest(), score.where((left >= perhaps) & (right >= perhaps) & word.has_highest_bit()).largest()
