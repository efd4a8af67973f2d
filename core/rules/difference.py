"""What changes from one tree of a pruning history to another: the rules that go and come, and whom they move."""

from dataclasses import dataclass

from core.rules.extraction import Rule, path_rules
from core.schema import Schema
from core.tree import TreeView


@dataclass(frozen=True, slots=True)
class RuleDifference:
    """Rules that only one of two trees has, left to right, and how many both have.

    Rules are the same when their merged conditions are, whichever nodes they come from. `moved` is the share of the
    training weight that comes under another rule.
    """

    gone: tuple[Rule, ...]
    new: tuple[Rule, ...]
    n_same: int
    moved: float


def rule_difference(before: TreeView, after: TreeView, schema: Schema) -> RuleDifference:
    """The rules of one tree against those of another."""
    old, young = path_rules(before, schema), path_rules(after, schema)
    ids_before, ids_after = {rule.id for rule in old}, {rule.id for rule in young}
    gone = tuple(rule for rule in old if rule.id not in ids_after)
    new = tuple(rule for rule in young if rule.id not in ids_before)
    return RuleDifference(gone, new, len(young) - len(new), min(1.0, sum(rule.support for rule in gone)))
