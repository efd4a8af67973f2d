"""A first look at a list: whether any of its cuts can gain enough, by Gini and up to three classes.

Classes stand side by side in one word, so that one addition moves an entry to the left, whatever its class:

    weight of class 2 | weight of class 1 | weight of class 0

Where every row counts one, these are counts. Else weights are rounded to whole units. The score of a side,
sum_k L_k^2 / L, changes by no more than a class weight does: so no score is wrong by more than all weights together
were rounded by, neither is that of the whole, and a gain is known up to twice as much. A list that cannot gain enough
by that is passed over, and its weights are not added up as they are.
"""

from itertools import product

from numba import float32, int64, types, uint32, uint64

from core.compiled_kernels import compiled, inlined, lowest_bit
from core.lane_kernels import WIDTH, in_lanes
from core.splits.numeric_kernels import MOST_LANES, NO_CUT, class_mask, just_below, ratio

IS_NEW = MOST_LANES  # the line of `lefts` that says whether a cut can stand before a block
NEARLY = 1.0 - 1e-12  # what rounding may take of a score
ROUNDED = 2.0**-19  # of the whole weight: what rounding to float32 may make of a score, and twice that
LANE = 21  # bits for each class
LONGEST_BLOCK = 32  # entries
SHORT, MIDDLING = 511, 4095  # entries of the longest lists that have shorter blocks
MOST_ENTRIES = 1 << 24  # of a list whose counts are float32 as they are


@compiled
def fill_units(weights, classes, rows, start, n, whole, units, scale):
    """`units[row]`: the weight of each row of a node in whole units, in the place of its class.

    As many as fit: the classes of a block, all in one, weigh no more than its heaviest rows would, nor than the whole
    node. Fills `scale` with how many units a weight of 1 has and by how many all weights together were rounded.
    """
    heaviest, size = 0.0, float(block_length(n))
    for i in range(uint64(start), uint64(start + n)):
        heaviest = max(heaviest, weights[rows[i]])
    unit = (float((1 << LANE) - 1) - size) / min(size * heaviest, whole)
    scale[0], scale[1] = unit, fill_units_of(weights, classes, rows, start, n, unit, units)


@compiled
def fill_units_of_few(weights, classes, rows, start, n, whole, units, scale):
    """`fill_units` with as many as fit for the whole node, as `fill_lefts_of_few` takes them."""
    unit = (float((1 << LANE) - 1) - n) / whole
    scale[0], scale[1] = unit, fill_units_of(weights, classes, rows, start, n, unit, units)


@compiled
def fill_units_of(weights, classes, rows, start, n, unit, units):
    """`fill_units` where a weight of 1 has so many; by how many all weights together were rounded."""
    rounded = 0.0
    for i in range(uint64(start), uint64(start + n)):
        row = rows[i]
        exact = weights[row] * unit
        whole_units = int64(exact + 0.5)
        rounded += abs(float(whole_units) - exact)
        units[row] = uint64(whole_units) << (uint64(classes[row]) * uint64(LANE))
    return rounded


@compiled
def block_length(n):
    """How many entries a block of a list of n has: short lists are bounded closely, long ones cheaply."""
    return uint64(8) if n <= SHORT else uint64(16) if n <= MIDDLING else uint64(LONGEST_BLOCK)


@compiled
def n_blocks_of(n):
    """How many blocks a list of n entries has."""
    size = int64(block_length(n))
    return (n + size - 1) // size


@compiled
def most_blocks(n):
    """How many blocks a list of up to n entries has at the most."""
    return max(n_blocks_of(n), n_blocks_of(min(n, MIDDLING)), n_blocks_of(min(n, SHORT)))


@compiled
def room_for_lefts(n_blocks):
    """How long the lines of `lefts` are: the whole weight stands after the last block, as often as lanes read it."""
    return n_blocks + 2 * WIDTH


@compiled
def fill_lefts(entries, start, n, shift, by, units, lefts):
    """`lefts[k, b]`: what class k weighs before block b, and after the last block on the whole; how many blocks.

    `lefts[IS_NEW, b]` is 1 where the value is new. Rows count one where there are no units; else `place_in` says what
    of an entry tells its units.
    """
    is_counted, size = units.shape[0] == 0, block_length(n)
    first, second, third, is_new, lane_mask = lefts[0], lefts[1], lefts[2], lefts[IS_NEW], uint64((1 << LANE) - 1)
    w0, w1, w2 = int64(0), int64(0), int64(0)
    i, end, b = uint64(start), uint64(start + n), uint64(0)
    while i < end:
        stop = min(i + size, end)
        if is_counted:
            word = count_word(entries, i, stop, shift)
        elif stop - i == size:
            word = units_of_block(entries, i, size, by, units)
        else:
            word = unit_word(entries, i, stop, by, units)
        first[b], second[b], third[b] = float32(w0), float32(w1), float32(w2)
        is_new[b] = float32(entries[i] >> uint32(31))
        w0 += int64(word & lane_mask)
        w1 += int64((word >> uint64(LANE)) & lane_mask)
        w2 += int64(word >> uint64(2 * LANE))
        i, b = stop, b + uint64(1)
    t0, t1, t2 = float32(w0), float32(w1), float32(w2)
    for j in range(b, b + uint64(1 + WIDTH)):
        first[j], second[j], third[j], is_new[j] = t0, t1, t2, float32(0.0)
    return int64(b)


