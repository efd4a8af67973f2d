"""The methods of single trees: the options that clients send, and their complete form with every default.

A class like `Stopping` has every field and is what answers show. Its counterpart `StoppingOptions` is what clients
send: the same fields, each of which may be left out (or null) to take the preset's default. Classes without such
fields have no counterpart.
"""

from typing import Annotated, Any, Literal

from pydantic import Field
from typing_extensions import TypeAliasType

from core.config import options
from core.config.options import BinsAs, Categorical, GainFilter
from service.api.schemas.common import Body, Flag, Number, WholeNumber

Depth = Annotated[WholeNumber, Field(ge=0, description="How many tests a path has at most; null for no limit.")]
Leaves = Annotated[WholeNumber, Field(ge=1, description="How many leaves at most, the best node split first.")]
SplitSize = Annotated[Number, Field(ge=0, description="A node of less weight is a leaf.")]
LeafSize = Annotated[Number, Field(ge=0, description="The least weight in both branches, or in two of many.")]
LeastGain = Annotated[Number, Field(ge=0, description="A split that gains less is not made.")]
LeastScore = Annotated[Number, Field(ge=0, description="The same for the criterion's own score.")]
LeastImpurity = Annotated[Number, Field(ge=0, description="A node at most this impure is a leaf.")]
LeastCopy = Annotated[
    Number,
    Field(
        ge=0,
        description="With weighted missing values: a row of which some branch would get less than this goes whole to "
        "the heaviest branch.",
    ),
]
ValidateSplits = Annotated[Flag, Field(description="Split only if accuracy on the validation rows strictly rises.")]


class Stopping(Body):
    """When a node is not split any further. Sizes are sums of weights."""

    max_depth: Depth | None
    max_leaves: Leaves | None
    min_samples_split: SplitSize
    min_samples_leaf: LeafSize
    min_gain: LeastGain
    min_score: LeastScore
    min_impurity: LeastImpurity
    min_copy_weight: LeastCopy
    validate_splits: ValidateSplits


class StoppingOptions(Body):
    """When a node is not split any further. Sizes are sums of weights."""

    max_depth: Depth | None = None
    max_leaves: Leaves | None = None
    min_samples_split: SplitSize | None = None
    min_samples_leaf: LeafSize | None = None
    min_gain: LeastGain | None = None
    min_score: LeastScore | None = None
    min_impurity: LeastImpurity | None = None
    min_copy_weight: LeastCopy | None = None
    validate_splits: ValidateSplits | None = None


class InformationGain(Body):
    """The fall of entropy (ID3)."""

    kind: Literal["information_gain"]


Filter = Annotated[
    GainFilter,
    Field(description="Among which attributes it chooses: those of above-average gain, the better half, all."),
]


Correction = Annotated[
    options.NumericCorrection,
    Field(description="`release8`: the gain of a threshold pays log2 of how many were tried, over the node's weight."),
]


class GainRatio(Body):
    """The gain in proportion to the split's own entropy (C4.5)."""

    kind: Literal["gain_ratio"]
    filter: Filter
    numeric_correction: Correction


class GainRatioOptions(Body):
    """The gain in proportion to the split's own entropy (C4.5)."""

    kind: Literal["gain_ratio"]
    filter: Filter | None = None
    numeric_correction: Correction | None = None


class Gini(Body):
    """The fall of the Gini value (CART)."""

    kind: Literal["gini"]


class ErrorRate(Body):
    """The fall of the share that the majority class gets wrong."""

    kind: Literal["error_rate"]


class SquaredError(Body):
    """The fall of the mean squared error, summed over the targets where there are several; for numeric targets."""

    kind: Literal["squared_error"]


Criterion = TypeAliasType(
    "Criterion", Annotated[InformationGain | GainRatio | Gini | ErrorRate | SquaredError, Field(discriminator="kind")]
)
CriterionOptions = TypeAliasType(
    "CriterionOptions",
    Annotated[InformationGain | GainRatioOptions | Gini | ErrorRate | SquaredError, Field(discriminator="kind")],
)


Bins = Annotated[WholeNumber, Field(ge=2, le=1_000_000, description="How many bins.")]
Draws = Annotated[WholeNumber, Field(ge=1, le=1_000_000, description="How many thresholds are drawn in each node.")]
UseOfBins = Annotated[
    BinsAs,
    Field(
        alias="as",
        description="`thresholds`: the ends of bins are tried in turn. `intervals`: the attribute is cut once, on all "
        "training rows, and then has one branch per interval, like a category.",
    ),
]
UseOfBinsOption = Annotated[
    BinsAs | None,
    Field(
        alias="as",
        description="`thresholds` (the default): the ends of bins are tried in turn. `intervals`: the attribute is cut "
        "once, on all training rows, and then has one branch per interval, like a category.",
    ),
]


