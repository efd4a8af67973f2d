"""A configuration from plain values, as in JSON; what is left out, or None, takes its preset's default.

Every key, word and number is checked here; `checks` decides whether it all fits a table.
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from itertools import chain
from typing import Any, TypeVar

from core.config.as_json import division_from_json, importance_from_json
from core.config.columns import has_validation, task_of
from core.config.committee_checks import NO_TARGET
from core.config.committee_presets import COMMITTEES, pruning_of, resolve_method
from core.config.options import (
    AlphaRule,
    Binning,
    BinsAs,
    Bound,
    Categorical,
    ChaidMissing,
    Choose,
    Cost,
    CriterionKind,
    Dialect,
    FeatureShare,
    GainFilter,
    Isolation,
    LinearFit,
    MissingStrategy,
    NumericCorrection,
    OnTie,
    Retraining,
    TableStatistic,
    TrainingConfig,
    WhenInsignificant,
)
from core.config.presets import PRESETS
from core.tables.errors import Fault, InvalidConfig, Path, raise_any
from core.tables.schema import Kind, Schema
from core.tables.suggestion import did_you_mean, quoted
from core.tables.target import Task

Plain = Mapping[str, Any]
Check = Callable[[Any, Path], Iterator[Fault]]
Fields = Mapping[str, Check]
Value = TypeVar("Value")


def config_from_plain(plain: Plain, schema: Schema, *, validated_elsewhere: bool = False) -> TrainingConfig:
    """The configuration for a table of this schema; InvalidConfig with every fault that is found.

    `validated_elsewhere` says that validation rows come from another table, whatever the division is.
    """
    raise_any(InvalidConfig, order_faults(plain))
    said = without_nulls(plain)
    target = said["target"] if isinstance(said.get("target"), str) else tuple(said.get("target", ()))
    is_unknown = isinstance(target, str) and target not in schema  # the checks against the table will say so
    task = Task.CLASSIFICATION if is_unknown else task_of(schema, target, said.get("target_kind"))
    preset, overrides = said["algorithm"]["kind"], {k: v for k, v in said["algorithm"].items() if k != "kind"}
    algorithm, ensemble = resolve_method(preset, overrides, task)
    division = division_from_json(said.get("division", {"kind": "random"}))
    is_validated = validated_elsewhere or has_validation(division, schema)
    return TrainingConfig(
        target=target,
        target_kind=said.get("target_kind"),
        attributes=None if "attributes" not in said else tuple(said["attributes"]),
        sample_weight=said.get("sample_weight"),
        class_weights=said.get("class_weights"),
        misclassification_costs=said.get("misclassification_costs"),
        seed=said.get("seed", 0),
        division=division,
        algorithm=algorithm,
        ensemble=ensemble,
        pruning=pruning_of(algorithm, ensemble, said.get("pruning"), has_validation=is_validated),
        importance=importance_from_json(said.get("importance")),
    )


def without_nulls(value: Value) -> Value:
    """The value without keys that are None, at any depth."""
    if isinstance(value, Mapping):
        said = {key: inner for key, inner in value.items() if inner is not None or key in SAYING_NULL}
        return {key: without_nulls(inner) for key, inner in said.items()}  # type: ignore[return-value]
    if isinstance(value, list):
        return [without_nulls(inner) for inner in value]  # type: ignore[return-value]
    return value


def order_faults(plain: object) -> Iterator[Fault]:
    """All faults of an order that do not depend on a table."""
    yield from section(ORDER)(plain, ())
    if not isinstance(plain, Mapping):
        return
    method = plain.get("algorithm")
    if method is None:
        yield Fault('a training needs "algorithm"', ("algorithm",))
    elif plain.get("target") is None and not (isinstance(method, Mapping) and method.get("kind") == Isolation.kind):
        yield NO_TARGET


def section(fields: Fields) -> Check:
    """A dictionary with some of these keys."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault("must be a dictionary", path)
            return
        for key, inner in value.items():
            if key not in fields:
                yield Fault(f"{quoted(str(key))} is not an option here", (*path, str(key)), _known(str(key), fields))
            elif inner is not None:
                yield from fields[key](inner, (*path, key))

    return check


