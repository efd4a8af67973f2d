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

RuleId = Annotated[str, Field(description="Id of the rule; rules with the same conditions have the same id.")]
Leaf = Annotated[int, Field(description="The leaf whose path the rule is, or was before simplification.")]
Conditions = Annotated[list[Condition], Field(description="At most one per attribute; all of them must hold.")]
Support = Annotated[float, Field(description="Share of the training weight that the rule covers.")]
RuleText = Annotated[str, Field(examples=["if 纹理 = 清晰 and 根蒂 = 蜷缩 then 是"])]
Interval = TypeAliasType(
    "Interval",
    Annotated[
        list[float],
        Field(
            min_length=2, max_length=2, description="Lower and upper limit, with 95 % confidence.", examples=[[0.6, 1]]
        ),
    ],
)
IntervalByTarget = TypeAliasType("IntervalByTarget", dict[str, Interval])


class RuleMatch(Answer):
    """How far a rule holds for the record in `matching`."""

    state: Annotated[
        MatchState,
        Field(
            description="`full`: all conditions hold. `partial`: a value is missing, and no known value contradicts "
            "the rule. `none`: the rule does not hold."
        ),
    ]
    weight: Annotated[
        float | None,
        Field(
            description="Share of the record that comes to this rule; `null` for a simplified rule that holds in part, "
            "where it is unknown."
        ),
    ]
    decides: Annotated[bool, Field(description="Whether this rule alone decides the answer for the record.")]


MaybeMatch = Annotated[
    RuleMatch | None, Field(description="With `matching`: whether the rule holds for the record; otherwise `null`.")
]


class SharedRule(Answer):
    """Evidence for a rule that several trees of a committee share, or that holds for rows they have not seen."""

    trees: Annotated[int, Field(description="Number of trees in which the rule was found.")]
    unseen_weight: Annotated[
        float, Field(description="Weight of the rows that the rule covers and that are out-of-bag for these trees.")
    ]
    strength: Annotated[
        float,
        Field(
            description="Support × (lowest lift - 1), with the lift at the lower limit of its 95 % interval; for "
            "regression, support × the least distance from the overall mean, in standard deviations."
        ),
    ]


class ClassRule(Answer):
    """A rule: if all conditions hold, the answer is this class."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    label: str
    distribution: Distribution
    support: Support
    confidence: Annotated[
        float,
        Field(
            description="Share of the class among the training rows covered, or that of the parent node if there are "
            "none; for rules of many trees, the share among their out-of-bag rows."
        ),
    ]
    interval: Annotated[
        Interval | None,
        Field(
            description="Clopper-Pearson interval of the confidence; weights count as numbers of rows. `null` for "
            "rules of many trees, whose `strength` takes its lower limit into account."
        ),
    ]
    lift: Annotated[
        float | None,
        Field(
            description="Confidence divided by the class's share in the training data; `null` if no training row has "
            "the class."
        ),
    ]
    text: RuleText
    match: MaybeMatch
    shared: SharedRule | None


class NumberRule(Answer):
    """A rule: if all conditions hold, the answer is this number."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    mean: float
    interval: Annotated[
        Interval | None,
        Field(
            description="Interval of the mean, by Student's t-distribution; weights count as numbers of rows. `null` "
            "for fewer than two, and for rules of many trees."
        ),
    ]
    spread: Annotated[
        float | None, Field(description="Standard deviation of the target; `null` for rules of many trees.")
    ]
    support: Support
    text: RuleText
    match: MaybeMatch
    shared: SharedRule | None


class MultiOutputRule(Answer):
    """A rule: if all conditions hold, the answer is these numbers."""

    id: RuleId
    leaf: Leaf | None
    conditions: Conditions
    mean: Annotated[NumberByTarget, Field(description="Mean of each target.")]
    interval: Annotated[
        IntervalByTarget | None,
        Field(
            description="Interval of each mean, by Student's t-distribution; weights count as numbers of rows. `null` "
            "for fewer than two, and for rules of many trees."
        ),
    ]
    spread: Annotated[
        NumberByTarget | None, Field(description="Standard deviation of each target; `null` for rules of many trees.")
    ]
    support: Support
    text: Annotated[str, Field(examples=["if age > 3 then height = 1.5, width = 2"])]
    match: MaybeMatch
    shared: SharedRule | None


class MatchedRecord(Answer):
    """The record in `matching`, as the model understands it."""

    missing: Annotated[list[str], Field(description="Attributes without a value.")]
    unseen: Annotated[
        list[str], Field(description="Attributes whose category the model does not know; treated as missing.")
    ]
    by_default: Annotated[bool, Field(description="Whether no rule holds fully, so that the answer is the default.")]

    @classmethod
    def of(cls, record: RecordToMatch, *, by_default: bool) -> "MatchedRecord":
        return cls(missing=record.missing, unseen=record.unseen, by_default=by_default)


class RuleList(Answer):
    """The fields that every set of rules has."""

    model: ModelStep
    style: RulesStyle
    exclusive: Annotated[bool, Field(description="Whether no complete record satisfies two rules.")]
    complete: Annotated[bool, Field(description="Whether every complete record satisfies a rule or gets the default.")]
    ordered: Annotated[
        bool,
        Field(description="Whether the rules must be applied in this order: the first that holds gives the answer."),
    ]
    matching: Annotated[MatchedRecord | None, Field(description="The record in `matching`; `null` if none was given.")]
    next_cursor: str | None


class ClassRules(RuleList):
    """Rules of a classification model."""

    task: Literal["classification"]
    default: Annotated[
        str | None, Field(description="Answer if no rule holds. Only simplified rules have one; otherwise `null`.")
    ]
    items: list[ClassRule]


class NumberRules(RuleList):
    """Rules of a regression model."""

    task: Literal["regression"]
    default: Annotated[
        float | None, Field(description="Answer if no rule holds. Only simplified rules have one; otherwise `null`.")
    ]
    items: list[NumberRule]


class MultiOutputRules(RuleList):
    """Rules of a model for several targets."""

    task: Literal["multi_output_regression"]
    default: Annotated[
        NumberByTarget | None,
        Field(description="Answer if no rule holds. Only simplified rules have one; otherwise `null`."),
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
