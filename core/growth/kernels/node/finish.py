"""The compiled twin of `growth.kernels.lists.assemble.assembled` for trees of cuts with small subtrees stored apart.

Nodes are numbered depth first; those of small subtrees already are, and are copied one subtree at a time.
"""

import numpy as np
from numba import int64

from core.compiler.compile import compiled, making_arrays, numbers_at
from core.criteria.kernels.impurity import SQUARED, gain_of_two, squared_error
from core.growth.kernels.node.kept import FIGURES, GAIN, SHARE, SIZE, SLOT
from core.growth.kernels.node.kept import HIGH as HIGH_ROW
from core.growth.kernels.node.kept import LOW as LOW_ROW
from core.growth.kernels.node.state import BRANCH, HIGH, IS_CODED, IS_COMPLETE, IS_SMALL, LOW, PARENT, SUMS
from core.growth.kernels.node.state import SLOT as SLOT_LINK
from core.splits import candidates

midpoint = compiled(candidates.midpoint)


@compiled
def count_nodes(links):
    """The number of nodes, including those stored apart."""
    n = 0
    for node in range(links.shape[0]):
        n += links[node, HIGH] if links[node, IS_CODED] == IS_SMALL else 1
    return n


@making_arrays
def finish_nodes(links, figures, sums, splits, results, criterion, n_classes, addresses, n_rows, whole, parts, numbers):
    """Fill the fields of a tree.

    whole    `[node, :]` size of the subtree, and column or -1 in a leaf
    parts    arrays by node: threshold, gain, share, weight, and where a number is predicted impurity and variance
    numbers  `[node, :]` class weights, or the mean
    """
    sizes, positions = sizes_and_positions(links)
    n_figures, width = figures.shape[1], 3 if criterion == SQUARED else n_classes
    row, room, sides = np.empty(FIGURES + n_figures), np.empty(2 + 3 * width), np.empty((whole.shape[0], 2), np.int32)
    for node in range(links.shape[0]):
        to, parent, share = positions[node], links[node, PARENT], 1.0
        if parent >= 0:
            at = links[parent, SUMS]
            share = sums[at + links[node, BRANCH]] / (sums[at] + sums[at + 1])
        if links[node, IS_CODED] == IS_SMALL:
            first = links[node, LOW]
            results[first, SHARE] = share
            for j in range(sizes[node]):
                slot, low, high = splits[first + j, SLOT], splits[first + j, LOW_ROW], splits[first + j, HIGH_ROW]
                whole[to + j, 0] = splits[first + j, SIZE]
                whole[to + j, 1], sides[to + j, 0], sides[to + j, 1] = slot, low, high
                put_figures(results[first + j], criterion, n_classes, to + j, parts, numbers)
            continue
        row[GAIN], row[SHARE] = np.nan, share
        for j in range(n_figures):
            row[FIGURES + j] = figures[node, j]
        if links[node, SLOT_LINK] >= 0:
            for j in range(2 + 2 * width):
                room[j] = sums[links[node, SUMS] + j]
            row[GAIN] = gain_of_two(room, criterion, n_classes, 0.0 if links[node, IS_COMPLETE] else figures[node, 0])
        whole[to, 0] = sizes[node]
        whole[to, 1] = links[node, SLOT_LINK]  # every column has one slot
        sides[to, 0], sides[to, 1] = links[node, LOW], links[node, HIGH]
        put_figures(row, criterion, n_classes, to, parts, numbers)
    put_thresholds(whole, sides, addresses, n_rows, parts[0])


@making_arrays
def sizes_and_positions(links):
    """The size of every node's subtree, including nodes stored apart, and the node's depth-first number."""
    n = links.shape[0]
    sizes, positions, before = np.ones(n, np.int64), np.zeros(n, np.int64), np.zeros(n, np.int64)
    for node in range(n):
        if links[node, IS_CODED] == IS_SMALL:
            sizes[node] = links[node, HIGH]
    for node in range(n - 1, 0, -1):  # children follow their parent, next to each other in branch order
        sizes[links[node, PARENT]] += sizes[node]
    for node in range(1, n):
        if links[node, BRANCH] > 0:
            before[node] = before[node - 1] + sizes[node - 1]
        positions[node] = positions[links[node, PARENT]] + 1 + before[node]
    return sizes, positions


@making_arrays
def put_thresholds(whole, sides, addresses, n_rows, thresholds):
    """The threshold of each cut, from the rows on both sides; column by column, so that one stays in the cache."""
    n, n_columns = whole.shape[0], addresses.shape[0]
    starts, order = np.zeros(n_columns + 2, np.int64), np.empty(n, np.int32)
    for node in range(n):
        starts[whole[node, 1] + 2] += 1  # leaves come first
    for column in range(1, n_columns + 2):
        starts[column] += starts[column - 1]
    for node in range(n):
        column = whole[node, 1] + 1
        order[starts[column]] = node
        starts[column] += 1
    for i in range(starts[0]):
        thresholds[order[i]] = np.nan
    for column in range(n_columns):
        values = numbers_at(addresses[column], n_rows)
        for i in range(starts[column], starts[column + 1]):
            node = order[i]
            thresholds[node] = midpoint(values[sides[node, 0]], values[sides[node, 1]])


@compiled
def put_figures(row, criterion, n_classes, to, parts, numbers):
    """Store the figures of a node, as `growth.kernels.lists.assemble.node_values` computes them."""
    weight = row[FIGURES]
    _, gains, shares, weights, impurities, variances = parts
    gains[to], shares[to], weights[to] = row[GAIN], row[SHARE], weight
    if criterion != SQUARED:
        for k in range(n_classes):
            numbers[to, k] = row[FIGURES + 1 + k]
        return
    divisor = weight if weight > 0.0 else 1.0
    centre, moment, square, around = row[FIGURES + 1], row[FIGURES + 2], row[FIGURES + 3], row[FIGURES + 4]
    numbers[to, 0] = centre + moment / divisor
    impurities[to] = squared_error(weight, moment, square) if weight > 0.0 else 0.0
    variances[to] = around / divisor


@compiled
def what_follows(whole, parts, numbers):
    """Whether each node's weight is the sum of its numbers, and each share the node's part of its parent's weight."""
    share, weight = parts[2], parts[3]
    is_sum, is_part = True, share[0] == 1.0
    for node in range(whole.shape[0]):
        total = 0.0
        for k in range(numbers.shape[1]):
            total += numbers[node, k]
        is_sum &= total == weight[node]
        if whole[node, 1] >= 0:
            first = int64(node + 1)
            second = first + whole[first, 0]
            is_part &= share[first] == weight[first] / weight[node] and share[second] == weight[second] / weight[node]
    return is_sum, is_part
