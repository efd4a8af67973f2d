"""`chaid.sums_of_codes`, compiled, for all searched columns in one pass over the node's rows.

`codes` is stored row by row, `width` codes to a row, so that the codes of a row are close in memory. The sums of the
j-th column begin at `starts[j]`, one code after the other, and are added up in row order. Counters and indices are
unsigned, since signed ones would be checked for negative values at every step.
"""

from numba import uint64

from core.compiler.compile import compiled, prefetch
from core.compiler.row_sums import AHEAD


@compiled
def add_up_classes(codes, width, columns, starts, rows, classes, weights, n_classes, sums):
    """Sum the class weights of each code, `n_classes` to a code; `classes` and `weights` are of the node's rows."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, n_columns = uint64(0), uint64(len(rows)), uint64(len(columns))
    while i < n:
        prefetch_row(codes, width, rows, i)
        first, k, weight = uint64(rows[i]) * uint64(width), uint64(classes[i]), weights[i]
        j = uint64(0)
        while j < n_columns:
            code = uint64(codes[first + columns[j]])
            sums[starts[j] + code * uint64(n_classes) + k] += weight
            j += uint64(1)
        i += uint64(1)


@compiled
def add_up_moments(codes, width, columns, starts, rows, moments, sums):
    """Sum the moments of each code, as many sums per code as columns in `moments`, which has the node's rows."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, n_columns, n_moments = uint64(0), uint64(len(rows)), uint64(len(columns)), uint64(moments.shape[1])
    while i < n:
        prefetch_row(codes, width, rows, i)
        first, j = uint64(rows[i]) * uint64(width), uint64(0)
        while j < n_columns:
            start, k = starts[j] + uint64(codes[first + columns[j]]) * n_moments, uint64(0)
            while k < n_moments:
                sums[start + k] += moments[i, k]
                k += uint64(1)
            j += uint64(1)
        i += uint64(1)


@compiled
def prefetch_row(codes, width, rows, i):
    """Prefetch the codes of a later row: the rows of a node are far apart in memory."""
    later = uint64(rows[min(i + uint64(AHEAD), uint64(len(rows)) - uint64(1))])
    prefetch(uint64(codes.ctypes.data) + uint64(codes.itemsize) * later * uint64(width))
