"""How to train: the options that clients send, and their complete form with every default.

As with methods, clients send `DatasetsDivisionOptions`, and answers show `DatasetsDivision`.
"""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from typing_extensions import TypeAliasType

from core.config import as_json, options
from core.config.from_plain import MOST_REPEATS
from core.config.options import OnTie
from service.api.schemas.common import Body, Flag, Number, WholeNumber
from service.api.schemas.configuring.committees import (
    Bagging,
    BaggingOptions,
    ExtraTrees,
    ExtraTreesOptions,
    IsolationForest,
    IsolationForestOptions,
    RandomForest,
    RandomForestOptions,
)
from service.api.schemas.configuring.methods import (
    C45,
    C45Options,
    Cart,
    CartOptions,
    Chaid,
    ChaidOptions,
    Id3,
    Id3Options,
    Multivariate,
    MultivariateOptions,
    Quest,
    QuestOptions,
)

Algorithm = TypeAliasType(
    "Algorithm",
    Annotated[
        Id3 | C45 | Cart | Chaid | Quest | Multivariate | Bagging | RandomForest | ExtraTrees | IsolationForest,
        Field(discriminator="kind"),
    ],
)
AlgorithmOptions = TypeAliasType(
    "AlgorithmOptions",
    Annotated[
        Id3Options
        | C45Options
        | CartOptions
        | ChaidOptions
        | QuestOptions
        | MultivariateOptions
        | BaggingOptions
        | RandomForestOptions
        | ExtraTreesOptions
        | IsolationForestOptions,
        Field(discriminator="kind"),
    ],
)

TrainShare = Annotated[Number, Field(gt=0, le=1)]
AsideShare = Annotated[Number, Field(ge=0, le=1)]


class RandomDivision(Body):
    """Shares of the rows, drawn at random with the seed. A class too small to be divided stays in `train`."""

    kind: Literal["random"]
    train: TrainShare
    validation: AsideShare
    test: AsideShare
    stratified: Annotated[Flag, Field(description="Divide each class separately.")]


class RandomDivisionOptions(Body):
    """Shares of the rows that sum to 1, drawn with the seed. A class too small to be divided stays in `train`."""

    kind: Literal["random"]
    train: TrainShare = 0.6
    validation: AsideShare = 0.2
    test: AsideShare = 0.2
    stratified: Annotated[Flag, Field(description="Divide each class separately.")] = True


class NoDivision(Body):
    """All rows are training rows."""

    kind: Literal["none"]


class ColumnDivision(Body):
    """A column assigns each row to `train`, `validation` or `test`."""

    kind: Literal["column"]
    column: str


class DatasetsDivision(Body):
    """All rows are training rows; validation and test rows come from other datasets, given by their ids."""

    kind: Literal["datasets"]
    validation: str | None
    test: str | None


class DatasetsDivisionOptions(Body):
    """All rows are training rows; validation and test rows come from other datasets, given by their ids."""

    kind: Literal["datasets"]
    validation: str | None = None
    test: str | None = None


Division = TypeAliasType(
    "Division",
    Annotated[RandomDivision | NoDivision | ColumnDivision | DatasetsDivision, Field(discriminator="kind")],
)
DivisionOptions = TypeAliasType(
    "DivisionOptions",
    Annotated[
        RandomDivisionOptions | NoDivision | ColumnDivision | DatasetsDivisionOptions, Field(discriminator="kind")
    ],
)

WhenEqual = Annotated[OnTie, Field(description="What to do if accuracy stays the same.")]


class NoPruning(Body):
    """The tree stays as it was grown."""

    kind: Literal["none"]


class ReducedErrorPruning(Body):
    """Cut every subtree whose removal raises accuracy on the validation rows."""

    kind: Literal["reduced_error"]
    on_tie: WhenEqual


class ReducedErrorPruningOptions(Body):
    """Cut every subtree whose removal raises accuracy on the validation rows."""

    kind: Literal["reduced_error"]
    on_tie: WhenEqual = OnTie.KEEP


ConfidenceLevel = Annotated[
    Number,
    Field(
        ge=1e-6,
        le=1 - 1e-6,
        description="Confidence level: the probability that the true error rate is above the estimate. Smaller values "
        "prune more.",
    ),
]
BoundKind = Annotated[
    options.Bound,
    Field(
        description="Upper limit of an error rate: the exact one of the binomial distribution (`binomial`), or the "
        "approximation of C4.5's programs (`normal`)."
    ),
]
Raising = Annotated[
    Flag,
    Field(
        description="Subtree raising: also replace a node by its heaviest branch where fewer errors are expected of it."
    ),
]


class ConfidencePruning(Body):
    """Cut every subtree that is not expected to make fewer errors than a leaf (C4.5); for classification."""

    kind: Literal["confidence"]
    cf: ConfidenceLevel
    bound: BoundKind
    raising: Raising


class ConfidencePruningOptions(Body):
    """Cut every subtree that is not expected to make fewer errors than a leaf (C4.5); for classification."""

    kind: Literal["confidence"]
    cf: ConfidenceLevel = 0.25
    bound: BoundKind | None = None
    raising: Raising | None = None


