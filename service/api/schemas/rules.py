"""If-then rules."""

from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.conditions import number_text
from core.model import Model
from core.rules.extraction import Rule, rule_text
from service.api.schemas.common import Answer
from service.api.schemas.conditions import Condition, condition_of
from service.api.schemas.models import ModelStep
from service.api.schemas.trees import Distribution

RuleId = Annotated[str, Field(description="The same wherever the conditions are the same.")]
Conditions = Annotated[list[Condition], Field(description="At most one per attribute; all of them must hold.")]
Support = Annotated[float, Field(description="The share of the training weight that the rule covers.")]
RuleText = Annotated[str, Field(examples=["if 纹理 = 清晰 and 根蒂 = 蜷缩 then 是"])]


class ClassRule(Answer):
    """If all conditions hold, then this class."""

    id: RuleId
    leaf: int
    conditions: Conditions
    label: str
    distribution: Distribution
    support: Support
    confidence: Annotated[float, Field(description="The share of that class; the parent's where no sample came.")]
    text: RuleText


class NumberRule(Answer):
    """If all conditions hold, then this number."""

    id: RuleId
    leaf: int
    conditions: Conditions
    mean: float
    spread: Annotated[float, Field(description="The standard deviation of the target.")]
    support: Support
    text: RuleText


class ClassRules(Answer):
    """Rules of a classification tree."""

    model: ModelStep
    task: Literal["classification"]
    style: Literal["paths"]
    exclusive: Annotated[bool, Field(description="No complete record satisfies two rules.")]
    complete: Annotated[bool, Field(description="Every complete record satisfies one.")]
    default: Annotated[str | None, Field(description="What holds when no rule does; not needed when complete.")]
    items: list[ClassRule]
    next_cursor: str | None


class NumberRules(Answer):
    """Rules of a regression tree."""

    model: ModelStep
    task: Literal["regression"]
    style: Literal["paths"]
    exclusive: Annotated[bool, Field(description="No complete record satisfies two rules.")]
    complete: Annotated[bool, Field(description="Every complete record satisfies one.")]
    default: Annotated[float | None, Field(description="What holds when no rule does; not needed when complete.")]
    items: list[NumberRule]
    next_cursor: str | None


Rules = TypeAliasType("Rules", Annotated[ClassRules | NumberRules, Field(discriminator="task")])


def rules_of(model: Model, shown: ModelStep, rules: list[Rule], next_cursor: str | None) -> ClassRules | NumberRules:
    """A page of rules."""
    if model.classes:
        return ClassRules(
            model=shown,
            task="classification",
            style="paths",
            exclusive=True,
            complete=True,
            default=None,
            items=[_class_rule(model, rule) for rule in rules],
            next_cursor=next_cursor,
        )
    return NumberRules(
        model=shown,
        task="regression",
        style="paths",
        exclusive=True,
        complete=True,
        default=None,
        items=[_number_rule(model, rule) for rule in rules],
        next_cursor=next_cursor,
    )


def answer_of(model: Model, rule: Rule) -> str:
    """What a rule concludes, in words."""
    if model.classes:
        return model.classes[int(model.tree.labels[rule.leaf])]
    return number_text(float(model.tree.answers[rule.leaf][0]))


def text_of(model: Model, rule: Rule) -> str:
    """The whole rule in words."""
    return rule_text(rule, model.attributes, answer_of(model, rule))


def _class_rule(model: Model, rule: Rule) -> ClassRule:
    tree = model.tree
    weights = {name: float(weight) for name, weight in zip(model.classes, tree.values[rule.leaf], strict=True)}
    return ClassRule(
        id=rule.id,
        leaf=rule.leaf,
        conditions=[condition_of(condition, model.attributes) for condition in rule.conditions],
        support=rule.support,
        text=text_of(model, rule),
        label=answer_of(model, rule),
        distribution=weights,
        confidence=float(tree.answers[rule.leaf][tree.labels[rule.leaf]]),
    )


def _number_rule(model: Model, rule: Rule) -> NumberRule:
    tree = model.tree
    return NumberRule(
        id=rule.id,
        leaf=rule.leaf,
        conditions=[condition_of(condition, model.attributes) for condition in rule.conditions],
        support=rule.support,
        text=text_of(model, rule),
        mean=float(tree.answers[rule.leaf][0]),
        spread=float(tree.variances[tree.answering[rule.leaf]][0]) ** 0.5,
    )
