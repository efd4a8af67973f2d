"""The sums of a node, whether it is a leaf, and the sums of its rows in each list."""

from numba import uint64

from core.arithmetic.kernels.logarithms import log2
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, lowest_bit
from core.criteria.kernels.impurity import ENTROPY, GINI, SQUARED
from core.growth.kernels.node.split_list import BOTH

ROUNDING = 1e-6  # of a sum of very many weights: far more than its order can change it by


@compiled
def weight_in_child(weights, row, side, share):
    """A row's weight in a child: that share of its weight if it goes down every branch, else all of it."""
    return weights[row] * share if share < 1.0 and side[row] >= BOTH else weights[row]


@compiled
def node_figures(problem, rules, rows, start, n, side, share, counts, figures):
    """Fill `figures` with a node's weight and sums, added up in row order; returns whether all targets are equal.

    For classes: the weight, then each class's weight. For numbers: the weight, then for all outputs the centres, the
    first and second moments about them, and the sums of squares about the means. Rows that go down every branch count
    with `share` of their weight.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    weight = 0.0
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            counts[k] = 0
            figures[1 + k] = 0.0
        if rules.is_counted:
            for i in range(start, start + n):
                counts[classes[rows[i]]] += 1
            for k in range(rules.n_classes):
                figures[1 + k] = counts[k]
            figures[0] = n
            return counts[classes[rows[start]]] == n
        for i in range(start, start + n):
            row = rows[i]
            k = classes[row]
            here = weight_in_child(weights, row, side, share)
            counts[k] += 1
            figures[1 + k] += here
            weight += here
        figures[0] = weight
        return counts[classes[rows[start]]] == n
    is_pure = True
    m = numbers.shape[1]
    for j in range(4 * m):
        figures[1 + j] = 0.0
    for i in range(start, start + n):
        row = rows[i]
        here = weight_in_child(weights, row, side, share)
        weight += here
        for j in range(m):
            figures[1 + j] += here * numbers[row, j]
            is_pure &= numbers[row, j] == numbers[rows[start], j]
    figures[0] = weight
    for j in range(m):
        figures[1 + j] /= weight
    for i in range(start, start + n):
        row = rows[i]
        here = weight_in_child(weights, row, side, share)
        for j in range(m):
            off = numbers[row, j] - figures[1 + j]
            figures[1 + m + j] += off * here
            figures[1 + 2 * m + j] += off * off * here
    for j in range(m):
        mean, around = figures[1 + j] + figures[1 + m + j] / weight, 0.0
        for i in range(start, start + n):
            row = rows[i]
            here = weight_in_child(weights, row, side, share)
            off = numbers[row, j] - mean
            around += here * (off * off)
        figures[1 + 3 * m + j] = around
    return is_pure


@compiled
def impurity_of(figures, rules, n_outputs):
    """The impurity of a node: entropy, Gini value, error rate, or the variance summed over the outputs."""
    weight = figures[0]
    result, most = 0.0, 0.0
    if rules.criterion == SQUARED:
        for j in range(n_outputs):
            mean = figures[1 + n_outputs + j] / weight
            result += max(figures[1 + 2 * n_outputs + j] / weight - mean * mean, 0.0)
        return result
    total = 0.0
    for k in range(rules.n_classes):
        total += figures[1 + k]
    for k in range(rules.n_classes):
        share = figures[1 + k] / total
        if rules.criterion == GINI:
            result += share * share
        elif rules.criterion == ENTROPY and share > 0.0:
            result += share * log2(1.0 / share)
        most = max(most, share)
    if rules.criterion == ENTROPY:
        return result
    return 1.0 - (result if rules.criterion == GINI else most)


@compiled
def is_leaf(figures, is_pure, depth, rules, n_outputs):
    """Whether a node is a leaf: by `stopping.is_terminal`, or pure, or too light for two branches."""
    return (
        is_pure
        or is_too_light(figures[0], rules.min_leaf)
        or depth >= rules.max_depth
        or figures[0] < rules.min_split - TIE
        or impurity_of(figures, rules, n_outputs) <= rules.min_impurity
    )


@compiled
def is_too_light(weight, min_leaf):
    """Whether no two branches can both hold `min_leaf`, in whatever order their weights are added up."""
    return weight * (1.0 + ROUNDING) < 2.0 * (min_leaf - TIE)


@compiled
def is_one_class(figures, n_classes):
    """Whether only one class has weight."""
    n = 0
    for k in range(n_classes):
        n += figures[1 + k] > 0.0
    return n == 1


@compiled
def known_totals(problem, rules, rows, start, n, figures, totals):
    """Fill `totals[i, :]` with the sums of the node's rows in list i: the node's minus those of rows missing there.

    For classes these are the node's sums; where values are missing, `splits.kernels.numeric.sum_blocks` replaces them.
    """
    n_lists, n_outputs = problem.lengths.shape[0], problem.numbers.shape[1]
    if rules.criterion != SQUARED:
        for i in range(n_lists):
            for k in range(rules.n_classes):
                totals[i, k] = figures[1 + k]
        return
    for i in range(n_lists):
        totals[i, 0] = figures[0]
        for j in range(n_outputs):
            totals[i, 1 + j] = figures[1 + n_outputs + j]
    weights, numbers, missing = problem.weights, problem.numbers, problem.missing
    for i in range(start, start + n if problem.has_missing else start):
        row = rows[i]
        for word in range(missing.shape[1]):
            bits = missing[row, word]
            while bits:
                at = 64 * word + lowest_bit(bits)
                bits &= bits - uint64(1)
                totals[at, 0] -= weights[row]
                for j in range(n_outputs):
                    totals[at, 1 + j] -= weights[row] * (numbers[row, j] - figures[1 + j])