@compiled
def count_word(entries, begin, end, shift):
    """How many of some entries have each class."""
    s, word, i = uint32(shift), uint64(0), begin
    mask = (uint32(1) << (uint32(31) - s)) - uint32(1)
    while i < end:
        word += uint64(1) << (uint64((entries[i] >> s) & mask) * uint64(LANE))
        i += uint64(1)
    return word


@compiled
def unit_word(entries, begin, end, by, units):
    """What some entries weigh by class, in units."""
    word, i = uint64(0), begin
    while i < end:
        word += units[place_in(entries[i], by)]
        i += uint64(1)
    return word


@inlined
def units_of_block(entries, i, size, by, units):
    """`unit_word` of a whole block of 8, 16 or 32 entries, written out.

    A loop the compiler would turn into vector instructions that gather units, which took half as long again.
    """
    word = eight_units(entries, i, by, units)
    if size > uint64(8):
        word += eight_units(entries, i + uint64(8), by, units)
    if size > uint64(16):
        word += eight_units(entries, i + uint64(16), by, units) + eight_units(entries, i + uint64(24), by, units)
    return word


@inlined
def eight_units(entries, i, by, units):
    """`unit_word` of eight entries."""
    return (
        units[place_in(entries[i], by)]
        + units[place_in(entries[i + uint64(1)], by)]
        + units[place_in(entries[i + uint64(2)], by)]
        + units[place_in(entries[i + uint64(3)], by)]
    ) + (
        units[place_in(entries[i + uint64(4)], by)]
        + units[place_in(entries[i + uint64(5)], by)]
        + units[place_in(entries[i + uint64(6)], by)]
        + units[place_in(entries[i + uint64(7)], by)]
    )


@inlined
def place_in(entry, by):
    """Where what an entry weighs stands in a table: the entry's bits from the first of `by` on, as many as its mask."""
    return (entry >> by[0]) & by[1]


@compiled
def by_row(shift):
    """What of an entry is its row."""
    return uint32(0), (uint32(1) << uint32(shift)) - uint32(1)


@compiled
def fill_lefts_of_few(entries, start, n, shift, units, words, lefts):
    """`fill_lefts` of a short list after `fill_units_of_few`: the classes stay side by side until all is added up.

    What weighs how much before a block fits into one word then, and eight are taken apart at a time. To take each apart
    by itself took longer than to add it up.
    """
    by, flag, word = by_row(shift), uint64(63), uint64(0)
    i, end, b = uint64(start), uint64(start + n), uint64(0)
    while i + uint64(7) < end:  # short lists have blocks of eight
        words[b] = word | (uint64(entries[i] >> uint32(31)) << flag)
        b += uint64(1)
        word += eight_units(entries, i, by, units)
        i += uint64(8)
    if i < end:
        words[b] = word | (uint64(entries[i] >> uint32(31)) << flag)
        b += uint64(1)
    while i < end:
        word += units[place_in(entries[i], by)]
        i += uint64(1)
    for j in range(b, b + uint64(2 * WIDTH)):
        words[j] = word
    first, second, third, is_new = lefts[0], lefts[1], lefts[2], lefts[IS_NEW]
    for j in range(0, int64(b) + WIDTH, WIDTH):
        take_apart(j, words, first, second, third, is_new)
    return int64(b)


@in_lanes(types.void)
def take_apart(words, first, second, third, is_new):
    """Write down what each class weighs by eight words, and whether the last bit is set."""
    word = words(0)
    for k, lefts in enumerate((first, second, third)):
        lefts.put(0, word.part(k * LANE, LANE))
    is_new.put(0, word.has_last_bit().as_numbers())


@compiled
def score_undivided(lefts, n_blocks):
    """The score of all entries on one side, and their weight."""
    t0, t1, t2 = float(lefts[0, n_blocks]), float(lefts[1, n_blocks]), float(lefts[2, n_blocks])
    return ratio(t0 * t0 + t1 * t1 + t2 * t2, t0 + t1 + t2), t0 + t1 + t2


