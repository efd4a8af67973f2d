"""What changes between two trees of a pruning history: the rules removed and added, and the weight that moves."""

from dataclasses import dataclass

import numpy as np

from core.rules.extraction import path_rules
from core.tables.schema import Schema
from core.tree.tree import TreeView


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """The leaves whose rules only one of two trees has, left to right, and the number of rules that both have.

    Rules are the same if their merged conditions are. `moved` is the share of the training weight that falls under
    another rule.
    """

    gone: tuple[int, ...]
    new: tuple[int, ...]
    n_same: int
    moved: float


def rule_difference(before: TreeView, after: TreeView, schema: Schema) -> RuleDifference:
    """The difference between the rules of two trees."""
    old, young = _named_leaves(before, after, schema), _named_leaves(after, before, schema)
    gone = tuple(leaf for name, leaf in old.items() if name not in young)
    new = tuple(leaf for name, leaf in young.items() if name not in old)
    moved = before.tree.weight[list(gone)].sum() / before.tree.weight[0]
    return RuleDifference(gone, new, len(old) - len(gone), float(np.minimum(moved, 1.0)))


def _named_leaves(view: TreeView, other: TreeView, schema: Schema) -> dict[str | int, int]:
    """The leaves by a key of their rules: the leaf's number, unless a raised branch changed the paths."""
    if view.tree is other.tree:
        return {leaf: leaf for leaf in view.leaves}
    return {rule.id: rule.leaf for rule in path_rules(view, schema)}
