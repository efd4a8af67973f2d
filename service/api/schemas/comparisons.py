"""The same records answered in several ways, side by side."""

from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar, assert_never

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypeAliasType

from core.explanation.comparison import PartingKind
from core.explanation.why_variants_differ import attribute_tested, text_of_difference
from core.prediction.routing import MissingPolicy
from service.api.schemas.common import Answer, Body, Flag
from service.api.schemas.conditions import Condition, condition_of
from service.api.schemas.models import ModelStep, NumberByTarget, Task, tree_task_of
from service.api.schemas.predictions import Decided, Probabilities, Record, RecordColumns, Step
from service.usecases.predictions.compare import Compared, Difference, Variant, Wish

MOST_VARIANTS = 10

Shown = TypeVar("Shown")


class ComparisonVariant(Body):
    """A model, step and treatment of missing values to predict the records with."""

    name: Annotated[
        str | None, Field(min_length=1, max_length=200, description="Name of the variant. Default: a generated name.")
    ] = None
    model: Annotated[
        str | None,
        Field(description="Model id, name or `name@3`. Default: the model in the path.", examples=["melon@2"]),
    ] = None
    step: Annotated[
        Step,
        Field(
            description="Step of the pruning history: a number, `selected` (the step served by default), `full` (step "
            "0, before pruning), `leaves:7` (the largest tree with at most 7 leaves) or `alpha:0.01` (the tree after "
            "all cuts up to that alpha)."
        ),
    ] = "selected"
    missing: Annotated[
        MissingPolicy | None,
        Field(description="How to treat missing values, as in a prediction. Default: as the model was trained."),
    ] = None

    def to_wish(self) -> Wish:
        """The variant as a `Wish`."""
        return Wish(self.name, self.model, self.step, self.missing)


class ComparisonRequest(Body):
    """Records, as `records` or as `columns`, and the variants to predict them with."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "records": [{"纹理": "清晰", "根蒂": "硬挺"}],
                    "variants": [{"name": "before", "step": "full"}, {"name": "after"}],
                }
            ]
        }
    )

    records: list[Record] | None = None
    columns: Annotated[
        RecordColumns | None, Field(description="Values of each attribute; all lists have the same length.")
    ] = None
    variants: Annotated[
        list[ComparisonVariant],
        Field(
            min_length=2, max_length=MOST_VARIANTS, description="The variants; the others are compared with the first."
        ),
    ]
    ignore_unknown: Annotated[Flag, Field(description="Ignore attributes that a model does not know.")] = False

    @model_validator(mode="after")
    def _has_one_table(self) -> "ComparisonRequest":
        if (self.records is None) == (self.columns is None):
            raise ValueError("send either records or columns")
        return self


class ComparedVariant(Answer):
    """A variant that the records were predicted with."""

    name: Annotated[str, Field(examples=["melon@3, step 5"])]
    model: ModelStep
    missing: Annotated[MissingPolicy, Field(description="How missing values were treated.")]
    fills: Annotated[bool, Field(description="Whether missing values were filled in first, as in training.")]


class ComparedPair(Answer):
    """How often two variants disagree. Variants are counted from 0."""

    first: int
    second: int
    n_different: Annotated[
        int, Field(description="Number of records with different labels; for regression, with different means.")
    ]


class DifferenceReason(Answer):
    """Where a variant's path down the tree parts from that of the first variant."""

    variant: Annotated[int, Field(description="Index of the variant, counted from 0.")]
    text: Annotated[
        str,
        Field(
            examples=[
                'After 纹理 = 清晰 "before" asks for 根蒂, where "after" answers: step 1 of its pruning cut node 1.'
            ]
        ),
    ]
    weight: Annotated[
        float, Field(description="Share of the record that comes to this point; the paths may also part elsewhere.")
    ]
    conditions: Annotated[list[Condition], Field(description="Conditions that both passed up to this point.")]
    first_node: Annotated[int, Field(description="The node in the first variant's tree.")]
    second_node: Annotated[int, Field(description="The node in this variant's tree.")]


class CutReason(DifferenceReason):
    """Pruning cut one of the trees where the other goes on."""

    kind: Literal["cut"]
    attribute: Annotated[str, Field(description="Attribute that the other variant tests.")]
    cut_variant: Annotated[int, Field(description="Index of the variant whose tree was cut.")]
    step: Annotated[int, Field(description="The pruning step that cut the node.")]


class OtherTestReason(DifferenceReason):
    """The trees test different things, or one was never grown further."""

    kind: Literal["test"]
    first_test: Annotated[
        Condition | None, Field(description="Condition that the record passed next; `null` if this node answers.")
    ]
    second_test: Annotated[Condition | None, Field(description="The same for this variant.")]


class MissingReason(DifferenceReason):
    """A missing value is treated differently."""

    kind: Literal["missing"]
    attribute: str


class SharesReason(DifferenceReason):
    """A missing value is treated alike, but the training data is distributed differently among the branches."""

    kind: Literal["shares"]
    attribute: str


class FiguresReason(DifferenceReason):
    """All tests are the same, but the training rows behind the answers differ."""

    kind: Literal["figures"]


class CostsReason(DifferenceReason):
    """All figures are the same, but the costs of wrong answers differ."""

    kind: Literal["costs"]


AnyReason = CutReason | OtherTestReason | MissingReason | SharesReason | FiguresReason | CostsReason
ComparisonReason = TypeAliasType("ComparisonReason", Annotated[AnyReason, Field(discriminator="kind")])

Same = Annotated[bool, Field(description="Whether all variants give the same label; for regression, the same means.")]
Reasons = Annotated[
    list[ComparisonReason],
    Field(description="Why variants differ from the first, even if only in the figures behind the same label."),
]


