"""The best cut of a column in a node of many rows: ranks go into buckets, and few buckets are sorted.

    key        low ........................................ high
    bucket       0       1       2       3       4       5          each with its sums, and those before it

A key is a rank without its last bits, if it has more than 16, and the keys of a row in all columns are adjacent. The
bits left out matter only where rows of high buckets have the same key.

Scores are convex in the sums of the left side. So no cut in a bucket exceeds the highest score at the corners of the
box that these sums move in. Where that is no more than the score of a cut between two buckets, or of the best of
another column, the bucket is skipped. Rows of the other buckets, the high ones, are sorted and scanned one by one, as
in `splits.kernels.numeric`. Weights are whole numbers of at least 1.
"""

from numba import int64, types, uint32, uint64

from core.compiler.byte_lanes import n_bits
from core.compiler.compile import compiled
from core.compiler.eight_lanes import WIDTH, add_parts, in_lanes
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.node.scan_few import may_exceed
from core.growth.kernels.ranks.state import LANES, MOST_BUCKETS, MOST_COUNTED
from core.splits.kernels.numeric import NO_CUT, just_below

WEIGHT, ABOVE, BELOW = range(3)  # lanes where a number is predicted; else each class has one for its weight
SIZE = LANES - 1  # the lane of the whole weight
ROWS_A_BUCKET = 16
DOUBT = 1e-9  # of a score: far more than its rounding error
NEARLY = 1.0 - 1e-14  # what rounding leaves of a product, at least
VAST = 1e299  # a tolerance that makes every score a tie with the first
GAPS = (301, 132, 57, 23, 10, 4, 1)  # Ciura 2001


@compiled
def bound_from_buckets(bag, rules, c, begin, n, weight, share, least):
    """Sum the rows of a node in the buckets of the c-th drawn column; returns the best score between two buckets."""
    low, high = extremes(bag.keys[c], n)
    bag.n_buckets[c] = 0
    if low == high and bag.fine_bits[bag.keyed[c]] == 0:
        return NO_CUT
    n_buckets = int64(8)
    while n_buckets < MOST_BUCKETS and n_buckets * ROWS_A_BUCKET < n:
        n_buckets += n_buckets
    scale = (uint64(n_buckets) << uint64(32)) // (uint64(high) - uint64(low) + uint64(1))
    bag.n_buckets[c] = n_buckets
    if rules.criterion == SQUARED:
        fill_numbers(bag, bag.sums[c], bag.keys[c], bag.ids[c], begin, n, low, scale, n_buckets)
    else:
        fill_classes(bag, bag.sums[c], bag.keys[c], bag.ids[c], begin, n, low, scale, n_buckets)
    return best_between(bag, rules, bag.sums[c], bag.before[c], n_buckets, weight, share, least)


@compiled
def bound_closely(bag, rules, c, begin, n, weight, share, least, tie, bar):
    """After `bound_from_buckets`: the score of the best cut above a bar, and the rank where it cuts, 0 for none.

    Rows go right from that rank on.
    """
    n_buckets = bag.n_buckets[c]
    n_high = flag_high(bag, rules, bag.sums[c], bag.before[c], n_buckets, weight, share, least, bar)
    if n_high == 0:
        return NO_CUT, uint32(0)
    pick(bag, c, begin, n, n_buckets)
    return best_of_picked(bag, rules, bag.before[c], begin, n_buckets, weight, share, least, tie, bar)


@compiled
def fill_keys(bag, n_keyed, begin, n):
    """Fill `keys[c, i]` with the keys of a node's rows in the drawn columns, four at once, as a row's are adjacent."""
    ranks, rows, keyed, last, first = bag.ranks, bag.rows, bag.keyed, n_keyed - 1, uint64(begin)
    for c in range(0, n_keyed, 4):
        d, e, f = min(c + 1, last), min(c + 2, last), min(c + 3, last)
        one, two, three, four = bag.keys[c], bag.keys[d], bag.keys[e], bag.keys[f]
        at_one, at_two, at_three, at_four = uint64(keyed[c]), uint64(keyed[d]), uint64(keyed[e]), uint64(keyed[f])
        for i in range(uint64(n)):
            of_row = ranks[uint64(rows[first + i])]
            one[i], two[i], three[i], four[i] = of_row[at_one], of_row[at_two], of_row[at_three], of_row[at_four]


@compiled
def extremes(keys, n):
    """The smallest and the largest key."""
    low, high = keys[0], keys[0]
    for i in range(uint64(n)):
        low, high = min(low, keys[i]), max(high, keys[i])
    return low, high


