"""Records to predict, and the answers with their reasons."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, RootModel, model_validator
from typing_extensions import TypeAliasType

from core.explanation.paths import Outcome
from core.prediction.routing import MissingPolicy
from service.api.schemas.common import Answer, Body, Flag, OneOf, WholeNumber
from service.api.schemas.configuring.voting import VotingOptions
from service.api.schemas.datasets import Cell
from service.api.schemas.models import ModelStep, NumberByTarget

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


class PredictionField(StrEnum):
    """A part of an answer. Classes have label and probabilities; numbers have mean, spread and count.

    Many trees have no count, leaves and paths, but contributions and a typical_path; where they answer classes, also
    votes. Isolation forests have score, path_length, is_anomaly, contributions and short_ways.
    """

    LABEL = "label"
    PROBABILITIES = "probabilities"
    MEAN = "mean"
    SPREAD = "spread"
    COUNT = "count"
    DECIDED = "decided"
    BOUNDS = "bounds"
    MISSING = "missing"
    UNSEEN = "unseen"
    EXPLANATION = "explanation"
    LEAVES = "leaves"
    PATHS = "paths"
    VOTES = "votes"
    CONTRIBUTIONS = "contributions"
    TYPICAL_PATH = "typical_path"
    SHORT_WAYS = "short_ways"
    SCORE = "score"
    PATH_LENGTH = "path_length"
    IS_ANOMALY = "is_anomaly"


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
    explain: Annotated[
        Flag, Field(description="Also answer with every path that the record took, and say why in a few words.")
    ] = False
    voting: Annotated[
        VotingOptions | None,
        Field(description="How many trees come to one answer; only for a model that has many. Left out: `average`."),
    ] = None
    ignore_unknown: Annotated[Flag, Field(description="Drop attributes that the model does not know.")] = False
    fields: Annotated[
        list[PredictionField] | None,
        Field(
            min_length=1,
            description="The parts of an answer that are wanted; the others are left out. `paths` explains, and "
            "`leaves` lists the leaves reached with their weights. Left out: everything but `leaves`, with "
            "`explanation` and `paths` null unless `explain` asks for them.",
            examples=[["label"], ["label", "probabilities"], ["leaves"]],
        ),
    ] = None

    @model_validator(mode="after")
    def _has_one_table(self) -> "PredictionRequest":
        if (self.records is None) == (self.columns is None):
            raise ValueError("send either records or columns")
        return self


class RecordLines(RootModel[str]):
    """NDJSON: a record on each line, as in `records`."""

    model_config = ConfigDict(json_schema_extra={"examples": ['{"纹理": null, "触感": "硬滑"}\n{"纹理": "清晰"}\n']})


class RecordTable(RootModel[str]):
    """CSV, as in a dataset: the attributes' names in the first line, then a record on each line."""

    model_config = ConfigDict(json_schema_extra={"examples": ["纹理,触感\n,硬滑\n清晰,软粘\n"]})


class ArrowStream(RootModel[bytes]):
    """Record batches as an Arrow IPC stream, without compression inside; null is missing, NaN is refused."""

    model_config = ConfigDict(json_schema_extra={"format": "binary"})


class PredictionLines(RootModel[str]):
    """NDJSON: on each line what `predictions` has for the record in JSON."""


class PredictionTable(RootModel[str]):
    """CSV: a column for each class or target where there are several, lists and paths as JSON."""

    model_config = ConfigDict(
        json_schema_extra={"examples": ["label,probability_是,probability_否,decided\n是,0.57,0.43,false\n"]}
    )


class PathTest(Answer):
    """A test on the way to a leaf."""

    node: int
    attribute: Annotated[
        str, Field(description="Of a linear test the first one whose value is not known, or simply the first.")
    ]
    test: Annotated[str, Field(examples=["= 清晰"], description="A linear test is told in full, its numbers rounded.")]
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


TREE = "The index of the tree; `tree?index=` shows it."


