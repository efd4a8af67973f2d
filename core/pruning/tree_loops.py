"""Loops over all nodes of a tree for pruning.

Every function here is plain Python over arrays, and `pruning.kernels.tree_loops` compiles it. Nodes are
numbered as in a tree: children come after their parent, and a subtree is a range.
"""

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray


def cutting_alphas(size: RowArray, is_leaf: BoolArray, cost: FloatArray, tolerance: float) -> FloatArray:
    """The alpha at which each inner node becomes a leaf by a cut of its own; infinite for all others.

    A cut of t costs C(t) - C(T_t) and saves |T_t| - 1 leaves, so it pays from

        g(t) = (C(t) - C(T_t)) / (|T_t| - 1)

    on, T_t being the subtree after the cuts below t with smaller alphas. Nodes are visited bottom-up: t starts with all
    cuts below it made, and undoes them, the last one first, until all that are left have a smaller alpha than its own.
    The undone cuts never happen, since t is cut before them. Each cut is made once and undone at most once, and the
    last cut below a node is on top of a heap, so the whole takes O(n log n), however deep the tree is.

    The heaps are skew heaps (Sleator and Tarjan 1986): two of them are melded along their right sides, whose nodes
    change sides on the way. `heap[t]` is the top of that of t; `left` and `right` lead on.
    """
    n_nodes = len(size)
    alpha = np.full(n_nodes, np.inf)
    heap, left, right = np.full(n_nodes, -1), np.full(n_nodes, -1), np.full(n_nodes, -1)
    rise, fewer = np.zeros(n_nodes), np.zeros(n_nodes)  # of cost, and of leaves, when a node is cut
    for node in range(n_nodes - 1, -1, -1):
        if is_leaf[node]:
            continue
        child, end = node + 1, node + size[node]
        top, link, below, n_leaves = -1, np.inf, 0.0, 0.0
        while True:
            if child < end:  # start with all children as leaves
                other = heap[child]
                below += cost[child]
                n_leaves += 1.0
                child += size[child]
            elif top >= 0 and alpha[top] >= link - tolerance:  # undo the last cut
                below -= rise[top]
                n_leaves += fewer[top]
                alpha[top] = np.inf
                other = right[top]
                top = left[top]
            else:
                break
            if top < 0 or other < 0:
                top = max(top, other)
            else:
                if alpha[top] < alpha[other]:
                    top, other = other, top
                above = top
                while True:
                    next_right = right[above]
                    right[above] = left[above]
                    if next_right < 0:
                        left[above] = other
                        break
                    if alpha[next_right] < alpha[other]:
                        next_right, other = other, next_right
                    left[above] = next_right
                    above = next_right
            link = (cost[node] - below) / max(1.0, n_leaves - 1.0)
        alpha[node] = max(0.0, link)
        rise[node], fewer[node] = cost[node] - below, n_leaves - 1.0
        left[node], right[node] = top, -1
        heap[node] = node
    return alpha


def groups_of(alphas: FloatArray, tolerance: float) -> RowArray:
    """The group of each of some ascending alphas; a group has all alphas within `tolerance` of its first."""
    groups = np.zeros(len(alphas), dtype=np.int64)
    first, number = 0, 0
    for index in range(len(alphas)):
        if alphas[index] > alphas[first] + tolerance:
            first = index
            number += 1
        groups[index] = number
    return groups


def left_by_cuts(size: RowArray, cut_at: RowArray, n_times: int) -> tuple[RowArray, RowArray]:
    """The time from which on each node is below a cut, `n_times` where it never is; and the depth left at each time.

    Nodes are cut at the times given, the first of which is 1.
    """
    until, depth, deepest = np.full(len(size), n_times), np.zeros(len(size), np.int64), np.zeros(n_times + 1, np.int64)
    for node in range(len(size)):
        deepest[until[node]] = max(deepest[until[node]], depth[node])
        child, end, gone = node + 1, node + size[node], min(until[node], cut_at[node])
        while child < end:
            until[child], depth[child] = gone, depth[node] + 1
            child += size[child]
    for time in range(n_times - 1, 0, -1):
        deepest[time] = max(deepest[time], deepest[time + 1])
    return until, deepest[1:]


def leaves_lost(since: RowArray, until: RowArray, cost: FloatArray, n_times: int) -> tuple[FloatArray, RowArray]:
    """The cost of the leaves that are lost at each time from 1 on, added up in their order, and their number.

    A node is a leaf from a time on, and is lost at another if that is later.
    """
    costs, counts = np.zeros(n_times + 1), np.zeros(n_times + 1, np.int64)
    for node in range(len(since)):
        if since[node] < until[node] <= n_times:
            costs[until[node]] += cost[node]
            counts[until[node]] += 1
    return costs[1:], counts[1:]


def subtree_estimates(
    size: RowArray, is_inner: BoolArray, leaf_estimate: FloatArray, slack: float
) -> tuple[FloatArray, BoolArray, RowArray]:
    """The errors expected of each subtree with all below it decided, whether it is to be cut, and its leaves.

    It is cut if the leaf's estimate is not larger than the sum over the children by more than the slack.
    """
    estimate, subtree = leaf_estimate.copy(), leaf_estimate.copy()
    is_cut, n_leaves = np.zeros(len(size), dtype=np.bool_), np.ones(len(size), dtype=np.int64)
    for node in range(len(size) - 1, -1, -1):
        if not is_inner[node]:
            continue
        child, end, below = node + 1, node + size[node], 0.0
        n_leaves[node] = 0
        while child < end:
            below += estimate[child]
            n_leaves[node] += 1 if is_cut[child] else n_leaves[child]
            child += size[child]
        subtree[node] = below
        is_cut[node] = leaf_estimate[node] <= below + slack
        if not is_cut[node]:
            estimate[node] = below
    return subtree, is_cut, n_leaves
