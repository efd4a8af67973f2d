"""Class weights before each block of a list, for up to three classes: the sums from which its cuts are bounded.

The class weights share one word, so that one addition moves an entry to the left, whatever its class:

    weight of class 2 | weight of class 1 | weight of class 0

Where every row counts one, these are counts. Otherwise weights are rounded to whole units, and the sum of all rounding
errors is kept; `growth.kernels.bounds.bound` says how wrong it makes a gain.
"""

from numba import float32, int64, types, uint32, uint64

from core.compiler.compile import compiled, inlined
from core.compiler.eight_lanes import WIDTH, in_lanes
from core.splits.kernels.numeric import MOST_LANES

IS_NEW = MOST_LANES  # the line of `lefts` that says whether a cut is possible before a block
LANE = 21  # bits for each class in a word
LONGEST_BLOCK = 32  # entries
SHORT, MIDDLING = 511, 4095  # entries of the longest lists with blocks of 8 and of 16
LONGEST_OF_WORDS = 160  # entries of the longest list whose cuts are all scored, without blocks
MOST_ENTRIES = 1 << 24  # of a list whose counts are exact in float32


@compiled
def fill_units(weights, classes, rows, start, n, most, units, scale):
    """Fill `units[row]` with the weight of each row of a node in whole units, in the bits of its class.

    A unit is as small as fits: a class of a block weighs no more than a block of the heaviest rows would, nor than the
    heaviest class of the node, `most`. Fills `scale` with the units in a weight of 1 and the sum of all rounding errors
    in units.
    """
    heaviest, size = 0.0, float(block_length(n))
    for i in range(uint64(start), uint64(start + n)):
        heaviest = max(heaviest, weights[rows[i]])
    unit = (float((1 << LANE) - 1) - size) / min(size * heaviest, most)
    scale[0], scale[1] = unit, fill_units_of(weights, classes, rows, start, n, unit, units)


@compiled
def fill_units_of_few(weights, classes, rows, start, n, most, units, scale):
    """`fill_units` with a unit so large that the sums of the whole node fit, as `fill_lefts_of_few` needs it."""
    unit = (float((1 << LANE) - 1) - n) / most
    scale[0], scale[1] = unit, fill_units_of(weights, classes, rows, start, n, unit, units)


@compiled
def fill_units_of(weights, classes, rows, start, n, unit, units):
    """Fill `units`, where a weight of 1 has `unit` units; returns the sum of all rounding errors in units."""
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
    """The entries of a block in a list of n: short lists are bounded closely, long ones cheaply."""
    return uint64(8) if n <= SHORT else uint64(16) if n <= MIDDLING else uint64(LONGEST_BLOCK)


@compiled
def n_blocks_of(n):
    """The number of blocks of a list of n entries."""
    size = int64(block_length(n))
    return (n + size - 1) // size


@compiled
def most_blocks(n):
    """The largest number of blocks of a list of up to n entries."""
    return max(n_blocks_of(n), n_blocks_of(min(n, MIDDLING)), n_blocks_of(min(n, SHORT)))


@compiled
def length_of_lefts(n_blocks):
    """The length of a line of `lefts`: after the last block the total is repeated, as far as lanes read."""
    return n_blocks + 2 * WIDTH


@compiled
def fill_lefts(entries, start, n, shift, by, units, lefts):
    """Fill `lefts[k, b]` with the weight of class k before block b, then its total; returns the number of blocks.

    `lefts[IS_NEW, b]` is 1 if the first value of block b is new. If `units` is empty, rows count one; otherwise
    `position_in(entry, by)` is the index of an entry's units.
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
    """How many of the entries from `begin` to `end` have each class, packed in a word."""
    s, word, i = uint32(shift), uint64(0), begin
    mask = (uint32(1) << (uint32(31) - s)) - uint32(1)
    while i < end:
        word += uint64(1) << (uint64((entries[i] >> s) & mask) * uint64(LANE))
        i += uint64(1)
    return word


@compiled
def unit_word(entries, begin, end, by, units):
    """The class weights of the entries from `begin` to `end` in units, packed in a word."""
    word, i = uint64(0), begin
    while i < end:
        word += units[position_in(entries[i], by)]
        i += uint64(1)
    return word


@inlined
def units_of_block(entries, i, size, by, units):
    """`unit_word` of a whole block of 8, 16 or 32 entries, unrolled.

    The compiler would turn a loop into vector instructions that gather units, which took half as long again.
    """
    word = eight_units(entries, i, by, units)
    if size > uint64(8):
        word += eight_units(entries, i + uint64(8), by, units)
    if size > uint64(16):
        word += eight_units(entries, i + uint64(16), by, units) + eight_units(entries, i + uint64(24), by, units)
    return word


@inlined
def eight_units(entries, i, by, units):
    """`unit_word` of eight entries, unrolled."""
    return (
        units[position_in(entries[i], by)]
        + units[position_in(entries[i + uint64(1)], by)]
        + units[position_in(entries[i + uint64(2)], by)]
        + units[position_in(entries[i + uint64(3)], by)]
    ) + (
        units[position_in(entries[i + uint64(4)], by)]
        + units[position_in(entries[i + uint64(5)], by)]
        + units[position_in(entries[i + uint64(6)], by)]
        + units[position_in(entries[i + uint64(7)], by)]
    )


@inlined
def position_in(entry, by):
    """The index of an entry's weight in a table: the entry's bits from `by[0]` on, under the mask `by[1]`."""
    return (entry >> by[0]) & by[1]


@compiled
def by_row(shift):
    """The first bit and the mask of an entry's row, for `position_in`."""
    return uint32(0), (uint32(1) << uint32(shift)) - uint32(1)


@compiled
def fill_lefts_of_few(entries, start, n, shift, units, words, lefts):
    """`fill_lefts` of a short list after `fill_units_of_few`: sums stay packed until all entries are added.

    The class weights before a block then fit into one word, and eight words are unpacked at a time. Unpacking each word
    by itself took longer than adding it up.
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
        word += units[position_in(entries[i], by)]
        i += uint64(1)
    for j in range(b, b + uint64(2 * WIDTH)):
        words[j] = word
    first, second, third, is_new = lefts[0], lefts[1], lefts[2], lefts[IS_NEW]
    for j in range(0, int64(b) + WIDTH, WIDTH):
        unpack_words(j, words, first, second, third, is_new)
    return int64(b)


@compiled
def fill_words(entries, start, n, shift, units, words):
    """Fill `words[i]` with the class weights before entry i and, in the highest bit, whether its value is new.

    Needs `fill_units_of_few`, so that the totals fit. After the last entry, as far as lanes read, no value is new.
    Returns the total weight of each class.
    """
    by, flag, word, first = by_row(shift), uint64(63), uint64(0), uint64(start)
    for i in range(uint64(n)):
        entry = entries[first + i]
        words[i] = word | (uint64(entry >> uint32(31)) << flag)
        word += units[position_in(entry, by)]
    for i in range(uint64(n), uint64(n + WIDTH)):
        words[i] = word
    lane_mask = uint64((1 << LANE) - 1)
    return float(word & lane_mask), float((word >> uint64(LANE)) & lane_mask), float(word >> uint64(2 * LANE))


@in_lanes(types.void)
def unpack_words(words, first, second, third, is_new):
    """Unpack eight words: the weight of each class, and whether the highest bit is set."""
    word = words(0)
    for k, lefts in enumerate((first, second, third)):
        lefts.put(0, word.part(k * LANE, LANE))
    is_new.put(0, word.has_highest_bit().as_numbers())
