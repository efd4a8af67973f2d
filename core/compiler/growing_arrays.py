"""Arrays that grow while they are used."""

import numpy as np
from numba import int64

from core.compiler.compile import compiled, making_arrays


@compiled
def list_capacity(n_rows, has_missing):
    """The first capacity of lists of `n_rows` rows.

    It is half as much again where values are missing, since a row may then go down several branches.
    """
    return n_rows + n_rows // 2 if has_missing else n_rows


@making_arrays
def longer_rows(array, n_used, n_needed):
    """The array if it has `n_needed` rows, otherwise a longer copy of its first `n_used` rows."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty((max(n_needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(n_used):
        for j in range(array.shape[1]):
            longer[i, j] = array[i, j]
    return longer


@making_arrays
def longer_list(array, n_used, n_needed):
    """The list if it has `n_needed` entries, otherwise a longer copy of its first `n_used` entries."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty(max(n_needed, 2 * array.shape[0]), array.dtype)
    for i in range(n_used):
        longer[i] = array[i]
    return longer


@making_arrays
def longer_lists(lists, starts, lengths, n_more):
    """The lists of all columns if each has capacity for `n_more` entries, otherwise longer copies of them.

    The last entries in use of list c are a node's piece: `lengths[c]` entries from `starts[c]` on.
    """
    n_needed = int64(0)
    for c in range(lists.shape[0]):
        n_needed = max(n_needed, starts[c] + lengths[c] + n_more)
    if n_needed <= lists.shape[1]:
        return lists
    longer = np.empty((lists.shape[0], max(n_needed, lists.shape[1] + lists.shape[1] // 4)), lists.dtype)
    for c in range(lists.shape[0]):
        for i in range(starts[c] + lengths[c]):
            longer[c, i] = lists[c, i]
    return longer
