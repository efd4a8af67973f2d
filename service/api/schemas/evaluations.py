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
        """The measures with `mean_cost`, which evaluations stored by earlier releases do not have."""
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


class TreesPoint(Answer):
    """The error of the first trees of a committee, on the training rows that some of them were not grown from.

    Each row is answered by those trees only. The error is what it is in `curve`.
    """

    trees: Annotated[int, Field(description="How many trees, from the first on.")]
    rows: Annotated[int, Field(description="How many rows at least one of them was not grown from.")]
    out_of_bag: Annotated[float | None, Field(description="Null where there is no such row.")]


TreesCurve = Annotated[
    list[TreesPoint],
    Field(
        description="Of a committee, from one tree to all; of more than 200 some are left out. Empty for a single "
        "tree, and where every tree is grown from all rows."
    ),
]


class ClassEvaluation(Answer):
    """How good a classification model is."""

    model: ModelStep
    task: Literal["classification"]
    parts: ClassParts
    baseline: Annotated[ClassParts, Field(description="The same for always answering the majority class.")]
    curve: Curve
    trees: TreesCurve


class NumberEvaluation(Answer):
    """How good a regression model is."""

    model: ModelStep
    task: Literal["regression"]
    parts: NumberParts
    baseline: Annotated[NumberParts, Field(description="The same for always answering the mean.")]
    curve: Curve
    trees: TreesCurve


class MultiOutputEvaluation(Answer):
    """How good a model with several targets is."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    parts: MultiOutputParts
    baseline: Annotated[MultiOutputParts, Field(description="The same for always answering the means.")]
    curve: Curve
    trees: TreesCurve


class ScoreMeasures(Answer):
    """What an isolation forest says of the rows of one part; there is no truth to compare it with."""

    rows: int
    anomalies: Annotated[int, Field(description="How many rows have a score above the threshold.")]
    mean_score: float
    lowest_score: float
    highest_score: float


class ScoreParts(Answer):
    """Scores by part; null where a part has no rows."""

    train: ScoreMeasures | None
    validation: ScoreMeasures | None
    test: ScoreMeasures | None


class AnomalyEvaluation(Answer):
    """What an isolation forest says of its data."""

    model: ModelStep
    task: Literal["anomaly_detection"]
    parts: ScoreParts


Evaluation = TypeAliasType(
    "Evaluation",
    Annotated[
        ClassEvaluation | NumberEvaluation | MultiOutputEvaluation | AnomalyEvaluation, Field(discriminator="task")
    ],
)