TreeCost = Annotated[
    options.Cost,
    Field(description="Cost of a tree, to which alpha is added for each leaf. Default: the impurity of the criterion."),
]
Alpha = Annotated[Number, Field(ge=0, description="Cost of a leaf. If not given, it is chosen.")]
ChooseAlpha = Annotated[
    options.Choose,
    Field(
        description="How to choose alpha: by the error on validation rows, or by cross-validation on the training rows."
    ),
]
Folds = Annotated[
    WholeNumber,
    Field(
        ge=2,
        le=1000,
        description="Number of folds of a cross-validation. With fewer rows than folds, every row is a fold.",
    ),
]
Rule = Annotated[
    options.AlphaRule,
    Field(
        description="For cross-validation: the tree with the least error, or the smallest tree whose error is within "
        "one standard error of it."
    ),
]


class CostComplexityPruning(Body):
    """Cut the weakest links (CART): the subtrees that save least per leaf, up to a saving of alpha per leaf."""

    kind: Literal["cost_complexity"]
    cost: TreeCost
    alpha: Alpha | None
    choose: ChooseAlpha | None
    folds: Folds
    rule: Rule


class CostComplexityPruningOptions(Body):
    """Cut the weakest links (CART): the subtrees that save least per leaf, up to a saving of alpha per leaf.

    Give `alpha`, or `choose` how to find it. Default: by validation rows, or by cross-validation if there are none. For
    QUEST the default is cross-validation with the rule `one_standard_error`.
    """

    kind: Literal["cost_complexity"]
    cost: TreeCost | None = None
    alpha: Alpha | None = None
    choose: ChooseAlpha | None = None
    folds: Folds = 10
    rule: Rule | None = None


Pruning = TypeAliasType(
    "Pruning",
    Annotated[NoPruning | ReducedErrorPruning | ConfidencePruning | CostComplexityPruning, Field(discriminator="kind")],
)
PruningOptions = TypeAliasType(
    "PruningOptions",
    Annotated[
        NoPruning | ReducedErrorPruningOptions | ConfidencePruningOptions | CostComplexityPruningOptions,
        Field(discriminator="kind"),
    ],
)

Repeats = Annotated[
    WholeNumber,
    Field(ge=1, le=MOST_REPEATS, description="How many times the model is trained again for each attribute."),
]


class Retraining(Body):
    """Measure the importance of each attribute by training again with its values shuffled.

    Other attributes may then take its place. Measured on the test rows; if there are none, on the out-of-bag rows of a
    committee, or else by five-fold cross-validation. It takes as long as one training, times the number of attributes,
    times the repeats.
    """

    kind: Literal["retraining"]
    repeats: Repeats


class RetrainingOptions(Body):
    """Measure the importance of each attribute by training again with its values shuffled.

    Other attributes may then take its place. Measured on the test rows; if there are none, on the out-of-bag rows of a
    committee, or else by five-fold cross-validation. It takes as long as one training, times the number of attributes,
    times the repeats.
    """

    kind: Literal["retraining"]
    repeats: Repeats = 5


# Beyond these limits, sums of weights would lose precision or leave the range of float64.
ClassWeight = Annotated[Number, Field(ge=1e-9, le=1e9)]
ClassWeights = TypeAliasType("ClassWeights", dict[str, ClassWeight])
MisclassificationCost = Annotated[Number, Field(ge=0, le=1e9)]
CostsOfAnswers = TypeAliasType("CostsOfAnswers", dict[str, MisclassificationCost])
MisclassificationCosts = TypeAliasType(
    "MisclassificationCosts",
    Annotated[
        dict[str, CostsOfAnswers],
        Field(
            description="Cost of each wrong answer, by actual class and then by predicted class. Default: 1. The label "
            "is then the class of least expected cost, and pruning and evaluation use the mean cost.",
            examples=[{"ill": {"well": 10}}],
        ),
    ],
)
TargetKind = Literal["categorical", "ordinal", "numeric"]
TargetName = Annotated[str, Field(description="The column to predict.")]
TargetNames = Annotated[
    list[str],
    Field(
        min_length=1,
        description="Numeric columns to predict together. Splits are judged by the sum of their squared errors, so a "
        "column in larger units counts for more: scale the columns beforehand if that is not wanted. Answers are given "
        "by target, even if the list has only one name.",
    ),
]
Target = TypeAliasType(
    "Target",
    Annotated[
        Annotated[TargetName, Tag("name")] | Annotated[TargetNames, Tag("names")],
        Discriminator(lambda target: "names" if isinstance(target, list | tuple) else "name"),
        Field(
            description="What to predict: a column, or a list of numeric ones.", examples=["好瓜", ["height", "width"]]
        ),
    ],
)


class Configuration(Body):
    """The configuration of a training, with every default filled in."""

    target: Annotated[Target | None, Field(description="`null` for an isolation forest, which predicts no column.")]
    target_kind: TargetKind | None
    attributes: Annotated[list[str], Field(description="Columns to learn from, in the order that decides ties.")]
    sample_weight: str | None
    class_weights: ClassWeights | None
    misclassification_costs: MisclassificationCosts | None
    seed: int
    division: Division
    algorithm: Algorithm
    pruning: Pruning
    importance: Annotated[
        Retraining | None, Field(description="Additional importance measure computed by the training; `null` for none.")
    ]

    @model_validator(mode="before")
    @classmethod
    def _with_later_options(cls, stored: Any) -> Any:
        """A stored configuration with the defaults of options that are newer than the release that stored it."""
        return as_json.to_json(as_json.from_json(stored)) if isinstance(stored, dict) else stored


def core_division(division: Any) -> options.Division:
    """The division in core's terms."""
    return as_json.division_from_json(division.model_dump())
