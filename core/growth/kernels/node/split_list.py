"""Splitting sorted lists of rows between the children of a node.

The twin of `fractional_weights.send_down` for lists: a row whose value is known goes to one child, one whose value is
missing to every child. Every list stays sorted, so nothing is sorted below the root.
"""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled

LEFT, RIGHT, BOTH = 1, 2, 3  # a bit for each child that a row goes to
EVERY = 65535  # the branch of a row that goes down every branch


@compiled
def split_list(entries, start, n, shift, side, keeper, other, is_distinct, flags):
    """Send each entry to the keeper, which keeps this memory, to the other child, or to both; how many each got.

    An entry is new in a child if any entry since the child's last one was new; the first of a list never is. Entries
    that go both ways get the flag `flags[BOTH]`; the other `flags` are 0.
    """
    flag, begin, nothing = uint32(1) << uint32(31), uint64(start), uint64(0)
    if keeper == 0:
        here, there = split_entries(entries, start, n, shift, side, entries, begin, other, nothing, is_distinct, flags)
    else:
        there, here = split_entries(entries, start, n, shift, side, other, nothing, entries, begin, is_distinct, flags)
    if here > begin:
        entries[start] &= ~flag
    if there > nothing:
        other[0] &= ~flag
    return int64(here) - start, int64(there)


@compiled
def split_entries(entries, start, n, shift, side, left, to_left, right, to_right, is_distinct, flags):
    """Split a list between left and right; returns where both segments end.

    Each is written from its position on; one of them may overwrite what was read. Flags are looked up by where an entry
    goes, and None tells the compiler that there are none. Computing an entry's flag took a tenth longer than looking it
    up.
    """
    if is_distinct and flags[BOTH]:
        return split_distinct(entries, start, n, shift, side, left, to_left, right, to_right, flags)
    if is_distinct:
        return split_distinct(entries, start, n, shift, side, left, to_left, right, to_right, None)
    if flags[BOTH]:
        return split_repeated(entries, start, n, shift, side, left, to_left, right, to_right, flags)
    return split_repeated(entries, start, n, shift, side, left, to_left, right, to_right, None)


@compiled
def split_distinct(entries, start, n, shift, side, left, to_left, right, to_right, flags):
    """`split_entries` where all values are distinct: every entry keeps its new-value bit."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    i, end = uint64(start), uint64(start + n)
    while i < end:
        entry = entries[i]
        to = uint64(side[entry & row_mask])
        if flags is not None:
            entry |= flags[to]
        left[to_left] = entry
        right[to_right] = entry
        to_left += to & uint64(1)
        to_right += to >> uint64(1)
        i += uint64(1)
    return to_left, to_right


@compiled
def split_repeated(entries, start, n, shift, side, left, to_left, right, to_right, flags):
    """`split_entries` where values may repeat: each child's new-value bits are derived anew."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    flag = uint32(1) << uint32(31)
    new_left, new_right = uint32(0), uint32(0)
    i, end = uint64(start), uint64(start + n)
    while i < end:
        entry = entries[i]
        is_new = entry & flag
        new_left |= is_new
        new_right |= is_new
        to = uint32(side[entry & row_mask])
        goes_left, goes_right = to & uint32(1), to >> uint32(1)
        body = entry & ~flag
        if flags is not None:
            body |= flags[uint64(to)]
        left[to_left] = body | new_left
        right[to_right] = body | new_right
        to_left += uint64(goes_left)
        to_right += uint64(goes_right)
        new_left &= goes_left - uint32(1)  # all ones if it did not go there
        new_right &= goes_right - uint32(1)
        i += uint64(1)
    return to_left, to_right


@compiled
def keep_in_list(entries, start, n, shift, side, child, is_distinct):
    """Keep only the entries that go to one child, as `split_list` would; returns their number."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    flag, bit = uint32(1) << uint32(31), uint32(child)
    is_new = uint32(0)
    i, end, here = uint64(start), uint64(start + n), uint64(start)
    if is_distinct:
        while i < end:
            entry = entries[i]
            entries[here] = entry
            here += uint64((uint32(side[entry & row_mask]) >> bit) & uint32(1))
            i += uint64(1)
    while i < end:
        entry = entries[i]
        is_new |= entry & flag
        stays = (uint32(side[entry & row_mask]) >> bit) & uint32(1)
        entries[here] = (entry & ~flag) | is_new
        here += uint64(stays)
        is_new &= stays - uint32(1)
        i += uint64(1)
    if here > uint64(start):
        entries[start] &= ~flag
    return int64(here) - start


@compiled
def split_list_by_branch(entries, start, n, shift, branch, n_branches, positions, shares, weights, other):
    """Send each entry to its branch, or to `EVERY` branch in which it keeps some weight.

    Branch b writes from `positions[0, b]` on, which moves along; it gets nothing where that is negative.
    `positions[1, b]` is the number of new values up to its last entry, -1 before the first.
    """
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    flag = uint32(1) << uint32(31)
    n_new = int64(0)
    for i in range(start, start + n):
        entry = entries[i]
        if entry & flag:
            n_new += 1
        body = entry & ~flag
        row = entry & row_mask
        to = branch[row]
        first, after = (int64(0), int64(n_branches)) if to == EVERY else (int64(to), int64(to) + 1)
        for b in range(first, after):
            position = positions[0, b]
            if position >= 0 and (to != EVERY or weights[row] * shares[b] > 0.0):
                is_new = positions[1, b] >= 0 and positions[1, b] != n_new
                other[position] = body | flag if is_new else body
                positions[0, b] = position + 1
                positions[1, b] = n_new


@compiled
def split_known_by_branch(entries, start, n, shift, branch, positions, other):
    """`split_list_by_branch` where every row goes down one branch, without a conditional jump in the loop.

    `positions[3, b]` is 1 if branch b gets its entries, else 0: then it writes to one position again and again.
    """
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    flag = uint32(1) << uint32(31)
    n_new = int64(0)
    for i in range(start, start + n):
        entry = entries[i]
        n_new += int64(entry >> uint32(31))
        to = branch[entry & row_mask]
        position, before = uint64(positions[0, to]), positions[1, to]
        is_new = uint32(before != n_new) & uint32(before >= 0)
        other[position] = (entry & ~flag) | (is_new << uint32(31))
        positions[0, to] = int64(position) + positions[3, to]
        positions[1, to] = n_new


@compiled
def split_distinct_by_branch(entries, start, n, shift, branch, positions, other):
    """`split_known_by_branch` where all values are distinct: entries stay as they are, also the first of a branch."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    at, step = positions[0], positions[3]
    i, end = uint64(start), uint64(start + n)
    while i < end:
        entry = entries[i]
        to = branch[entry & row_mask]
        position = at[to]
        other[uint64(position)] = entry
        at[to] = position + step[to]
        i += uint64(1)
