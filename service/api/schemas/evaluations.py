"""How good a model is, as numbers."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import TypeAliasType

from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep


class ClassScores(Answer):
    """How well one class is found."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


class Confusion(Answer):
    """`matrix[actual][predicted]`, in the order of the classes; weights."""

    classes: list[str]
    matrix: list[list[float]]


class ClassMeasures(Answer):
    """Measures of class answers on one part of the data."""

    @model_validator(mode="before")
    @classmethod
    def _with_later_measures(cls, stored: Any) -> Any:
        """An evaluation stored by an earlier release knows no costs."""
        return {"mean_cost": None, **stored} if isinstance(stored, dict) else stored

    rows: int
    weight: float
    accuracy: float
    log_loss: Annotated[float, Field(description="Natural logarithm; a class given no chance counts as 2.2e-16.")]
    auc: Annotated[float | None, Field(description="One class against the rest, averaged; null with one class only.")]
    mean_cost: Annotated[float | None, Field(description="Of answers, where wrong ones have costs; else null.")]
    confusion: Confusion
    per_class: list[ClassScores]


class NumberMeasures(Answer):
    """Measures of numeric answers on one part of the data."""

    rows: int
    weight: float
    mae: float
    rmse: float
    r2: Annotated[float | None, Field(description="Null when the target does not vary.")]


class TargetMeasures(Answer):
    """Measures of one of several targets."""

    target: str
    mae: float
    rmse: float
    r2: Annotated[float | None, Field(description="Null when the target does not vary.")]


class MultiOutputMeasures(Answer):
    """Measures of answers for several targets on one part of the data."""

    rows: int
    weight: float
    mae: Annotated[float, Field(description="The average over the targets.")]
    rmse: Annotated[float, Field(description="The average over the targets.")]
    r2: Annotated[float | None, Field(description="The average over the targets that vary; null when none does.")]
    per_target: list[TargetMeasures]


class ClassParts(Answer):
    """Measures by part; null where a part has no rows."""

    train: ClassMeasures | None
    validation: ClassMeasures | None
    test: ClassMeasures | None
    out_of_bag: ClassMeasures | None


class NumberParts(Answer):
    """Measures by part; null where a part has no rows."""

    train: NumberMeasures | None
    validation: NumberMeasures | None
    test: NumberMeasures | None
    out_of_bag: NumberMeasures | None


class MultiOutputParts(Answer):
    """Measures by part; null where a part has no rows."""

    train: MultiOutputMeasures | None
    validation: MultiOutputMeasures | None
    test: MultiOutputMeasures | None
    out_of_bag: MultiOutputMeasures | None


class CurvePoint(Answer):
    """Size and error of the tree as of a step; null for a part without rows.

    The error is the share answered wrongly, the mean cost, or the mean squared error, summed over the targets.
    """

    step: int
    leaves: int
    alpha: float | None
    train: float | None
    validation: float | None
    test: float | None
    cross_validation: Annotated[
        float | None, Field(description="On rows left out, where alpha was chosen by it and for this step; else null.")
    ]
    spread: Annotated[float | None, Field(description="The standard error of `cross_validation`.")]


Curve = Annotated[
    list[CurvePoint],
    Field(
        description="From the full tree on, every step that changed the tree and the one asked for. Of more than about "
        "200 steps some are left out, most of them of large trees, but never the first, the last, the selected one or "
        "those of least error; where branches were raised, least of the steps shown, which may be as few as 20."
    ),
]


class ClassEvaluation(Answer):
    """How good a classification model is."""

    model: ModelStep
    task: Literal["classification"]
    parts: ClassParts
    baseline: Annotated[ClassParts, Field(description="The same for always answering the majority class.")]
    curve: Curve


class NumberEvaluation(Answer):
    """How good a regression model is."""

    model: ModelStep
    task: Literal["regression"]
    parts: NumberParts
    baseline: Annotated[NumberParts, Field(description="The same for always answering the mean.")]
    curve: Curve


class MultiOutputEvaluation(Answer):
    """How good a model with several targets is."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    parts: MultiOutputParts
    baseline: Annotated[MultiOutputParts, Field(description="The same for always answering the means.")]
    curve: Curve


Evaluation = TypeAliasType(
    "Evaluation",
    Annotated[ClassEvaluation | NumberEvaluation | MultiOutputEvaluation, Field(discriminator="task")],
)
