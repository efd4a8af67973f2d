"""A configuration as JSON values, every default written out, and back."""

from collections.abc import Mapping
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any, get_args

from core.config.options import (
    ISOLATION_TREE,
    NUMERIC_OPTIONS,
    Algorithm,
    AlphaRule,
    AttributeCosts,
    Binning,
    BinsAs,
    Bound,
    Categorical,
    ChaidMissing,
    ChaidTests,
    Choose,
    Committee,
    Cost,
    Criterion,
    CriterionKind,
    Dialect,
    Division,
    Features,
    FeatureShare,
    GainFilter,
    Imbalance,
    Isolation,
    LinearFit,
    LinearTests,
    MissingStrategy,
    Numeric,
    NumericCorrection,
    NumericKind,
    OnTie,
    Pruning,
    QuestTests,
    Retraining,
    Stopping,
    TableStatistic,
    TrainingConfig,
    WhenInsignificant,
)

# A committee's own options that are the same in JSON, by name.
COMMITTEE_OPTIONS = ("n_trees", "max_features", "features_per_tree", "sample_size", "bootstrap")


def to_json(config: TrainingConfig) -> dict[str, Any]:
    """The configuration as JSON values, every default written out."""
    return {
        "target": config.target if isinstance(config.target, str) else list(config.target) or None,
        "target_kind": config.target_kind,
        "attributes": None if config.attributes is None else list(config.attributes),
        "sample_weight": config.sample_weight,
        "class_weights": None if config.class_weights is None else dict(config.class_weights),
        "misclassification_costs": costs_to_json(config.misclassification_costs),
        "seed": config.seed,
        "division": {"kind": config.division.kind, **asdict(config.division)},
        "algorithm": method_to_json(config.algorithm, config.ensemble),
        "pruning": {"kind": config.pruning.kind, **asdict(config.pruning)},
        "importance": importance_to_json(config.importance),
    }


def method_to_json(algorithm: Algorithm, ensemble: Committee | Isolation | None) -> dict[str, Any]:
    """The parts of a method, or of a committee and of each kind of tree in it, that can be chosen."""
    match ensemble:
        case None:
            return algorithm_to_json(algorithm)
        case Isolation():
            return {"kind": ensemble.kind, **asdict(ensemble)}
        case Committee(members=members, imbalance=imbalance):
            kinds = [member.kind for member in members]
            return {
                "kind": ensemble.kind,
                "base": kinds[0] if len(kinds) == 1 else kinds,
                **{name: getattr(ensemble, name) for name in COMMITTEE_OPTIONS},
                "imbalance": None if imbalance is None else {"kind": imbalance.kind, **asdict(imbalance)},
                "members": [algorithm_to_json(member) for member in members],
            }


def algorithm_to_json(algorithm: Algorithm) -> dict[str, Any]:
    """The parts of a method that can be chosen."""
    parts = asdict(algorithm)
    del parts["quest"], parts["chaid"]
    linear = parts.pop("linear")
    if algorithm.chaid is not None:
        return {"kind": algorithm.kind, "stopping": parts["stopping"]} | asdict(algorithm.chaid)
    if algorithm.quest is not None:
        return {name: parts[name] for name in ("kind", "missing", "stopping")} | asdict(algorithm.quest)
    parts["numeric"] = numeric_to_json(algorithm.numeric)
    costs = algorithm.attribute_costs
    parts["attribute_costs"] = None if costs is None else {"kind": costs.kind, **asdict(costs)}
    if algorithm.criterion.kind is not CriterionKind.GAIN_RATIO:
        del parts["criterion"]["filter"], parts["criterion"]["numeric_correction"]
    if algorithm.kind != "c45":
        del parts["dialect"], parts["collapse"]
    return parts | (linear or {})


