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

Depth = Annotated[WholeNumber, Field(ge=0, description="Maximum number of tests on a path; `null` for no limit.")]
Leaves = Annotated[
    WholeNumber,
    Field(ge=1, description="Maximum number of leaves, splitting the best node first; `null` for no limit."),
]
SplitSize = Annotated[Number, Field(ge=0, description="Minimum weight of a node to be split.")]
LeafSize = Annotated[
    Number, Field(ge=0, description="Minimum weight of both branches of a split, or of at least two if there are more.")
]
LeastGain = Annotated[Number, Field(ge=0, description="Minimum gain of a split.")]
LeastScore = Annotated[Number, Field(ge=0, description="Minimum score of a split, as the criterion computes it.")]
LeastImpurity = Annotated[Number, Field(ge=0, description="A node with at most this impurity is a leaf.")]
LeastCopy = Annotated[
    Number,
    Field(
        ge=0,
        description="With weighted missing values: a row goes to the heaviest branch as a whole if some branch would "
        "get less than this weight of it.",
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
    """Decrease of entropy (ID3)."""

    kind: Literal["information_gain"]


Filter = Annotated[
    GainFilter,
    Field(
        description="Attributes that are considered: those with at least average gain (`above_average`), the better "
        "half by gain (`better_half`) or all (`none`)."
    ),
]


Correction = Annotated[
    options.NumericCorrection,
    Field(
        description="`release8`: the gain of a threshold is reduced by log2 of the number of thresholds tried, divided "
        "by the weight of the node."
    ),
]


class GainRatio(Body):
    """Gain divided by the entropy of the branch weights (C4.5)."""

    kind: Literal["gain_ratio"]
    filter: Filter
    numeric_correction: Correction


class GainRatioOptions(Body):
    """Gain divided by the entropy of the branch weights (C4.5)."""

    kind: Literal["gain_ratio"]
    filter: Filter | None = None
    numeric_correction: Correction | None = None


class Gini(Body):
    """Decrease of Gini impurity (CART)."""

    kind: Literal["gini"]


class ErrorRate(Body):
    """Decrease of the error rate of the majority class."""

    kind: Literal["error_rate"]


class SquaredError(Body):
    """Decrease of the mean squared error, summed over the targets if there are several; for regression."""

    kind: Literal["squared_error"]


Criterion = TypeAliasType(
    "Criterion", Annotated[InformationGain | GainRatio | Gini | ErrorRate | SquaredError, Field(discriminator="kind")]
)
CriterionOptions = TypeAliasType(
    "CriterionOptions",
    Annotated[InformationGain | GainRatioOptions | Gini | ErrorRate | SquaredError, Field(discriminator="kind")],
)


Bins = Annotated[WholeNumber, Field(ge=2, le=1_000_000, description="Number of bins.")]
Draws = Annotated[WholeNumber, Field(ge=1, le=1_000_000, description="Number of thresholds drawn at each node.")]
UseOfBins = Annotated[
    BinsAs,
    Field(
        alias="as",
        description="`thresholds`: the ends of the bins are candidate thresholds. `intervals`: the attribute is cut "
        "once, on all training rows, and then has one branch per interval, like a category.",
    ),
]
UseOfBinsOption = Annotated[
    BinsAs | None,
    Field(
        alias="as",
        description="`thresholds` (default): the ends of the bins are candidate thresholds. `intervals`: the attribute "
        "is cut once, on all training rows, and then has one branch per interval, like a category.",
    ),
]


class EveryMidpoint(Body):
    """Numeric and ordinal attributes may be cut between any two neighbouring values."""

    kind: Literal["exact"]


class ClassBoundaries(Body):
    """Cut only where the class changes between neighbouring values; for classification."""

    kind: Literal["boundary"]


class QuantileBins(Body):
    """Cut between bins of equal weight."""

    kind: Literal["quantile"]
    bins: Bins
    bins_as: UseOfBins


class QuantileBinsOptions(Body):
    """Cut between bins of equal weight, 10 by default."""

    kind: Literal["quantile"]
    bins: Bins | None = None
    bins_as: UseOfBinsOption = None


class UniformBins(Body):
    """Cut between bins of equal width."""

    kind: Literal["uniform"]
    bins: Bins
    bins_as: UseOfBins


class UniformBinsOptions(Body):
    """Cut between bins of equal width, 10 by default."""

    kind: Literal["uniform"]
    bins: Bins | None = None
    bins_as: UseOfBinsOption = None


class RandomCuts(Body):
    """Try thresholds drawn at random, with the seed, between the smallest and the largest value of the node."""

    kind: Literal["random"]
    draws: Draws


class RandomCutsOptions(Body):
    """Try thresholds drawn at random between the smallest and the largest value of the node, 10 by default."""

    kind: Literal["random"]
    draws: Draws | None = None


class MdlpBins(Body):
    """Cut where Fayyad and Irani's minimum description length principle accepts the cut; for classification."""

    kind: Literal["mdlp"]
    bins_as: UseOfBins


class MdlpBinsOptions(Body):
    """Cut where Fayyad and Irani's minimum description length principle accepts the cut; for classification."""

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
        description="`multiway`: one branch per value. `one_vs_rest`: the best single value against the rest. "
        "`two_groups`: two groups of values. `one_hot`: each value as a yes/no attribute of its own."
    ),
]
RareWeight = Annotated[
    Number,
    Field(
        ge=0,
        description="For `two_groups` and `one_vs_rest`: values with less than this weight in a node count together as "
        "one value.",
    ),
]
MissingStrategy = Annotated[
    options.MissingStrategy,
    Field(
        description="How to treat a training row without the value that a split tests. `weighted`: it goes down every "
        "branch with part of its weight. `majority`: the value is filled in before growth with the most frequent "
        "category or the median. `class_majority`: the same among the rows of its class. `distribution`: it goes down "
        "one branch, drawn by the branches' shares. `surrogate`: it follows the attribute that best imitates the "
        "split; for binary splits only."
    ),
]


