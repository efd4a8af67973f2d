"""All cuts of a column in a small node at once, by Gini of up to three classes: eight scores side by side.

Rows stand in the order of the column (`growth.kernels.small.order`). Running sums tell what each class weighs before
each of them, and then all cuts are scored that leave enough on both sides.

    row         0   1   2   3   4   5   6   7   8 ...
    weight      .3  .8  .1  .4  .2  .1  .9  .7  .5           the next eight begin where these end
    before it   0   .3  1.1 1.2 1.6 1.8 1.9 2.8 3.5

In float64 it is `growth.kernels.node.scan_few.best_of_weights`, which is asked where rounding could decide whether a
cut leaves enough. In float32, half the work, it tells which cut is the best only where no other comes near.
"""

from numba import int64, types, uint64

from core.arithmetic.ties import TIE
from core.compiler.byte_lanes import n_bits
from core.compiler.compile import compiled, inlined, lowest_bit
from core.compiler.eight_lanes import EIGHT, WIDTH, eight_times, in_lanes, largest_of
from core.criteria.kernels.impurity import GINI
from core.growth.kernels.small.order import flag_new, order_rows, tag_exactly
from core.growth.kernels.small.scratch import EVERY, HERE
from core.splits.kernels.numeric import MOST_LANES, NO_CUT

CLEAR, SEVERAL, UNCLEAR = range(3)  # what a look tells: all, a gain that several cuts are near to, or nothing
EXACT_UNIT, ROUGH_UNIT = 2.0**-53, 2.0**-24  # what rounding makes of a number
MOST_EXACTLY, MOST_ROUGHLY = 1e90, 1e10  # weight of a column whose cube is a number, and so is one by that of the least


@compiled
def has_bounds(rules):
    """Whether columns of small nodes are looked at in lanes."""
    return rules.criterion == GINI and rules.n_classes <= MOST_LANES and not rules.is_whole


def _eights(n):
    """That a formula hands back so many eights of the kind of its first array."""
    return lambda at, numbers, *others: types.UniTuple(EIGHT[numbers.dtype], n)(at, numbers, *others)


@in_lanes(_eights(3))
def sum_eight(tagged, first, second, third, a, c, e):
    """Write down what each class weighs before each of eight rows; what each weighs with them, a, c and e before."""
    after, row = [], tagged(0)
    for k, (lefts, before) in enumerate(((first, a), (second, c), (third, e))):
        sums = row.where(row.has_tag(k)).running_sums()
        lefts.put(0, before + sums.moved(1, row.all(0.0)))
        after.append(before + sums.last_everywhere())
    return tuple(after)


@in_lanes(_eights(2))
def score_eight(first, second, third, is_new, scores, surely, perhaps, t0, t1, t2, left_sure, sure, left_open, open_):
    """Write down the scores of cuts before eight rows that surely leave enough on both sides, and 0 for others.

    Hands back the highest so far, lane by lane; and those of cuts that perhaps leave enough, perhaps not.
    """
    a, c, e = first(0), second(0), third(0)
    r, s, t = t0 - a, t1 - c, t2 - e
    left, right = a + c + e, r + s + t
    score = ((a * a + c * c + e * e) * right + (r * r + s * s + t * t) * left) / (left * right)
    is_open = (left >= left_open) & (right >= open_) & (is_new(0) >= left.all(1.0))
    found = score.where(is_open & (left >= left_sure) & (right >= sure))
    scores.put(0, found)
    return found.larger(surely), (score.where(is_open) - found).larger(perhaps)


@in_lanes(types.uint64)
def are_at_least(scores, bar):
    """Which of eight scores reach the bar."""
    return (scores(0) >= bar).as_bits()


