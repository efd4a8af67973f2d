"""The sorted lists of some of the rows, taken from those of all rows without sorting again."""

from numba import int64, uint32, uint64

from core.compiler.compile import compiled


@compiled
def take_lists(lists, lengths, numbering, shift, taken, taken_lengths, distinct):
    """Fill `taken` with the entries of the rows in a sample.

    `numbering[row]` is the new number of a row plus 1, or 0 if it is not taken. `taken` is long enough for one entry
    more than are taken. A taken entry is flagged as a new value if any entry since the last one taken was; the first of
    a list never is.
    """
    for i in range(lists.shape[0]):
        n, n_new = take_list(lists[i], uint64(lengths[i]), numbering, uint32(shift), taken[i])
        taken_lengths[i], distinct[i] = n, n_new + 1 >= n


@compiled
def take_list(entries, n, numbering, shift, taken):
    """Filter one list as `take_lists` does; returns how many entries are taken, and how many of them have the flag."""
    mask, flag = (uint32(1) << shift) - uint32(1), uint32(1) << uint32(31)
    rest, is_new, n_new, to, i = ~(mask | flag), uint32(0), uint32(0), uint64(0), uint64(0)
    while i < n:
        entry = entries[i]
        number = numbering[entry & mask]
        is_new |= entry & flag
        is_taken = uint32(number > uint32(0))
        taken[to] = (entry & rest) | is_new | (number - uint32(1)) & mask
        n_new += (is_new >> uint32(31)) & is_taken
        to += uint64(is_taken)
        is_new &= is_taken - uint32(1)  # all ones when it was not taken
        i += uint64(1)
    if to > uint64(0) and taken[0] & flag:
        taken[0] &= ~flag
        n_new -= uint32(1)
    return int64(to), int64(n_new)
