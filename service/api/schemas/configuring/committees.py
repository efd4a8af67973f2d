"""Models of many trees: the options that clients send, and their complete form with every default.

As with the methods of single trees, clients send `BaggingOptions`, and answers show `Bagging`.
"""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag
from typing_extensions import TypeAliasType

from core.config import options
from core.config.from_plain import MOST_TREES
from service.api.schemas.common import Body, Flag, Number, WholeNumber
from service.api.schemas.configuring.imbalance import Balancing, Imbalance, ImbalanceOptions
from service.api.schemas.configuring.methods import (
    Binning,
    Bonferroni,
    ChaidBins,
    Collapse,
    Dialect,
    DivideLevel,
    Exhaustive,
    Fit,
    MergeLevel,
    MostTerms,
    SplitLevel,
    TableStatistic,
    TreeAlgorithm,
    TreeAlgorithmOptions,
    TreeMethodOptions,
    WhenInsignificant,
)


class BaseKind(StrEnum):
    """A method that grows a single tree."""

    ID3 = "id3"
    C45 = "c45"
    CART = "cart"
    CHAID = "chaid"
    QUEST = "quest"
    MULTIVARIATE = "multivariate"


Base = TypeAliasType(
    "Base",
    Annotated[
        Annotated[BaseKind, Tag("kind")]
        | Annotated[list[BaseKind], Tag("kinds"), Field(min_length=1, max_length=MOST_TREES)],
        Discriminator(lambda base: "kinds" if isinstance(base, list | tuple) else "kind"),
        Field(
            description="Method of the trees, or a list of methods that take turns. Default: `cart`.",
            examples=["cart", ["cart", "c45"]],
        ),
    ],
)


def _is_drawn_word(value: Any) -> Any:
    if value not in tuple(options.FeatureShare):
        raise ValueError("must be sqrt, log2, all, a whole number from 1, or a share above 0 and below 1")
    return value


DrawnWord = Annotated[options.FeatureShare, BeforeValidator(_is_drawn_word), Tag("word")]
DrawnCount = Annotated[WholeNumber, Tag("count"), Field(ge=1)]
DrawnShare = Annotated[Number, Tag("share"), Field(gt=0, lt=1)]


