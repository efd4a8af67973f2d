"""How to train: frozen values, complete with every default; `config.as_json` writes and reads them.

Options are checked once, against the table, and refused rather than corrected. `kind` distinguishes the members of a
union, in Python as in JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar


class Categorical(StrEnum):
    """How a categorical attribute is split."""

    MULTIWAY = "multiway"
    ONE_VS_REST = "one_vs_rest"
    TWO_GROUPS = "two_groups"
    ONE_HOT = "one_hot"


class CriterionKind(StrEnum):
    """The measure by which splits are compared."""

    INFORMATION_GAIN = "information_gain"
    GAIN_RATIO = "gain_ratio"
    GINI = "gini"
    ERROR_RATE = "error_rate"
    SQUARED_ERROR = "squared_error"


class GainFilter(StrEnum):
    """The candidates among which the gain ratio chooses."""

    ABOVE_AVERAGE = "above_average"
    BETTER_HALF = "better_half"
    NONE = "none"


class NumericCorrection(StrEnum):
    """Whether the gain of a threshold is corrected for the number of thresholds tried."""

    NONE = "none"
    RELEASE8 = "release8"


class Dialect(StrEnum):
    """C4.5 as in the textbooks, or as implemented in its release 8 and in Weka's J48."""

    TEXTBOOK = "textbook"
    RELEASE8 = "release8"


class NumericKind(StrEnum):
    """Which thresholds are tried."""

    EXACT = "exact"
    BOUNDARY = "boundary"
    QUANTILE = "quantile"
    UNIFORM = "uniform"
    RANDOM = "random"
    MDLP = "mdlp"


class BinsAs(StrEnum):
    """How bins are used: as candidate thresholds of binary splits, or as intervals with a branch each."""

    THRESHOLDS = "thresholds"
    INTERVALS = "intervals"


class MissingStrategy(StrEnum):
    """How training rows are treated if the value for a split is missing."""

    WEIGHTED = "weighted"
    MAJORITY = "majority"
    CLASS_MAJORITY = "class_majority"
    DISTRIBUTION = "distribution"
    SURROGATE = "surrogate"

    @property
    def fills_records(self) -> bool:
        """Whether a record's missing values are filled with stored ones unless the request says otherwise."""
        return self in (MissingStrategy.MAJORITY, MissingStrategy.CLASS_MAJORITY, MissingStrategy.DISTRIBUTION)


class LinearFit(StrEnum):
    """How the weights of a linear test are learnt."""

    OC1 = "oc1"  # least squares, then one coefficient at a time by gain
    LDA = "lda"  # least squares: the direction of the linear discriminant
    LOGISTIC = "logistic"


class OnTie(StrEnum):
    """What reduced-error pruning does if accuracy stays the same."""

    KEEP = "keep"
    CUT = "cut"


class Bound(StrEnum):
    """How the upper limit of an error rate is computed: exactly, or approximately as in C4.5's programs."""

    BINOMIAL = "binomial"
    NORMAL = "normal"


class Cost(StrEnum):
    """The cost that cost-complexity pruning weighs against the number of leaves."""

    GINI = "gini"
    ENTROPY = "entropy"
    ERROR = "error"
    SQUARED_ERROR = "squared_error"


class Choose(StrEnum):
    """How alpha is chosen: by validation rows, or by cross-validation."""

    VALIDATION = "validation"
    CROSS_VALIDATION = "cross_validation"


class AlphaRule(StrEnum):
    """Which tree is chosen by cross-validation: the one with the least error, or the smallest that is hardly worse."""

    MINIMUM = "minimum"
    ONE_STANDARD_ERROR = "one_standard_error"


class WhenInsignificant(StrEnum):
    """What QUEST does if no test is significant: split as in the original paper, or stop as in IBM's programs."""

    SMALLEST_P = "smallest_p"
    STOP = "stop"


class Binning(StrEnum):
    """How CHAID cuts numbers into intervals: of equal weight, or of equal width."""

    EQUAL_COUNT = "equal_count"
    EQUAL_WIDTH = "equal_width"