@compiled
def rank_of(bag, column, key, row):
    """The rank of a row, given its key."""
    bits = uint32(bag.fine_bits[column])
    return uint32(key) << bits | uint32(bag.fine[column, row]) if bits else uint32(key)


@compiled
def bucket_of(key, low, scale):
    """The bucket of a key."""
    return ((uint64(key) - uint64(low)) * scale) >> uint64(32)


@compiled
def fill_numbers(bag, sums, keys, ids, begin, n, low, scale, n_buckets):
    """Add up every bucket: the weight of its rows, and their parts of the sum, those above 0 and those below apart."""
    weights, parts, first = bag.weights, bag.parts, uint64(begin)
    sums[:n_buckets] = 0.0
    flat = sums.reshape(sums.size)
    for i in range(uint64(n)):
        bucket = bucket_of(keys[i], low, scale)
        ids[i] = bucket
        add_parts(uint64(LANES) * bucket, flat, weights[first + i], parts[i])


@compiled
def fill_classes(bag, sums, keys, ids, begin, n, low, scale, n_buckets):
    """Add up every bucket: the weight of each class."""
    weights, classes, first = bag.weights, bag.classes, uint64(begin)
    sums[:n_buckets] = 0.0
    for i in range(uint64(n)):
        bucket = bucket_of(keys[i], low, scale)
        ids[i] = bucket
        sums[bucket, uint64(classes[first + i])] += weights[first + i]


@compiled
def score_of_number(moved, passed, share, weight):
    """The gain of a cut with weight on both sides: (S_L - L S / W)^2 / (L R).

    `share` is S / W, the node's sum divided by its weight.
    """
    off = moved - share * passed
    return off * off / (passed * (weight - passed))


@compiled
def score_of_classes(left, totals, passed, right, n_classes):
    """sum_k L_k^2 / L + sum_k R_k^2 / R; a right side without weight adds 0."""
    squares_left, squares_right = 0.0, 0.0
    for k in range(n_classes):
        behind = totals[k] - left[k]
        squares_left += left[k] * left[k]
        squares_right += behind * behind
    return squares_left / passed + (squares_right / right if right > 0.0 else 0.0)


@compiled
def best_between(bag, rules, sums, before, n_buckets, weight, share, least):
    """Fill `before` with the sums before each bucket, and `SIZE` in both arrays; the best score between two buckets."""
    totals, n_classes, best, passed = bag.totals, rules.n_classes, NO_CUT, 0.0
    before[0] = 0.0
    for bucket in range(n_buckets):
        left, here, size = before[bucket], sums[bucket], 0.0
        if rules.criterion == SQUARED:
            size = here[WEIGHT]
        else:
            for k in range(n_classes):
                size += here[k]
        left[SIZE], here[SIZE] = passed, size
        if size > 0.0 and passed >= least and weight - passed >= least:
            if rules.criterion == SQUARED:
                score = score_of_number(left[1], passed, share, weight)
            else:
                score = score_of_classes(left, totals, passed, weight - passed, n_classes)
            best = max(best, score)
        passed += size
        if bucket + 1 < n_buckets:
            after = before[bucket + 1]
            if rules.criterion == SQUARED:
                after[1] = left[1] + (here[ABOVE] + here[BELOW])
            else:
                for k in range(n_classes):
                    after[k] = left[k] + here[k]
    return best


@compiled
def flag_high(bag, rules, sums, before, n_buckets, weight, share, least, bar):
    """Flag in `bag.is_high` the buckets that may have a cut above the bar; returns their number."""
    is_high, n_high = bag.is_high, 0
    for bucket in range(n_buckets):
        left, here, bound = before[bucket], sums[bucket], NO_CUT
        if here[SIZE] > 0.0 and left[SIZE] + here[SIZE] >= least and weight - left[SIZE] >= least:
            if rules.criterion == SQUARED:
                bound = bound_of_numbers(left, here, weight, share, least)
            else:
                bound = bound_of_classes(left, here, bag.totals, weight, rules.n_classes)
        is_high[bucket] = bound > NO_CUT and bound + abs(bound) * DOUBT > bar
        n_high += is_high[bucket]
    return n_high


@compiled
def bound_of_numbers(left, here, weight, share, least):
    """An upper bound on the score of a cut in a bucket, where a number is predicted."""
    first, last = max(left[SIZE], least), min(left[SIZE] + here[SIZE], weight - least)
    if first > last:
        return NO_CUT
    lowest, highest = left[1] + here[BELOW], left[1] + here[ABOVE]
    return max(
        score_of_number(farthest(lowest, highest, share * first), first, share, weight),
        score_of_number(farthest(lowest, highest, share * last), last, share, weight),
    )


