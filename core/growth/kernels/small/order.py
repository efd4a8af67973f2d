"""The rows of a small node sorted by a column, each as a number: its weight, with its class in the lowest two bits.

The class changes the number by less than rounding sums of such numbers does. If there are few rows, the positions below
each row's own are counted at once; if more, each row is stored at its position, and positions are read in order.

    positions of the rows     7 2 9 4         how many are below each     2 0 3 1
"""

from numba import int64, uint16, uint32, uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, below_mask_short, equal_mask_short, n_bits
from core.compiler.compile import compiled, lowest_bit
from core.compiler.eight_lanes import WIDTH
from core.growth.kernels.small.scratch import FEW, NOBODY, UNKNOWN

FURTHER = 2 * BYTES_AT_ONCE  # bytes from the two-byte numbers compared at once to the next


@compiled
def tag_exactly(work, begin, n):
    """Fill `work.tagged[j]` with the weight of the node's j-th row, tagged with its class."""
    words, weights, classes, rows = work.tagged_words, work.weight_words, work.row_classes, work.small_rows
    for j in range(uint64(n)):
        words[j] = (weights[uint64(begin) + j] & ~uint64(3)) | uint64(classes[rows[uint64(begin) + j]])


@compiled
def tag_roughly(work, begin, n):
    """Fill `work.rough_tagged[j]` with the weight of the node's j-th row in float32, tagged with its class."""
    numbers, words, weights, classes = work.rough_tagged, work.rough_words, work.small_weights, work.row_classes
    for j in range(uint64(n)):
        numbers[j] = weights[uint64(begin) + j]
    for j in range(uint64(n)):
        words[j] = (words[j] & ~uint32(3)) | uint32(classes[work.small_rows[uint64(begin) + j]])


@compiled
def order_rows(work, i, begin, n, tagged, ordered_tagged):
    """Fill `work.ordered` with a node's rows sorted by list i, and `ordered_tagged` with their numbers; how many."""
    if n <= FEW:
        known = order_by_counting(work, i, begin, n, tagged, ordered_tagged)
    else:
        known = order_by_positions(work, i, begin, n, tagged, ordered_tagged)
    for lane in range(WIDTH):
        ordered_tagged[known + lane] = 0.0
    return known


@compiled
def order_by_counting(work, i, begin, n, tagged, ordered_tagged):
    """`order_rows` for few rows. Those that are not in the list all come after the others, and are not counted."""
    position, rows, positions, ordered = work.position[i], work.small_rows, work.row_at, work.ordered
    for j in range(uint64(n)):
        positions[j] = position[rows[uint64(begin) + j]]
    address, last = uint64(positions.ctypes.data), n - BYTES_AT_ONCE
    if last <= 0:
        among = ~uint64(0) >> uint64(64 - n)
        for j in range(uint64(n)):
            to = n_bits(below_mask_short(address, positions[j]) & among)
            ordered[to], ordered_tagged[to] = rows[uint64(begin) + j], tagged[j]
        return int64(n_bits(below_mask_short(address, uint16(UNKNOWN)) & among))
    among, further, half = ~uint64(0) >> uint64(64 - last), address + uint64(FURTHER), uint64(BYTES_AT_ONCE)
    for j in range(uint64(n)):
        to = n_bits(below_mask_short(address, positions[j]) | (below_mask_short(further, positions[j]) & among) << half)
        ordered[to], ordered_tagged[to] = rows[uint64(begin) + j], tagged[j]
    known = below_mask_short(address, uint16(UNKNOWN))
    return int64(n_bits(known | (below_mask_short(further, uint16(UNKNOWN)) & among) << half))


@compiled
def order_by_positions(work, i, begin, n, tagged, ordered_tagged):
    """`order_rows` for more rows: each is stored at its position, and positions are read in order."""
    position, rows, row_at, ordered, n_positions = (
        work.position[i],
        work.small_rows,
        work.row_at,
        work.ordered,
        work.n_positions[i],
    )
    row_at[: (n_positions + 63) // 64 * 64] = NOBODY
    for j in range(uint64(n)):
        row_at[position[rows[uint64(begin) + j]]] = uint16(j)
    row_at[UNKNOWN] = NOBODY
    address, known, unclaimed = uint64(row_at.ctypes.data), uint64(0), uint16(NOBODY)
    for first in range(0, n_positions, 64):
        here = address + uint64(2 * first)
        free = equal_mask_short(here, unclaimed) | equal_mask_short(here + uint64(FURTHER), unclaimed) << uint64(
            BYTES_AT_ONCE
        )
        bits = ~free
        while bits:
            j = uint64(row_at[uint64(first) + uint64(lowest_bit(bits))])
            ordered[known], ordered_tagged[known] = rows[uint64(begin) + j], tagged[j]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@compiled
def flag_new(work, i, known, is_new):
    """Fill `is_new` with 1 for each sorted row whose value differs from the one before, else 0."""
    value, ordered = work.value[i], work.ordered
    for j in range(1, known):
        is_new[j] = 1.0 * (value[ordered[j]] != value[ordered[j - 1]])
