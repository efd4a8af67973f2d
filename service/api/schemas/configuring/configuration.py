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
    """Shares of the rows, drawn with the seed. A class too small to divide stays in train."""

    kind: Literal["random"]
    train: TrainShare
    validation: AsideShare
    test: AsideShare
    stratified: Annotated[Flag, Field(description="Divide each class by itself.")]


class RandomDivisionOptions(Body):
    """Shares of the rows that add up to 1, drawn with the seed. A class too small to divide stays in train."""

    kind: Literal["random"]
    train: TrainShare = 0.6
    validation: AsideShare = 0.2
    test: AsideShare = 0.2
    stratified: Annotated[Flag, Field(description="Divide each class by itself.")] = True


class NoDivision(Body):
    """All rows train."""

    kind: Literal["none"]


class ColumnDivision(Body):
    """A column says of each row: train, validation or test."""

    kind: Literal["column"]
    column: str


class DatasetsDivision(Body):
    """All rows train; validation and test rows come from other datasets, named by their ids."""

    kind: Literal["datasets"]
    validation: str | None
    test: str | None


class DatasetsDivisionOptions(Body):
    """All rows train; validation and test rows come from other datasets, named by their ids."""

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

WhenEqual = Annotated[OnTie, Field(description="What to do when accuracy stays the same.")]


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
        description="The chance that the true error rate is above the estimate; a smaller one prunes more.",
    ),
]
BoundKind = Annotated[
    options.Bound,
    Field(description="The exact upper limit of the binomial, or the approximation of C4.5's programs (`normal`)."),
]
Raising = Annotated[
    Flag, Field(description="Also put a node's heaviest branch in its place where that is expected to err less.")
]


class ConfidencePruning(Body):
    """Cut every subtree that is not expected to err less often than a leaf in its place (C4.5); for classes."""

    kind: Literal["confidence"]
    cf: ConfidenceLevel
    bound: BoundKind
    raising: Raising


class ConfidencePruningOptions(Body):
    """Cut every subtree that is not expected to err less often than a leaf in its place (C4.5); for classes."""

    kind: Literal["confidence"]
    cf: ConfidenceLevel = 0.25
    bound: BoundKind | None = None
    raising: Raising | None = None


TreeCost = Annotated[
    options.Cost,
    Field(description="What a tree is charged besides alpha for each leaf; the criterion's impurity unless told."),
]
Alpha = Annotated[Number, Field(ge=0, description="What a leaf costs; given, or else chosen.")]
ChooseAlpha = Annotated[
    options.Choose,
    Field(description="By the error on validation rows, or by cross-validation on the training rows."),
]
Folds = Annotated[
    WholeNumber,
    Field(ge=2, le=1000, description="Parts of a cross-validation; where there are fewer rows, one for each row."),
]
Rule = Annotated[
    options.AlphaRule,
    Field(
        description="Of a cross-validation: the tree of least error, or the smallest whose error is within one "
        "standard error of it."
    ),
]


class CostComplexityPruning(Body):
    """Cut the weakest links (CART): the subtrees that save least for the leaves they have, up to alpha for a leaf."""

    kind: Literal["cost_complexity"]
    cost: TreeCost
    alpha: Alpha | None
    choose: ChooseAlpha | None
    folds: Folds
    rule: Rule


class CostComplexityPruningOptions(Body):
    """Cut the weakest links (CART): the subtrees that save least for the leaves they have, up to alpha for a leaf.

    Say alpha, or how to choose it; where neither is said, validation rows choose it, and cross-validation where there
    are none. QUEST chooses by cross-validation, and then by the rule `one_standard_error`, unless told.
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
    WholeNumber, Field(ge=1, le=MOST_REPEATS, description="How many times all is trained again for each attribute.")
]


class Retraining(Body):
    """Find what each attribute is worth by training again with its values shuffled.

    Others may then tell what it told. That is measured on the test rows; where there are none, on the rows out of the
    bag of a committee, else on folds left out of five trainings. It takes as long as a training, times attributes,
    times repeats.
    """

    kind: Literal["retraining"]
    repeats: Repeats


class RetrainingOptions(Body):
    """Find what each attribute is worth by training again with its values shuffled.

    Others may then tell what it told. That is measured on the test rows; where there are none, on the rows out of the
    bag of a committee, else on folds left out of five trainings. It takes as long as a training, times attributes,
    times repeats.
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
            description="By actual class, what each wrong answer costs; 1 where not given. A label is then the class "
            "of least expected cost, and pruning and evaluation look at the mean cost.",
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
        description="Numeric columns to predict together. Splits are judged by the sum of their squared errors, so one "
        "in larger units counts for more: scale them beforehand if that is not wanted. Answers are then given by "
        "target, also when the list has one name only.",
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
    """Everything about a training but the data, with every default filled in."""

    target: Annotated[Target | None, Field(description="Null for an isolation forest, which predicts no column.")]
    target_kind: TargetKind | None
    attributes: Annotated[list[str], Field(description="In the order that decides ties.")]
    sample_weight: str | None
    class_weights: ClassWeights | None
    misclassification_costs: MisclassificationCosts | None
    seed: int
    division: Division
    algorithm: Algorithm
    pruning: Pruning
    importance: Annotated[
        Retraining | None, Field(description="What else is found out about the attributes; null for nothing.")
    ]

    @model_validator(mode="before")
    @classmethod
    def _with_later_options(cls, stored: Any) -> Any:
        """A stored configuration with the defaults of options that are newer than the release that stored it."""
        return as_json.to_json(as_json.from_json(stored)) if isinstance(stored, dict) else stored


def core_division(division: Any) -> options.Division:
    """The division in core's terms."""
    return as_json.division_from_json(division.model_dump())
