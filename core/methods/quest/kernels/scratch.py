"""Writing to `quest.scratch.Grown`: waiting nodes and finished ones; `counts` holds how many of each, and of groups."""

import numpy as np

from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_list, longer_rows
from core.methods.quest.kernels.attribute_tests import LEAF
from core.methods.quest.kernels.split import position_of
from core.methods.quest.scratch import Grown

N_WAITING, N_NODES, N_GROUPS = range(3)


@making_arrays
def with_capacity(grown, counts, n_groups):
    """The lists made longer where needed for one more node, whose rows are to be partitioned."""
    n_waiting, n_nodes, n_used = counts[N_WAITING], counts[N_NODES], counts[N_GROUPS]
    middle, end = pieces_of(grown, n_waiting)
    return Grown(
        longer_list(grown.rows, middle, end),
        longer_list(grown.weights, middle, end),
        longer_rows(grown.waiting, n_waiting, n_waiting + 1),
        longer_list(grown.shares, n_waiting, n_waiting + 1),
        longer_list(grown.column, n_nodes, n_nodes + 1),
        longer_list(grown.parent, n_nodes, n_nodes + 1),
        longer_list(grown.size, n_nodes, n_nodes + 1),
        longer_list(grown.group_start, n_nodes, n_nodes + 1),
        longer_list(grown.threshold, n_nodes, n_nodes + 1),
        longer_list(grown.share, n_nodes, n_nodes + 1),
        longer_list(grown.weight, n_nodes, n_nodes + 1),
        longer_rows(grown.values, n_nodes, n_nodes + 1),
        longer_list(grown.groups, n_used, n_used + n_groups),
    )


@compiled
def has_capacity(grown, counts, n_groups):
    """Whether the lists have capacity for one more node, whose rows are to be partitioned."""
    _, end = pieces_of(grown, counts[N_WAITING])
    has_nodes = counts[N_WAITING] < len(grown.waiting) and counts[N_NODES] < len(grown.column)
    return has_nodes and end <= len(grown.rows) and counts[N_GROUPS] + n_groups <= len(grown.groups)


@compiled
def pieces_of(grown, n_waiting):
    """Where the rows of the next node end, and an upper bound of where its children's do."""
    start, n = grown.waiting[n_waiting - 1, 0], grown.waiting[n_waiting - 1, 1]
    return start + n, start + 2 * n


@compiled
def write_leaf(grown, counts, parent, share, weight, class_weights):
    """Append a node as a leaf; `write_split` may turn it into an inner node."""
    node = counts[N_NODES]
    grown.column[node], grown.parent[node], grown.size[node] = LEAF, parent, 1
    grown.group_start[node], grown.threshold[node] = counts[N_GROUPS], np.nan
    grown.share[node], grown.weight[node] = share, weight
    for k in range(len(class_weights)):
        grown.values[node, k] = class_weights[k]
    counts[N_NODES] += 1


@compiled
def write_split(grown, counts, node, split, problem, mask):
    """Write the split of a node that was appended as a leaf."""
    grown.column[node], grown.threshold[node] = split.column, split.threshold
    if np.isnan(split.threshold):
        position = position_of(problem.nominal, split.column)
        for level in range(problem.level_start[position + 1] - problem.level_start[position]):
            grown.groups[counts[N_GROUPS]] = mask[level]
            counts[N_GROUPS] += 1


@compiled
def put_waiting(grown, counts, start, n, depth, parent, distance, has_tables, share):
    """Push a node onto the stack of waiting nodes; it is grown before all others in it."""
    position, waiting = counts[N_WAITING], grown.waiting
    waiting[position, 0], waiting[position, 1], waiting[position, 2] = start, n, depth
    waiting[position, 3], waiting[position, 4], waiting[position, 5] = parent, distance, has_tables
    grown.shares[position] = share
    counts[N_WAITING] += 1