@in_lanes(types.uint64)
def high_blocks(first, second, third, t0, t1, t2, enough, least):
    """Which of eight blocks may have a cut that scores more than enough and leaves so much on both sides.

    Scores are convex: no cut of a block exceeds all its corners, where of each class either all or nothing goes left.
    The last corner, all of the block, is the first of the next one. An empty side scores nothing.
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


@compiled
def mark_high(lefts, n_blocks, gain, least, highs):
    """Fill `highs` with the blocks in which a cut may gain more with so much on both sides; how many there are."""
    first, second, third = lefts[0], lefts[1], lefts[2]
    t0, t1, t2, n_high = first[n_blocks], second[n_blocks], third[n_blocks], uint64(0)
    if gain <= 0.0:  # as an empty side gains: whatever leaves enough will do
        for b in range(n_blocks):
            before, after = first[b] + second[b] + third[b], first[b + 1] + second[b + 1] + third[b + 1]
            highs[n_high] = b
            n_high += uint64((after >= least) & (t0 + t1 + t2 - before >= least))
        return int64(n_high)
    enough = score_undivided(lefts, n_blocks)[0] + gain
    for b in range(0, n_blocks, WIDTH):
        bits = high_blocks(b, first, second, third, t0, t1, t2, float32(enough), float32(least))
        while bits:
            highs[n_high] = b + lowest_bit(bits)
            bits &= bits - uint64(1)
            n_high += uint64(1)
    return int64(n_high)


def score_of_sides(a, c, e, t0, t1, t2):
    """In lanes: the weight on both sides of a cut, and its score."""
    r0, r1, r2 = t0 - a, t1 - c, t2 - e
    left, right = a + c + e, r0 + r1 + r2  # not the whole less the left: squares and sum have to be of the same numbers
    return left, right, (a * a + c * c + e * e) / left + (r0 * r0 + r1 * r1 + r2 * r2) / right


@in_lanes(types.float32)
def best_before_blocks(first, second, third, is_new, t0, t1, t2, least, one):
    """The highest score of a cut before one of eight blocks that leaves so much, more than nothing, on both sides."""
    left, right, score = score_of_sides(first(0), second(0), third(0), t0, t1, t2)
    return score.where((left >= least) & (right >= least) & (is_new(0) >= one)).largest()


@compiled
def best_between_blocks(lefts, n_blocks, least):
    """The highest score of a cut between two blocks that leaves so much on both sides; 0 where there is none."""
    first, second, third, is_new, best = lefts[0], lefts[1], lefts[2], lefts[IS_NEW], float32(0.0)
    t0, t1, t2, one = first[n_blocks], second[n_blocks], third[n_blocks], float32(1.0)
    for b in range(0, n_blocks, WIDTH):
        score = best_before_blocks(b, first, second, third, is_new, t0, t1, t2, float32(least), one)
        best = max(best, score)
    return float(best)


@in_lanes(types.UniTuple(types.float32, 2))
def best_of_eight(words, a, c, e, t0, t1, t2, surely, perhaps):
    """The highest scores of a cut before one of eight entries that leaves the first, and the second, on both sides.

    A word is what entries weigh between a, c, e and the cut, and says in its last bit whether the value is new.
    """
    word = words(0)
    a, c, e = a + word.part(0, LANE), c + word.part(LANE, LANE), e + word.part(2 * LANE, LANE)
    left, right, score = score_of_sides(a, c, e, t0, t1, t2)
    sure = score.where((left >= surely) & (right >= surely) & word.has_last_bit())
    return sure.largest(), score.where((left >= perhaps) & (right >= perhaps) & word.has_last_bit()).largest()


@compiled
def best_in_blocks(entries, start, n, shift, by, units, lefts, n_blocks, highs, n_high, surely, perhaps, words):
    """The highest score of a cut in the high blocks that surely, and that perhaps leaves enough on both sides.

    0 where there is none. Enough is more than nothing.
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
                    word += units[place_in(entry, by)]
            for lane in range(n_here, uint64(WIDTH)):
                words[lane] = uint64(0)
            i += n_here
            here = best_of_eight(
                nowhere, words, lefts[0, b], lefts[1, b], lefts[2, b], t0, t1, t2, float32(surely), float32(perhaps)
            )
            sure, possible = max(sure, here[0]), max(possible, here[1])
    return float(sure), float(possible)


