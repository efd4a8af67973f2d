"""`linear.best_step`, compiled to search only where a gain may exceed a bar.

The steps at which samples change sides are sorted into ascending buckets. Each power of two has a few buckets; very
large and very small steps go into the outermost and innermost ones.

    step        -8 .. -4 .. -2 .. -1 .. -1/2 .. 1/2 .. 1 .. 2 .. 4 .. 8        times a typical step
    bucket       0    1     2     3          ...                    last

Only buckets that may hold a score above the bar (`methods.oblique.kernels.buckets`) are sorted, and their samples moved
one by one. Most calls have no such bucket.
"""

import numpy as np
from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.methods.oblique.kernels.buckets import FALLS, WAYS, begin_far_down, flag_high, pass_bucket
from core.splits.kernels.numeric import may_exceed, rounding, score_of_sides, term
from core.splits.numeric import NO_GAIN

POWERS_BELOW, POWERS = 5, 8  # powers of two with own buckets: those below the typical step, and all
MOST_PARTS, ROWS_A_BUCKET = 3, 12  # at most 2^3 buckets a power; fewer, as long as buckets would be emptier than this
MOST_BUCKETS = 2 * POWERS << MOST_PARTS
GLANCE = 16  # samples from which the typical step is estimated, approximately


@compiled
def best_step(scene, sides, slopes, bar):
    """`linear.best_step` if a gain exceeds the bar by more than a tie; otherwise any gain that does not, or none."""
    n_buckets, tie = fill_buckets(scene, sides, slopes), TIE * scene.weight
    bar_score = scene.whole + bar * scene.weight
    if not flag_high(scene, n_buckets, bar_score - tie, bar_score + 0.5 * tie):
        return NO_GAIN, 0.0
    order_high(scene, n_buckets)
    n_found = scan_high(scene, n_buckets, bar_score - tie)
    if n_found == 0:
        return NO_GAIN, 0.0
    scores, position = scene.scores, int64(0)
    best = scores[:n_found].max()
    while scores[position] < best - tie:
        position += 1
    return (scores[position] - scene.whole) / scene.weight, scene.middles[position]


@compiled
def fill_buckets(scene, sides, slopes):
    """Compute where each sample changes sides, and sum the weights by bucket; returns the number of buckets.

    After the last bucket there is one more, for samples that never change sides.
    """
    n, n_parts, n_classes, classes = sides.shape[0], 0, scene.labels.n_classes, scene.labels.classes
    while n_parts < MOST_PARTS and (2 * POWERS << n_parts) * ROWS_A_BUCKET < n:
        n_parts += 1
    n_buckets, shift = 2 * POWERS << n_parts, uint64(52 - n_parts)
    first, half = (power_of_turns(sides, slopes) - POWERS_BELOW) << n_parts, n_buckets >> 1
    turns, buckets, slots, moves, weights = scene.turns, scene.buckets, scene.slots, scene.moves, scene.labels.weights
    for i in range(n):
        turns[i] = -sides[i] / slopes[i]
    bits = turns.view(np.uint64)
    for i in range(n):  # branch-free, so that it is vectorised
        near = min(max(int64((bits[i] & ~(uint64(1) << uint64(63))) >> shift) - first, 0), half - 1)
        bucket = half + (near ^ -int64(bits[i] >> uint64(63)))  # ~near is -1 - near
        bucket = bucket if slopes[i] != 0.0 else n_buckets
        falls = (slopes[i] < 0.0) | ((slopes[i] == 0.0) & (sides[i] > 0.0))
        buckets[i] = bucket
        slots[i] = (bucket * n_classes + classes[i]) * WAYS + falls
    moves[: (n_buckets + 1) * n_classes * WAYS] = 0.0
    for i in range(n):
        moves[uint64(slots[i])] += weights[i]
    return n_buckets


