"""Minimal cost-complexity pruning: the weakest links are cut, one alpha after the other, down to the root.

    C(T) = sum over leaves of (N_t / N) H(t)            N_t the weight of leaf t, N that of the root
    C_alpha(T) = C(T) + alpha |T|                       |T| the number of leaves
    g(t) = (C(t) - C(T_t)) / (|T_t| - 1)                what the subtree T_t of t saves for each leaf beyond the first

The link of smallest g is the weakest. Links whose g is within TIE of the smallest (of the root's cost more, where the
cost is a squared error or has prices) are equal and cut together, so that each tree of the sequence is the smallest of
all that have the least C_alpha. Breiman, Friedman, Olshen and Stone 1984, chapter 3.
"""

from types import ModuleType

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.sorting import argsort_nonnegative
from core.arithmetic.ties import TIE
from core.config.options import Cost
from core.criteria.impurity import entropy, error_rate, gini
from core.pruning import tree_loops
from core.pruning.training_errors import training_errors
from core.tree.history import DECISIONS, METHODS, Decision, Method, Steps
from core.tree.tree import Tree, TreeView

IMPURITIES = {Cost.ENTROPY: entropy, Cost.GINI: gini, Cost.ERROR: error_rate}


def node_costs(tree: Tree, cost: Cost, grown_by: Cost | None = None) -> FloatArray:
    """C(t): what each node costs as a leaf, by its part of the whole weight.

    For `error` with prices of wrong answers it is the mean price that the node's label pays. `grown_by` is the impurity
    that the tree was grown by, whose figures it has.
    """
    if cost is Cost.ERROR and tree.costs is not None:
        return training_errors(tree) * float(tree.costs.max()) / float(tree.weight[0])
    if cost is grown_by:
        impurity = tree.impurity
    elif cost is Cost.SQUARED_ERROR:
        impurity = tree.variances.sum(axis=1)
    else:
        impurity = IMPURITIES[cost](tree.values)
    return tree.weight / tree.weight[0] * impurity


def tie_of(tree: Tree, cost: Cost, root_cost: float) -> float:
    """The difference up to which two links count as equally weak."""
    if cost is Cost.SQUARED_ERROR:
        return TIE * root_cost
    if cost is Cost.ERROR and tree.costs is not None:
        return TIE * max(1.0, float(tree.costs.max()))
    return TIE


def loops_of(*, kernels: bool) -> ModuleType:
    """The loops of `tree_loops`, compiled or not."""
    if not kernels:
        return tree_loops
    from core.pruning.kernels import tree_loops as tree_loops_kernels  # imports Numba

    return tree_loops_kernels


def weakest_link_steps(view: TreeView, cost: Cost, *, grown_by: Cost | None = None, kernels: bool = False) -> Steps:
    """Every cut from a tree down to its root, in order of alpha and then of node."""
    loops = loops_of(kernels=kernels)
    tree, costs, is_leaf = view.tree, node_costs(view.tree, cost, grown_by), view.is_leaf
    size, tolerance = tree.size.astype(np.int64), tie_of(tree, cost, float(costs[0]))
    is_inner = view.is_visible & ~is_leaf
    own = loops.cutting_alphas(size, ~is_inner, costs, tolerance)
    nodes = np.flatnonzero(np.isfinite(own))
    nodes = nodes[argsort_nonnegative(own[nodes]) if kernels else np.argsort(own[nodes], kind="stable")]
    groups = loops.groups_of(own[nodes], tolerance)
    nodes = nodes[np.argsort(groups * len(tree) + nodes, kind="stable")]
    # All figures are sums over the leaves that a cut removes, in their order, so both loops give the same bits.
    n_steps = len(nodes)
    cut_at = np.full(len(tree), n_steps + 1)
    cut_at[nodes] = np.arange(1, n_steps + 1)
    until, depths = loops.left_by_cuts(size, np.where(is_inner, cut_at, 0), n_steps + 1)
    branch_cost, branch_leaves = loops.leaves_lost(np.where(is_leaf, 0, cut_at), until, costs, n_steps)
    link = (costs[nodes] - branch_cost) / (branch_leaves - 1)
    firsts = np.flatnonzero(np.diff(groups, prepend=-1))
    smallest = np.maximum.accumulate(np.maximum(np.minimum.reduceat(link, firsts), 0.0)) if n_steps else link
    leaves = view.is_visible & is_leaf
    whole, n_leaves = float(costs[leaves].sum()), int(np.count_nonzero(leaves))
    after = whole + np.cumsum(costs[nodes] - branch_cost)
    return Steps(
        node=nodes.astype(np.int32),
        method=np.full(n_steps, METHODS.index(Method.COST_COMPLEXITY), dtype=np.int8),
        decision=np.full(n_steps, DECISIONS.index(Decision.CUT), dtype=np.int8),
        before=np.append(whole, after)[:-1],
        after=after,
        alpha=smallest[groups],
        leaves=(n_leaves - np.cumsum(branch_leaves - 1)).astype(np.int32),
        depth=depths[1:].astype(np.int32),
        evidence={
            "weight": tree.weight[nodes],
            "node_cost": costs[nodes],
            "branch_cost": branch_cost,
            "branch_leaves": branch_leaves.astype(np.float64),
            "link": link,
        },
    )