class TableStatistic(StrEnum):
    """The chi-squared statistic that CHAID uses for a table."""

    PEARSON = "pearson"
    LIKELIHOOD_RATIO = "likelihood_ratio"


class ChaidMissing(StrEnum):
    """How CHAID treats missing values: as one more category, or by sending rows down every branch by weight."""

    OWN_CATEGORY = "own_category"
    WEIGHTED = "weighted"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion; `filter` and `numeric_correction` belong to the gain ratio alone."""

    kind: CriterionKind
    filter: GainFilter | None = None
    numeric_correction: NumericCorrection = NumericCorrection.NONE


@dataclass(frozen=True, slots=True)
class Numeric:
    """Where ordered columns may be cut; `NUMERIC_OPTIONS` lists the options of each kind."""

    kind: NumericKind = NumericKind.EXACT
    bins: int = 10
    draws: int = 10
    bins_as: BinsAs = BinsAs.THRESHOLDS

    @property
    def makes_intervals(self) -> bool:
        """Whether a column is cut into intervals before growth, and then treated like categories."""
        return "as" in NUMERIC_OPTIONS[self.kind] and self.bins_as is BinsAs.INTERVALS

    @property
    def is_found_before_growth(self) -> bool:
        """Whether cuts come from all training rows instead of those of a node."""
        return self.makes_intervals or self.kind is NumericKind.MDLP


# The options of each kind, by their names in JSON.
NUMERIC_OPTIONS: dict[NumericKind, tuple[str, ...]] = {
    NumericKind.EXACT: (),
    NumericKind.BOUNDARY: (),
    NumericKind.QUANTILE: ("bins", "as"),
    NumericKind.UNIFORM: ("bins", "as"),
    NumericKind.RANDOM: ("draws",),
    NumericKind.MDLP: ("as",),
}


@dataclass(frozen=True, slots=True)
class Stopping:
    """When a node is not split any further; sizes are sums of weights."""

    max_depth: int | None = None
    max_leaves: int | None = None
    min_samples_split: float = 2
    min_samples_leaf: float = 1
    min_gain: float = 0.0
    min_score: float = 0.0
    min_impurity: float = 0.0
    validate_splits: bool = False
    min_copy_weight: float = 0.0


@dataclass(frozen=True, slots=True)
class TanSchlimmer:
    """Gain^2 / Cost; an attribute not listed costs 1."""

    kind: ClassVar[str] = "tan_schlimmer"
    costs: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Nunez:
    """(2^Gain - 1) / (Cost + 1)^w; an attribute not listed costs 1."""

    kind: ClassVar[str] = "nunez"
    costs: Mapping[str, float]
    w: float = 1.0


AttributeCosts = TanSchlimmer | Nunez


@dataclass(frozen=True, slots=True)
class QuestTests:
    """The significance that QUEST's tests of attributes must reach, and what is done where none does."""

    alpha: float = 0.05
    when_insignificant: WhenInsignificant = WhenInsignificant.SMALLEST_P


@dataclass(frozen=True, slots=True)
class ChaidTests:
    """The significance at which CHAID merges categories and chooses attributes, and how its tests are done.

    Exhaustive merging has no `alpha_merge`; without `alpha_split` no group is split again. Where a number is
    predicted there is no table and no `statistic`: the F test is used.
    """

    alpha: float = 0.05
    alpha_merge: float | None = 0.05
    alpha_split: float | None = 0.05
    bonferroni: bool = True
    exhaustive: bool = False
    bins: int = 10
    binning: Binning = Binning.EQUAL_COUNT
    statistic: TableStatistic | None = TableStatistic.PEARSON
    missing: ChaidMissing = ChaidMissing.OWN_CATEGORY

    @property
    def numeric(self) -> Numeric:
        """Numbers are cut into intervals once, on all training rows."""
        kind = NumericKind.QUANTILE if self.binning is Binning.EQUAL_COUNT else NumericKind.UNIFORM
        return Numeric(kind, bins=self.bins, bins_as=BinsAs.INTERVALS)