@compiled
def farthest(lowest, highest, middle):
    """The one of two sums that is farther from `middle`, which would gain nothing."""
    return highest if highest - middle > middle - lowest else lowest


@compiled
def bound_of_classes(left, here, totals, weight, n_classes):
    """An upper bound on the score of a cut in a bucket, by Gini.

    Up to three classes: the highest corner. More classes: the bound of `splits.kernels.numeric` on a block.
    """
    gone, size = left[SIZE], here[SIZE]
    rest, behind = weight - gone, weight - gone - size
    if gone <= 0.0 or behind <= 0.0:
        return -NO_CUT
    if n_classes <= 3:
        return highest_corner(left, here, totals, weight, n_classes)
    over, sum_left, sum_right = 0.0, 0.0, 0.0
    for k in range(n_classes):
        sum_left += left[k] * left[k]
        sum_right += (totals[k] - left[k]) * (totals[k] - left[k])
    by_left, by_right = 1.0 / gone, 1.0 / rest
    common = sum_right * by_right / behind - sum_left * by_left / (gone + size)
    for k in range(n_classes):
        rise, fall = 2.0 * left[k] + here[k], 2.0 * (totals[k] - left[k]) - here[k]
        over += here[k] * max(0.0, rise * by_left - fall * by_right + common)
    return sum_left * by_left + sum_right * by_right + over


@compiled
def highest_corner(left, here, totals, weight, n_classes):
    """The highest score where of each class all or nothing of a bucket is on the left."""
    most = 0.0
    for corner in range(1 << n_classes):
        passed, squares_left, squares_right = 0.0, 0.0, 0.0
        for k in range(n_classes):
            on_left = left[k] + (here[k] if (corner >> k) & 1 else 0.0)
            on_right = totals[k] - on_left
            passed += on_left
            squares_left += on_left * on_left
            squares_right += on_right * on_right
        most = max(most, squares_left / passed + squares_right / (weight - passed))
    return most


@compiled
def pick(bag, c, begin, n, n_buckets):
    """Fill `picked` with the rows of high buckets, sorted by the c-th drawn column.

    `ends[bucket]` is where the rows of a bucket end. `picked_ranks[row]` is a row's rank, or the smallest with its key.
    """
    ids, keys, column = bag.ids[c], bag.keys[c], bag.keyed[c]
    n_fine = uint32(bag.fine_bits[column])
    unsorted, picked, ends, is_high, n_picked = bag.unsorted, bag.picked, bag.ends, bag.is_high, uint64(0)
    for i in range(uint64(n)):
        unsorted[n_picked] = i
        n_picked += uint64(is_high[ids[i]])
    ends[:n_buckets] = 0
    for i in range(n_picked):
        row = unsorted[i]
        ends[ids[row]] += 1
        bag.picked_ranks[row] = uint32(keys[row]) << n_fine
    end = 0
    for bucket in range(n_buckets):
        here = ends[bucket]
        ends[bucket] = end
        end += here
    for i in range(n_picked):
        row = unsorted[i]
        to = ends[ids[row]]
        picked[to] = row
        ends[ids[row]] = to + 1
    start = int64(0)
    for bucket in range(n_buckets):
        if ends[bucket] > start:
            sort_bucket(bag, start, ends[bucket])
            if n_fine:
                settle_ties(bag, column, begin, start, ends[bucket])
            start = ends[bucket]


@compiled
def sort_bucket(bag, start, end):
    """Sort the rows of a bucket by rank: few by counting those before each."""
    if end - start > MOST_COUNTED:
        sort_by_gaps(bag.picked, bag.picked_ranks, start, end)
        return
    picked, ranks, labels, in_order, n = bag.picked, bag.picked_ranks, bag.labels, bag.in_order, end - start
    for position in range(n):
        labels[position] = float(ranks[picked[start + position]]) * MOST_COUNTED + position  # no two are equal
    for position in range(n, n + WIDTH):
        labels[position] = VAST
    for position in range(n):
        before = uint64(0)
        for further in range(0, n, WIDTH):
            before += n_bits(are_less(further, labels, labels[position]))
        in_order[before] = picked[start + position]
    for position in range(n):
        picked[start + position] = in_order[position]


@in_lanes(types.uint64)
def are_less(labels, label):
    """Which of eight labels are less than `label`, as bits."""
    return (label > labels(0)).as_bits()