class EveryMidpoint(Body):
    """Numeric and ordinal attributes may be cut between any two neighbouring values."""

    kind: Literal["exact"]


class ClassBoundaries(Body):
    """Cut only where the class changes between neighbouring values; for a class to predict."""

    kind: Literal["boundary"]


class QuantileBins(Body):
    """Cut between bins of equal weight."""

    kind: Literal["quantile"]
    bins: Bins
    bins_as: UseOfBins


class QuantileBinsOptions(Body):
    """Cut between bins of equal weight, 10 unless told."""

    kind: Literal["quantile"]
    bins: Bins | None = None
    bins_as: UseOfBinsOption = None


class UniformBins(Body):
    """Cut between bins of equal width."""

    kind: Literal["uniform"]
    bins: Bins
    bins_as: UseOfBins


class UniformBinsOptions(Body):
    """Cut between bins of equal width, 10 unless told."""

    kind: Literal["uniform"]
    bins: Bins | None = None
    bins_as: UseOfBinsOption = None


class RandomCuts(Body):
    """Try thresholds drawn at random, with the seed, between the smallest and the largest value of the node."""

    kind: Literal["random"]
    draws: Draws


class RandomCutsOptions(Body):
    """Try thresholds, 10 unless told, drawn at random between the smallest and the largest value of the node."""

    kind: Literal["random"]
    draws: Draws | None = None


class MdlpBins(Body):
    """Cut where Fayyad and Irani's description length principle finds it worth telling; for a class to predict."""

    kind: Literal["mdlp"]
    bins_as: UseOfBins


class MdlpBinsOptions(Body):
    """Cut where Fayyad and Irani's description length principle finds it worth telling; for a class to predict."""

    kind: Literal["mdlp"]
    bins_as: UseOfBinsOption = None


NumericCuts = TypeAliasType(
    "NumericCuts",
    Annotated[
        EveryMidpoint | ClassBoundaries | QuantileBins | UniformBins | RandomCuts | MdlpBins,
        Field(discriminator="kind"),
    ],
)
NumericCutsOptions = TypeAliasType(
    "NumericCutsOptions",
    Annotated[
        EveryMidpoint
        | ClassBoundaries
        | QuantileBinsOptions
        | UniformBinsOptions
        | RandomCutsOptions
        | MdlpBinsOptions,
        Field(discriminator="kind"),
    ],
)


Branching = Annotated[
    Categorical,
    Field(
        description="One branch per value; the value that stands best against the rest; two groups of values; or each "
        "value as a yes-or-no attribute of its own (`one_hot`)."
    ),
]
RareWeight = Annotated[
    Number,
    Field(ge=0, description="For two_groups and one_vs_rest: values rarer than this in a node count together as one."),
]
MissingStrategy = Annotated[
    options.MissingStrategy,
    Field(
        description="Where a row lacks the value that a split asks for. `weighted`: it goes down every branch with "
        "part of its weight. `majority`: it is filled before growth with the most frequent category or the median. "
        "`class_majority`: the same among the rows of its class. `distribution`: it goes down one branch, drawn by the "
        "branches' shares. `surrogate`: it follows the attribute that best imitates the split; for two branches only."
    ),
]


PositiveCosts = TypeAliasType("PositiveCosts", dict[str, Annotated[Number, Field(gt=0, le=1e9)]])
Costs = TypeAliasType("Costs", dict[str, Annotated[Number, Field(ge=0, le=1e9)]])
CostMatters = Annotated[Number, Field(ge=0, le=1, description="How much costs matter, from 0 (not at all) to 1.")]


class TanSchlimmerCosts(Body):
    """Attributes are compared by Gain² / Cost (Tan and Schlimmer); with information gain only."""

    kind: Literal["tan_schlimmer"]
    costs: Annotated[PositiveCosts, Field(description="Of attributes by name; 1 where not given.")]


class NunezCosts(Body):
    """Attributes are compared by (2^Gain - 1) / (Cost + 1)^w (Núñez); with information gain only."""

    kind: Literal["nunez"]
    costs: Annotated[Costs, Field(description="Of attributes by name; 1 where not given.")]
    w: CostMatters


class NunezCostsOptions(Body):
    """Attributes are compared by (2^Gain - 1) / (Cost + 1)^w (Núñez); with information gain only."""

    kind: Literal["nunez"]
    costs: Annotated[Costs, Field(description="Of attributes by name; 1 where not given.")]
    w: CostMatters = 1.0


