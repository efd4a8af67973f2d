"""Ranks of all rows from sorted lists, and positions of rows among those of their small subtree, a byte each.

One pass over a column's sorted list gives positions in all subtrees at once: a row's is the next of its subtree.

    list       c a x d b y         subtrees  a b c d, x y
    position   0 1 0 2 3 1
"""

from numba import uint8, uint32, uint64

from core.compiler.compile import compiled
from core.growth.kernels.ranks.state import BEGIN, CHILD, N_ROWS


@compiled
def fill_ranks(entries, shift, column, ranks, n_fine, fine):
    """Fill a column's ranks: how many distinct values come before a row's; the last `n_fine` bits go to `fine`.

    `entries` is the column's sorted list of all rows.
    """
    mask, last, rank = (uint32(1) << uint32(shift)) - uint32(1), (uint32(1) << uint32(n_fine)) - uint32(1), uint32(0)
    for i in range(uint64(entries.shape[0])):
        rank += entries[i] >> uint32(31)
        row = entries[i] & mask
        ranks[row, column] = rank >> uint32(n_fine)
        if n_fine:
            fine[row] = rank & last


@compiled
def place_rows(bag, links, n_links, columns):
    """Fill `position` and `value` of these columns, for every node that is to be grown as a small subtree.

    `home[row]` is the number of the row's subtree and, in the last 8 bits, the row's index there; `begins[subtree]` is
    where the subtree's rows begin. Rows that are in none share subtree 0, whose positions are never read.
    """
    n_subtrees = 1
    bag.home[:] = 0
    bag.begins[0] = bag.rows.shape[0]
    for node in range(n_links):
        if links[node, CHILD] < 0 and links[node, N_ROWS] > 0:
            begin = links[node, BEGIN]
            bag.begins[n_subtrees] = begin
            for j in range(links[node, N_ROWS]):
                bag.home[bag.rows[begin + j]] = uint32(n_subtrees) << uint32(8) | uint32(j)
            n_subtrees += 1
    for column in columns:
        if bag.distinct[column]:
            place_distinct(bag, column, n_subtrees)
        else:
            place_values(bag, column, n_subtrees)


@compiled
def place_distinct(bag, column, n_subtrees):
    """Fill `position` of a column whose values all differ: it needs no `value`."""
    entries, position, home = bag.lists[column], bag.position[column], bag.home
    begins, taken, mask = bag.begins, bag.positions_taken, (uint32(1) << uint32(bag.shift)) - uint32(1)
    for subtree in range(n_subtrees):
        taken[subtree] = 0
    for i in range(uint64(entries.shape[0])):
        here = home[entries[i] & mask]
        subtree, row = here >> uint32(8), uint64(here & uint32(255))
        to, begin = taken[subtree], uint64(begins[subtree])
        taken[subtree] = to + uint8(1)
        position[begin + row] = to


@compiled
def place_values(bag, column, n_subtrees):
    """Fill `position` and `value` of a column whose values may repeat."""
    entries, position, home = bag.lists[column], bag.position[column], bag.home
    begins, taken, mask = bag.begins, bag.positions_taken, (uint32(1) << uint32(bag.shift)) - uint32(1)
    value, values, last, rank = bag.value[column], bag.values_taken, bag.last_ranks, uint32(0)
    for subtree in range(n_subtrees):
        taken[subtree], values[subtree], last[subtree] = 0, 0, 0
    for i in range(uint64(entries.shape[0])):
        rank += entries[i] >> uint32(31)
        here = home[entries[i] & mask]
        subtree, row = here >> uint32(8), uint64(here & uint32(255))
        to, begin = taken[subtree], uint64(begins[subtree])
        taken[subtree] = to + uint8(1)
        values[subtree] += uint8(rank != last[subtree])
        last[subtree] = rank
        position[begin + row], value[begin + row] = to, values[subtree]
