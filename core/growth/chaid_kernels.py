"""The compiled twin of `chaid.sums_of_codes`: what the rows of a node with each code of a column sum up to."""

from core.compiled_kernels import compiled


@compiled
def add_up_classes(codes, rows, classes, weights, table):
    """`table[code, class]`: the weights of rows, added up in row order; classes and weights are those of the rows."""
    for code in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[code, k] = 0.0
    for i in range(len(rows)):
        table[codes[rows[i]], classes[i]] += weights[i]


@compiled
def add_up_moments(codes, rows, sums, table):
    """`table[code, moment]`: the same for the moments of numbers."""
    for code in range(table.shape[0]):
        for k in range(table.shape[1]):
            table[code, k] = 0.0
    for i in range(len(rows)):
        code = codes[rows[i]]
        for k in range(table.shape[1]):
            table[code, k] += sums[i, k]
