"""All cuts of a column in a small node at once, by Gini of up to three classes: eight scores side by side.

A row is a number: what it weighs, with its class in the last two bits, which changes the number by less than rounding
does. Rows are put in the order of the column, running sums tell what each class weighs before each of them, and then
all cuts are scored.

    places of the rows     7 2 9 4         how many are below each     2 0 3 1

It is `small_scan_kernels.best_of_weights`, which is asked where rounding could decide whether a cut leaves enough.
"""

from numba import int64, types, uint16, uint64

from core.byte_lane_kernels import BYTES_AT_ONCE, marks_below_short, marks_of_short, n_bits
from core.compiled_kernels import compiled, lowest_bit
from core.growth.small_state import EVERY, FEW, HERE, NOBODY, PERHAPS, SURELY, UNKNOWN
from core.lane_kernels import WIDTH, in_lanes
from core.splits.numeric_kernels import GINI, MOST_LANES, NO_CUT

UNSURE = 1e-14  # of a sum: more than what adding up so few rows in whatever order makes of it
MOST_WEIGHT = 1e90  # of a node, and the inverse of the least: products of three weights are neither 0 nor infinite


@compiled
def is_looked_at(rules):
    """Whether columns of small nodes are looked at in lanes."""
    return rules.criterion == GINI and rules.n_classes <= MOST_LANES and not rules.is_whole


@compiled
def tag_rows(work, begin, n):
    """`work.tagged[j]`: the weight of the node's j-th row, tagged with its class."""
    words, weights, classes, rows = work.tagged_words, work.weight_words, work.row_classes, work.small_rows
    for j in range(uint64(n)):
        words[j] = (weights[uint64(begin) + j] & ~uint64(3)) | uint64(classes[rows[uint64(begin) + j]])


@compiled
def order_rows(work, i, begin, n):
    """Fill `work.ordered` with a node's rows in the order of list i, and `work.ordered_tagged`; how many are in it."""
    known = order_by_counting(work, i, begin, n) if n <= FEW else order_by_bits(work, i, begin, n)
    for lane in range(WIDTH):
        work.ordered_tagged[known + lane] = 0.0
    return known


@compiled
def order_by_counting(work, i, begin, n):
    """The same for few rows: as many places as are below a row's own, that far on it stands."""
    place, rows, places, ordered = work.place[i], work.small_rows, work.row_at, work.ordered
    tagged, ordered_tagged = work.tagged, work.ordered_tagged
    for j in range(uint64(n)):
        places[j] = place[rows[uint64(begin) + j]]
    address, last = uint64(places.ctypes.data), n - BYTES_AT_ONCE
    if last <= 0:
        among = ~uint64(0) >> uint64(64 - n)
        for j in range(uint64(n)):
            to = n_bits(marks_below_short(address, places[j]) & among)
            ordered[to], ordered_tagged[to] = rows[uint64(begin) + j], tagged[j]
        return int64(n_bits(marks_below_short(address, uint16(UNKNOWN)) & among))
    among, further = ~uint64(0) >> uint64(64 - last), address + uint64(2 * BYTES_AT_ONCE)
    for j in range(uint64(n)):
        to = n_bits(marks_below_short(address, places[j]) | (marks_below_short(further, places[j]) & among) << uint64(32))
        ordered[to], ordered_tagged[to] = rows[uint64(begin) + j], tagged[j]
    return int64(n_bits(marks_below_short(address, uint16(UNKNOWN))) + n_bits(marks_below_short(further, uint16(UNKNOWN)) & among))


