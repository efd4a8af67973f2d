"""Arrays that grow while they are used."""

import numpy as np

from core.compiled_kernels import compiled


@compiled
def longer_rows(array, n_used, n_needed):
    """The array, or a copy with more rows when there is no room for what is needed."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty((max(n_needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(n_used):
        for j in range(array.shape[1]):
            longer[i, j] = array[i, j]
    return longer


@compiled
def longer_list(array, n_used, n_needed):
    """The same for a list."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty(max(n_needed, 2 * array.shape[0]), array.dtype)
    for i in range(n_used):
        longer[i] = array[i]
    return longer


@compiled
def longer_lists(lists, tops, at, n_needed):
    """The same for the lists of all columns."""
    if n_needed <= lists.shape[1]:
        return lists
    longer = np.empty((lists.shape[0], max(n_needed, 2 * lists.shape[1])), lists.dtype)
    for c in range(lists.shape[0]):
        for i in range(tops[at, c]):
            longer[c, i] = lists[c, i]
    return longer