def _kind_of_share(value: Any) -> str:
    """Whether a value is meant as a word, a count from 1 or a share below 1, so that its fault is about that."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return "share" if isinstance(value, float) and value < 1 else "count"
    return "word"


MaxFeatures = TypeAliasType(
    "MaxFeatures",
    Annotated[
        DrawnWord | DrawnCount | DrawnShare,
        Discriminator(_kind_of_share),
        Field(
            description="How many of d attributes are drawn: `sqrt`, `log2`, `all`, a number from 1, or a share above "
            "0 and below 1. At least one is drawn.",
            examples=["sqrt", 3, 0.5],
        ),
    ],
)
SampleSize = TypeAliasType(
    "SampleSize",
    Annotated[
        Annotated[Number, Tag("share"), Field(gt=0, le=1)] | Annotated[WholeNumber, Tag("count"), Field(ge=2)],
        Discriminator(lambda size: "count" if isinstance(size, int | float) and size > 1 else "share"),
        Field(
            description="How many rows are drawn for each tree: a share above 0 and up to 1 (1: as many as there are), "
            "or a number of rows from 2. At most all rows are drawn.",
            examples=[1, 256],
        ),
    ],
)
NumberOfTrees = Annotated[WholeNumber, Field(ge=1, le=MOST_TREES, description="Number of trees.")]
PerTree = Field(description="How many attributes are drawn once for each tree, which tests no others; `null` for all.")
PerNode = Field(description="How many attributes are drawn at each node, which is split on one of them.")
Bootstrap = Annotated[
    Flag,
    Field(description="Whether rows are drawn with replacement. Otherwise each row is drawn at most once for a tree."),
]


class Committee(Body):
    """Many trees that vote; `members` are the methods of the trees, which take turns."""

    kind: str
    base: Base
    n_trees: NumberOfTrees
    max_features: Annotated[MaxFeatures, PerNode]
    features_per_tree: Annotated[MaxFeatures | None, PerTree]
    sample_size: SampleSize
    bootstrap: Bootstrap
    imbalance: Annotated[Imbalance | None, Balancing]
    members: list[TreeAlgorithm]


class MissingInTrees(StrEnum):
    """How training rows with missing values are treated, for all methods."""

    WEIGHTED = "weighted"
    MAJORITY = "majority"
    CLASS_MAJORITY = "class_majority"
    DISTRIBUTION = "distribution"
    SURROGATE = "surrogate"
    OWN_CATEGORY = "own_category"


CommitteeMissing = Annotated[
    MissingInTrees,
    Field(
        description="As for the methods themselves; `own_category` is for `chaid` only. All trees treat missing values "
        "in the same way."
    ),
]
CommitteeAlpha = Annotated[
    SplitLevel, Field(description="For `chaid` and `quest`: as in these methods. Default: 0.05.")
]


class CommitteeOptions(TreeMethodOptions):
    """Many trees that vote. What is left out takes its default.

    The options of the trees themselves are given beside `base`, and apply to every base that has them; one that no base
    has is refused. Alternatively `members` lists the methods, each with its own options.
    """

    base: Base | None = None
    members: Annotated[list[TreeAlgorithmOptions] | None, Field(min_length=1, max_length=MOST_TREES)] = None
    n_trees: NumberOfTrees | None = None
    max_features: Annotated[MaxFeatures | None, PerNode] = None
    features_per_tree: Annotated[MaxFeatures | None, PerTree] = None
    sample_size: SampleSize | None = None
    bootstrap: Bootstrap | None = None
    imbalance: Annotated[ImbalanceOptions | None, Balancing] = None
    missing: CommitteeMissing | None = None  # type: ignore[assignment]
    dialect: Dialect | None = None
    collapse: Annotated[
        Collapse | None, Field(description="Not available: the trees of a committee are not collapsed.")
    ] = None
    alpha: CommitteeAlpha | None = None
    alpha_merge: MergeLevel | None = None
    alpha_split: DivideLevel | None = None
    bonferroni: Bonferroni | None = None
    exhaustive: Exhaustive | None = None
    bins: ChaidBins | None = None
    binning: Binning | None = None
    statistic: TableStatistic | None = None
    when_insignificant: WhenInsignificant | None = None
    fit: Fit | None = None
    max_terms: MostTerms | None = None

    def overrides(self) -> dict[str, Any]:
        """The options that the client gave; null for `alpha_split` means that no group is split again."""
        said = super().overrides()
        if self.missing is not None:
            said["missing"] = self.missing.value
        if self.base is not None:
            said["base"] = self.base.value if isinstance(self.base, BaseKind) else [kind.value for kind in self.base]
        if self.members is not None:
            said["members"] = [{"kind": member.kind, **member.overrides()} for member in self.members]
        return said | ({"alpha_split": self.alpha_split} if "alpha_split" in self.model_fields_set else {})


class Bagging(Committee):
    """Bagging: each tree is grown from rows drawn with replacement, and the trees vote (Breiman 1996)."""

    kind: Literal["bagging"]


class BaggingOptions(CommitteeOptions):
    """Bagging: each tree is grown from rows drawn with replacement, and the trees vote (Breiman 1996)."""

    kind: Literal["bagging"]


class RandomForest(Committee):
    """Random forest: bagging, with each node split on one of a few attributes drawn for it (Breiman 2001)."""

    kind: Literal["random_forest"]


class RandomForestOptions(CommitteeOptions):
    """Random forest: bagging, with each node split on one of a few attributes drawn for it (Breiman 2001)."""

    kind: Literal["random_forest"]


class ExtraTrees(Committee):
    """Extra-trees: at each node a few attributes are drawn, and a random cut for each of them (Geurts 2006)."""

    kind: Literal["extra_trees"]


class ExtraTreesOptions(CommitteeOptions):
    """Extra-trees: at each node a few attributes are drawn, and a random cut for each of them (Geurts 2006).

    By default, each tree is grown from all rows.
    """

    kind: Literal["extra_trees"]


AnomalyThreshold = Annotated[Number, Field(ge=0, le=1, description="A row with a score above this is an anomaly.")]


class IsolationForest(Body):
    """Isolation forest: trees of random cuts, in which rows unlike the others are isolated early (Liu 2008)."""

    kind: Literal["isolation_forest"]
    n_trees: NumberOfTrees
    sample_size: SampleSize
    threshold: AnomalyThreshold


class IsolationForestOptions(Body):
    """Isolation forest: trees of random cuts, in which rows unlike the others are isolated early (Liu 2008).

    Default: 100 trees of 256 rows each and a threshold of 0.5. It predicts no column: omit `target`.
    """

    kind: Literal["isolation_forest"]
    n_trees: NumberOfTrees | None = None
    sample_size: SampleSize | None = None
    threshold: AnomalyThreshold | None = None

    def overrides(self) -> dict[str, Any]:
        """The options that the client gave, without the kind."""
        return self.model_dump(exclude_none=True, exclude={"kind"})