@compiled
def scan_high_counts(entries, start, n, shift, totals, left, lefts, highs, n_high, reciprocal, least, tolerance, bar):
    """`numeric_kernels.scan_counts_gini` of the blocks that are high."""
    n_classes, size = totals.shape[0], block_length(n)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    first, last = uint64(least), uint64(n) - uint64(least)
    for is_second in range(2):
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        for j in range(n_high):
            b = highs[j]
            squares_left, squares_right, n_left = int64(0), int64(0), uint64(b) * size
            for k in range(n_classes):
                left[k] = int64(lefts[k, b])
                squares_left += left[k] * left[k]
                squares_right += (totals[k] - left[k]) * (totals[k] - left[k])
            i = uint64(start) + n_left
            stop, n_right = min(i + size, uint64(start + n)), uint64(n) - n_left
            while i < stop:
                entry = entries[i]
                score = squares_left * reciprocal[n_left] + squares_right * reciprocal[n_right]
                if score > best and entry >> uint32(31) and n_left >= first and n_left <= last:
                    if is_second:
                        return score, i
                    if score - tolerance > chosen:
                        is_unclear |= best >= score - tolerance
                        chosen, place = score, i
                    best = score
                k = (entry >> uint32(shift)) & mask
                before = left[k]
                squares_left += 2 * before + 1
                squares_right -= 2 * (totals[k] - before) - 1
                left[k] = before + 1
                n_left += uint64(1)
                n_right -= uint64(1)
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place


@compiled
def sum_to_high(entries, start, n, shift, by, weights, highs, n_high, blocks, totals):
    """`blocks[j, :]`: the class weights before the high block j; `totals`: of all.

    Every fourth entry is added up apart, so that additions do not wait for each other.
    """
    n_classes, size, i = totals.shape[0], block_length(n), uint64(start)
    mask = class_mask(shift, n_classes)
    second, third, fourth = blocks[n_high + 1], blocks[n_high + 2], blocks[n_high + 3]
    for k in range(n_classes):
        totals[k], second[k], third[k], fourth[k] = 0.0, 0.0, 0.0, 0.0
    for j in range(n_high + 1):
        stop = uint64(start) + uint64(highs[j]) * size if j < n_high else uint64(start + n)
        while i + uint64(3) < stop:
            e0, e1, e2, e3 = entries[i], entries[i + uint64(1)], entries[i + uint64(2)], entries[i + uint64(3)]
            totals[(e0 >> uint32(shift)) & mask] += weights[place_in(e0, by)]
            second[(e1 >> uint32(shift)) & mask] += weights[place_in(e1, by)]
            third[(e2 >> uint32(shift)) & mask] += weights[place_in(e2, by)]
            fourth[(e3 >> uint32(shift)) & mask] += weights[place_in(e3, by)]
            i += uint64(4)
        while i < stop:
            totals[(entries[i] >> uint32(shift)) & mask] += weights[place_in(entries[i], by)]
            i += uint64(1)
        for k in range(n_classes):
            blocks[j, k] = (totals[k] + second[k]) + (third[k] + fourth[k])
    for k in range(n_classes):
        totals[k] = blocks[n_high, k]


@compiled
def scan_high_weights(
    entries, start, n, shift, by, totals, blocks, highs, n_high, weights, least, last, tolerance, bar
):
    """`numeric_kernels.scan_weights` of the blocks that are high, after `sum_to_high`; `last` is its `last_place`."""
    size, n_classes = block_length(n), totals.shape[0]
    t0, t1, t2 = totals[0], totals[1] if n_classes > 1 else 0.0, totals[2] if n_classes > 2 else 0.0
    whole = t0 + t1 + t2
    mask = class_mask(shift, n_classes)
    for is_second in range(2):
        best, chosen, place, is_unclear = bar, NO_CUT, uint64(0), False
        for j in range(n_high):
            l0, l1, l2 = blocks[j, 0], blocks[j, 1] if n_classes > 1 else 0.0, blocks[j, 2] if n_classes > 2 else 0.0
            i = uint64(start) + uint64(highs[j]) * size
            stop = min(i + size, uint64(start + n))
            while i < stop:
                entry = entries[i]
                r0, r1, r2, left = t0 - l0, t1 - l1, t2 - l2, l0 + l1 + l2
                right, squares_left = whole - left, l0 * l0 + l1 * l1 + l2 * l2
                squares_right = r0 * r0 + r1 * r1 + r2 * r2
                is_near = squares_left * right + squares_right * left > NEARLY * best * (left * right)
                if is_near and entry >> uint32(31) and left >= least and i <= last:
                    score = squares_left / left + ratio(squares_right, right)
                    if score > best:
                        if is_second:
                            return score, i
                        if score - tolerance > chosen:
                            is_unclear |= best >= score - tolerance
                            chosen, place = score, i
                        best = score
                weight, k = weights[place_in(entry, by)], (entry >> uint32(shift)) & mask
                l0 += weight if k == 0 else 0.0
                l1 += weight if k == 1 else 0.0
                l2 += weight if k == 2 else 0.0
                i += uint64(1)
        if not is_unclear:
            break
        bar = just_below(best - tolerance)
    return chosen, place