def from_json(plain: Mapping[str, Any]) -> TrainingConfig:
    """The inverse of `to_json`; what an earlier release did not write yet takes its default."""
    algorithm, ensemble = method_from_json(plain["algorithm"])
    return TrainingConfig(
        target=plain["target"] if isinstance(plain["target"], str) else tuple(plain["target"] or ()),
        target_kind=plain["target_kind"],
        attributes=None if plain["attributes"] is None else tuple(plain["attributes"]),
        sample_weight=plain["sample_weight"],
        class_weights=plain["class_weights"],
        misclassification_costs=plain.get("misclassification_costs"),
        seed=plain["seed"],
        division=division_from_json(plain["division"]),
        pruning=pruning_from_json(plain["pruning"]),
        algorithm=algorithm,
        ensemble=ensemble,
        importance=importance_from_json(plain.get("importance")),
    )


def method_from_json(plain: Mapping[str, Any]) -> tuple[Algorithm, Committee | Isolation | None]:
    """The inverse of `method_to_json`."""
    if plain["kind"] == Isolation.kind:
        return ISOLATION_TREE, isolation_from_json(plain)
    if "members" not in plain:
        return algorithm_from_json(plain), None
    members = tuple(algorithm_from_json(member) for member in plain["members"])
    return members[0], committee_from_json(plain, members)


def committee_from_json(plain: Mapping[str, Any], members: tuple[Algorithm, ...]) -> Committee:
    """A committee of these methods; an option that is not there takes its default."""
    said = {name: plain[name] for name in COMMITTEE_OPTIONS if name in plain}
    for name in ("max_features", "features_per_tree"):
        if name in said:
            said[name] = features_from_json(said[name])
    return Committee(plain["kind"], members, **said, imbalance=imbalance_from_json(plain.get("imbalance")))


def features_from_json(plain: Any) -> Features | None:
    """The number of attributes to draw: a word becomes a member of its enumeration."""
    return FeatureShare(plain) if isinstance(plain, str) else plain


def imbalance_from_json(plain: Mapping[str, Any] | None) -> Imbalance | None:
    """The treatment of rare classes, which JSON names by its `kind`; None if there is none."""
    if plain is None:
        return None
    imbalance: Imbalance = _member(get_args(Imbalance), plain)
    return imbalance


def isolation_from_json(plain: Mapping[str, Any]) -> Isolation:
    """An isolation forest's own options; what is not there takes its default."""
    return Isolation(**{each.name: plain[each.name] for each in fields(Isolation) if each.name in plain})


def algorithm_from_json(plain: Mapping[str, Any]) -> Algorithm:
    """The inverse of `algorithm_to_json`."""
    if plain["kind"] == "quest":
        return quest_from_json(plain)
    if plain["kind"] == "chaid":
        return chaid_from_json(plain)
    criterion = plain["criterion"]
    return Algorithm(
        kind=plain["kind"],
        criterion=Criterion(
            CriterionKind(criterion["kind"]),
            GainFilter(criterion["filter"]) if "filter" in criterion else None,
            NumericCorrection(criterion.get("numeric_correction", NumericCorrection.NONE)),
        ),
        categorical=Categorical(plain["categorical"]),
        numeric=numeric_from_json(plain["numeric"]),
        missing=MissingStrategy(plain["missing"]),
        stopping=Stopping(**plain["stopping"]),
        attribute_costs=attribute_costs_from_json(plain.get("attribute_costs")),
        min_category_weight=plain.get("min_category_weight", 0.0),
        dialect=Dialect(plain.get("dialect", Dialect.TEXTBOOK)),
        collapse=plain.get("collapse", False),
        linear=linear_from_json(plain),
    )


def quest_from_json(plain: Mapping[str, Any]) -> Algorithm:
    """QUEST with all its parts; it splits by thresholds and into two groups."""
    return Algorithm(
        kind="quest",
        criterion=Criterion(CriterionKind.GINI),
        categorical=Categorical.TWO_GROUPS,
        missing=MissingStrategy(plain["missing"]),
        stopping=Stopping(**plain["stopping"]),
        quest=quest_tests_from_json(plain),
    )


def quest_tests_from_json(plain: Mapping[str, Any]) -> QuestTests:
    """QUEST's own options; what is not there takes its default."""
    default = QuestTests()
    insignificant = WhenInsignificant(plain.get("when_insignificant", default.when_insignificant))
    return QuestTests(plain.get("alpha", default.alpha), insignificant)


