"""`ensembles.isolation.scores`, compiled: rows descend all trees a tile at a time.

A tile's values stay in the cache while one tree after the other is read.
"""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled, numbers_at
from core.tree.layout import IN_FLIGHT

NAN = float("nan")
LANES = 8  # independent walks at once, with all positions in registers


@compiled
def read_tile(columns, n_rows, start, n, tile, sums):
    """Copy n rows to `tile[column * IN_FLIGHT + row]`; `sums` become 0, or NaN where a value is missing."""
    for i in range(uint64(IN_FLIGHT)):
        sums[i] = 0.0
    for column in range(uint64(columns.shape[0])):
        cells, at = numbers_at(columns[column], n_rows), column * uint64(IN_FLIGHT)
        for i in range(n):
            value = cells[start + i]
            tile[at + i] = value
            sums[i] += value * 0.0


@compiled
def below(tests, position, tile, row):
    """Where a row goes from a position; a leaf leads to itself, since nothing is above NaN."""
    test = tests[position]
    return test.first + uint32(tile[test.offset + row] > test.threshold)


@compiled
def add_by_thresholds(tests, lengths, root, depth, tile, sums):
    """Add the path lengths of the rows of a tile in a tree of thresholds.

    LANES rows at a time, each with a variable of its own, so that positions stay in registers: a quarter faster than
    with positions in memory.
    """
    for at in range(uint64(0), uint64(IN_FLIGHT), uint64(LANES)):
        a = b = c = d = e = f = g = h = uint32(root)
        for _ in range(depth):
            a = below(tests, a, tile, at)
            b = below(tests, b, tile, at + uint64(1))
            c = below(tests, c, tile, at + uint64(2))
            d = below(tests, d, tile, at + uint64(3))
            e = below(tests, e, tile, at + uint64(4))
            f = below(tests, f, tile, at + uint64(5))
            g = below(tests, g, tile, at + uint64(6))
            h = below(tests, h, tile, at + uint64(7))
        sums[at] += lengths[a]
        sums[at + uint64(1)] += lengths[b]
        sums[at + uint64(2)] += lengths[c]
        sums[at + uint64(3)] += lengths[d]
        sums[at + uint64(4)] += lengths[e]
        sums[at + uint64(5)] += lengths[f]
        sums[at + uint64(6)] += lengths[g]
        sums[at + uint64(7)] += lengths[h]


@compiled
def add_by_branches(tests, lengths, lookup_start, lookup, root, depth, tile, sums, n):
    """`add_by_thresholds` for a tree that also tests categories; a sum becomes NaN where one has no branch."""
    for i in range(n):
        position = uint32(root)
        for _ in range(depth):
            test = tests[position]
            value = tile[test.offset + i]
            branch = uint32(value > test.threshold)
            if lookup_start[position] >= 0 and value == value:
                side = lookup[lookup_start[position] + int64(value)]
                branch = uint32(side > 0)
                if side < 0:
                    sums[i] = NAN
            position = test.first + branch
        sums[i] += lengths[position]


@compiled
def add_lengths(columns, n_rows, start, end, trees, tile, sums, total):
    """Write the sums of path lengths of rows from start to end over all trees; NaN where a row lacks a branch.

    Rows of a tile after the last one are computed too, and ignored.
    """
    for begin in range(uint64(start), uint64(end), uint64(IN_FLIGHT)):
        n = min(uint64(IN_FLIGHT), uint64(end) - begin)
        read_tile(columns, n_rows, begin, n, tile, sums)
        for tree in range(uint64(trees.roots.shape[0])):
            root, depth = trees.roots[tree], trees.depths[tree]
            if trees.has_lookups[tree]:
                add_by_branches(
                    trees.tests, trees.lengths, trees.lookup_start, trees.lookup, root, depth, tile, sums, n
                )
            else:
                add_by_thresholds(trees.tests, trees.lengths, root, depth, tile, sums)
        for i in range(n):
            total[begin + i] = sums[i]
