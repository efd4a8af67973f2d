"""Arrays that grow while they are used."""

import numpy as np
from numba import int64

from core.compiler.compile import compiled, making_arrays


@compiled
def list_capacity(n_rows, has_missing):
    """How long lists of so many rows are made at first: longer where rows may go down several branches."""
    return n_rows + n_rows // 2 if has_missing else n_rows


@making_arrays
def longer_rows(array, n_used, n_needed):
    """The array, or a copy with more rows when there is no room for what is needed."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty((max(n_needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(n_used):
        for j in range(array.shape[1]):
            longer[i, j] = array[i, j]
    return longer


@making_arrays
def longer_list(array, n_used, n_needed):
    """The same for a list."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty(max(n_needed, 2 * array.shape[0]), array.dtype)
    for i in range(n_used):
        longer[i] = array[i]
    return longer


@making_arrays
def longer_lists(lists, starts, lengths, n_more):
    """The same for the lists of all columns, a node's piece of each being the last that is used."""
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
