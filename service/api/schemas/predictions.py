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
    Annotated[dict[str, float], Field(description="Probability of each class.", examples=[{"是": 0.57, "否": 0.43}])],
)
Bounds = TypeAliasType(
    "Bounds", Annotated[list[float], Field(min_length=2, max_length=2, description="Lowest and highest value.")]
)
ClassBounds = TypeAliasType("ClassBounds", dict[str, Bounds])
BoundsByTarget = TypeAliasType("BoundsByTarget", dict[str, Bounds])


class PredictionField(StrEnum):
    """A field of an answer: `label` and `probabilities` for classes; `mean`, `spread` and `count` for numbers.

    Models of many trees have no `count`, `leaves` and `paths`, but `contributions` and `typical_path`, and for
    classification also `votes`. Isolation forests have `score`, `path_length`, `is_anomaly`, `contributions` and
    `short_ways`.
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
    """Records to predict: either `records` or `columns`. An omitted key and `null` both mean missing."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"records": [{"纹理": None, "触感": "硬滑"}], "explain": True}]}
    )

    records: list[Record] | None = None
    columns: Annotated[
        RecordColumns | None, Field(description="Values of each attribute; all lists have the same length.")
    ] = None
    missing: Annotated[
        MissingPolicy | None,
        Field(
            description="How to treat missing values. `weighted`: follow every branch by weight. `last_node`: the last "
            "node reached answers. `majority_branch`: follow the branch of largest share. `surrogate`: use the "
            "surrogate splits of a model that has some. Default: as the model was trained; a model trained on filled "
            "rows fills in the value it stores for the attribute."
        ),
    ] = None
    step: Annotated[
        Step,
        Field(
            description="Step of the pruning history: a number, `selected` (the step served by default), `full` (step "
            "0, before pruning), `leaves:7` (the largest tree with at most 7 leaves) or `alpha:0.01` (the tree after "
            "all cuts up to that alpha)."
        ),
    ] = "selected"
    explain: Annotated[
        Flag,
        Field(
            description="Also return the fields that explain the answer: `explanation` and, for a single tree, "
            "`paths`; for a committee `contributions` and `typical_path`; for an isolation forest `contributions` and "
            "`short_ways`."
        ),
    ] = False
    voting: Annotated[
        VotingOptions | None,
        Field(
            description="How the answers of the trees are combined; only for models of many trees. Default: `average`."
        ),
    ] = None
    ignore_unknown: Annotated[Flag, Field(description="Ignore attributes that the model does not know.")] = False
    fields: Annotated[
        list[PredictionField] | None,
        Field(
            min_length=1,
            description="Fields to return; the others are omitted. `leaves` lists the leaves reached with their "
            "weights. Default: all fields but `leaves`; those that explain the answer (see `explain`) are then `null` "
            "unless `explain` is true.",
            examples=[["label"], ["label", "probabilities"], ["leaves"]],
        ),
    ] = None

    @model_validator(mode="after")
    def _has_one_table(self) -> "PredictionRequest":
        if (self.records is None) == (self.columns is None):
            raise ValueError("send either records or columns")
        return self


class RecordLines(RootModel[str]):
    """NDJSON: one record per line, as in `records`."""

    model_config = ConfigDict(json_schema_extra={"examples": ['{"纹理": null, "触感": "硬滑"}\n{"纹理": "清晰"}\n']})


class RecordTable(RootModel[str]):
    """CSV, as for a dataset: attribute names in the first line, then one record per line."""

    model_config = ConfigDict(json_schema_extra={"examples": ["纹理,触感\n,硬滑\n清晰,软粘\n"]})


class ArrowStream(RootModel[bytes]):
    """Record batches as an Arrow IPC stream with uncompressed buffers. Null means missing; NaN is rejected."""

    model_config = ConfigDict(json_schema_extra={"format": "binary"})


class PredictionLines(RootModel[str]):
    """NDJSON: on each line, the entry that `predictions` has for the record in JSON."""


class PredictionTable(RootModel[str]):
    """CSV: one column per class or target if there are several; lists and paths as JSON."""

    model_config = ConfigDict(
        json_schema_extra={"examples": ["label,probability_是,probability_否,decided\n是,0.57,0.43,false\n"]}
    )


