"""If-then rules."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import repeat
from typing import Annotated, Any, Literal, assert_never

from pydantic import Field
from typing_extensions import TypeAliasType

from core.rules.evidence import class_evidence, number_evidence
from core.rules.extraction import Rule
from core.rules.matching import Match, MatchState
from core.rules.text import conclusion, whole_text
from core.tree.model import Model
from service.api.schemas.common import Answer
from service.api.schemas.conditions import Condition, condition_of
from service.api.schemas.models import ModelStep, NumberByTarget, Task, tree_task_of
from service.api.schemas.trees import Distribution, by_target
from service.usecases.models.read_rules import RecordToMatch, RulesStyle

RuleId = Annotated[str, Field(description="The same wherever the conditions are the same.")]
Leaf = Annotated[int, Field(description="The leaf whose path the rule is, or was before it was simplified.")]
Conditions = Annotated[list[Condition], Field(description="At most one per attribute; all of them must hold.")]
Support = Annotated[float, Field(description="The share of the training weight that the rule covers.")]
RuleText = Annotated[str, Field(examples=["if 纹理 = 清晰 and 根蒂 = 蜷缩 then 是"])]
Interval = TypeAliasType(
    "Interval",
    Annotated[
        list[float],
        Field(min_length=2, max_length=2, description="Lowest and highest, with 95 % confidence.", examples=[[0.6, 1]]),
    ],
)
IntervalByTarget = TypeAliasType("IntervalByTarget", dict[str, Interval])


class RuleMatch(Answer):
    """How far a rule holds for the record in `matching`."""

    state: Annotated[
        MatchState,
        Field(
            description="`full`: all conditions hold. `partial`: some value is missing, and none speaks against it. "
            "`none`: it does not hold."
        ),
    ]
    weight: Annotated[
        float | None,
        Field(
            description="Which part of the record comes to this rule; null for a simplified rule that holds in part, "
            "which nothing tells."
        ),
    ]
    decides: Annotated[bool, Field(description="Whether this rule alone is the answer to the record.")]


MaybeMatch = Annotated[RuleMatch | None, Field(description="With `matching`: whether the rule holds for the record.")]


class SharedRule(Answer):
    """What stands behind a rule that several of a committee's trees found, or that holds for rows they never saw."""

    trees: Annotated[int, Field(description="How many trees found it.")]
    unseen_weight: Annotated[float, Field(description="The weight of its rows out of the bags of these trees.")]
    strength: Annotated[
        float,
        Field(
            description="Support × (least lift - 1), the lift at the lower end of its 95 % interval; for numbers, "
            "support × the least distance from the overall mean in standard deviations."
        ),
    ]


class ClassRule(Answer):
    """If all conditions hold, then this class."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    label: str
    distribution: Distribution
    support: Support
    confidence: Annotated[
        float,
        Field(
            description="The share of that class, the parent's where no sample came; of rules that many trees found, "
            "among the rows out of their bags."
        ),
    ]
    interval: Annotated[
        Interval | None,
        Field(
            description="Of the confidence, by Clopper and Pearson; weights count as samples. Null for rules of many "
            "trees, whose strength looks at its lower end."
        ),
    ]
    lift: Annotated[
        float | None,
        Field(description="The confidence over the class's share in training; null where no sample has the class."),
    ]
    text: RuleText
    match: MaybeMatch
    shared: SharedRule | None


class NumberRule(Answer):
    """If all conditions hold, then this number."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    mean: float
    interval: Annotated[
        Interval | None,
        Field(description="Of the mean, by Student's distribution; weights count as samples, null for fewer than two."),
    ]
    spread: Annotated[float | None, Field(description="The standard deviation of the target; null for many trees.")]
    support: Support
    text: RuleText
    match: MaybeMatch
    shared: SharedRule | None


