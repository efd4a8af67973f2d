"""What a row weighs in a large node, told by its entry alone.

Where all rows weigh the same at first, a row's weight in a node is that times the shares of the splits above which it
came down both ways of. An entry has a mark for each of these splits, as far as there are bits for them:

    new value? | marks | class | row          so many marks fit: 31 - 2 - bits of the row

So weights are looked up in a table by the marks, which stays in the processor's cache; by the row they would be
gathered from all over the memory, which takes two to four times as long in nodes of many rows. The table holds the same
products in the same order: the same float64 as `weights[row]`.

The path to a node is what an entry without marks weighs, then the share of each split that has a mark; it is empty
where entries do not tell their weights.
"""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled
from core.growth.kernels.bounds.block_sums import LANE, MIDDLING, block_length
from core.splits.kernels.numeric import MOST_LANES

CLASS_BITS = 2  # below the marks
MOST_FLAGS = 11
MOST_KINDS = 1 << MOST_FLAGS  # of marks


@compiled
def flag_at(shift, n_path):
    """The mark of the next split below a node with a path of that length; 0 where entries have no room for it."""
    position = shift + CLASS_BITS + n_path - 1
    return uint32(1) << uint32(position) if 0 < n_path <= MOST_FLAGS and position < 31 else uint32(0)


@compiled
def has_kinds(n_path, n):
    """Whether a node of n rows, to which that path leads, is searched by marks: few rows are in the cache anyway."""
    return n_path > 0 and n > MIDDLING


@compiled
def by_flags(shift):
    """What of an entry are its marks; see `growth.kernels.bounds.block_sums.place_in`."""
    first = uint32(shift) + uint32(CLASS_BITS)
    return first, (uint32(1) << (uint32(31) - first)) - uint32(1)


@compiled
def by_flags_and_class(shift):
    """What of an entry are its marks and its class."""
    return uint32(shift), (uint32(1) << (uint32(31) - uint32(shift))) - uint32(1)


@compiled
def fill_kinds(path, n_path, n, most, weights, units, scale):
    """`weights[marks]`: what an entry with these marks weighs; `units[marks and class]`: as
    `growth.kernels.bounds.block_sums.fill_units`.

    Every one of the node's n rows may have been rounded by half a unit.
    """
    weights[0], n_kinds = path[0], 1
    for split in range(1, n_path):
        for flags in range(n_kinds):
            weights[n_kinds + flags] = weights[flags] * path[split]
        n_kinds *= 2
    size = float(block_length(n))
    unit = (float((1 << LANE) - 1) - size) / min(size * path[0], most)
    for flags in range(n_kinds):
        here, position = uint64(int64(weights[flags] * unit + 0.5)), flags << CLASS_BITS
        for k in range(MOST_LANES):
            units[position + k] = here << uint64(k * LANE)
    scale[0], scale[1] = unit, (0.5 + 1e-6) * n