class ComparedClass(Answer):
    """A variant's answer: a class."""

    label: str
    probabilities: Probabilities
    decided: Decided


class ComparedNumber(Answer):
    """A variant's answer: a number."""

    mean: float
    decided: Decided


class ComparedNumbers(Answer):
    """A variant's answer: a number for each target."""

    mean: NumberByTarget
    decided: Decided


class ComparedClassRecord(Answer):
    """The classes predicted for a record, one by each variant."""

    same: Same
    answers: list[ComparedClass]
    reasons: Reasons


class ComparedNumberRecord(Answer):
    """The numbers predicted for a record, one by each variant."""

    same: Same
    answers: list[ComparedNumber]
    reasons: Reasons


class ComparedNumbersRecord(Answer):
    """The numbers predicted for each target of a record, by each variant."""

    same: Same
    answers: list[ComparedNumbers]
    reasons: Reasons


class ComparisonSummary(Answer):
    """What was compared, and how often it is the same."""

    variants: list[ComparedVariant]
    n_records: int
    n_same: Annotated[int, Field(description="Number of records for which all variants agree.")]
    pairs: Annotated[list[ComparedPair], Field(description="Every pair of variants.")]


class ClassComparison(ComparisonSummary):
    """A comparison of classification models."""

    task: Literal["classification"]
    records: list[ComparedClassRecord]


class NumberComparison(ComparisonSummary):
    """A comparison of regression models."""

    task: Literal["regression"]
    records: list[ComparedNumberRecord]


class MultiOutputComparison(ComparisonSummary):
    """A comparison of models for several targets."""

    task: Literal["multi_output_regression"]
    records: list[ComparedNumbersRecord]


AnyComparison = ClassComparison | NumberComparison | MultiOutputComparison
Comparison = TypeAliasType("Comparison", Annotated[AnyComparison, Field(discriminator="task")])


def comparison_of(compared: Compared) -> AnyComparison:
    """The comparison as it is sent."""
    is_same = [compared.all_agree(row) for row in range(len(compared))]
    shown: dict[str, Any] = {
        "variants": [_variant(compared, index) for index in range(len(compared.variants))],
        "n_records": len(compared),
        "n_same": sum(is_same),
        "pairs": [
            ComparedPair(first=one, second=other, n_different=n) for (one, other), n in compared.n_different().items()
        ],
    }

    def records(answer: Callable[[Compared, int, int], Answer]) -> list[dict[str, Any]]:
        return [
            {
                "same": same,
                "answers": [answer(compared, index, row) for index in range(len(compared.variants))],
                "reasons": [_reason(compared.variants, difference) for difference in compared.differences(row)],
            }
            for row, same in enumerate(is_same)
        ]

    match tree_task_of(compared.variants[0].loaded.model):
        case Task.CLASSIFICATION:
            return ClassComparison(task="classification", records=records(_class), **shown)
        case Task.REGRESSION:
            return NumberComparison(task="regression", records=records(_number), **shown)
        case Task.MULTI_OUTPUT_REGRESSION:
            return MultiOutputComparison(task="multi_output_regression", records=records(_numbers), **shown)
        case other:
            assert_never(other)


def _variant(compared: Compared, index: int) -> ComparedVariant:
    variant, answered = compared.variants[index], compared.answered[index]
    return ComparedVariant(
        name=variant.name,
        model=ModelStep.of(variant.loaded, variant.order.step),
        missing=answered.policy,
        fills=variant.fills,
    )


def _class(compared: Compared, index: int, row: int) -> ComparedClass:
    assert compared.labels is not None
    return ComparedClass(
        label=compared.labels[index][row],
        probabilities=compared.values[index][row],
        decided=compared.is_decided(index, row),
    )


def _number(compared: Compared, index: int, row: int) -> ComparedNumber:
    (mean,) = compared.values[index][row].values()
    return ComparedNumber(mean=mean, decided=compared.is_decided(index, row))


def _numbers(compared: Compared, index: int, row: int) -> ComparedNumbers:
    return ComparedNumbers(mean=compared.values[index][row], decided=compared.is_decided(index, row))


def _reason(variants: list[Variant], difference: Difference) -> AnyReason:
    parting, first, second = difference.parting, difference.first, difference.second
    names = variants[0].name, variants[difference.variant].name
    shown: dict[str, Any] = {
        "variant": difference.variant,
        "text": text_of_difference(parting, first, second, names),
        "weight": parting.weight,
        "conditions": [condition_of(one, first.model.attributes) for one in first.conditions(parting.first)],
        "first_node": parting.first,
        "second_node": parting.second,
    }
    match parting.kind:
        case PartingKind.CUT:
            is_first = parting.first in first.ends
            step = first.cut_at(parting.first) if is_first else second.cut_at(parting.second)
            cut = {"cut_variant": 0 if is_first else difference.variant, "step": step}
            return CutReason(kind="cut", attribute=attribute_tested(parting, first, second), **cut, **shown)
        case PartingKind.TEST:
            one, other = first.taken(parting.first), second.taken(parting.second)
            return OtherTestReason(
                kind="test",
                first_test=None if one is None else condition_of(one, first.model.attributes),
                second_test=None if other is None else condition_of(other, second.model.attributes),
                **shown,
            )
        case PartingKind.MISSING:
            return MissingReason(kind="missing", attribute=attribute_tested(parting, first, second), **shown)
        case PartingKind.SHARES:
            return SharesReason(kind="shares", attribute=attribute_tested(parting, first, second), **shown)
        case PartingKind.FIGURES:
            return FiguresReason(kind="figures", **shown)
        case PartingKind.COSTS:
            return CostsReason(kind="costs", **shown)
        case other_kind:
            assert_never(other_kind)
