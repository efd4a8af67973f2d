"""How good a model is, as numbers."""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from typing_extensions import TypeAliasType

from service.api.schemas.common import Answer
from service.api.schemas.models import ModelStep


class ClassScores(Answer):
    """Measures of one class."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


class Confusion(Answer):
    """`matrix[actual][predicted]`: weights, in the order of `classes`."""

    classes: list[str]
    matrix: list[list[float]]


class ClassMeasures(Answer):
    """Measures of a classification model on one part of the data."""

    @model_validator(mode="before")
    @classmethod
    def _with_later_measures(cls, stored: Any) -> Any:
        """The measures with `mean_cost`, which evaluations stored by earlier releases do not have."""
        return {"mean_cost": None, **stored} if isinstance(stored, dict) else stored

    rows: int
    weight: float
    accuracy: float
    log_loss: Annotated[float, Field(description="With the natural logarithm; a probability of 0 counts as 2.2e-16.")]
    auc: Annotated[
        float | None, Field(description="One class against the rest, averaged; `null` if only one class occurs.")
    ]
    mean_cost: Annotated[
        float | None, Field(description="Mean cost of the answers, if wrong ones have costs; otherwise `null`.")
    ]
    confusion: Confusion
    per_class: list[ClassScores]


class NumberMeasures(Answer):
    """Measures of a regression model on one part of the data."""

    rows: int
    weight: float
    mae: float
    rmse: float
    r2: Annotated[float | None, Field(description="`null` if the target does not vary.")]


class TargetMeasures(Answer):
    """Measures of one of several targets."""

    target: str
    mae: float
    rmse: float
    r2: Annotated[float | None, Field(description="`null` if the target does not vary.")]


class MultiOutputMeasures(Answer):
    """Measures of a model for several targets on one part of the data."""

    rows: int
    weight: float
    mae: Annotated[float, Field(description="The average over the targets.")]
    rmse: Annotated[float, Field(description="The average over the targets.")]
    r2: Annotated[float | None, Field(description="The average over the targets that vary; `null` if none does.")]
    per_target: list[TargetMeasures]


class ClassParts(Answer):
    """Measures by part; `null` if a part has no rows."""

    train: ClassMeasures | None
    validation: ClassMeasures | None
    test: ClassMeasures | None
    out_of_bag: ClassMeasures | None


class NumberParts(Answer):
    """Measures by part; `null` if a part has no rows."""

    train: NumberMeasures | None
    validation: NumberMeasures | None
    test: NumberMeasures | None
    out_of_bag: NumberMeasures | None


class MultiOutputParts(Answer):
    """Measures by part; `null` if a part has no rows."""

    train: MultiOutputMeasures | None
    validation: MultiOutputMeasures | None
    test: MultiOutputMeasures | None
    out_of_bag: MultiOutputMeasures | None


class CurvePoint(Answer):
    """Size and error of the tree at a step; the error is `null` for a part without rows.

    The error is the error rate, the mean cost, or the mean squared error summed over the targets.
    """

    step: int
    leaves: int
    alpha: float | None
    train: float | None
    validation: float | None
    test: float | None
    cross_validation: Annotated[
        float | None,
        Field(
            description="Error on held-out rows, if alpha was chosen by cross-validation and this step is part of it; "
            "otherwise `null`."
        ),
    ]
    spread: Annotated[float | None, Field(description="The standard error of `cross_validation`.")]


Curve = Annotated[
    list[CurvePoint],
    Field(
        description="From the full tree on, every step that changed the tree, and the requested step. Of more than "
        "about 200 steps some are omitted, most of them of large trees, but never the first, the last, the selected "
        "one or those with the least error. If branches were raised, fewer steps may be evaluated, as few as 20, and "
        "the least error is that of these steps."
    ),
]


class TreesPoint(Answer):
    """The out-of-bag error of the first trees of a committee.

    It is measured on the training rows that some of these trees were not grown from; each row is predicted by those
    trees only. The error is the same measure as in `curve`.
    """

    trees: Annotated[int, Field(description="Number of trees, counted from the first.")]
    rows: Annotated[int, Field(description="Number of rows that at least one of them was not grown from.")]
    out_of_bag: Annotated[float | None, Field(description="Error on these rows; `null` if there are none.")]


TreesCurve = Annotated[
    list[TreesPoint],
    Field(
        description="For a committee, from one tree to all; of more than 200, some are omitted. Empty for a single "
        "tree, and if every tree is grown from all rows."
    ),
]


class ClassEvaluation(Answer):
    """Evaluation of a classification model."""

    model: ModelStep
    task: Literal["classification"]
    parts: ClassParts
    baseline: Annotated[ClassParts, Field(description="The same measures if the answer is always the majority class.")]
    curve: Curve
    trees: TreesCurve


class NumberEvaluation(Answer):
    """Evaluation of a regression model."""

    model: ModelStep
    task: Literal["regression"]
    parts: NumberParts
    baseline: Annotated[NumberParts, Field(description="The same measures if the answer is always the mean.")]
    curve: Curve
    trees: TreesCurve


class MultiOutputEvaluation(Answer):
    """Evaluation of a model for several targets."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    parts: MultiOutputParts
    baseline: Annotated[MultiOutputParts, Field(description="The same measures if the answer is always the means.")]
    curve: Curve
    trees: TreesCurve


class ScoreMeasures(Answer):
    """Scores of the rows of one part by an isolation forest; there is no ground truth to compare them with."""

    rows: int
    anomalies: Annotated[int, Field(description="Number of rows with a score above the threshold.")]
    mean_score: float
    lowest_score: float
    highest_score: float


class ScoreParts(Answer):
    """Scores by part; `null` if a part has no rows."""

    train: ScoreMeasures | None
    validation: ScoreMeasures | None
    test: ScoreMeasures | None


class AnomalyEvaluation(Answer):
    """Scores of a dataset's rows by an isolation forest."""

    model: ModelStep
    task: Literal["anomaly_detection"]
    parts: ScoreParts


Evaluation = TypeAliasType(
    "Evaluation",
    Annotated[
        ClassEvaluation | NumberEvaluation | MultiOutputEvaluation | AnomalyEvaluation, Field(discriminator="task")
    ],
)
