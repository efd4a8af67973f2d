"""If-then rules."""

from typing import Annotated, Any, Literal, assert_never

from pydantic import Field
from typing_extensions import TypeAliasType

from core.conditions import number_text
from core.model import Model
from core.rules.extraction import Rule, rule_text
from service.api.schemas.common import Answer
from service.api.schemas.conditions import Condition, condition_of
from service.api.schemas.models import ModelStep, NumberByTarget, Task, task_of
from service.api.schemas.trees import Distribution, by_target, means_of, spreads_of

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


class MultiOutputRule(Answer):
    """If all conditions hold, then these numbers."""

    id: RuleId
    leaf: int
    conditions: Conditions
    mean: Annotated[NumberByTarget, Field(description="Of each target.")]
    spread: Annotated[NumberByTarget, Field(description="The standard deviation of each target.")]
    support: Support
    text: Annotated[str, Field(examples=["if age > 3 then height = 1.5, width = 2"])]


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


class MultiOutputRules(Answer):
    """Rules of a tree for several targets."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    style: Literal["paths"]
    exclusive: Annotated[bool, Field(description="No complete record satisfies two rules.")]
    complete: Annotated[bool, Field(description="Every complete record satisfies one.")]
    default: Annotated[
        NumberByTarget | None, Field(description="What holds when no rule does; not needed when complete.")
    ]
    items: list[MultiOutputRule]
    next_cursor: str | None


AnyRules = ClassRules | NumberRules | MultiOutputRules
Rules = TypeAliasType("Rules", Annotated[AnyRules, Field(discriminator="task")])


def rules_of(model: Model, step: ModelStep, rules: list[Rule], next_cursor: str | None) -> AnyRules:
    """A page of rules."""
    shown: dict[str, Any] = {"model": step, "style": "paths", "exclusive": True, "complete": True, "default": None}
    shown["next_cursor"] = next_cursor
    match task_of(model):
        case Task.CLASSIFICATION:
            return ClassRules(task="classification", items=[class_rule(model, rule) for rule in rules], **shown)
        case Task.REGRESSION:
            return NumberRules(task="regression", items=[number_rule(model, rule) for rule in rules], **shown)
        case Task.MULTI_OUTPUT_REGRESSION:
            items = [multi_output_rule(model, rule) for rule in rules]
            return MultiOutputRules(task="multi_output_regression", items=items, **shown)
        case other:
            assert_never(other)


def answer_of(model: Model, rule: Rule) -> str:
    """What a rule concludes, in words."""
    if model.classes:
        return model.classes[int(model.tree.labels[rule.leaf])]
    return model.number_words(map(number_text, means_of(model, rule.leaf)))


def text_of(model: Model, rule: Rule) -> str:
    """The whole rule in words."""
    return rule_text(rule, model.attributes, answer_of(model, rule))


def class_rule(model: Model, rule: Rule) -> ClassRule:
    """A rule of a classification tree; `model` as of the step it is from."""
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


def number_rule(model: Model, rule: Rule) -> NumberRule:
    """A rule of a regression tree."""
    (mean,), (spread,) = means_of(model, rule.leaf), spreads_of(model, rule.leaf)
    return NumberRule(
        id=rule.id,
        leaf=rule.leaf,
        conditions=[condition_of(condition, model.attributes) for condition in rule.conditions],
        support=rule.support,
        text=text_of(model, rule),
        mean=mean,
        spread=spread,
    )


def multi_output_rule(model: Model, rule: Rule) -> MultiOutputRule:
    """A rule of a tree for several targets."""
    return MultiOutputRule(
        id=rule.id,
        leaf=rule.leaf,
        conditions=[condition_of(condition, model.attributes) for condition in rule.conditions],
        support=rule.support,
        text=text_of(model, rule),
        mean=by_target(model, means_of(model, rule.leaf)),
        spread=by_target(model, spreads_of(model, rule.leaf)),
    )
