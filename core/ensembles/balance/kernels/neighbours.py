"""`neighbours.nearest`, compiled: a distance is given up as soon as it is too large."""

from numba import int64

from core.compiler.compile import compiled

INFINITY = float("inf")


@compiled
def squared_distance(a, b, penalties, limit):
    """`neighbours.squared_distances` of two points; any value from the limit on if it is not below the limit."""
    apart, n_known, n = 0.0, int64(0), penalties.shape[0]
    for column in range(n):
        one, other, penalty = a[column], b[column], penalties[column]
        if one == one and other == other:
            n_known += 1
            if penalty != penalty:
                apart += (one - other) * (one - other)
            elif one != other:
                apart += penalty
            if apart >= limit:  # scaling by n / n_known only makes it larger
                return apart
    return apart * (n / n_known) if n_known > 0 else INFINITY


@compiled
def nearest(points, others, penalties, but_itself, found, apart):
    """`neighbours.nearest`: `found[point, :]` gets the nearest of the others; `apart` is scratch for distances."""
    n = found.shape[1]
    for i in range(points.shape[0]):
        n_found = 0
        for j in range(others.shape[0]):
            if n == 0 or (but_itself and i == j):
                continue
            limit = apart[n - 1] if n_found == n else INFINITY
            distance = squared_distance(points[i], others[j], penalties, limit)
            if n_found == n and distance >= limit:
                continue
            index = n_found if n_found < n else n - 1
            while index > 0 and apart[index - 1] > distance:  # equals stay before it
                apart[index], found[i, index] = apart[index - 1], found[i, index - 1]
                index -= 1
            apart[index], found[i, index] = distance, j
            n_found = min(n_found + 1, n)