AttributeCosts = TypeAliasType("AttributeCosts", Annotated[TanSchlimmerCosts | NunezCosts, Field(discriminator="kind")])
AttributeCostsOptions = TypeAliasType(
    "AttributeCostsOptions", Annotated[TanSchlimmerCosts | NunezCostsOptions, Field(discriminator="kind")]
)
AskingCosts = Field(description="What it costs to ask for attributes, weighed against their gain; null for none.")


class TreeMethod(Body):
    """The parts of a method that compares gains."""

    kind: str
    criterion: Criterion
    attribute_costs: Annotated[AttributeCosts | None, AskingCosts]
    categorical: Branching
    min_category_weight: RareWeight
    numeric: NumericCuts
    missing: MissingStrategy
    stopping: Stopping


class MethodOptions(Body):
    """The options of a method that a client gives; what is left out takes the method's own default."""

    kind: str

    def overrides(self) -> dict[str, Any]:
        """The options that the client gave, without the kind."""
        return self.model_dump(exclude_none=True, exclude={"kind"}, by_alias=True)


class TreeMethodOptions(MethodOptions):
    """The options of a method that compares gains; what is left out takes the method's own default."""

    criterion: CriterionOptions | None = None
    attribute_costs: Annotated[AttributeCostsOptions | None, AskingCosts] = None
    categorical: Branching | None = None
    min_category_weight: RareWeight | None = None
    numeric: NumericCutsOptions | None = None
    missing: MissingStrategy | None = None
    stopping: StoppingOptions | None = None


class Id3(TreeMethod):
    """ID3: information gain, one branch per value; categorical attributes and a class to predict."""

    kind: Literal["id3"]


class Id3Options(TreeMethodOptions):
    """ID3: information gain, one branch per value; categorical attributes and a class to predict."""

    kind: Literal["id3"]


Dialect = Annotated[
    options.Dialect,
    Field(description="As in the books, or with what C4.5 release 8 and Weka's J48 do beyond them (`release8`)."),
]
Collapse = Annotated[
    Flag, Field(description="Take back subtrees that make no fewer training errors; true in release8 unless told.")
]


class C45(TreeMethod):
    """C4.5: gain ratio among the attributes of above-average gain; a class to predict."""

    kind: Literal["c45"]
    dialect: Dialect
    collapse: Collapse


class C45Options(TreeMethodOptions):
    """C4.5: gain ratio among the attributes of above-average gain; a class to predict."""

    kind: Literal["c45"]
    dialect: Dialect | None = None
    collapse: Collapse | None = None


class Cart(TreeMethod):
    """CART: binary splits, by Gini for a class and by squared error for a number or several."""

    kind: Literal["cart"]


class CartOptions(TreeMethodOptions):
    """CART: binary splits, by Gini for a class and by squared error for a number or several."""

    kind: Literal["cart"]


TestLevel = Annotated[
    Number,
    Field(
        ge=1e-9,
        le=1,
        description="An attribute is significant if p is below this, divided by the number of tests; 0.05 unless told.",
    ),
]
SplitLevel = Annotated[
    Number,
    Field(ge=1e-9, le=1, description="A node is split if the smallest adjusted p is at most this; 0.05 unless told."),
]
MergeLevel = Annotated[
    Number,
    Field(
        ge=1e-9, le=1, description="Groups are merged while the largest p of a pair is above this; 0.05 unless told."
    ),
]
DivideLevel = Annotated[
    Number,
    Field(
        ge=1e-9,
        le=1,
        description="A merged group of three values or more is divided again if the smallest p of a division is at "
        "most this, which is not above alpha_merge. 0.05 unless told; null: never.",
    ),
]
Bonferroni = Annotated[
    Flag, Field(description="Multiply p by the number of ways to make so many groups; true unless told.")
]
Exhaustive = Annotated[
    Flag,
    Field(
        description="Merge on to two groups and take the step of smallest p (Biggs, de Ville and Suen), without "
        "alpha_merge and alpha_split; false unless told."
    ),
]
ChaidBins = Annotated[
    WholeNumber,
    Field(ge=2, le=1_000, description="How many categories are made of numbers, on all training rows; 10 unless told."),
]
Binning = Annotated[options.Binning, Field(description="Bins of equal weight (the default), or of equal width.")]
TableStatistic = Annotated[
    options.TableStatistic,
    Field(description="For a class to predict: Pearson's chi-squared (the default), or that of the likelihood ratio."),
]
ChaidMissing = Annotated[
    options.ChaidMissing,
    Field(
        description="`own_category` (the default): missing is one more category, which may be merged with any; where "
        "no row of a node lacked the value, as in `weighted`. `weighted`: down every branch with part of the weight."
    ),
]
WhenInsignificant = Annotated[
    options.WhenInsignificant,
    Field(
        description="What to do where no attribute is significant. `smallest_p`: split on the one of smallest p, and "
        "leave the rest to pruning. `stop`: make a leaf."
    ),
]