class PathTest(Answer):
    """A test on the path to a leaf."""

    node: int
    attribute: Annotated[
        str,
        Field(
            description="Attribute tested. For a linear test, the first one whose value is not known, or else the "
            "first."
        ),
    ]
    test: Annotated[
        str,
        Field(
            examples=["= 清晰"], description="The test as text. A linear test is written in full, with rounded numbers."
        ),
    ]
    outcome: Annotated[
        Outcome,
        Field(
            description="`true`: the value is known and passes. `missing`: there is no value. `unseen`: the model does "
            "not know the category."
        ),
    ]
    weight: Annotated[float, Field(description="Factor by which the test multiplies the record's weight.")]


class ClassPath(Answer):
    """A path of the record down the tree, to a class distribution."""

    leaf: int
    weight: Annotated[
        float, Field(description="Product of the weights of its tests. The weights of all paths sum to 1.")
    ]
    label: str
    probabilities: Probabilities
    tests: list[PathTest]


class NumberPath(Answer):
    """A path of the record down the tree, to a mean."""

    leaf: int
    weight: Annotated[
        float, Field(description="Product of the weights of its tests. The weights of all paths sum to 1.")
    ]
    mean: float
    tests: list[PathTest]


class MultiOutputPath(Answer):
    """A path of the record down the tree, to a mean of each target."""

    leaf: int
    weight: Annotated[
        float, Field(description="Product of the weights of its tests. The weights of all paths sum to 1.")
    ]
    mean: NumberByTarget
    tests: list[PathTest]


TREE = "Index of the tree; `GET …/tree?index=` shows it."


class TypicalClassPath(ClassPath):
    """The heaviest path through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class TypicalNumberPath(NumberPath):
    """The heaviest path through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class TypicalMultiOutputPath(MultiOutputPath):
    """The heaviest path through one of many trees."""

    tree: Annotated[int, Field(description=TREE)]


class ReachedLeaf(Answer):
    """A leaf that the record reaches, with its share of the answer."""

    leaf: int
    weight: Annotated[
        float, Field(description="Weight with which the record reaches the leaf. The weights of all leaves sum to 1.")
    ]


def _may_be_left_out(schema: dict[str, Any]) -> None:
    """Make no field required in the schema, since `fields` may leave out any part of an answer."""
    schema.pop("required")


class Prediction(Answer):
    """An answer, of which `fields` may request a part."""

    model_config = ConfigDict(json_schema_extra=_may_be_left_out)


SPREAD = "Standard deviation of the training targets behind the answer; for many trees, of the trees' answers."
PATHS = "Every path that the record took; `null` if not requested."

Decided = Annotated[bool, Field(description="Whether no missing value could change this answer.")]
BoundsKind = Annotated[
    Literal["exact", "outer"],
    Field(
        description="`exact`: the bounds are reached. `outer`: the bounds may be wider than necessary, as in a tree "
        "with linear tests or a model of many trees."
    ),
]
MissingNames = Annotated[list[str], Field(description="Attributes without a value.")]
ReachedLeaves = Annotated[
    list[ReachedLeaf], Field(description="Leaves reached, from left to right; only if requested in `fields`.")
]
UnseenNames = Annotated[
    list[str], Field(description="Attributes whose category the model does not know; treated as missing.")
]

Explanation = Annotated[
    str | None,
    Field(
        description="Why this is the answer, which values mattered, and which missing value could change it; `null` if "
        "not requested.",
        examples=["是, because 纹理 = 清晰 and 根蒂 = 蜷缩: 4 of 4 training samples like this are 是."],
    ),
]


NumberByAttribute = TypeAliasType(
    "NumberByAttribute",
    Annotated[dict[str, float], Field(description="Contribution of each attribute.", examples=[{"密度": 0.2}])],
)
NumbersByAttribute = TypeAliasType(
    "NumbersByAttribute", Annotated[dict[str, NumberByTarget], Field(description="Contribution of each attribute.")]
)
ProbabilitiesByAttribute = TypeAliasType(
    "ProbabilitiesByAttribute",
    Annotated[dict[str, Probabilities], Field(description="Contribution of each attribute.")],
)
Votes = TypeAliasType(
    "Votes", Annotated[dict[str, int], Field(description="Number of votes for each class.", examples=[{"是": 71}])]
)
VOTES = (
    "For many trees: number of trees that vote for each class. A tree votes for the class that it would predict alone."
)
CONTRIBUTIONS = (
    "For many trees: contributions to the mean of their answers. The trees begin with `start`, and every attribute "
    "tested on the path adds its contribution: `start` and all contributions sum to the mean. `null` if not "
    "requested."
)
TYPICAL_PATH = (
    "For many trees: the heaviest path through the tree whose answer is nearest to that of all trees. `null` if not "
    "requested."
)


