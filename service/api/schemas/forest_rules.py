"""The strongest rules of a committee."""

from collections.abc import Sequence
from typing import Any

from core.ensembles.insight.rules import ForestRule
from core.ensembles.model import ForestModel
from core.rules.extraction import rule_text
from core.tree.conditions import number_text
from service.api.schemas.conditions import condition_of
from service.api.schemas.models import ModelStep, Task, task_of
from service.api.schemas.rules import (
    AnyRules,
    ClassRule,
    ClassRules,
    MultiOutputRule,
    MultiOutputRules,
    NumberRule,
    NumberRules,
    SharedRule,
)
from service.usecases.models.read_rules import RulesStyle


def forest_rules_of(model: ForestModel, step: ModelStep, rules: Sequence[ForestRule], cursor: str | None) -> AnyRules:
    """A page of rules as it is sent; a record may satisfy several with different answers, or none."""
    about: dict[str, Any] = {
        "model": step,
        "style": RulesStyle.STRONGEST,
        "exclusive": False,
        "complete": False,
        "ordered": False,
        "default": None,
        "matching": None,
        "next_cursor": cursor,
    }
    shared = [(found, _shared(model, found)) for found in rules]
    if model.classes:
        return ClassRules(task="classification", items=[_class_rule(model, *one) for one in shared], **about)
    if task_of(model) is Task.REGRESSION:
        numbers = [NumberRule(**said, mean=found.means[0], interval=None, spread=None) for found, said in shared]
        return NumberRules(task="regression", items=numbers, **about)
    several = [
        MultiOutputRule(**said, mean=dict(zip(model.targets, found.means, strict=True)), interval=None, spread=None)
        for found, said in shared
    ]
    return MultiOutputRules(task="multi_output_regression", items=several, **about)


def forest_rules_text(model: ForestModel, rules: Sequence[ForestRule]) -> str:
    """Every rule as a sentence on a line of its own."""
    return "".join(f"{_text(model, found)}\n" for found in rules)


def _class_rule(model: ForestModel, found: ForestRule, said: dict[str, Any]) -> ClassRule:
    assert found.rule.label is not None
    return ClassRule(
        **said,
        label=model.classes[found.rule.label],
        distribution=dict(zip(model.classes, found.rule.weights, strict=True)),
        confidence=found.confidence,
        interval=None,
        lift=found.lift,
    )


def _shared(model: ForestModel, found: ForestRule) -> dict[str, Any]:
    """The fields that rules of all tasks have."""
    return {
        "id": found.rule.id,
        "leaf": None,
        "conditions": [condition_of(condition, model.attributes) for condition in found.rule.conditions],
        "support": found.rule.support,
        "text": _text(model, found),
        "match": None,
        "shared": SharedRule(trees=found.n_trees, unseen_weight=found.unseen_weight, strength=found.strength),
    }


def _text(model: ForestModel, found: ForestRule) -> str:
    if found.rule.label is not None:
        return rule_text(found.rule, model.attributes, model.classes[found.rule.label])
    return rule_text(found.rule, model.attributes, model.number_words(map(number_text, found.means)))