class Chaid(Body):
    """CHAID: categories that say the same of the target are merged, and the smallest adjusted p chooses the attribute.

    A branch for each group of values; chi-squared for a class to predict, F for a number. Weights count as numbers of
    rows. It has no gains, so `max_leaves`, `min_gain` and `min_score` do not go with it.
    """

    kind: Literal["chaid"]
    alpha: SplitLevel
    alpha_merge: Annotated[MergeLevel | None, Field(description="Null where merging is exhaustive.")]
    alpha_split: DivideLevel | None
    bonferroni: Bonferroni
    exhaustive: Exhaustive
    bins: ChaidBins
    binning: Binning
    statistic: Annotated[TableStatistic | None, Field(description="Null where a number is predicted: F judges it.")]
    missing: ChaidMissing
    stopping: Stopping


class ChaidOptions(MethodOptions):
    """CHAID: categories that say the same of the target are merged, and the smallest adjusted p chooses the attribute.

    A branch for each group of values; chi-squared for a class to predict, F for a number. Weights count as numbers of
    rows. It has no gains, so `max_leaves`, `min_gain` and `min_score` do not go with it.
    """

    kind: Literal["chaid"]
    alpha: SplitLevel | None = None
    alpha_merge: MergeLevel | None = None
    alpha_split: DivideLevel | None = None
    bonferroni: Bonferroni | None = None
    exhaustive: Exhaustive | None = None
    bins: ChaidBins | None = None
    binning: Binning | None = None
    statistic: TableStatistic | None = None
    missing: ChaidMissing | None = None
    stopping: StoppingOptions | None = None

    def overrides(self) -> dict[str, Any]:
        """The options that the client gave; null for `alpha_split` means that no group is split again."""
        said = super().overrides()
        said.pop("alpha_split", None)
        return said | ({"alpha_split": self.alpha_split} if "alpha_split" in self.model_fields_set else {})


class Quest(Body):
    """QUEST: tests choose the attribute, whatever number of values it has, and discriminant analysis the split.

    Binary splits; a class to predict. Weights count as numbers of rows. It has no gains, so `max_leaves`, `min_gain`
    and `min_score` do not go with it.
    """

    kind: Literal["quest"]
    alpha: TestLevel
    when_insignificant: WhenInsignificant
    missing: MissingStrategy
    stopping: Stopping


class QuestOptions(MethodOptions):
    """QUEST: tests choose the attribute, whatever number of values it has, and discriminant analysis the split.

    Binary splits; a class to predict. Weights count as numbers of rows. It has no gains, so `max_leaves`, `min_gain`
    and `min_score` do not go with it.
    """

    kind: Literal["quest"]
    alpha: TestLevel | None = None
    when_insignificant: WhenInsignificant | None = None
    missing: MissingStrategy | None = None
    stopping: StoppingOptions | None = None


Fit = Annotated[
    options.LinearFit,
    Field(
        description="How weights are learnt. `oc1`: least squares, then one coefficient at a time by gain. `lda`: by "
        "least squares only, the direction of the linear discriminant. `logistic`: by logistic regression."
    ),
]
MostTerms = Annotated[WholeNumber, Field(ge=2, le=1_000, description="How many terms a sum has; null for no limit.")]


class Multivariate(TreeMethod):
    """Multivariate trees: tests on weighted sums of attributes where those gain more than tests on one; for a class."""

    kind: Literal["multivariate"]
    fit: Fit
    max_terms: MostTerms | None


class MultivariateOptions(TreeMethodOptions):
    """Multivariate trees: tests on weighted sums of attributes where those gain more than tests on one; for a class."""

    kind: Literal["multivariate"]
    fit: Fit | None = None
    max_terms: MostTerms | None = None


TreeAlgorithm = TypeAliasType(
    "TreeAlgorithm", Annotated[Id3 | C45 | Cart | Chaid | Quest | Multivariate, Field(discriminator="kind")]
)
TreeAlgorithmOptions = TypeAliasType(
    "TreeAlgorithmOptions",
    Annotated[
        Id3Options | C45Options | CartOptions | ChaidOptions | QuestOptions | MultivariateOptions,
        Field(discriminator="kind"),
    ],
)