@inlined
def scan_bounds(tagged, lefts, is_new, scores, limits, known, least, tolerance, bar, unit, most_weight, is_rough):
    """The best cut before one of the known rows: its gain times the weight, its place, what it may be wrong by, and
    what that tells. NO_CUT where there is none, or none that gains more than the bar.

    All arrays are of the same kind of numbers, which are rounded by the unit; `limits` has room for five of them.
    """
    first, second, third, nowhere, begin = lefts[0], lefts[1], lefts[2], int64(0), int64(0)
    limits[4], end = 0.0, (known + WIDTH - 1) // WIDTH * WIDTH
    nothing = eight_times(nowhere, limits[4])  # of the kind of all these numbers
    a, c, e = nothing, nothing, nothing
    for j in range(0, known, WIDTH):
        a, c, e = sum_eight(j, tagged, first, second, third, a, c, e)
    t0, t1, t2 = float(largest_of(nowhere, a)), float(largest_of(nowhere, c)), float(largest_of(nowhere, e))
    whole, unsure = t0 + t1 + t2, float(known // WIDTH + 16) * unit
    margin, slack, tie = 4.0 * unsure * whole, 16.0 * unsure * whole if is_rough else 0.0, tolerance * whole
    if not (4.0 * margin < least and 1.0 / most_weight < whole < most_weight):
        return NO_CUT, nowhere, slack, UNCLEAR
    limits[0], limits[1] = least * (1.0 + 2.0 * unsure), least + margin
    limits[2], limits[3] = least * (1.0 - 2.0 * unsure), least - margin
    while begin + WIDTH < end and first[begin + WIDTH] + second[begin + WIDTH] + third[begin + WIDTH] < limits[2]:
        begin += WIDTH  # before all of these is too little
    while end > begin and whole - (first[end - WIDTH] + second[end - WIDTH] + third[end - WIDTH]) < limits[3]:
        end -= WIDTH  # behind these is too little
    surely, perhaps, l0, l1, l2, l3 = nothing, nothing, limits[0], limits[1], limits[2], limits[3]
    for j in range(begin, end, WIDTH):
        at = (j, j, j, j, j)
        surely, perhaps = score_eight(
            at, first, second, third, is_new, scores, surely, perhaps, a, c, e, l0, l1, l2, l3
        )
    best, unsettled = float(largest_of(nowhere, surely)), float(largest_of(nowhere, perhaps))
    undivided = (t0 * t0 + t1 * t1 + t2 * t2) / whole
    if unsettled > 0.0 and unsettled >= best - tie - slack:
        return NO_CUT, nowhere, slack, UNCLEAR
    if best == 0.0 or best - undivided < bar - slack:
        return NO_CUT, nowhere, slack, CLEAR
    limits[4] = best - tie - slack
    position, n_near = nowhere, uint64(0)
    for j in range(begin, end, WIDTH):
        bits = are_at_least(j, scores, limits[4])
        if bits:
            position = position if position else j + lowest_bit(bits)
            n_near += n_bits(bits)
            if not is_rough:
                break
    return float(scores[position]) - undivided, position, slack, SEVERAL if is_rough and n_near > uint64(1) else CLEAR


@compiled
def bound_roughly(rules, work, i, is_distinct, begin, n, bar):
    """The best cut of list i after `tag_roughly`, as `look` tells it."""
    known, is_new, line = order_rows(work, i, begin, n, work.rough_tagged, work.rough_ordered), work.rough_is_new, EVERY
    if known < 2:
        return NO_CUT, int64(0), 0.0, CLEAR
    if not is_distinct:
        line = HERE
        flag_new(work, i, known, is_new[line])
    return scan_bounds(
        work.rough_ordered,
        work.rough_lefts,
        is_new[line],
        work.rough_scores,
        work.rough_limits,
        known,
        rules.min_leaf - TIE,
        rules.tolerance,
        bar,
        ROUGH_UNIT,
        MOST_ROUGHLY,
        True,
    )


@compiled
def bound_exactly(rules, work, i, is_distinct, begin, n):
    """The same in float64; how many rows are in the list, too."""
    tag_exactly(work, begin, n)
    known, is_new, line = order_rows(work, i, begin, n, work.tagged, work.ordered_tagged), work.is_new, EVERY
    if known < 2:
        return known, NO_CUT, int64(0), CLEAR
    if not is_distinct:
        line = HERE
        flag_new(work, i, known, is_new[line])
    gain, position, _, told = scan_bounds(
        work.ordered_tagged,
        work.class_lefts,
        is_new[line],
        work.cut_scores,
        work.limits,
        known,
        rules.min_leaf - TIE,
        rules.tolerance,
        NO_CUT,
        EXACT_UNIT,
        MOST_EXACTLY,
        False,
    )
    return known, gain, position, told