@compiled
def power_of_turns(sides, slopes):
    """The exponent bits of the typical step at which samples change sides."""
    side, slope = 0.0, 0.0
    for i in range(0, sides.shape[0], sides.shape[0] // GLANCE + 1):
        side += abs(sides[i])
        slope += abs(slopes[i])
    return int64(np.float64(side / slope).view(np.uint64) >> uint64(52))


@compiled
def order_high(scene, n_buckets):
    """Sort the samples of high buckets by turn, stably, into `begins` to `ends` of each bucket."""
    n_high, high, begins, ends, buckets = uint64(0), scene.high, scene.begins, scene.ends, scene.buckets
    ordered, turns, is_high, all_turns = scene.ordered, scene.ordered_turns, scene.is_high, scene.turns
    for i in range(buckets.shape[0]):
        high[n_high] = i
        n_high += uint64(is_high[buckets[i]])
    ends[:n_buckets] = 0
    for position in range(n_high):
        ends[buckets[high[position]]] += 1
    begin = int64(0)
    for bucket in range(n_buckets):
        begins[bucket], begin = begin, begin + ends[bucket]
        ends[bucket] = begins[bucket]
    for position in range(n_high):
        i = high[position]
        bucket, turn = buckets[i], all_turns[i]
        begin, to = begins[bucket], ends[bucket]
        ends[bucket] = to + 1
        while to > begin and turns[to - 1] > turn:
            turns[to], ordered[to] = turns[to - 1], ordered[to - 1]
            to -= 1
        turns[to], ordered[to] = turn, i


@compiled
def scan_high(scene, n_buckets, bar):
    """Move the samples of high buckets one by one; returns how many scores above the bar were recorded."""
    n_found, weight_above = int64(0), begin_far_down(scene, n_buckets)
    for bucket in range(n_buckets):
        if scene.is_high[bucket]:
            weight_above, n_found, bar = scan_bucket(scene, n_buckets, bucket, weight_above, n_found, bar)
        else:
            weight_above += pass_bucket(scene, bucket)
    return n_found


@compiled
def scan_bucket(scene, n_buckets, bucket, weight_above, n_found, bar):
    """Move the samples of a bucket; returns the weight above, the number of recorded scores, and the raised bar."""
    n_classes, criterion, weight, by_class = (
        scene.labels.n_classes,
        scene.labels.criterion,
        scene.weight,
        scene.by_class,
    )
    begin, end, above = scene.begins[bucket], scene.ends[bucket], scene.above
    classes, weights, slots = scene.labels.classes, scene.labels.weights, scene.slots
    ordered, turns = scene.ordered, scene.ordered_turns
    terms_above, terms_below = scene.terms_above, scene.terms_below
    sum_above, sum_below, margin = 0.0, 0.0, rounding(weight, end - begin, n_classes, criterion)
    for k in range(n_classes):
        terms_above[k], terms_below[k] = term(above[k], criterion), term(by_class[k] - above[k], criterion)
        sum_above += terms_above[k]
        sum_below += terms_below[k]
    for position in range(begin, end):
        i = ordered[position]
        k, moved = classes[i], -weights[i] if slots[i] & FALLS else weights[i]
        above[k] += moved
        weight_above += moved
        here, rest = term(above[k], criterion), term(by_class[k] - above[k], criterion)
        sum_above += here - terms_above[k]
        sum_below += rest - terms_below[k]
        terms_above[k], terms_below[k] = here, rest
        below = weight - weight_above
        smaller = min(weight_above, below)
        if smaller <= TIE * weight or smaller < scene.labels.min_weight - TIE:
            continue
        if may_exceed(bar, sum_above, sum_below, weight_above, below, margin, criterion):
            score = score_of_sides(above, by_class, weight_above, below, criterion)
            if score > bar:
                turn, is_last = turns[position], position + 1 == end
                next_turn = smallest_after(scene, bucket, n_buckets) if is_last else turns[position + 1]
                middle = 0.5 * turn + 0.5 * next_turn
                if turn < middle < next_turn:
                    scene.scores[n_found], scene.middles[n_found] = score, middle
                    n_found += 1
                    bar = max(bar, score - 2.0 * TIE * weight)
    return weight_above, n_found, bar


@compiled
def smallest_after(scene, bucket, n_buckets):
    """The smallest turn after a bucket; infinity if there is none."""
    smallest, turns, buckets = np.inf, scene.turns, scene.buckets
    for i in range(turns.shape[0]):
        if bucket < buckets[i] < n_buckets:
            smallest = min(smallest, turns[i])
    return smallest
