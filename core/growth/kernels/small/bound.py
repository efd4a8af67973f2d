"""All cuts of a column in a small node at once, by Gini of up to three classes: eight scores side by side.

Rows are sorted by the column (`growth.kernels.small.order`). Running sums give the weight of each class before each of
them, and then all cuts are scored that leave enough on both sides.

    row         0   1   2   3   4   5   6   7   8 ...
    weight      .3  .8  .1  .4  .2  .1  .9  .7  .5           the next eight begin where these end
    before it   0   .3  1.1 1.2 1.6 1.8 1.9 2.8 3.5

In float64 this equals `growth.kernels.node.scan_few.best_of_weights`, which takes over where rounding could decide
whether a cut leaves enough. In float32, half the work, it finds the best cut only where no other comes near.
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

CLEAR, SEVERAL, UNCLEAR = range(3)  # what a scan finds: the best cut, a gain that several cuts come near, nothing
EXACT_UNIT, ROUGH_UNIT = 2.0**-53, 2.0**-24  # the relative rounding error of float64 and float32
MOST_EXACTLY, MOST_ROUGHLY = 1e90, 1e10  # weights from 1 / this to this have cubes that are finite and not 0


@compiled
def has_bounds(rules):
    """Whether columns of small nodes are bounded in lanes."""
    return rules.criterion == GINI and rules.n_classes <= MOST_LANES and not rules.is_whole


def _eights(n):
    """The type of a formula that returns n eights of the kind of its first array."""
    return lambda at, numbers, *others: types.UniTuple(EIGHT[numbers.dtype], n)(at, numbers, *others)


@in_lanes(_eights(3))
def sum_eight(tagged, first, second, third, a, c, e):
    """Store the class weights before each of eight rows, given a, c and e before them; returns those after them."""
    after, row = [], tagged(0)
    for k, (lefts, before) in enumerate(((first, a), (second, c), (third, e))):
        sums = row.where(row.has_tag(k)).running_sums()
        lefts.put(0, before + sums.moved(1, row.all(0.0)))
        after.append(before + sums.last_everywhere())
    return tuple(after)


@in_lanes(_eights(2))
def score_eight(first, second, third, is_new, scores, surely, perhaps, t0, t1, t2, left_sure, sure, left_open, open_):
    """Store the scores of cuts before eight rows that surely leave enough on both sides, and 0 for others.

    Returns, lane by lane, the highest of these so far, and the highest of cuts that may or may not leave enough.
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
    """Which of eight scores reach the bar, as bits."""
    return (scores(0) >= bar).as_bits()


@inlined
def scan_bounds(tagged, lefts, is_new, scores, limits, known, least, tolerance, bar, unit, most_weight, is_rough):
    """The best cut before one of the known rows: its gain times the weight, its position, the gain's error, a state.

    The state is CLEAR, SEVERAL or UNCLEAR. The gain is NO_CUT if there is no cut, or none that gains more than the bar.
    All arrays hold the same kind of float, whose relative rounding error is `unit`; `limits` has five elements.
    """
    first, second, third, nowhere, begin = lefts[0], lefts[1], lefts[2], int64(0), int64(0)
    limits[4], end = 0.0, (known + WIDTH - 1) // WIDTH * WIDTH
    nothing = eight_times(nowhere, limits[4])  # of the kind of the arrays
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
        begin += WIDTH  # too little weight before all of these
    while end > begin and whole - (first[end - WIDTH] + second[end - WIDTH] + third[end - WIDTH]) < limits[3]:
        end -= WIDTH  # too little weight behind these
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
    """The best cut of list i in float32 after `tag_roughly`, as `scan_bounds` returns it."""
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
    """The best cut of list i in float64: how many rows the list has, then gain times weight, position and state."""
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
