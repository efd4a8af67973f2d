"""Ranks of all rows from sorted lists, and the places of rows among those of their small subtree, a byte each.

One pass over a column's sorted list gives places in all subtrees at once: a row's is the next of its subtree.

    list       c a x d b y         subtrees  a b c d, x y
    place      0 1 0 2 3 1
"""

from numba import uint8, uint32, uint64

from core.compiler.compile import compiled
from core.growth.kernels.ranks.state import BEGIN, CHILD, N_ROWS


@compiled
def fill_ranks(entries, shift, column, ranks, n_fine, fine):
    """How many distinct values come before a row's, by a column's sorted list of all rows; so many last bits apart."""
    mask, last, rank = (uint32(1) << uint32(shift)) - uint32(1), (uint32(1) << uint32(n_fine)) - uint32(1), uint32(0)
    for i in range(uint64(entries.shape[0])):
        rank += entries[i] >> uint32(31)
        row = entries[i] & mask
        ranks[row, column] = rank >> uint32(n_fine)
        if n_fine:
            fine[row] = rank & last


@compiled
def place_rows(bag, links, n_links, columns):
    """Fill `place` and `value` of these columns, for every node that is to be grown as a small subtree.

    `home[row]` is the number of its subtree and, in the last 8 bits, which of its rows it is; `begins[subtree]` is
    where that begins. Rows that are in none share a subtree whose places are read by nobody.
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
    """The same for a column whose values all differ: places tell them apart."""
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
    """The same where values may be equal."""
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