class MultiOutputRule(Answer):
    """If all conditions hold, then these numbers."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    mean: Annotated[NumberByTarget, Field(description="Of each target.")]
    interval: Annotated[
        IntervalByTarget | None,
        Field(
            description="Of each mean, by Student's distribution; weights count as samples, null for fewer than two."
        ),
    ]
    spread: Annotated[
        NumberByTarget | None, Field(description="The standard deviation of each target; null for many trees.")
    ]
    support: Support
    text: Annotated[str, Field(examples=["if age > 3 then height = 1.5, width = 2"])]
    match: MaybeMatch
    shared: SharedRule | None


class MatchedRecord(Answer):
    """The record in `matching`, as the model understands it."""

    missing: Annotated[list[str], Field(description="The attributes without a value.")]
    unseen: Annotated[list[str], Field(description="The attributes with a category never seen; taken as missing.")]
    by_default: Annotated[bool, Field(description="Whether no rule holds fully, so that the default answers.")]

    @classmethod
    def of(cls, record: RecordToMatch, *, by_default: bool) -> "MatchedRecord":
        return cls(missing=record.missing, unseen=record.unseen, by_default=by_default)


class RuleList(Answer):
    """The fields that every set of rules has."""

    model: ModelStep
    style: RulesStyle
    exclusive: Annotated[bool, Field(description="No complete record satisfies two rules.")]
    complete: Annotated[bool, Field(description="Every complete record satisfies a rule, or has the default.")]
    ordered: Annotated[
        bool, Field(description="Rules are to be asked in this order: the first that holds is the answer.")
    ]
    matching: Annotated[MatchedRecord | None, Field(description="The record asked about, if one was.")]
    next_cursor: str | None


class ClassRules(RuleList):
    """Rules of a classification tree."""

    task: Literal["classification"]
    default: Annotated[str | None, Field(description="The answer where no rule holds; null where one always does.")]
    items: list[ClassRule]


class NumberRules(RuleList):
    """Rules of a regression tree."""

    task: Literal["regression"]
    default: Annotated[float | None, Field(description="The answer where no rule holds; null where one always does.")]
    items: list[NumberRule]


class MultiOutputRules(RuleList):
    """Rules of a tree for several targets."""

    task: Literal["multi_output_regression"]
    default: Annotated[
        NumberByTarget | None, Field(description="The answer where no rule holds; null where one always does.")
    ]
    items: list[MultiOutputRule]


AnyRules = ClassRules | NumberRules | MultiOutputRules
Rules = TypeAliasType("Rules", Annotated[AnyRules, Field(discriminator="task")])


@dataclass(frozen=True)
class RulesPage:
    """A page of a set of rules, the set's default, and how the rules match a record, if one is given.

    `by_default` is whether no rule of the whole set decides the record.
    """

    style: RulesStyle
    rules: Sequence[Rule]
    default: int | None
    matches: Sequence[Match] | None
    record: RecordToMatch | None
    by_default: bool
    next_cursor: str | None


def rules_of(model: Model, step: ModelStep, page: RulesPage) -> AnyRules:
    """A page of rules as it is sent; `model` is as of the rules' step."""
    is_simplified = page.style is RulesStyle.SIMPLIFIED
    shown: dict[str, Any] = {
        "model": step,
        "style": page.style,
        "exclusive": not is_simplified,
        "complete": True,
        "ordered": is_simplified,
        "default": None if page.default is None else model.classes[page.default],
        "matching": None if page.record is None else MatchedRecord.of(page.record, by_default=page.by_default),
        "next_cursor": page.next_cursor,
    }
    match tree_task_of(model):
        case Task.CLASSIFICATION:
            return ClassRules(task="classification", items=class_rules(model, page.rules, page.matches), **shown)
        case Task.REGRESSION:
            return NumberRules(task="regression", items=number_rules(model, page.rules, page.matches), **shown)
        case Task.MULTI_OUTPUT_REGRESSION:
            items = multi_output_rules(model, page.rules, page.matches)
            return MultiOutputRules(task="multi_output_regression", items=items, **shown)
        case other:
            assert_never(other)


def class_rules(model: Model, rules: Sequence[Rule], matches: Sequence[Match] | None = None) -> list[ClassRule]:
    """Rules of a classification tree; `model` is as of the rules' step."""
    return [
        ClassRule(
            **shared,
            label=conclusion(model, rule),
            distribution=dict(zip(model.classes, rule.weights, strict=True)),
            confidence=found.confidence,
            interval=list(found.interval),
            lift=found.lift,
        )
        for rule, found, shared in zip(
            rules, class_evidence(model.tree, rules), _shared(model, rules, matches), strict=True
        )
    ]


def number_rules(model: Model, rules: Sequence[Rule], matches: Sequence[Match] | None = None) -> list[NumberRule]:
    """Rules of a regression tree."""
    return [
        NumberRule(
            **shared,
            mean=found.means[0],
            interval=None if found.intervals is None else list(found.intervals[0]),
            spread=found.spreads[0],
        )
        for found, shared in zip(number_evidence(model.tree, rules), _shared(model, rules, matches), strict=True)
    ]


def multi_output_rules(
    model: Model, rules: Sequence[Rule], matches: Sequence[Match] | None = None
) -> list[MultiOutputRule]:
    """Rules of a tree for several targets."""
    return [
        MultiOutputRule(
            **shared,
            mean=by_target(model, list(found.means)),
            interval=found.intervals and dict(zip(model.targets, map(list, found.intervals), strict=True)),
            spread=by_target(model, list(found.spreads)),
        )
        for found, shared in zip(number_evidence(model.tree, rules), _shared(model, rules, matches), strict=True)
    ]


def _shared(model: Model, rules: Sequence[Rule], matches: Sequence[Match] | None) -> list[dict[str, Any]]:
    """The fields that rules of all tasks have."""
    return [
        {
            "id": rule.id,
            "leaf": rule.leaf,
            "conditions": [condition_of(condition, model.attributes) for condition in rule.conditions],
            "support": rule.support,
            "text": whole_text(model, rule),
            "match": None if match is None else RuleMatch(**asdict(match)),
            "shared": None,
        }
        for rule, match in zip(rules, repeat(None, len(rules)) if matches is None else matches, strict=True)
    ]