@compiled
def order_by_bits(work, i, begin, n):
    """The same for more rows: each is put in its place, and places are read in order."""
    place, rows, row_at, ordered = work.place[i], work.small_rows, work.row_at, work.ordered
    tagged, ordered_tagged = work.tagged, work.ordered_tagged
    n_places = work.n_places[i]
    row_at[: (n_places + 63) // 64 * 64] = NOBODY
    for j in range(uint64(n)):
        row_at[place[rows[uint64(begin) + j]]] = uint16(j)
    row_at[UNKNOWN] = NOBODY
    address, known = uint64(row_at.ctypes.data), uint64(0)
    for first in range(0, n_places, 64):
        here = address + uint64(2 * first)
        bits = ~(
            marks_of_short(here, uint16(NOBODY))
            | marks_of_short(here + uint64(2 * BYTES_AT_ONCE), uint16(NOBODY)) << uint64(32)
        )
        while bits:
            j = row_at[first + lowest_bit(bits)]
            ordered[known], ordered_tagged[known] = rows[begin + j], tagged[j]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@in_lanes(types.UniTuple(types.float64, 3))
def sum_eight(tagged, first, second, third, a, c, e):
    """Write down what each class weighs before each of eight rows; what each weighs with them, a, c and e before."""
    after = []
    for k, (lefts, before) in enumerate(((first, a), (second, c), (third, e))):
        row = tagged(0)
        sums = before + row.where(row.has_tag(k)).running_sums()
        lefts.put(0, sums.moved(1, before))
        after.append(sums.last())
    return tuple(after)


@in_lanes(types.void)
def score_eight(first, second, third, is_new, scores, most, t0, t1, t2, left_surely, surely, left_perhaps, perhaps):
    """Write down the scores of cuts before eight rows that surely leave enough on both sides, and 0 for others.

    The highest so far stand in `most`, lane by lane; behind them those of cuts that perhaps leave enough, perhaps not.
    """
    a, c, e = first(0), second(0), third(0)
    r, s, t = t0 - a, t1 - c, t2 - e
    left, right = a + c + e, r + s + t
    score = ((a * a + c * c + e * e) * right + (r * r + s * s + t * t) * left) / (left * right)
    is_open = (left >= left_perhaps) & (right >= perhaps) & (is_new(0) >= left.all(1.0))
    sure = score.where(is_open & (left >= left_surely) & (right >= surely))
    scores.put(0, sure)
    most.put(SURELY, sure.larger(most(SURELY)))
    most.put(PERHAPS, (score.where(is_open) - sure).larger(most(PERHAPS)))


@in_lanes(types.uint64)
def are_at_least(scores, bar):
    """Which of eight scores reach the bar."""
    return (scores(0) >= bar).as_bits()


@compiled
def mark_new(work, i, known):
    """Say of each row in order whether its value is another than the one before."""
    value, ordered, is_new = work.value[i], work.ordered, work.is_new
    for j in range(1, known):
        is_new[HERE, j] = 1.0 * (value[ordered[j]] != value[ordered[j - 1]])


@compiled
def look_at_cuts(work, i, is_distinct, known, least, tolerance, bar):
    """`best_of_weights` of rows in order: its gain times the weight, its place, 0 for none, and whether that is sure.

    Where no cut gains more than the bar there is none.
    """
    first, second, third, tagged = work.class_lefts[0], work.class_lefts[1], work.class_lefts[2], work.ordered_tagged
    t0, t1, t2, nowhere, doubt, begin = 0.0, 0.0, 0.0, int64(0), UNSURE * least, int64(0)
    for j in range(0, known, WIDTH):
        t0, t1, t2 = sum_eight(j, tagged, first, second, third, t0, t1, t2)
        begin += WIDTH * int64(t0 + t1 + t2 < least - doubt)  # before these rows, and before all of them, is too little
    whole = t0 + t1 + t2
    margin, end = UNSURE * whole, (known + WIDTH - 1) // WIDTH * WIDTH
    if not (4.0 * margin < least and 1.0 / MOST_WEIGHT < whole < MOST_WEIGHT):
        return NO_CUT, nowhere, False
    if not is_distinct:
        mark_new(work, i, known)
    undivided, tie, most, scores = (t0 * t0 + t1 * t1 + t2 * t2) / whole, tolerance * whole, work.most, work.cut_scores
    is_new = work.is_new[EVERY if is_distinct else HERE]
    for lane in range(2 * WIDTH):
        most[lane] = 0.0
    while end > begin and whole - (first[end - WIDTH] + second[end - WIDTH] + third[end - WIDTH]) < least - margin:
        end -= WIDTH  # and behind these
    for j in range(begin, end, WIDTH):
        score_eight(
            (j, j, j, j, j, nowhere),
            first,
            second,
            third,
            is_new,
            scores,
            most,
            t0,
            t1,
            t2,
            least + doubt,
            least + margin,
            least - doubt,
            least - margin,
        )
    best, perhaps = 0.0, 0.0
    for lane in range(WIDTH):
        best, perhaps = max(best, most[SURELY + lane]), max(perhaps, most[PERHAPS + lane])
    if perhaps > 0.0 and perhaps >= best - tie:
        return NO_CUT, nowhere, False
    if best == 0.0 or best - undivided < bar:
        return NO_CUT, nowhere, True
    j, bits = begin - WIDTH, uint64(0)
    while bits == 0:
        j += WIDTH
        bits = are_at_least(j, scores, best - tie)
    j += lowest_bit(bits)
    return scores[j] - undivided, int64(j), True
