"""The named methods: each a choice of parts, and no maths."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.config import (
    Algorithm,
    Categorical,
    Criterion,
    CriterionKind,
    Dialect,
    GainFilter,
    MissingStrategy,
    Numeric,
    NumericCorrection,
    NumericKind,
    OnTie,
    Pruning,
    ReducedErrorPruning,
    Stopping,
    attribute_costs_from_json,
    numeric_from_json,
)
from core.schema import Kind
from core.target import Task

EVERY_KIND = (Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL)
GINI, SQUARED_ERROR = Criterion(CriterionKind.GINI), Criterion(CriterionKind.SQUARED_ERROR)


@dataclass(frozen=True, slots=True)
class Preset:
    """A method's defaults, what it can predict and which attributes it takes."""

    title: str
    criteria: Mapping[Task, Criterion]
    categorical: Categorical
    attribute_kinds: tuple[Kind, ...] = EVERY_KIND
    stopping: Stopping = field(default_factory=Stopping)

    def takes(self, kind: Kind, numeric: Numeric) -> bool:
        """Whether it can learn from attributes of a kind; cut into intervals, every kind is like categories."""
        return kind in self.attribute_kinds or (numeric.makes_intervals and Kind.CATEGORICAL in self.attribute_kinds)

    @property
    def tasks(self) -> tuple[Task, ...]:
        return tuple(self.criteria)


PRESETS: dict[str, Preset] = {
    "id3": Preset(
        title="ID3",
        criteria={Task.CLASSIFICATION: Criterion(CriterionKind.INFORMATION_GAIN)},
        categorical=Categorical.MULTIWAY,
        attribute_kinds=(Kind.CATEGORICAL,),
    ),
    "c45": Preset(
        title="C4.5",
        criteria={Task.CLASSIFICATION: Criterion(CriterionKind.GAIN_RATIO, GainFilter.ABOVE_AVERAGE)},
        categorical=Categorical.MULTIWAY,
        stopping=Stopping(min_samples_leaf=2),
    ),
    "cart": Preset(
        title="CART",
        criteria={Task.CLASSIFICATION: GINI, Task.REGRESSION: SQUARED_ERROR},
        categorical=Categorical.TWO_GROUPS,
    ),
}


def resolve(kind: str, overrides: Mapping[str, Any], task: Task) -> Algorithm:
    """The preset with some parts replaced: `overrides` is JSON of the same shape, without what stays as it is.

    A task that the preset cannot do takes the parts of one that it can; the checks against the table refuse it then.
    """
    preset = PRESETS[kind]
    criterion = preset.criteria.get(task) or next(iter(preset.criteria.values()))
    dialect = Dialect(overrides.get("dialect", Dialect.TEXTBOOK))
    if "criterion" in overrides:
        criterion = _criterion(overrides["criterion"])
    if dialect is Dialect.RELEASE8 and "numeric_correction" not in overrides.get("criterion", {}):
        criterion = replace(criterion, numeric_correction=NumericCorrection.RELEASE8)
    return Algorithm(
        kind=kind,
        criterion=criterion,
        categorical=Categorical(overrides.get("categorical", preset.categorical)),
        numeric=numeric_from_json(overrides.get("numeric", {"kind": NumericKind.EXACT})),
        missing=MissingStrategy(overrides.get("missing", MissingStrategy.WEIGHTED)),
        stopping=replace(preset.stopping, **overrides.get("stopping", {})),
        attribute_costs=attribute_costs_from_json(overrides.get("attribute_costs")),
        min_category_weight=overrides.get("min_category_weight", 0.0),
        dialect=dialect,
        collapse=overrides.get("collapse", dialect is Dialect.RELEASE8),
    )


def _criterion(plain: Mapping[str, Any]) -> Criterion:
    kind = CriterionKind(plain["kind"])
    if kind is not CriterionKind.GAIN_RATIO:
        return Criterion(kind)
    correction = NumericCorrection(plain.get("numeric_correction", NumericCorrection.NONE))
    return Criterion(kind, GainFilter(plain.get("filter", GainFilter.ABOVE_AVERAGE)), correction)


def pruning_in_dialect(pruning: Pruning, dialect: Dialect) -> Pruning:
    """Reduced-error pruning as programmed also cuts on a tie."""
    if dialect is Dialect.RELEASE8 and isinstance(pruning, ReducedErrorPruning):
        return ReducedErrorPruning(OnTie.CUT)
    return pruning
