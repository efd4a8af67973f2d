"""Best-first growth, from a tree that was grown in another order.

The split of a node does not depend on when the node is split. So the tree of at most `max_leaves` leaves is a part of
the tree without that limit, and `grow.Grower.grow_best_first` makes the same choice during growth.
"""

from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import BoolArray
from core.arithmetic.ties import first_within_tie
from core.tree.tree import LEAF, Tree, TreeView


def deepest_needed(max_leaves: int, max_depth: int | None) -> int:
    """The largest depth of a tree with `max_leaves` leaves: every split adds at least one leaf."""
    return max_leaves - 1 if max_depth is None else min(max_depth, max_leaves - 1)


def best_first(tree: Tree, max_leaves: int, tolerance: float) -> Tree:
    """The part of the tree in which nodes of largest weight x gain are split first; on a tie, the node met first.

    A split that would exceed `max_leaves` is skipped.
    """
    is_split = np.zeros(len(tree), dtype=np.bool_)
    merits = tree.weight * tree.gain
    waiting, n_leaves = [0] if tree.size[0] > 1 else [], 1
    while waiting:
        node = waiting.pop(first_within_tie(merits[waiting], tolerance * float(tree.weight[0])))
        children = tree.children(node)
        if n_leaves + len(children) - 1 <= max_leaves:
            n_leaves += len(children) - 1
            is_split[node] = True
            waiting.extend(child for child in children if tree.size[child] > 1)
    return part_of(tree, is_split)


def part_of(tree: Tree, is_split: BoolArray) -> Tree:
    """The tree with only these nodes split; all below the others is removed."""
    is_kept = TreeView(tree, ~is_split).is_visible
    kept, counted = np.flatnonzero(is_kept), np.concatenate([[0], np.cumsum(is_kept)])
    splits = is_split[kept]
    n_branches = np.where(is_split, np.diff(tree.branch_start), 0)
    terms = tuple(tree.terms[node] if is_split[node] else () for node in kept) if tree.terms else ()
    surrogates = tuple(tree.surrogates[node] if is_split[node] else () for node in kept) if tree.surrogates else ()
    return replace(
        tree,
        size=(counted[kept + tree.size[kept]] - counted[kept]).astype(np.int32),
        column=np.where(splits, tree.column[kept], LEAF).astype(np.int32),
        kind=np.where(splits, tree.kind[kept], LEAF).astype(np.int8),
        threshold=np.where(splits, tree.threshold[kept], np.nan),
        branch_start=np.concatenate([[0], np.cumsum(n_branches[kept])]),
        branch_of=tree.branch_of[np.repeat(is_split, np.diff(tree.branch_start))],
        share=tree.share[kept],
        weight=tree.weight[kept],
        impurity=tree.impurity[kept],
        gain=np.where(splits, tree.gain[kept], np.nan),
        score=np.where(splits, tree.score[kept], np.nan),
        values=tree.values[kept],
        variances=tree.variances[kept],
        surrogates=surrogates,
        terms=terms if any(terms) else (),
    )