@compiled
def sort_by_gaps(picked, ranks, start, end):
    """Sort many rows of a bucket by rank (Shell 1959)."""
    for gap in GAPS:
        if gap > 1 and 3 * gap > end - start:
            continue
        for position in range(start + gap, end):
            i, to = picked[position], position
            rank = ranks[i]
            while to >= start + gap and ranks[picked[to - gap]] > rank:
                picked[to] = picked[to - gap]
                to -= gap
            picked[to] = i


@compiled
def settle_ties(bag, column, begin, start, end):
    """Sort the rows of a bucket that share a key by rank; different keys are in order already."""
    picked, ranks, rows, n_fine = bag.picked, bag.picked_ranks, bag.rows, uint32(bag.fine_bits[column])
    last = picked[start]
    for position in range(start + 1, end):
        i, key, to = picked[position], ranks[picked[position]] >> n_fine, position
        if key == ranks[last] >> n_fine:
            ranks[last] = rank_of(bag, column, key, rows[begin + last])
            ranks[i] = rank_of(bag, column, key, rows[begin + i])
            while to > start and ranks[picked[to - 1]] > ranks[i]:
                picked[to] = picked[to - 1]
                to -= 1
            picked[to] = i
        last = i


@compiled
def best_of_picked(bag, rules, before, begin, n_buckets, weight, share, least, tie, bar):
    """The first cut of the picked rows within a tie of the best above the bar: its score and rank, 0 for none."""
    chosen, cut, ranks = NO_CUT, uint32(0), bag.picked_ranks
    for _ in range(2):
        start, state = int64(0), (bar, NO_CUT, uint32(0), False)
        for bucket in range(n_buckets):
            end = bag.ends[bucket]
            if end > start:
                if rules.criterion == SQUARED:
                    state = scan_numbers(
                        bag, ranks, begin, start, end, before[bucket], weight, share, least, tie, state
                    )
                else:
                    state = scan_classes(
                        bag, ranks, begin, start, end, before[bucket], weight, least, tie, rules.n_classes, state
                    )
                start = end
        best, chosen, cut, is_unclear = state
        if not is_unclear:
            break
        bar, tie = just_below(best - tie), VAST
    return chosen, cut


@compiled
def with_score(state, score, rank, tie):
    """The state after a score above the best: the best, the chosen score and its rank, and whether it is unclear."""
    best, chosen, cut, is_unclear = state
    if score - tie > chosen:
        return score, score, rank, is_unclear or best >= score - tie
    return score, chosen, cut, is_unclear


@compiled
def scan_numbers(bag, ranks, begin, start, end, left, weight, share, least, tie, state):
    """Scan the sorted rows of a bucket where a number is predicted; returns the state after them."""
    picked, weights, parts = bag.picked, bag.weights, bag.parts
    passed, moved, before = left[SIZE], left[1], ranks[picked[start]] + uint32(1)
    for position in range(start, end):
        i = picked[position]
        rank, off, product = ranks[i], moved - share * passed, passed * (weight - passed)
        if rank != before and off * off > state[0] * product * NEARLY and passed >= least and weight - passed >= least:
            score = off * off / product
            if score > state[0]:
                state = with_score(state, score, rank, tie)
        passed += weights[begin + i]
        moved += parts[i]
        before = rank
    return state


@compiled
def scan_classes(bag, ranks, begin, start, end, before_bucket, weight, least, tie, n_classes, state):
    """Scan the sorted rows of a bucket by Gini; returns the state after them."""
    picked, weights, classes, left, totals = bag.picked, bag.weights, bag.classes, bag.left, bag.totals
    passed, before, squares_left, squares_right = before_bucket[SIZE], ranks[picked[start]] + uint32(1), 0.0, 0.0
    for k in range(n_classes):
        left[k] = before_bucket[k]
        squares_left += left[k] * left[k]
        squares_right += (totals[k] - left[k]) * (totals[k] - left[k])
    for position in range(start, end):
        i = picked[position]
        rank, right = ranks[i], weight - passed
        if rank != before and passed >= least and may_exceed(state[0], squares_left, squares_right, passed, right):
            score = squares_left / passed + squares_right / right
            if score > state[0] and right >= least:
                state = with_score(state, score, rank, tie)
        k, here = classes[begin + i], weights[begin + i]
        squares_left += here * (2.0 * left[k] + here)
        squares_right -= here * (2.0 * (totals[k] - left[k]) - here)
        left[k] += here
        passed += here
        before = rank
    return state
