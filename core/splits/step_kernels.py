"""The compiled twin of `linear.best_step`, which looks only where something better than a bar can be.

The places where samples change sides are put into buckets, ascending: a power of two is cut into a few, and what is far
away or very near goes into the last ones.

    place       -8 .. -4 .. -2 .. -1 .. -1/2 .. 1/2 .. 1 .. 2 .. 4 .. 8        times about what sides are
    bucket       0    1     2     3          ...                    last

In a bucket, class k rises above by at most `moves[bucket, k, RISES]` and falls by at most `moves[bucket, k, FALLS]`.
Scores are convex in what is above, so that none in the bucket exceeds the largest at the corners of that box. Of two
classes, only buckets with a corner above the bar are sorted, and their samples moved one by one.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64

from core.compiled_kernels import compiled, making_arrays
from core.splits.linear import NO_GAIN
from core.splits.numeric_kernels import ENTROPY, GINI, score_of_sides, times_log2
from core.ties import TIE

RISES, FALLS = 0, 1
POWERS_BELOW, POWERS = 5, 8  # of two, that are cut into buckets: so many below what sides are about, and in all
MOST_PARTS, ROWS_A_BUCKET = 3, 12  # a power is cut into 2^3 at the most; not into more where buckets would be emptier
MOST_BUCKETS = 2 * POWERS << MOST_PARTS


class Steps(NamedTuple):
    """Room for a step: each moving sample with its turn, by bucket in the end, and the scores that exceed the bar."""

    turns: Any
    buckets: Any
    ordered_turns: Any
    ordered: Any
    moves: Any
    ends: Any
    above: Any
    scores: Any
    middles: Any


@making_arrays
def steps_for(n, n_classes):
    """Room for so many samples."""
    return Steps(
        np.empty(n),
        np.empty(n, np.uint8),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty((MOST_BUCKETS, n_classes, 2)),
        np.empty(MOST_BUCKETS + 1, np.int64),
        np.empty(n_classes),
        np.empty(n),
        np.empty(n),
    )


@compiled
def best_step(steps, marks, by_class, weight, whole, sides, slopes, bar):
    """`linear.best_step`, where a gain exceeds the bar by more than a tie; else any that does not, or none."""
    n_buckets = fill_buckets(steps, marks, sides, slopes)
    least = whole + (bar - TIE) * weight
    best, n_found = -np.inf, int64(0)
    weight_above = take_falling(steps, marks, sides, slopes)
    for bucket in range(n_buckets):
        start, end, moves = steps.ends[bucket], steps.ends[bucket + 1], steps.moves[bucket]
        if start == end:
            continue
        if marks.n_classes == 2 and highest_corner(steps.above, moves, by_class, weight, marks.criterion) <= least:
            for k in range(2):
                steps.above[k] += moves[k, RISES] - moves[k, FALLS]
                weight_above += moves[k, RISES] - moves[k, FALLS]
            continue
        sort_bucket(steps, start, end)
        after = smallest_after(steps, bucket, n_buckets)
        for place in range(start, end):
            i, turn = steps.ordered[place], steps.ordered_turns[place]
            moved = marks.weights[i] if slopes[i] > 0.0 else -marks.weights[i]
            steps.above[marks.classes[i]] += moved
            weight_above += moved
            next_turn = steps.ordered_turns[place + 1] if place + 1 < end else after
            middle, below = 0.5 * turn + 0.5 * next_turn, weight - weight_above
            smaller = min(weight_above, below)
            if turn < middle < next_turn and smaller > TIE * weight and smaller >= marks.min_weight - TIE:
                score = score_of_sides(steps.above, by_class, weight_above, below, marks.criterion)
                steps.scores[n_found], steps.middles[n_found] = score, middle
                best = max(best, score)
                n_found += 1
    if n_found == 0:
        return NO_GAIN, 0.0
    place = int64(0)
    while steps.scores[place] < best - TIE * weight:
        place += 1
    return (steps.scores[place] - whole) / weight, steps.middles[place]


@compiled
def fill_buckets(steps, marks, sides, slopes):
    """Find where each sample turns, and put those that do into buckets; how many buckets there are."""
    n, n_parts = sides.shape[0], 0
    while n_parts < MOST_PARTS and (2 * POWERS << n_parts) * ROWS_A_BUCKET < n:
        n_parts += 1
    n_buckets, shift = 2 * POWERS << n_parts, uint64(52 - n_parts)
    steps.moves[:n_buckets], steps.ends[: n_buckets + 1] = 0.0, 0
    size = 0.0
    for i in range(n):
        size += abs(sides[i])
    first = (int64(np.float64(size / n).view(np.uint64) >> uint64(52)) - POWERS_BELOW) << n_parts
    half = n_buckets >> 1
    for i in range(n):
        slope = slopes[i]
        turn = -sides[i] / slope
        bits = np.float64(turn).view(np.uint64)
        near = min(max(int64((bits & ~(uint64(1) << uint64(63))) >> shift) - first, 0), half - 1)
        bucket = half - 1 - near if bits >> uint64(63) else half + near
        steps.turns[i], steps.buckets[i] = turn, bucket
        steps.moves[bucket, marks.classes[i], int64(slope < 0.0)] += marks.weights[i] if slope != 0.0 else 0.0
        steps.ends[bucket] += slope != 0.0
    place = int64(0)
    for bucket in range(n_buckets + 1):
        here = steps.ends[bucket]
        steps.ends[bucket] = place
        place += here
    for i in range(n):
        if slopes[i] != 0.0:
            place = steps.ends[steps.buckets[i]]
            steps.ordered[place], steps.ordered_turns[place] = i, steps.turns[i]
            steps.ends[steps.buckets[i]] = place + 1
    for bucket in range(n_buckets, 0, -1):
        steps.ends[bucket] = steps.ends[bucket - 1]
    steps.ends[0] = 0
    return n_buckets


@compiled
def take_falling(steps, marks, sides, slopes):
    """Begin far down: above are the samples that will fall, and those above that never move; their weight."""
    weight_above = 0.0
    steps.above[:] = 0.0
    for i in range(sides.shape[0]):
        if slopes[i] < 0.0 or (slopes[i] == 0.0 and sides[i] > 0.0):
            steps.above[marks.classes[i]] += marks.weights[i]
            weight_above += marks.weights[i]
    return weight_above


@compiled
def highest_corner(above, moves, by_class, weight, criterion):
    """What no score in a bucket exceeds, of two classes."""
    least_a, least_b = above[0] - moves[0, FALLS], above[1] - moves[1, FALLS]
    most_a, most_b = above[0] + moves[0, RISES], above[1] + moves[1, RISES]
    if min(least_a + least_b, weight - most_a - most_b) <= TIE * weight:
        return np.inf
    a, b = by_class[0], by_class[1]
    return max(
        max(score_of_two(least_a, least_b, a, b, criterion), score_of_two(most_a, most_b, a, b, criterion)),
        max(score_of_two(least_a, most_b, a, b, criterion), score_of_two(most_a, least_b, a, b, criterion)),
    )


@compiled
def score_of_two(a, b, whole_a, whole_b, criterion):
    """`score_of_sides` where two classes have a and b of their weight above."""
    other_a, other_b = whole_a - a, whole_b - b
    if criterion == GINI:
        return (a * a + b * b) / (a + b) + (other_a * other_a + other_b * other_b) / (other_a + other_b)
    if criterion == ENTROPY:
        logs = times_log2(a) + times_log2(b) + times_log2(other_a) + times_log2(other_b)
        return logs - times_log2(a + b) - times_log2(other_a + other_b)
    return max(a, b) + max(other_a, other_b)


@compiled
def sort_bucket(steps, start, end):
    """Put the turns of a bucket in order; equal ones keep theirs."""
    turns, ordered = steps.ordered_turns, steps.ordered
    for place in range(start + 1, end):
        turn, i, to = turns[place], ordered[place], place
        while to > start and turns[to - 1] > turn:
            turns[to], ordered[to] = turns[to - 1], ordered[to - 1]
            to -= 1
        turns[to], ordered[to] = turn, i


@compiled
def smallest_after(steps, bucket, n_buckets):
    """The first turn after a bucket; NaN where there is none."""
    later = bucket + 1
    while later < n_buckets and steps.ends[later] == steps.ends[later + 1]:
        later += 1
    if later == n_buckets:
        return np.nan
    smallest = np.inf
    for place in range(steps.ends[later], steps.ends[later + 1]):
        smallest = min(smallest, steps.ordered_turns[place])
    return smallest
