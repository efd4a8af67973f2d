"""Best-first growth from a tree that was grown in another order.

Which split a node gets does not depend on when it is its turn. So the tree of at most so many leaves is a part of the
tree without that limit, and `grow.Grower.grow_best_first` is this choice made on the way.
"""

from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import BoolArray
from core.arithmetic.ties import first_within_tie
from core.tree.tree import LEAF, Tree, TreeView


def deepest_needed(max_leaves: int, max_depth: int | None) -> int:
    """How deep a tree of so many leaves can be: every split adds at least one."""
    return max_leaves - 1 if max_depth is None else min(max_depth, max_leaves - 1)


def best_first(tree: Tree, max_leaves: int, tolerance: float) -> Tree:
    """The part that is there when nodes of largest weight x gain are split first; ties to the node met first.

    A split with more branches than there is room for is passed over.
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
    """The tree with only these nodes split; what hangs below the others is gone."""
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