PositiveCosts = TypeAliasType("PositiveCosts", dict[str, Annotated[Number, Field(gt=0, le=1e9)]])
Costs = TypeAliasType("Costs", dict[str, Annotated[Number, Field(ge=0, le=1e9)]])
CostMatters = Annotated[
    Number, Field(ge=0, le=1, description="How much costs matter, from 0 (not at all) to 1 (fully).")
]


class TanSchlimmerCosts(Body):
    """Attributes are compared by Gain² / Cost (Tan and Schlimmer); with information gain only."""

    kind: Literal["tan_schlimmer"]
    costs: Annotated[PositiveCosts, Field(description="Cost of each attribute, by name. Default: 1.")]


class NunezCosts(Body):
    """Attributes are compared by (2^Gain - 1) / (Cost + 1)^w (Núñez); with information gain only."""

    kind: Literal["nunez"]
    costs: Annotated[Costs, Field(description="Cost of each attribute, by name. Default: 1.")]
    w: CostMatters


class NunezCostsOptions(Body):
    """Attributes are compared by (2^Gain - 1) / (Cost + 1)^w (Núñez); with information gain only."""

    kind: Literal["nunez"]
    costs: Annotated[Costs, Field(description="Cost of each attribute, by name. Default: 1.")]
    w: CostMatters = 1.0


AttributeCosts = TypeAliasType("AttributeCosts", Annotated[TanSchlimmerCosts | NunezCosts, Field(discriminator="kind")])
AttributeCostsOptions = TypeAliasType(
    "AttributeCostsOptions", Annotated[TanSchlimmerCosts | NunezCostsOptions, Field(discriminator="kind")]
)
AskingCosts = Field(description="Costs of testing attributes, weighed against their gain; `null` for none.")


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
    """ID3: information gain, one branch per value; for classification by categorical attributes."""

    kind: Literal["id3"]


class Id3Options(TreeMethodOptions):
    """ID3: information gain, one branch per value; for classification by categorical attributes."""

    kind: Literal["id3"]


Dialect = Annotated[
    options.Dialect,
    Field(
        description="As in the textbooks (`textbook`), or with the additions of C4.5 release 8 and Weka's J48 "
        "(`release8`)."
    ),
]
Collapse = Annotated[
    Flag,
    Field(
        description="Whether to cut subtrees that make no fewer training errors than a leaf. Default: true with the "
        "dialect `release8`, otherwise false."
    ),
]


class C45(TreeMethod):
    """C4.5: gain ratio among the attributes with at least average gain; for classification."""

    kind: Literal["c45"]
    dialect: Dialect
    collapse: Collapse


class C45Options(TreeMethodOptions):
    """C4.5: gain ratio among the attributes with at least average gain; for classification."""

    kind: Literal["c45"]
    dialect: Dialect | None = None
    collapse: Collapse | None = None


class Cart(TreeMethod):
    """CART: binary splits, by Gini impurity for classification, by squared error for one or several numeric targets."""

    kind: Literal["cart"]


class CartOptions(TreeMethodOptions):
    """CART: binary splits, by Gini impurity for classification, by squared error for one or several numeric targets."""

    kind: Literal["cart"]


