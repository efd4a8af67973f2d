"""How to train: frozen values, complete with every default, and their JSON form.

Options are checked once, here or against the table, and refused rather than corrected. `kind` tells the members of a
union apart, in Python as in JSON.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, get_args


class Categorical(StrEnum):
    """How a categorical attribute is split."""

    MULTIWAY = "multiway"
    ONE_VS_REST = "one_vs_rest"
    TWO_GROUPS = "two_groups"


class CriterionKind(StrEnum):
    """What attributes are compared by."""

    INFORMATION_GAIN = "information_gain"
    GAIN_RATIO = "gain_ratio"
    GINI = "gini"
    ERROR_RATE = "error_rate"
    SQUARED_ERROR = "squared_error"


class GainFilter(StrEnum):
    """Among which candidates the gain ratio chooses."""

    ABOVE_AVERAGE = "above_average"
    BETTER_HALF = "better_half"
    NONE = "none"


class NumericKind(StrEnum):
    """Which thresholds are tried."""

    EXACT = "exact"
    BOUNDARY = "boundary"


class OnTie(StrEnum):
    """What reduced-error pruning does when accuracy stays the same."""

    KEEP = "keep"
    CUT = "cut"


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion; `filter` belongs to the gain ratio alone."""

    kind: CriterionKind
    filter: GainFilter | None = None


@dataclass(frozen=True, slots=True)
class Numeric:
    """Where columns with an order may be cut."""

    kind: NumericKind = NumericKind.EXACT


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


@dataclass(frozen=True, slots=True)
class Algorithm:
    """A preset's name and the parts it is made of."""

    kind: str
    criterion: Criterion
    categorical: Categorical
    numeric: Numeric = field(default_factory=Numeric)
    missing: str = "weighted"
    stopping: Stopping = field(default_factory=Stopping)


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


Pruning = NoPruning | ReducedErrorPruning


@dataclass(frozen=True, slots=True)
class TrainingConfig:
    """Everything but the data."""

    target: str
    algorithm: Algorithm
    target_kind: str | None = None
    attributes: tuple[str, ...] | None = None
    sample_weight: str | None = None
    class_weights: Mapping[str, float] | None = None
    seed: int = 0
    division: Division = field(default_factory=RandomDivision)
    pruning: Pruning = field(default_factory=NoPruning)

    @property
    def needs_validation(self) -> bool:
        """Whether some rows must be kept aside to judge splits or cuts by."""
        return self.algorithm.stopping.validate_splits or isinstance(self.pruning, ReducedErrorPruning)


def to_json(config: TrainingConfig) -> dict[str, Any]:
    """The configuration as JSON values, every default written out."""
    algorithm = asdict(config.algorithm)
    if config.algorithm.criterion.filter is None:
        del algorithm["criterion"]["filter"]
    return {
        "target": config.target,
        "target_kind": config.target_kind,
        "attributes": None if config.attributes is None else list(config.attributes),
        "sample_weight": config.sample_weight,
        "class_weights": None if config.class_weights is None else dict(config.class_weights),
        "seed": config.seed,
        "division": {"kind": config.division.kind, **asdict(config.division)},
        "algorithm": algorithm,
        "pruning": {"kind": config.pruning.kind, **asdict(config.pruning)},
    }


def from_json(plain: Mapping[str, Any]) -> TrainingConfig:
    """The inverse of `to_json`."""
    algorithm = plain["algorithm"]
    criterion = algorithm["criterion"]
    return TrainingConfig(
        target=plain["target"],
        target_kind=plain["target_kind"],
        attributes=None if plain["attributes"] is None else tuple(plain["attributes"]),
        sample_weight=plain["sample_weight"],
        class_weights=plain["class_weights"],
        seed=plain["seed"],
        division=division_from_json(plain["division"]),
        pruning=pruning_from_json(plain["pruning"]),
        algorithm=Algorithm(
            kind=algorithm["kind"],
            criterion=Criterion(
                CriterionKind(criterion["kind"]), GainFilter(criterion["filter"]) if "filter" in criterion else None
            ),
            categorical=Categorical(algorithm["categorical"]),
            numeric=Numeric(NumericKind(algorithm["numeric"]["kind"])),
            missing=algorithm["missing"],
            stopping=Stopping(**algorithm["stopping"]),
        ),
    )


def division_from_json(plain: Mapping[str, Any]) -> Division:
    """The division that JSON names by its `kind`."""
    division: Division = _member(get_args(Division), plain)
    return division


def pruning_from_json(plain: Mapping[str, Any]) -> Pruning:
    """The pruning that JSON names by its `kind`."""
    pruning: Pruning = _member(get_args(Pruning), plain)
    if isinstance(pruning, ReducedErrorPruning):
        return ReducedErrorPruning(OnTie(pruning.on_tie))  # JSON holds the word, not the member
    return pruning


def _member(members: tuple[Any, ...], plain: Mapping[str, Any]) -> Any:
    """The member of a union whose `kind` the JSON names."""
    values = dict(plain)
    kind = values.pop("kind")
    return next(member for member in members if member.kind == kind)(**values)
