"""The weight of a row in a large node, from flags in its list entry.

If all rows have the same weight at first, a row's weight in a node is that weight times the share of the branch taken
at each split above that sent the row down both. An entry has a flag for each of these splits, as far as it has bits:

    new value? | flags | class | row          31 - 2 - bits of the row are left for flags

So weights are looked up by their flags in a table that stays in the processor's cache; by row they would be gathered
from all over the memory, which takes two to four times as long in nodes of many rows. The table holds the same
products in the same order: the same float64 as `weights[row]`.

The path to a node is the weight of an entry without flags, then the share of each split that has a flag; it is empty
where flags do not determine the weights.
"""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled
from core.growth.kernels.bounds.block_sums import LANE, MIDDLING, block_length
from core.splits.kernels.numeric import MOST_LANES

CLASS_BITS = 2  # below the flags
MOST_FLAGS = 11
MOST_KINDS = 1 << MOST_FLAGS  # combinations of flags


@compiled
def flag_at(shift, n_path):
    """The flag of a split of a node whose path has length `n_path`; 0 if entries have no bit for it."""
    position = shift + CLASS_BITS + n_path - 1
    return uint32(1) << uint32(position) if 0 < n_path <= MOST_FLAGS and position < 31 else uint32(0)


@compiled
def has_kinds(n_path, n):
    """Whether weights in a node of n rows are looked up by flags: with a path only, and few rows are cached anyway."""
    return n_path > 0 and n > MIDDLING


@compiled
def by_flags(shift):
    """The first bit and the mask of an entry's flags, for `growth.kernels.bounds.block_sums.position_in`."""
    first = uint32(shift) + uint32(CLASS_BITS)
    return first, (uint32(1) << (uint32(31) - first)) - uint32(1)


@compiled
def by_flags_and_class(shift):
    """The first bit and the mask of an entry's class and flags, for `growth.kernels.bounds.block_sums.position_in`."""
    return uint32(shift), (uint32(1) << (uint32(31) - uint32(shift))) - uint32(1)


@compiled
def fill_kinds(path, n_path, n, most, weights, units, scale):
    """Fill `weights[flags]` with the weight of an entry with these flags, and `units[flags and class]` with its units.

    The units and `scale` are as in `growth.kernels.bounds.block_sums.fill_units`, except that the rounding error is
    bounded: by half a unit for each of the node's n rows.
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
