"""The named methods: each a choice of parts, and no maths."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from core.config.as_json import (
    attribute_costs_from_json,
    chaid_from_json,
    numeric_from_json,
    pruning_from_json,
    quest_tests_from_json,
)
from core.config.options import (
    Algorithm,
    AlphaRule,
    Bound,
    Categorical,
    Choose,
    ConfidencePruning,
    Cost,
    CostComplexityPruning,
    Criterion,
    CriterionKind,
    Dialect,
    GainFilter,
    LinearFit,
    LinearTests,
    MissingStrategy,
    NoPruning,
    Numeric,
    NumericCorrection,
    NumericKind,
    OnTie,
    Pruning,
    ReducedErrorPruning,
    Stopping,
)
from core.tables.errors import Fault, InvalidConfig, raise_any
from core.tables.schema import Kind
from core.tables.target import Task

EVERY_KIND = (Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL)
GINI, SQUARED_ERROR = Criterion(CriterionKind.GINI), Criterion(CriterionKind.SQUARED_ERROR)

# The impurity behind each criterion, as the cost of a tree.
COSTS = {
    CriterionKind.INFORMATION_GAIN: Cost.ENTROPY,
    CriterionKind.GAIN_RATIO: Cost.ENTROPY,
    CriterionKind.GINI: Cost.GINI,
    CriterionKind.ERROR_RATE: Cost.ERROR,
    CriterionKind.SQUARED_ERROR: Cost.SQUARED_ERROR,
}


@dataclass(frozen=True, slots=True)
class Preset:
    """A method's defaults, what it can predict and which attributes it takes."""

    title: str
    criteria: Mapping[Task, Criterion]
    categorical: Categorical
    attribute_kinds: tuple[Kind, ...] = EVERY_KIND
    stopping: Stopping = field(default_factory=Stopping)
    pruning: str = NoPruning.kind
    choose: Choose | None = None  # how alpha is chosen; None for validation rows where there are some
    rule: AlphaRule = AlphaRule.MINIMUM  # of a cross-validation
    predicts_several: bool = False  # numbers at once
    linear: LinearTests | None = None

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
        pruning=ConfidencePruning.kind,
    ),
    "cart": Preset(
        title="CART",
        criteria={Task.CLASSIFICATION: GINI, Task.REGRESSION: SQUARED_ERROR},
        categorical=Categorical.TWO_GROUPS,
        pruning=CostComplexityPruning.kind,
        predicts_several=True,
    ),
    "chaid": Preset(
        title="CHAID",
        criteria={Task.CLASSIFICATION: GINI, Task.REGRESSION: SQUARED_ERROR},
        categorical=Categorical.MULTIWAY,
        stopping=Stopping(min_samples_split=30, min_samples_leaf=10),
    ),
    "quest": Preset(
        title="QUEST",
        criteria={Task.CLASSIFICATION: GINI},
        categorical=Categorical.TWO_GROUPS,
        stopping=Stopping(min_samples_split=10),
        pruning=CostComplexityPruning.kind,
        choose=Choose.CROSS_VALIDATION,
        rule=AlphaRule.ONE_STANDARD_ERROR,
    ),
    "multivariate": Preset(
        title="A multivariate tree",
        criteria={Task.CLASSIFICATION: GINI},
        categorical=Categorical.ONE_HOT,
        pruning=CostComplexityPruning.kind,
        linear=LinearTests(),
    ),
}


def resolve(kind: str, overrides: Mapping[str, Any], task: Task) -> Algorithm:
    """The preset with some parts replaced: `overrides` is JSON of the same shape with only what changes.

    A task that the preset cannot do takes the parts of one that it can; the checks against the table refuse it then.
    """
    preset = PRESETS[kind]
    stopping = replace(preset.stopping, **overrides.get("stopping", {}))
    if kind == "chaid":
        return chaid_from_json({**chaid_options(overrides, task), "stopping": asdict(stopping)})
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
        stopping=stopping,
        attribute_costs=attribute_costs_from_json(overrides.get("attribute_costs")),
        min_category_weight=overrides.get("min_category_weight", 0.0),
        dialect=dialect,
        collapse=overrides.get("collapse", dialect is Dialect.RELEASE8),
        quest=quest_tests_from_json(overrides) if kind == "quest" else None,
        linear=_linear(preset.linear, overrides),
    )


