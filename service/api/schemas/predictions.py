"""Records to predict, and the answers with their reasons."""

from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal, TypeVar, assert_never

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypeAliasType

from core.answers import Answers
from core.explanation import Outcome, Path
from core.model import Model
from core.prediction import MissingPolicy
from core.records import State
from service.api.schemas.common import Answer, Body, Flag, OneOf, WholeNumber
from service.api.schemas.datasets import Cell
from service.api.schemas.models import ModelStep, NumberByTarget, Task, task_of
from service.api.schemas.trees import by_target, means_of
from service.serving.loaded_models import LoadedModel
from service.usecases.predict import Predicted, Records

AnyPath = TypeVar("AnyPath")

Step = TypeAliasType("Step", Annotated[Annotated[WholeNumber, Field(ge=0)] | str, OneOf()])
Record = TypeAliasType("Record", dict[str, Cell])
RecordColumns = TypeAliasType("RecordColumns", dict[str, list[Cell]])
Probabilities = TypeAliasType(
    "Probabilities",
    Annotated[dict[str, float], Field(description="Of each class.", examples=[{"是": 0.57, "否": 0.43}])],
)
Bounds = TypeAliasType(
    "Bounds", Annotated[list[float], Field(min_length=2, max_length=2, description="Lowest and highest.")]
)
ClassBounds = TypeAliasType("ClassBounds", dict[str, Bounds])
BoundsByTarget = TypeAliasType("BoundsByTarget", dict[str, Bounds])


class PredictionRequest(Body):
    """Records to predict: either `records` or `columns`. A key left out and null both mean missing."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"records": [{"纹理": None, "触感": "硬滑"}], "explain": True}]}
    )

    records: list[Record] | None = None
    columns: Annotated[RecordColumns | None, Field(description="Each attribute's values, all of one length.")] = None
    missing: Annotated[
        MissingPolicy | None,
        Field(
            description="What becomes of missing values: every branch by weight, the last node reached answers, the "
            "main branch, or the surrogates of a model that has some. Left out: as the model was trained; one trained "
            "on filled rows fills the value it keeps for the attribute."
        ),
    ] = None
    step: Annotated[
        Step, Field(description="Which tree of the pruning history: a number, selected, full, leaves:7 or alpha:0.01.")
    ] = "selected"
    explain: Annotated[Flag, Field(description="Also answer with every path that the record took.")] = False
    ignore_unknown: Annotated[Flag, Field(description="Drop attributes that the model does not know.")] = False

    @model_validator(mode="after")
    def _has_one_table(self) -> "PredictionRequest":
        if (self.records is None) == (self.columns is None):
            raise ValueError("send either records or columns")
        return self

    def to_records(self) -> Records:
        """What is to be predicted, in the service's own terms."""
        return Records(self.records, self.columns, self.ignore_unknown)


class PathTest(Answer):
    """A test on the way to a leaf."""

    node: int
    attribute: str
    test: Annotated[str, Field(examples=["= 清晰"])]
    outcome: Annotated[Outcome, Field(description="`true` when the value is known and passes.")]
    weight: Annotated[float, Field(description="What the test multiplies the record's weight by.")]


class ClassPath(Answer):
    """One way of the record down the tree, to a class distribution."""

    leaf: int
    weight: Annotated[float, Field(description="The product of its tests' weights; all paths together weigh 1.")]
    label: str
    probabilities: Probabilities
    tests: list[PathTest]


class NumberPath(Answer):
    """One way of the record down the tree, to a mean."""

    leaf: int
    weight: Annotated[float, Field(description="The product of its tests' weights; all paths together weigh 1.")]
    mean: float
    tests: list[PathTest]


class MultiOutputPath(Answer):
    """One way of the record down the tree, to a mean of each target."""

    leaf: int
    weight: Annotated[float, Field(description="The product of its tests' weights; all paths together weigh 1.")]
    mean: NumberByTarget
    tests: list[PathTest]


Decided = Annotated[bool, Field(description="Whether no value that is missing could change this answer.")]
BoundsKind = Annotated[Literal["exact"], Field(description="How tight the bounds are.")]
MissingNames = Annotated[list[str], Field(description="The attributes without a value.")]
UnseenNames = Annotated[list[str], Field(description="The attributes with a category never seen; routed like missing.")]