def one_of(members: Mapping[str, Fields]) -> Check:
    """A dictionary whose `kind` decides which keys it may have."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        kind = value.get("kind") if isinstance(value, Mapping) else None
        if not isinstance(kind, str) or kind not in members:
            detail = (
                f"{quoted(kind)} is not known here" if isinstance(kind, str) else 'must be a dictionary with a "kind"'
            )
            yield Fault(detail, (*path, "kind"), _known(str(kind), members))
        else:
            yield from section({"kind": anything, **members[kind]})(value, path)

    return check


def word(words: type[StrEnum]) -> Check:
    """One of the words of an enumeration."""
    return any_of(words)


def any_of(*words: type[StrEnum]) -> Check:
    """One of the words of several enumerations."""
    known = list(dict.fromkeys(member.value for each in words for member in each))
    return _claim(lambda value: isinstance(value, str) and value in known, "must be one of " + ", ".join(known))


def list_of(each: Check) -> Check:
    """A list of at least one."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, list | tuple) or not value:
            yield Fault("must be a list with at least one entry", path)
        else:
            yield from chain.from_iterable(each(inner, (*path, index)) for index, inner in enumerate(value))

    return check


def number(low: float, high: float = float("inf"), *, whole: bool = False) -> Check:
    """A number between two others, both included."""
    said = f"from {low:g}" if high == float("inf") else f"from {low:g} to {high:g}"

    def fits(value: Any) -> bool:
        is_number = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        return is_number and low <= value <= high

    return _claim(fits, f"must be a {'whole ' if whole else ''}number {said}")


def numbers_by_name(low: float) -> Check:
    """A dictionary of numbers."""
    return by_name(number(low, LARGEST))


def by_name(each: Check) -> Check:
    """A dictionary with any keys, whose values are all alike."""

    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield Fault("must be a dictionary", path)
        else:
            yield from chain.from_iterable(each(inner, (*path, str(name))) for name, inner in value.items())

    return check


def anything(_value: Any, _path: Path) -> Iterator[Fault]:
    """No fault."""
    return iter(())


def _claim(holds: Callable[[Any], bool], otherwise: str) -> Check:
    def check(value: Any, path: Path) -> Iterator[Fault]:
        if not holds(value):
            yield Fault(f"{otherwise}, not {quoted(str(value))}", path)

    return check


def _known(word: str, words: Mapping[str, object]) -> str:
    return did_you_mean(word, list(words)) or "known are " + ", ".join(words)


def _are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(name, str) for name in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_features(value: Any) -> bool:
    is_share_or_count = _is_number(value) and (0 < value < 1 or (isinstance(value, int) and value >= 1))
    return is_share_or_count or value in tuple(FeatureShare)


def _is_sample_size(value: Any) -> bool:
    return _is_number(value) and (0 < value <= 1 or (value >= 2 and value == int(value)))


def _are_kinds(value: Any) -> bool:
    kinds = [value] if isinstance(value, str) else value
    return isinstance(kinds, list | tuple) and bool(kinds) and all(kind in PRESETS for kind in kinds)


LARGEST = 1e9
MOST_TREES = 10_000
MOST_REPEATS = 100
SAYING_NULL = ("alpha_split",)  # None here means that no group is split again
flag = _claim(lambda value: isinstance(value, bool), "must be true or false")
name = _claim(lambda value: isinstance(value, str), "must be the name of a column")
names = _claim(_are_names, "must be a list of names of columns")
kind_or_kinds = _claim(_are_kinds, f"must be one of {', '.join(PRESETS)}, or a list of them")
features = _claim(_is_features, "must be sqrt, log2, all, a whole number from 1, or a share between 0 and 1")
sample_size = _claim(_is_sample_size, "must be a share above 0 and up to 1, or a whole number from 2")
name_or_names = _claim(lambda value: isinstance(value, str) or _are_names(value), "must be a name, or a list of names")

