"""Extracts the rules of a tree: one for each path from the root to a leaf, mutually exclusive and complete.

Conditions on the same attribute are merged into one interval or one set, so each complete record satisfies exactly one
rule.
"""

import hashlib
import json
from dataclasses import dataclass

from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.conditions import (
    Condition,
    IsOneOf,
    Linear,
    condition_text,
    merged,
    number_text,
    path_conditions,
    says,
    term_name,
)
from core.tree.tree import Tree, TreeView


@dataclass(frozen=True, slots=True)
class Rule:
    """A leaf's conditions; `support` is the share of the training weight that they cover.

    `id` is the same for equal conditions. `label` is the class that follows, and `weights` are the class weights of the
    covered rows; None and empty if numbers are predicted.
    """

    id: str
    leaf: int
    conditions: tuple[Condition, ...]
    support: float
    label: int | None
    weights: tuple[float, ...]


def path_rules(view: TreeView, schema: Schema) -> list[Rule]:
    """One rule per leaf, left to right."""
    return [path_rule(view.tree, leaf, schema) for leaf in view.leaves]


def path_rule(tree: Tree, leaf: int, schema: Schema) -> Rule:
    """The rule of a leaf."""
    conditions, has_classes = tuple(merged(path_conditions(tree, leaf, schema))), tree.task is Task.CLASSIFICATION
    return Rule(
        id=rule_id(conditions, schema),
        leaf=leaf,
        conditions=conditions,
        support=float(tree.weight[leaf] / tree.weight[0]),
        label=int(tree.labels[leaf]) if has_classes else None,
        weights=tuple(tree.values[leaf].tolist()) if has_classes else (),
    )


def rule_id(conditions: tuple[Condition, ...], schema: Schema) -> str:
    """A short name for a set of conditions: the same in every step, version and model that has them."""
    said = sorted(_spelled(condition, schema) for condition in conditions)
    return "rule_" + hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()[:16]


def _spelled(condition: Condition, schema: Schema) -> list[str]:
    """An unambiguous description of a condition: a list tells the categories `a, b` and `c` from `a` and `b, c`."""
    attribute = schema[condition.column]
    if isinstance(condition, Linear):
        terms = (text for term in condition.terms for text in (term_name(term, schema), number_text(term.weight)))
        return ["", *terms, condition.side, number_text(condition.threshold)]
    if isinstance(condition, IsOneOf):
        return [
            attribute.name,
            "in or missing" if condition.or_missing else "in",
            *(attribute.categories[code] for code in condition.codes),
        ]
    return [attribute.name, says(condition, attribute)]


def rule_text(rule: Rule, schema: Schema, answer: str) -> str:
    """`if 纹理 = 清晰 and 密度 <= 0.38 then 是`; a rule without conditions is `always 是`."""
    if not rule.conditions:
        return f"always {answer}"
    return f"if {' and '.join(condition_text(c, schema) for c in rule.conditions)} then {answer}"
