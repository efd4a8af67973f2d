"""Upper bounds that show which buckets of steps may hold a split better than a bar.

In a bucket, the weight of class k above rises by at most `moves[bucket, k, RISES]`, and falls by at most `moves[bucket,
k, FALLS]`. So the class weights above are in a box, with one side for each class that moves. Scores are convex in the
weights above, so no score in the bucket exceeds the largest at the box's corners. From one corner to the next, one
class changes (a Gray code):

    class 1   least  most   most   least  least ...
    class 2   least  least  most   most   most  ...
    class 3   least  least  least  least  most  ...

If too many classes move to enumerate the corners, `splits.kernels.numeric.bound_of_block` gives the bound: the weights
above grow like those left of a cut in a block.
"""

from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, lowest_bit
from core.criteria.kernels.impurity import ERROR, GINI
from core.splits.kernels.numeric import bound_of_block, may_exceed, rounding, term

RISES, FALLS, WAYS = 0, 1, 2
MOST_MOVING = 4  # classes up to which corners are enumerated
CORNER_ROUNDING = 2.0**-47  # relative rounding error of the additions in a few corners


@compiled
def begin_far_down(scene, n_buckets):
    """Set `above` to the class weights above at a step of minus infinity; returns their sum.

    These are the samples that will fall, and those that stay above.
    """
    n_classes, above, moves, weight_above = scene.labels.n_classes, scene.above, scene.moves, 0.0
    above[:] = 0.0
    for bucket in range(n_buckets + 1):
        for k in range(n_classes):
            above[k] += moves[(bucket * n_classes + k) * WAYS + FALLS]
    for k in range(n_classes):
        weight_above += above[k]
    return weight_above


@compiled
def pass_bucket(scene, bucket):
    """Move all samples of a bucket at once; returns by how much the weight above grows."""
    n_classes, above, moves, grown = scene.labels.n_classes, scene.above, scene.moves, 0.0
    for k in range(n_classes):
        at = (bucket * n_classes + k) * WAYS
        moved = moves[at + RISES] - moves[at + FALLS]
        above[k] += moved
        grown += moved
    return grown


@compiled
def flag_high(scene, n_buckets, bar, high_bar):
    """Flag the buckets that may hold a score above the bar; returns whether one may exceed the high bar."""
    any_higher, is_high = False, scene.is_high
    begin_far_down(scene, n_buckets)
    for bucket in range(n_buckets):
        n_bars = bars_exceeded(scene, bucket, bar, bar if any_higher else high_bar)
        is_high[bucket] = n_bars > 0
        any_higher |= n_bars > 1
        pass_bucket(scene, bucket)
    is_high[n_buckets] = False
    return any_higher


@compiled
def bars_exceeded(scene, bucket, bar, high_bar):
    """How many of the two bars a score in this bucket may exceed, given the weights above before it."""
    n_classes, criterion, n_moving = scene.labels.n_classes, scene.labels.criterion, int64(0)
    above, by_class, moves, least, most = scene.above, scene.by_class, scene.moves, scene.least, scene.most
    rises, rises_above, rises_below = scene.rises, scene.rises_above, scene.rises_below
    sum_above, sum_below, weight_above, weight_most = 0.0, 0.0, 0.0, 0.0
    for k in range(n_classes):
        at = (bucket * n_classes + k) * WAYS
        least[k], most[k] = max(above[k] - moves[at + FALLS], 0.0), min(above[k] + moves[at + RISES], by_class[k])
        here, rest = term(least[k], criterion), term(by_class[k] - least[k], criterion)
        sum_above += here
        sum_below += rest
        weight_above += least[k]
        weight_most += most[k]
        if most[k] > least[k]:
            rises[n_moving] = most[k] - least[k]
            rises_above[n_moving] = term(most[k], criterion) - here
            rises_below[n_moving] = term(by_class[k] - most[k], criterion) - rest
            n_moving += 1
    if n_moving == 0:
        return 0
    weight = scene.weight
    if n_moving > MOST_MOVING or criterion == ERROR:
        bound = bound_of_block(least, most, by_class, weight_above, weight_most, weight, criterion)
        return int64(bound > bar) + int64(bound > high_bar)
    margin, nothing = margin_for(scene, weight_above, weight_most), scene.whole + 4.0 * TIE * weight
    corner, n_corners, n_bars = int64(0), int64(1) << n_moving, int64(0)
    while True:
        below, is_divided = weight - weight_above, min(weight_above, weight - weight_above) > TIE * weight
        while n_bars < 2:
            next_bar = bar if n_bars == 0 else high_bar
            if is_divided:
                if not may_exceed(next_bar, sum_above, sum_below, weight_above, below, margin, criterion):
                    break
            elif nothing <= next_bar:
                break
            n_bars += 1
        corner += 1
        if corner == n_corners or n_bars == 2:
            return n_bars
        k = lowest_bit(uint64(corner))
        sign = 1.0 if ((corner ^ (corner >> 1)) >> k) & 1 else -1.0
        weight_above += sign * rises[k]
        sum_above += sign * rises_above[k]
        sum_below += sign * rises_below[k]


@compiled
def margin_for(scene, weight_least, weight_most):
    """The rounding error of the sums in a few corners, in the units of `may_exceed`."""
    if scene.labels.criterion == GINI:
        return CORNER_ROUNDING * scene.weight * weight_most * (scene.weight - weight_least)
    return rounding(scene.weight, 1 << MOST_MOVING, scene.labels.n_classes, scene.labels.criterion)