class ClassContributions(Answer):
    """Contributions to a forest's probabilities: `start` and the contributions of all attributes sum to them."""

    start: Probabilities
    attributes: ProbabilitiesByAttribute


class NumberContributions(Answer):
    """Contributions to a forest's number: `start` and the contributions of all attributes sum to it."""

    start: float
    attributes: NumberByAttribute


class MultiOutputContributions(Answer):
    """Contributions to a forest's numbers: `start` and the contributions of all attributes sum to them."""

    start: NumberByTarget
    attributes: NumbersByAttribute


class ClassPrediction(Prediction):
    """A class and the probability of each class: the sum of weight times probability over all paths.

    For many trees, the result of their voting. Fields not requested in `fields` are omitted, as are those that only
    models of many trees, or only single trees, have.
    """

    label: Annotated[str | None, Field(description="`null` if the requested voting of many trees is undecided.")]
    probabilities: Probabilities
    votes: Annotated[Votes, Field(description=VOTES)]
    decided: Decided
    bounds: Annotated[ClassBounds, Field(description="Range of each probability once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[ClassPath] | None, Field(description=PATHS)]
    contributions: Annotated[ClassContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalClassPath | None, Field(description=TYPICAL_PATH)]


class NumberPrediction(Prediction):
    """A number: the sum of weight times mean over all paths; for many trees, their combined answer (default: the mean).

    Fields not requested in `fields` are omitted, as are those that only models of many trees, or only single trees,
    have.
    """

    mean: float
    spread: Annotated[float, Field(description=SPREAD)]
    count: Annotated[float, Field(description="Training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[Bounds, Field(description="Range of the mean once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[NumberPath] | None, Field(description=PATHS)]
    contributions: Annotated[NumberContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalNumberPath | None, Field(description=TYPICAL_PATH)]


class MultiOutputPrediction(Prediction):
    """A number for each target: the sum of weight times mean over all paths.

    For many trees, their combined answer (default: the mean). Fields not requested in `fields` are omitted, as are
    those that only models of many trees, or only single trees, have.
    """

    mean: NumberByTarget
    spread: Annotated[NumberByTarget, Field(description=SPREAD)]
    count: Annotated[float, Field(description="Training weight behind the answer.")]
    decided: Decided
    bounds: Annotated[BoundsByTarget, Field(description="Range of each mean once all values are known.")]
    bounds_kind: BoundsKind
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    leaves: ReachedLeaves
    paths: Annotated[list[MultiOutputPath] | None, Field(description=PATHS)]
    contributions: Annotated[MultiOutputContributions | None, Field(description=CONTRIBUTIONS)]
    typical_path: Annotated[TypicalMultiOutputPath | None, Field(description=TYPICAL_PATH)]


class ShortWay(Answer):
    """A tree of an isolation forest in which the record is isolated early."""

    tree: Annotated[int, Field(description=TREE)]
    length: Annotated[float, Field(description="Length of the record's path in this tree.")]
    conditions: Annotated[list[str], Field(description="Conditions on this path.", examples=[["密度 > 0.7"]])]


class LengthContributions(Answer):
    """Contributions to a path length: `start` and the contributions of all attributes sum to it.

    Negative contributions shorten the path.
    """

    start: Annotated[float, Field(description="Expected path length of a training row.")]
    attributes: NumberByAttribute


class AnomalyPrediction(Prediction):
    """How much a record differs from the training rows. Fields not requested in `fields` are omitted."""

    score: Annotated[
        float, Field(description="2^(-path_length / c(n)): near 1 for anomalies, well below 0.5 for normal records.")
    ]
    path_length: Annotated[
        float,
        Field(description="Mean number of cuts, over the trees, that it takes to isolate the record."),
    ]
    is_anomaly: Annotated[bool, Field(description="Whether the score is above the model's threshold.")]
    missing: MissingNames
    unseen: UnseenNames
    explanation: Explanation
    contributions: Annotated[
        LengthContributions | None,
        Field(description="What makes the path length shorter or longer; `null` if not requested."),
    ]
    short_ways: Annotated[
        list[ShortWay] | None,
        Field(description="The shortest paths of the record, shortest first. `null` if not requested."),
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
    """Answers of an isolation forest, in the order of the records."""

    model: ModelStep
    task: Literal["anomaly_detection"]
    predictions: list[AnomalyPrediction]


AnyPredictions = ClassPredictions | NumberPredictions | MultiOutputPredictions | AnomalyPredictions
Predictions = TypeAliasType("Predictions", Annotated[AnyPredictions, Field(discriminator="task")])
