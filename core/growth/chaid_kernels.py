"""The compiled twin of `chaid.sums_of_codes`: what the rows of a node with each code of a column sum up to.

`codes[row]` are those of all rows, everything else of the node's rows. Sums run in row order, and stand one code after
the other. Numbers without a sign count and index here: others would be asked at every step whether they are negative.
"""

from numba import uint64

from core.compiled_kernels import compiled


@compiled
def add_up_classes(codes, rows, classes, weights, n_classes, sums):
    """The weights of the classes: `n_classes` sums for each code."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, width = uint64(0), uint64(len(rows)), uint64(n_classes)
    while i < n:
        sums[uint64(codes[uint64(rows[i])]) * width + uint64(classes[i])] += weights[i]
        i += uint64(1)


@compiled
def add_up_moments(codes, rows, moments, sums):
    """The moments of numbers: as many sums for each code as a row has moments."""
    for cell in range(len(sums)):
        sums[cell] = 0.0
    i, n, width = uint64(0), uint64(len(rows)), uint64(moments.shape[1])
    while i < n:
        start, k = uint64(codes[uint64(rows[i])]) * width, uint64(0)
        while k < width:
            sums[start + k] += moments[i, k]
            k += uint64(1)
        i += uint64(1)