TestLevel = Annotated[
    Number,
    Field(
        ge=1e-9,
        le=1,
        description="An attribute is significant if its p-value is below this, divided by the number of tests. "
        "Default: 0.05.",
    ),
]
SplitLevel = Annotated[
    Number,
    Field(
        ge=1e-9, le=1, description="A node is split if the smallest adjusted p-value is at most this. Default: 0.05."
    ),
]
MergeLevel = Annotated[
    Number,
    Field(
        ge=1e-9, le=1, description="Groups are merged while the largest p-value of a pair is above this. Default: 0.05."
    ),
]
DivideLevel = Annotated[
    Number,
    Field(
        ge=1e-9,
        le=1,
        description="A merged group of three or more values is split in two again if the smallest p-value of all ways "
        "to do so is at most this. At most `alpha_merge`. Default: 0.05; `null`: never.",
    ),
]
Bonferroni = Annotated[
    Flag,
    Field(description="Whether to multiply p-values by the number of ways to form that many groups. Default: true."),
]
Exhaustive = Annotated[
    Flag,
    Field(
        description="Whether to go on merging down to two groups and take the step with the smallest p-value (Biggs, "
        "de Ville and Suen), without `alpha_merge` and `alpha_split`. Default: false."
    ),
]
ChaidBins = Annotated[
    WholeNumber,
    Field(
        ge=2,
        le=1_000,
        description="Number of intervals into which a numeric attribute is cut, on all training rows. Default: 10.",
    ),
]
Binning = Annotated[
    options.Binning, Field(description="Intervals of equal weight (`equal_count`, the default) or of equal width.")
]
TableStatistic = Annotated[
    options.TableStatistic,
    Field(description="For classification: Pearson's chi-squared (default) or the likelihood-ratio chi-squared."),
]
ChaidMissing = Annotated[
    options.ChaidMissing,
    Field(
        description="`own_category` (default): missing is one more category, which may be merged with any other; at a "
        "node where no training row lacked the value, as with `weighted`. `weighted`: a row goes down every branch "
        "with part of its weight."
    ),
]
WhenInsignificant = Annotated[
    options.WhenInsignificant,
    Field(
        description="What to do if no attribute is significant. `smallest_p`: split on the one with the smallest "
        "p-value, and leave the rest to pruning. `stop`: make a leaf."
    ),
]


class Chaid(Body):
    """CHAID: categories that do not differ significantly are merged; the smallest adjusted p-value chooses the split.

    One branch per group of values; chi-squared tests for classification, F tests for regression. Weights count as
    numbers of rows. There are no gains, so `max_leaves`, `min_gain` and `min_score` cannot be used.
    """

    kind: Literal["chaid"]
    alpha: SplitLevel
    alpha_merge: Annotated[MergeLevel | None, Field(description="`null` if merging is exhaustive.")]
    alpha_split: DivideLevel | None
    bonferroni: Bonferroni
    exhaustive: Exhaustive
    bins: ChaidBins
    binning: Binning
    statistic: Annotated[TableStatistic | None, Field(description="`null` for regression, which uses the F test.")]
    missing: ChaidMissing
    stopping: Stopping


class ChaidOptions(MethodOptions):
    """CHAID: categories that do not differ significantly are merged; the smallest adjusted p-value chooses the split.

    One branch per group of values; chi-squared tests for classification, F tests for regression. Weights count as
    numbers of rows. There are no gains, so `max_leaves`, `min_gain` and `min_score` cannot be used.
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
    """QUEST: tests choose the attribute, without favouring many values, and discriminant analysis finds the split.

    Binary splits; for classification. Weights count as numbers of rows. There are no gains, so `max_leaves`, `min_gain`
    and `min_score` cannot be used.
    """

    kind: Literal["quest"]
    alpha: TestLevel
    when_insignificant: WhenInsignificant
    missing: MissingStrategy
    stopping: Stopping


class QuestOptions(MethodOptions):
    """QUEST: tests choose the attribute, without favouring many values, and discriminant analysis finds the split.

    Binary splits; for classification. Weights count as numbers of rows. There are no gains, so `max_leaves`, `min_gain`
    and `min_score` cannot be used.
    """

    kind: Literal["quest"]
    alpha: TestLevel | None = None
    when_insignificant: WhenInsignificant | None = None
    missing: MissingStrategy | None = None
    stopping: StoppingOptions | None = None


Fit = Annotated[
    options.LinearFit,
    Field(
        description="How the weights are learnt. `oc1`: by least squares, then one coefficient at a time by gain. "
        "`lda`: by least squares only, the direction of the linear discriminant. `logistic`: by logistic regression."
    ),
]
MostTerms = Annotated[
    WholeNumber, Field(ge=2, le=1_000, description="Maximum number of terms of a sum; `null` for no limit.")
]


class Multivariate(TreeMethod):
    """Multivariate trees: tests on weighted sums of attributes where these gain more than tests on one attribute.

    For classification.
    """

    kind: Literal["multivariate"]
    fit: Fit
    max_terms: MostTerms | None


class MultivariateOptions(TreeMethodOptions):
    """Multivariate trees: tests on weighted sums of attributes where these gain more than tests on one attribute.

    For classification.
    """

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
