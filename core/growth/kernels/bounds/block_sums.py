"""What lists weigh by class in blocks of some entries, up to three classes: what a first look at them begins with.

Classes stand side by side in one word, so that one addition moves an entry to the left, whatever its class:

    weight of class 2 | weight of class 1 | weight of class 0

Where every row counts one, these are counts. Else weights are rounded to whole units, and it is known by how many all
of them together; `growth.kernels.bounds.bound` says what that makes of a gain.
"""

from numba import float32, int64, types, uint32, uint64

from core.compiler.compile import compiled, inlined
from core.compiler.eight_lanes import WIDTH, in_lanes
from core.splits.kernels.numeric import MOST_LANES

IS_NEW = MOST_LANES  # the line of `lefts` that says whether a cut can stand before a block
LANE = 21  # bits for each class
LONGEST_BLOCK = 32  # entries
SHORT, MIDDLING = 511, 4095  # entries of the longest lists that have shorter blocks
LONGEST_OF_WORDS = 160  # entries of a list whose cuts are all looked at, without blocks
MOST_ENTRIES = 1 << 24  # of a list whose counts are float32 as they are


@compiled
def fill_units(weights, classes, rows, start, n, most, units, scale):
    """`units[row]`: the weight of each row of a node in whole units, in the place of its class.

    As many as fit: a class of a block weighs no more than its heaviest rows would, nor than the heaviest class of the
    node, `most`. Fills `scale` with how many units a weight of 1 has and by how many all weights together were rounded.
    """
    heaviest, size = 0.0, float(block_length(n))
    for i in range(uint64(start), uint64(start + n)):
        heaviest = max(heaviest, weights[rows[i]])
    unit = (float((1 << LANE) - 1) - size) / min(size * heaviest, most)
    scale[0], scale[1] = unit, fill_units_of(weights, classes, rows, start, n, unit, units)


@compiled
def fill_units_of_few(weights, classes, rows, start, n, most, units, scale):
    """`fill_units` with as many as fit for the whole node, as `fill_lefts_of_few` takes them."""
    unit = (float((1 << LANE) - 1) - n) / most
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
def length_of_lefts(n_blocks):
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
        word += units[position_in(entries[i], by)]
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
        word += units[position_in(entries[i], by)]
        i += uint64(1)
    for j in range(b, b + uint64(2 * WIDTH)):
        words[j] = word
    first, second, third, is_new = lefts[0], lefts[1], lefts[2], lefts[IS_NEW]
    for j in range(0, int64(b) + WIDTH, WIDTH):
        take_apart(j, words, first, second, third, is_new)
    return int64(b)


@compiled
def fill_words(entries, start, n, shift, units, words):
    """`words[i]`: what each class weighs before entry i, and in the last bit whether its value is new.

    After `fill_units_of_few`, so that the whole fits. Behind the last entry, as far as lanes read, no value is new.
    Returns what each class weighs on the whole.
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
def take_apart(words, first, second, third, is_new):
    """Write down what each class weighs by eight words, and whether the last bit is set."""
    word = words(0)
    for k, lefts in enumerate((first, second, third)):
        lefts.put(0, word.part(k * LANE, LANE))
    is_new.put(0, word.has_last_bit().as_numbers())