class ClassPrediction(Answer):
    """A class, with how probable each class is: the sum of weight times probability over all paths."""

    label: str
    probabilities: Probabilities
    decided: Decided
    bounds: Annotated[ClassBounds, Field(description="What each probability can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    paths: list[ClassPath] | None


class NumberPrediction(Answer):
    """A number: the sum of weight times mean over all paths."""

    mean: float
    spread: Annotated[float, Field(description="The standard deviation of the training targets behind the answer.")]
    count: Annotated[float, Field(description="The training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[Bounds, Field(description="What the mean can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    paths: list[NumberPath] | None


class MultiOutputPrediction(Answer):
    """A number for each target: the sum of weight times mean over all paths."""

    mean: NumberByTarget
    spread: Annotated[
        NumberByTarget, Field(description="The standard deviation of the training targets behind the answer.")
    ]
    count: Annotated[float, Field(description="The training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[BoundsByTarget, Field(description="What each mean can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    paths: list[MultiOutputPath] | None


class ClassPredictions(Answer):
    """Answers of a classification model, in the order of the records."""

    model: ModelStep
    task: Literal["classification"]
    predictions: list[ClassPrediction]


class NumberPredictions(Answer):
    """Answers of a regression model, in the order of the records."""

    model: ModelStep
    task: Literal["regression"]
    predictions: list[NumberPrediction]


class MultiOutputPredictions(Answer):
    """Answers of a model with several targets, in the order of the records."""

    model: ModelStep
    task: Literal["multi_output_regression"]
    predictions: list[MultiOutputPrediction]


AnyPredictions = ClassPredictions | NumberPredictions | MultiOutputPredictions
Predictions = TypeAliasType("Predictions", Annotated[AnyPredictions, Field(discriminator="task")])


def predictions_of(loaded: LoadedModel, predicted: Predicted) -> AnyPredictions:
    """The answers as they are sent."""
    shown, model = ModelStep.of(loaded, predicted.step), loaded.as_of(predicted.step)
    match task_of(model):
        case Task.CLASSIFICATION:
            return ClassPredictions(
                model=shown, task="classification", predictions=_class_predictions(model, predicted)
            )
        case Task.REGRESSION:
            return NumberPredictions(model=shown, task="regression", predictions=_number_predictions(model, predicted))
        case Task.MULTI_OUTPUT_REGRESSION:
            several = _multi_output_predictions(model, predicted)
            return MultiOutputPredictions(model=shown, task="multi_output_regression", predictions=several)
        case other:
            assert_never(other)


def _class_predictions(model: Model, predicted: Predicted) -> list[ClassPrediction]:
    answers = predicted.answers
    columns = zip(answers.labels.tolist(), answers.values.tolist(), answers.bounds.tolist(), strict=True)
    return [
        ClassPrediction(
            label=model.classes[label],
            probabilities=_by_class(model, values),
            bounds=dict(zip(model.classes, bounds, strict=True)),
            paths=_paths(predicted, row, lambda path: _class_path(model, path)),
            **_common(predicted, row),
        )
        for row, (label, values, bounds) in enumerate(columns)
    ]


def _number_predictions(model: Model, predicted: Predicted) -> list[NumberPrediction]:
    return [
        NumberPrediction(
            mean=mean,
            spread=spread,
            count=count,
            bounds=bounds,
            paths=_paths(predicted, row, lambda path: _number_path(model, path)),
            **_common(predicted, row),
        )
        for row, ((mean,), (spread,), count, (bounds,)) in enumerate(_numbers(predicted.answers))
    ]


def _multi_output_predictions(model: Model, predicted: Predicted) -> list[MultiOutputPrediction]:
    return [
        MultiOutputPrediction(
            mean=by_target(model, means),
            spread=by_target(model, spreads),
            count=count,
            bounds=dict(zip(model.targets, bounds, strict=True)),
            paths=_paths(predicted, row, lambda path: _multi_output_path(model, path)),
            **_common(predicted, row),
        )
        for row, (means, spreads, count, bounds) in enumerate(_numbers(predicted.answers))
    ]


def _numbers(answers: Answers) -> Iterator[tuple[list[float], list[float], float, list[list[float]]]]:
    columns = (answers.values, answers.spreads, answers.counts, answers.bounds)
    return zip(*(column.tolist() for column in columns), strict=True)


def _common(predicted: Predicted, row: int) -> dict[str, Any]:
    """What every kind of answer says."""
    return {
        "decided": bool(predicted.answers.is_decided[row]),
        "bounds_kind": "exact",
        "missing": predicted.records.names(row, State.MISSING),
        "unseen": predicted.records.names(row, State.UNSEEN),
    }


def _paths(predicted: Predicted, row: int, shown: Callable[[Path], AnyPath]) -> list[AnyPath] | None:
    return None if predicted.paths is None else [shown(path) for path in predicted.paths[row]]


def _class_path(model: Model, path: Path) -> ClassPath:
    return ClassPath(
        leaf=path.leaf,
        weight=path.weight,
        label=model.classes[int(model.tree.labels[path.leaf])],
        probabilities=_by_class(model, model.tree.answers[path.leaf].tolist()),
        tests=_tests(path),
    )


def _number_path(model: Model, path: Path) -> NumberPath:
    (mean,) = means_of(model, path.leaf)
    return NumberPath(leaf=path.leaf, weight=path.weight, mean=mean, tests=_tests(path))


def _multi_output_path(model: Model, path: Path) -> MultiOutputPath:
    mean = by_target(model, means_of(model, path.leaf))
    return MultiOutputPath(leaf=path.leaf, weight=path.weight, mean=mean, tests=_tests(path))


def _tests(path: Path) -> list[PathTest]:
    return [
        PathTest(node=t.node, attribute=t.attribute, test=t.test, outcome=t.outcome, weight=t.weight)
        for t in path.tests
    ]


def _by_class(model: Model, values: list[float]) -> dict[str, float]:
    return dict(zip(model.classes, values, strict=True))
