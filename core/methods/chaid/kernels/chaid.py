"""The compiled twin of `chaid.sums_of_codes`: what the rows of a node with each code of a column sum up to.

All columns that are searched at once: `codes` stand row by row, `width` of them for each, so that those of a row are
near each other. The sums of the j-th column, one code after the other, begin at `starts[j]`, and run in row order.
Numbers without a sign count and index here: others would be asked at every step whether they are negative.
"""

from numba import uint64

from core.compiler.compile import ask_for, compiled
from core.compiler.row_sums import AHEAD


@compiled
def add_up_classes(codes, width, columns, starts, rows, classes, weights, n_classes, sums):
    """The weights of the classes: `n_classes` sums for each code. Classes and weights are those of the node's rows."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, n_columns = uint64(0), uint64(len(rows)), uint64(len(columns))
    while i < n:
        ask_for_row(codes, width, rows, i)
        first, k, weight = uint64(rows[i]) * uint64(width), uint64(classes[i]), weights[i]
        j = uint64(0)
        while j < n_columns:
            code = uint64(codes[first + columns[j]])
            sums[starts[j] + code * uint64(n_classes) + k] += weight
            j += uint64(1)
        i += uint64(1)


@compiled
def add_up_moments(codes, width, columns, starts, rows, moments, sums):
    """The moments of numbers: as many sums for each code as a row has moments, those of the node's rows."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, n_columns, n_moments = uint64(0), uint64(len(rows)), uint64(len(columns)), uint64(moments.shape[1])
    while i < n:
        ask_for_row(codes, width, rows, i)
        first, j = uint64(rows[i]) * uint64(width), uint64(0)
        while j < n_columns:
            start, k = starts[j] + uint64(codes[first + columns[j]]) * n_moments, uint64(0)
            while k < n_moments:
                sums[start + k] += moments[i, k]
                k += uint64(1)
            j += uint64(1)
        i += uint64(1)


@compiled
def ask_for_row(codes, width, rows, i):
    """Ask for the codes of a row further on: a node's rows stand far from each other."""
    later = uint64(rows[min(i + uint64(AHEAD), uint64(len(rows)) - uint64(1))])
    ask_for(uint64(codes.ctypes.data) + uint64(codes.itemsize) * later * uint64(width))