class TypicalClassPath(ClassPath):
    """The heaviest way through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class TypicalNumberPath(NumberPath):
    """The heaviest way through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class TypicalMultiOutputPath(MultiOutputPath):
    """The heaviest way through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class ReachedLeaf(Answer):
    """A leaf that answers, with its share of the answer."""

    leaf: int
    weight: Annotated[float, Field(description="All leaves of a record together weigh 1.")]


def _may_be_left_out(schema: dict[str, Any]) -> None:
    """Make no field required in the schema, since `fields` may leave out any part of an answer."""
    schema.pop("required")


class Prediction(Answer):
    """An answer, of which `fields` may request a part."""

    model_config = ConfigDict(json_schema_extra=_may_be_left_out)


SPREAD = "The standard deviation of the training targets behind the answer; of many trees, that of their answers."
PATHS = "Every way that the record took; null unless it was asked for."

Decided = Annotated[bool, Field(description="Whether no value that is missing could change this answer.")]
BoundsKind = Annotated[
    Literal["exact", "outer"],
    Field(
        description="How tight the bounds are: in a tree with linear tests, and of many trees, they may be wider than "
        "they had to be."
    ),
]
MissingNames = Annotated[list[str], Field(description="The attributes without a value.")]
ReachedLeaves = Annotated[
    list[ReachedLeaf], Field(description="The leaves reached, from left to right; only where `fields` asks for them.")
]
UnseenNames = Annotated[list[str], Field(description="The attributes with a category never seen; routed like missing.")]

Explanation = Annotated[
    str | None,
    Field(
        description="Why this answer, which values mattered, and which missing value could change it; null unless it "
        "was asked for.",
        examples=["是, because 纹理 = 清晰 and 根蒂 = 蜷缩: 4 of 4 training samples like this are 是."],
    ),
]


NumberByAttribute = TypeAliasType(
    "NumberByAttribute",
    Annotated[dict[str, float], Field(description="The part of each attribute.", examples=[{"密度": 0.2}])],
)
NumbersByAttribute = TypeAliasType(
    "NumbersByAttribute", Annotated[dict[str, NumberByTarget], Field(description="The part of each attribute.")]
)
ProbabilitiesByAttribute = TypeAliasType(
    "ProbabilitiesByAttribute", Annotated[dict[str, Probabilities], Field(description="The part of each attribute.")]
)
Votes = TypeAliasType(
    "Votes", Annotated[dict[str, int], Field(description="How many trees are for each class.", examples=[{"是": 71}])]
)
VOTES = "Of many trees: how many vote for each class, each for the one that it would answer alone."
CONTRIBUTIONS = (
    "Of many trees: where the mean of their answers comes from. The trees begin with `start`, and every attribute "
    "tested on the way adds its part: all parts and the start sum to the answer. Null unless it was asked for."
)
TYPICAL_PATH = (
    "Of many trees: the way through the tree whose answer is nearest to that of all. Null unless it was asked for."
)


class ClassContributions(Answer):
    """Where a forest's probabilities come from: `start` and the parts of all attributes sum to them."""

    start: Probabilities
    attributes: ProbabilitiesByAttribute


class NumberContributions(Answer):
    """Where a forest's number comes from: `start` and the parts of all attributes sum to it."""

    start: float
    attributes: NumberByAttribute


class MultiOutputContributions(Answer):
    """Where a forest's numbers come from: `start` and the parts of all attributes sum to them."""

    start: NumberByTarget
    attributes: NumbersByAttribute


class ClassPrediction(Prediction):
    """A class, with how probable each class is: the sum of weight times probability over all paths.

    Of many trees it is what their voting makes of their answers. What `fields` does not ask for is left out, and so is
    what only many trees, or only a single one, have.
    """

    label: Annotated[str | None, Field(description="Null where many trees are undecided by the voting asked for.")]
    probabilities: Probabilities
    votes: Annotated[Votes, Field(description=VOTES)]
    decided: Decided
    bounds: Annotated[ClassBounds, Field(description="What each probability can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[ClassPath] | None, Field(description=PATHS)]
    contributions: Annotated[ClassContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalClassPath | None, Field(description=TYPICAL_PATH)]


class NumberPrediction(Prediction):
    """A number: the sum of weight times mean over all paths; of many trees the mean of their numbers.

    What `fields` does not ask for is left out, and so is what only many trees, or only a single one, have.
    """

    mean: float
    spread: Annotated[float, Field(description=SPREAD)]
    count: Annotated[float, Field(description="The training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[Bounds, Field(description="What the mean can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[NumberPath] | None, Field(description=PATHS)]
    contributions: Annotated[NumberContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalNumberPath | None, Field(description=TYPICAL_PATH)]


class MultiOutputPrediction(Prediction):
    """A number for each target: the sum of weight times mean over all paths; of many trees the mean of their numbers.

    What `fields` does not ask for is left out, and so is what only many trees, or only a single one, have.
    """

    mean: NumberByTarget
    spread: Annotated[NumberByTarget, Field(description=SPREAD)]
    count: Annotated[float, Field(description="The training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[BoundsByTarget, Field(description="What each mean can become once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[MultiOutputPath] | None, Field(description=PATHS)]
    contributions: Annotated[MultiOutputContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalMultiOutputPath | None, Field(description=TYPICAL_PATH)]


class ShortWay(Answer):
    """A tree of an isolation forest in which the record ends early."""

    tree: Annotated[int, Field(description=TREE)]
    length: Annotated[float, Field(description="How long the record's way is there.")]
    conditions: Annotated[list[str], Field(description="What is asked on it.", examples=[["密度 > 0.7"]])]


class LengthContributions(Answer):
    """Where a path length comes from: `start` and the parts of all attributes sum to it; a negative part shortens."""

    start: Annotated[float, Field(description="What is expected of a training row.")]
    attributes: NumberByAttribute


class AnomalyPrediction(Prediction):
    """How unlike the training rows a record is. What `fields` does not ask for is left out."""

    score: Annotated[
        float, Field(description="2^(-path_length / c(n)): near 1 for anomalies, well below 0.5 for none.")
    ]
    path_length: Annotated[
        float,
        Field(description="The mean over the trees of how many cuts it takes to set the record apart."),
    ]
    is_anomaly: Annotated[bool, Field(description="Whether the score is above the model's threshold.")]
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    contributions: Annotated[LengthContributions | None, Field(description="Null unless it was asked for.")]
    short_ways: Annotated[
        list[ShortWay] | None,
        Field(description="The shortest ways of the record, shortest first. Null unless they were asked for."),
    ]


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


class AnomalyPredictions(Answer):
    """What an isolation forest says of records, in their order."""

    model: ModelStep
    task: Literal["anomaly_detection"]
    predictions: list[AnomalyPrediction]


AnyPredictions = ClassPredictions | NumberPredictions | MultiOutputPredictions | AnomalyPredictions
Predictions = TypeAliasType("Predictions", Annotated[AnyPredictions, Field(discriminator="task")])