def chaid_from_json(plain: Mapping[str, Any]) -> Algorithm:
    """CHAID with all its parts."""
    tests = chaid_tests_from_json(plain)
    return Algorithm(
        kind="chaid",
        criterion=Criterion(CriterionKind.SQUARED_ERROR if tests.statistic is None else CriterionKind.GINI),
        categorical=Categorical.MULTIWAY,
        numeric=tests.numeric,
        stopping=Stopping(**plain["stopping"]),
        chaid=tests,
    )


def chaid_tests_from_json(plain: Mapping[str, Any]) -> ChaidTests:
    """CHAID's own options; what is not there takes its default."""
    words: dict[str, type[StrEnum]] = {"binning": Binning, "statistic": TableStatistic, "missing": ChaidMissing}
    said: dict[str, Any] = {each.name: plain[each.name] for each in fields(ChaidTests) if each.name in plain}
    for name in words:
        if said.get(name) is not None:
            said[name] = words[name](said[name])
    return ChaidTests(**said)


def costs_to_json(costs: Mapping[str, Mapping[str, float]] | None) -> dict[str, dict[str, float]] | None:
    """Costs by actual and predicted class, as plain dictionaries."""
    return None if costs is None else {actual: dict(row) for actual, row in costs.items()}


def numeric_to_json(numeric: Numeric) -> dict[str, Any]:
    """How thresholds are chosen, with the options that the kind has."""
    options = {"bins": numeric.bins, "draws": numeric.draws, "as": numeric.bins_as}
    return {"kind": numeric.kind} | {name: options[name] for name in NUMERIC_OPTIONS[numeric.kind]}


def numeric_from_json(plain: Mapping[str, Any]) -> Numeric:
    """The inverse of `numeric_to_json`; an option that is not there takes its default."""
    options = {"bins_as" if name == "as" else name: value for name, value in plain.items() if name != "kind"}
    if "bins_as" in options:
        options["bins_as"] = BinsAs(options["bins_as"])
    return Numeric(NumericKind(plain["kind"]), **options)


def attribute_costs_from_json(plain: Mapping[str, Any] | None) -> AttributeCosts | None:
    """The costs that JSON names by their `kind`; none where there are none."""
    if plain is None:
        return None
    costs: AttributeCosts = _member(get_args(AttributeCosts), plain)
    return costs


def linear_from_json(plain: Mapping[str, Any]) -> LinearTests | None:
    """The options of linear tests among an algorithm's; None where it has no such tests."""
    return LinearTests(LinearFit(plain["fit"]), plain["max_terms"]) if "fit" in plain else None


def division_from_json(plain: Mapping[str, Any]) -> Division:
    """The division that JSON names by its `kind`."""
    division: Division = _member(get_args(Division), plain)
    return division


def pruning_from_json(plain: Mapping[str, Any]) -> Pruning:
    """The pruning that JSON names by its `kind`."""
    words: dict[str, type[StrEnum]] = {
        "on_tie": OnTie,
        "bound": Bound,
        "cost": Cost,
        "choose": Choose,
        "rule": AlphaRule,
    }
    # JSON holds the word, not the enumeration's member.
    meant = {n: words[n](value) if n in words and value is not None else value for n, value in plain.items()}
    pruning: Pruning = _member(get_args(Pruning), meant)
    return pruning


def importance_to_json(importance: Retraining | None) -> dict[str, Any] | None:
    """How the importance of attributes is measured after training; None where it is not."""
    return None if importance is None else {"kind": importance.kind, **asdict(importance)}


def importance_from_json(plain: Mapping[str, Any] | None) -> Retraining | None:
    """The inverse of `importance_to_json`; what is not there takes its default."""
    if plain is None:
        return None
    importance: Retraining = _member((Retraining,), plain)
    return importance


def _member(members: tuple[Any, ...], plain: Mapping[str, Any]) -> Any:
    """The member of a union whose `kind` the JSON names."""
    values = dict(plain)
    kind = values.pop("kind")
    return next(member for member in members if member.kind == kind)(**values)
