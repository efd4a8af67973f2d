"""Kernels of `impurity` and `gain` for one node: the same operations in the same order, so the same bits.

NumPy adds up fewer than eight numbers one after the other, and so do these.
"""

from core.compiler.compile import compiled

GINI, ENTROPY, ERROR, SQUARED = 0, 1, 2, 3  # the codes of criteria in kernels
MOST_CLASSES = 7


@compiled
def gini(sums, at, n_classes):
    """`impurity.gini` of the class weights from `sums[at]` on."""
    total, squares = 0.0, 0.0
    for k in range(n_classes):
        total += sums[at + k]
    if total <= 0.0:
        return 0.0
    for k in range(n_classes):
        share = sums[at + k] / total
        squares += share * share
    return 1.0 - squares


@compiled
def squared_error(weight, moment, square):
    """`impurity.squared_error` of one number."""
    divisor = weight if weight > 0.0 else 1.0
    mean = moment / divisor
    return max(square / divisor - mean * mean, 0.0)


@compiled
def gain_of_two(sums, criterion, n_classes, whole):
    """The gain in `best_split.with_figures` of a split into two branches.

    `sums` holds the known weights of both branches, then the sums of each, then scratch for the sums of both together.
    `whole` is the node's weight where rows lack the value, else 0.
    """
    n_sums, first, second = 3 if criterion == SQUARED else n_classes, sums[0], sums[1]
    left, right, both = 2, 2 + n_sums, 2 + 2 * n_sums
    for k in range(n_sums):
        sums[both + k] = sums[left + k] + sums[right + k]
    if criterion == SQUARED:
        within = first * squared_error(sums[left], sums[left + 1], sums[left + 2])
        within += second * squared_error(sums[right], sums[right + 1], sums[right + 2])
        before = squared_error(sums[both], sums[both + 1], sums[both + 2])
    else:
        within = first * gini(sums, left, n_sums) + second * gini(sums, right, n_sums)
        before = gini(sums, both, n_sums)
    known = first + second
    gain = before - within / (known if known > 0.0 else 1.0)
    return (known / whole if whole > 0.0 else 1.0) * gain