@dataclass(frozen=True, slots=True)
class LinearTests:
    """Tests on weighted sums of attributes; `max_terms` is how many a sum has at most."""

    fit: LinearFit = LinearFit.OC1
    max_terms: int | None = None


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A preset's name and the parts it is made of.

    With `quest`, tests choose the attribute and discriminant analysis the split; with `chaid`, tests do both. Then
    only the impurity of the criterion is used, as a figure of nodes and a cost of trees.
    """

    kind: str
    criterion: Criterion
    categorical: Categorical
    numeric: Numeric = field(default_factory=Numeric)
    missing: MissingStrategy = MissingStrategy.WEIGHTED
    stopping: Stopping = field(default_factory=Stopping)
    attribute_costs: AttributeCosts | None = None
    min_category_weight: float = 0.0
    dialect: Dialect = Dialect.TEXTBOOK
    collapse: bool = False
    quest: QuestTests | None = None
    chaid: ChaidTests | None = None
    linear: LinearTests | None = None

    def cost_of(self, attribute: str) -> float:
        """What it costs to test an attribute; 1 unless given."""
        return 1.0 if self.attribute_costs is None else self.attribute_costs.costs.get(attribute, 1.0)


class FeatureShare(StrEnum):
    """How many of d attributes are drawn: the square root of d, log2 of d, or all."""

    SQRT = "sqrt"
    LOG2 = "log2"
    ALL = "all"


Features = FeatureShare | int | float  # a word, a number of attributes from 1, or a share of them between 0 and 1


@dataclass(frozen=True, slots=True)
class Undersample:
    """Rows of every class but the rarest are sampled: at most `ratio` times as many as the rarest has."""

    kind: ClassVar[str] = "undersample"
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class MajorityParts:
    """The rows of the most frequent class are dealt out to parts, which trees use in turn.

    Without a number, each part is about as large as the next class.
    """

    kind: ClassVar[str] = "parts"
    n_parts: int | None = None


@dataclass(frozen=True, slots=True)
class ClusterUndersample:
    """`Undersample` that keeps the rows nearest to the centres of as many clusters."""

    kind: ClassVar[str] = "cluster_undersample"
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Oversample:
    """Rows of every class but the most frequent are repeated at random, up to `ratio` times what the largest has."""

    kind: ClassVar[str] = "oversample"
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Interpolate:
    """`Oversample` by new rows at random points between two random rows of their class."""

    kind: ClassVar[str] = "interpolate"
    ratio: float = 1.0


@dataclass(frozen=True, slots=True)
class Smote:
    """`Interpolate` between a row and one of its nearest neighbours of the same class."""

    kind: ClassVar[str] = "smote"
    ratio: float = 1.0
    neighbours: int = 5


Imbalance = Undersample | MajorityParts | ClusterUndersample | Oversample | Interpolate | Smote


@dataclass(frozen=True, slots=True)
class Committee:
    """Many trees that vote, each grown from rows, and perhaps attributes, drawn for it.

    `members` are the methods of the trees, which take turns. `max_features` are drawn anew in every node,
    `features_per_tree` once for each tree. `sample_size` is a number of rows from 2, or a share of them up to 1; rows
    are drawn with repeats where `bootstrap` says so.
    """

    kind: str
    members: tuple[Algorithm, ...]
    n_trees: int = 100
    max_features: Features = FeatureShare.ALL
    features_per_tree: Features | None = None
    sample_size: float = 1.0
    bootstrap: bool = True
    imbalance: Imbalance | None = None


@dataclass(frozen=True, slots=True)
class Isolation:
    """Trees of random cuts, in which rows unlike the others end early; a score above `threshold` is an anomaly."""

    kind: ClassVar[str] = "isolation_forest"
    n_trees: int = 100
    sample_size: float = 256
    threshold: float = 0.5


# A tree of an isolation forest compares nothing: in every node one attribute and one cut are drawn.
ISOLATION_TREE = Algorithm(
    Isolation.kind,
    Criterion(CriterionKind.SQUARED_ERROR),
    Categorical.TWO_GROUPS,
    Numeric(NumericKind.RANDOM, draws=1),
)


@dataclass(frozen=True, slots=True)
class RandomDivision:
    """Shares of the rows, drawn with the seed."""

    kind: ClassVar[str] = "random"
    train: float = 0.6
    validation: float = 0.2
    test: float = 0.2
    stratified: bool = True


@dataclass(frozen=True, slots=True)
class NoDivision:
    """All rows train."""

    kind: ClassVar[str] = "none"


@dataclass(frozen=True, slots=True)
class ColumnDivision:
    """A column says train, validation or test."""

    kind: ClassVar[str] = "column"
    column: str


@dataclass(frozen=True, slots=True)
class DatasetsDivision:
    """Validation and test rows come from other datasets, named by id."""

    kind: ClassVar[str] = "datasets"
    validation: str | None = None
    test: str | None = None


Division = RandomDivision | NoDivision | ColumnDivision | DatasetsDivision


@dataclass(frozen=True, slots=True)
class NoPruning:
    """The tree stays as grown."""

    kind: ClassVar[str] = "none"


@dataclass(frozen=True, slots=True)
class ReducedErrorPruning:
    """Subtrees are cut when that raises accuracy on the validation rows."""

    kind: ClassVar[str] = "reduced_error"
    on_tie: OnTie = OnTie.KEEP


@dataclass(frozen=True, slots=True)
class ConfidencePruning:
    """Subtrees are cut when a leaf is not expected to err more often; with `raising` a branch may replace them."""

    kind: ClassVar[str] = "confidence"
    cf: float = 0.25
    bound: Bound = Bound.BINOMIAL
    raising: bool = False


@dataclass(frozen=True, slots=True)
class CostComplexityPruning:
    """The weakest links are cut up to alpha, which is given or chosen; the other of `alpha` and `choose` is None."""

    kind: ClassVar[str] = "cost_complexity"
    cost: Cost
    alpha: float | None = None
    choose: Choose | None = None
    folds: int = 10
    rule: AlphaRule = AlphaRule.MINIMUM


Pruning = NoPruning | ReducedErrorPruning | ConfidencePruning | CostComplexityPruning


@dataclass(frozen=True, slots=True)
class Retraining:
    """Importance by training again with each attribute shuffled, `repeats` times."""

    kind: ClassVar[str] = "retraining"
    repeats: int = 5


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Everything but the data. A list of targets, even of one, is predicted as that many numbers at once.

    `algorithm` grows a tree; for many trees `ensemble` says how they are combined, and `algorithm` is the first one's.
    For isolation forests, which predict nothing, the list of targets is empty.
    """

    target: str | tuple[str, ...]
    algorithm: Algorithm
    target_kind: str | None = None
    attributes: tuple[str, ...] | None = None
    sample_weight: str | None = None
    class_weights: Mapping[str, float] | None = None
    seed: int = 0
    division: Division = field(default_factory=RandomDivision)
    pruning: Pruning = field(default_factory=NoPruning)
    misclassification_costs: Mapping[str, Mapping[str, float]] | None = None
    ensemble: Committee | Isolation | None = None
    importance: Retraining | None = None

    @property
    def targets(self) -> tuple[str, ...]:
        """The columns to predict: one, or those of the list."""
        return (self.target,) if isinstance(self.target, str) else self.target

    @property
    def needs_validation(self) -> bool:
        """Whether validation rows are needed to judge splits or pruning; those of an ensemble are not judged."""
        if self.ensemble is not None:
            return False
        return self.algorithm.stopping.validate_splits or judges_by_validation(self.pruning)


def judges_by_validation(pruning: Pruning) -> bool:
    """Whether a kind of pruning uses validation rows."""
    match pruning:
        case ReducedErrorPruning():
            return True
        case CostComplexityPruning(choose=choose):
            return choose is Choose.VALIDATION
        case _:
            return False