BINS: Fields = {"bins": number(2, 1_000_000, whole=True), "as": word(BinsAs)}
STOPPING: Fields = {
    "max_depth": number(0, whole=True),
    "max_leaves": number(1, whole=True),
    "min_samples_split": number(0),
    "min_samples_leaf": number(0),
    "min_gain": number(0),
    "min_score": number(0),
    "min_impurity": number(0),
    "min_copy_weight": number(0),
    "validate_splits": flag,
}
PARTS: Fields = {
    "criterion": one_of(
        {kind: {} for kind in CriterionKind}
        | {CriterionKind.GAIN_RATIO: {"filter": word(GainFilter), "numeric_correction": word(NumericCorrection)}}
    ),
    "categorical": word(Categorical),
    "numeric": one_of(
        {
            "exact": {},
            "boundary": {},
            "quantile": BINS,
            "uniform": BINS,
            "random": {"draws": number(1, 1_000_000, whole=True)},
            "mdlp": {"as": word(BinsAs)},
        }
    ),
    "missing": word(MissingStrategy),
    "stopping": section(STOPPING),
    "attribute_costs": one_of(
        {
            "tan_schlimmer": {"costs": numbers_by_name(1e-9)},
            "nunez": {"costs": numbers_by_name(0), "w": number(0, 1)},
        }
    ),
    "min_category_weight": number(0),
}
SHARE = number(0, 1)
LEVEL = number(1e-9, 1)
MOST_BINS = 1_000  # for CHAID, which compares them pair by pair
METHODS: Mapping[str, Fields] = dict.fromkeys(PRESETS, PARTS) | {
    "c45": {**PARTS, "dialect": word(Dialect), "collapse": flag},
    "chaid": {
        "alpha": LEVEL,
        "alpha_merge": LEVEL,
        "alpha_split": LEVEL,
        "bonferroni": flag,
        "exhaustive": flag,
        "bins": number(2, MOST_BINS, whole=True),
        "binning": word(Binning),
        "statistic": word(TableStatistic),
        "missing": word(ChaidMissing),
        "stopping": PARTS["stopping"],
    },
    "quest": {
        "alpha": LEVEL,
        "when_insignificant": word(WhenInsignificant),
        "missing": PARTS["missing"],
        "stopping": PARTS["stopping"],
    },
    "multivariate": {**PARTS, "fit": word(LinearFit), "max_terms": number(2, 1_000, whole=True)},
}
RATIO: Fields = {"ratio": number(1e-9, LARGEST)}
N_TREES = number(1, MOST_TREES, whole=True)
COMMITTEE: Fields = {
    **{name: check for fields in METHODS.values() for name, check in fields.items()},
    "missing": any_of(MissingStrategy, ChaidMissing),
    "base": kind_or_kinds,
    "members": list_of(one_of(METHODS)),
    "n_trees": N_TREES,
    "max_features": features,
    "features_per_tree": features,
    "sample_size": sample_size,
    "bootstrap": flag,
    "imbalance": one_of(
        {
            "undersample": RATIO,
            "parts": {"n_parts": number(2, MOST_TREES, whole=True)},
            "cluster_undersample": RATIO,
            "oversample": RATIO,
            "interpolate": RATIO,
            "smote": {**RATIO, "neighbours": number(1, 1_000, whole=True)},
        }
    ),
}
ISOLATION: Fields = {"n_trees": N_TREES, "sample_size": sample_size, "threshold": SHARE}
ORDER: Fields = {
    "target": name_or_names,
    "target_kind": _claim(
        lambda value: value in (Kind.CATEGORICAL, Kind.ORDINAL, Kind.NUMERIC), "must be categorical, ordinal or numeric"
    ),
    "attributes": names,
    "sample_weight": name,
    "class_weights": numbers_by_name(1e-9),
    "misclassification_costs": by_name(numbers_by_name(0)),
    "seed": number(0, 2**63 - 1, whole=True),
    "division": one_of(
        {
            "none": {},
            "random": {"train": number(1e-9, 1), "validation": SHARE, "test": SHARE, "stratified": flag},
            "column": {"column": name},
        }
    ),
    "algorithm": one_of({**METHODS, **dict.fromkeys(COMMITTEES, COMMITTEE), "isolation_forest": ISOLATION}),
    "pruning": one_of(
        {
            "none": {},
            "reduced_error": {"on_tie": word(OnTie)},
            "confidence": {"cf": number(1e-6, 1 - 1e-6), "bound": word(Bound), "raising": flag},
            "cost_complexity": {
                "cost": word(Cost),
                "alpha": number(0),
                "choose": word(Choose),
                "folds": number(2, 1000, whole=True),
                "rule": word(AlphaRule),
            },
        }
    ),
    "importance": one_of({Retraining.kind: {"repeats": number(1, MOST_REPEATS, whole=True)}}),
}