def _linear(default: LinearTests | None, overrides: Mapping[str, Any]) -> LinearTests | None:
    if default is None:
        return None
    return LinearTests(LinearFit(overrides.get("fit", default.fit)), overrides.get("max_terms", default.max_terms))


def chaid_options(overrides: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """The given options of CHAID, with None for those that they make unused; refused if one of the latter is given."""
    raise_any(InvalidConfig, unused_faults(overrides, task))
    without_alphas = {"alpha_merge": None, "alpha_split": None} if overrides.get("exhaustive") else {}
    without_statistic = {"statistic": None} if task is Task.REGRESSION else {}
    return {**overrides, **without_alphas, **without_statistic}


def unused_faults(overrides: Mapping[str, Any], task: Task) -> Iterator[Fault]:
    """Options of CHAID that others make useless."""
    for name in ("alpha_merge", "alpha_split"):
        if overrides.get("exhaustive") and overrides.get(name) is not None:
            detail = f"exhaustive merging goes on to two groups, and does not look at {name}"
            yield Fault(detail, ("algorithm", name), f"leave {name} out, or exhaustive")
    if task is Task.REGRESSION and overrides.get("statistic") is not None:
        detail = f"{overrides['statistic']} judges tables of classes, and numbers have none"
        yield Fault(detail, ("algorithm", "statistic"), "leave it out: F judges numbers")


def _criterion(plain: Mapping[str, Any]) -> Criterion:
    kind = CriterionKind(plain["kind"])
    if kind is not CriterionKind.GAIN_RATIO:
        return Criterion(kind)
    correction = NumericCorrection(plain.get("numeric_correction", NumericCorrection.NONE))
    return Criterion(kind, GainFilter(plain.get("filter", GainFilter.ABOVE_AVERAGE)), correction)


def pruning_for(algorithm: Algorithm, said: Mapping[str, Any] | None, *, has_validation: bool) -> Pruning:
    """The given pruning, as JSON without what is left out, or the preset's own.

    `has_validation` says whether there are validation rows; then alpha is chosen by them unless configured otherwise.
    """
    preset = PRESETS[algorithm.kind]
    chosen = {"kind": preset.pruning} if said is None else dict(said)
    is_as_programmed = algorithm.dialect is Dialect.RELEASE8
    match chosen["kind"]:
        case ReducedErrorPruning.kind if is_as_programmed:
            chosen["on_tie"] = OnTie.CUT  # the programs also cut on a tie
        case ConfidencePruning.kind if is_as_programmed:
            chosen = {"bound": Bound.NORMAL, "raising": True, **chosen}
        case CostComplexityPruning.kind:
            raise_any(InvalidConfig, alpha_faults(chosen))
            chosen.setdefault("cost", COSTS[algorithm.criterion.kind])
            if "alpha" not in chosen:
                by_rows = Choose.VALIDATION if has_validation else Choose.CROSS_VALIDATION
                chosen.setdefault("choose", preset.choose or by_rows)
            if chosen.get("choose") == Choose.CROSS_VALIDATION:
                chosen.setdefault("rule", preset.rule)
        case _:
            pass
    return pruning_from_json(chosen)


def alpha_faults(said: Mapping[str, Any]) -> list[Fault]:
    """Alpha is given, or chosen; and only a cross-validation has more than one rule to choose it by."""
    if "alpha" in said and "choose" in said:
        hint = "say alpha, or how to choose it"
        return [Fault("alpha is given and to be chosen too", ("pruning", name), hint) for name in ("alpha", "choose")]
    is_elsewhere = "alpha" in said or said.get("choose") == Choose.VALIDATION
    if is_elsewhere and said.get("rule") == AlphaRule.ONE_STANDARD_ERROR:
        hint = 'use "choose": "cross_validation", or leave the rule out'
        return [Fault("one_standard_error is about the errors of a cross-validation", ("pruning", "rule"), hint)]
    return []
