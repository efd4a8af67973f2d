from typing import Any

import pytest

from core.config.as_json import from_json, to_json
from core.config.from_plain import config_from_plain
from core.config.options import ReducedErrorPruning
from core.config.presets import PRESETS
from core.tables.errors import InvalidConfig
from core.tables.schema import Attribute, Kind, Schema

SCHEMA = Schema(
    (Attribute("a", Kind.CATEGORICAL, ("x", "y")), Attribute("b", Kind.NUMERIC), Attribute("w", Kind.NUMERIC))
)
LEAST: dict[str, Any] = {"target": "a", "algorithm": {"kind": "cart"}}
COMPARING_GAINS = [name for name in PRESETS if name not in ("chaid", "quest")]


@pytest.mark.parametrize("preset", COMPARING_GAINS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"criterion": {"kind": "gain_ratio", "filter": "none"}},
        {"numeric": {"kind": "quantile", "bins": 7, "as": "intervals"}},
        {"attribute_costs": {"kind": "nunez", "costs": {"b": 2.0}, "w": 0.5}},
        {"stopping": {"max_depth": 3, "validate_splits": True}, "missing": "surrogate"},
    ],
)
def test_what_a_complete_configuration_says_is_taken(preset: str, options: dict[str, Any]) -> None:
    assert_taken(preset, options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.01, "when_insignificant": "stop"},
        {"stopping": {"max_depth": 3, "validate_splits": True}, "missing": "surrogate"},
    ],
)
def test_what_a_configuration_of_quest_says_is_taken(options: dict[str, Any]) -> None:
    assert_taken("quest", options)


def assert_taken(preset: str, options: dict[str, Any]) -> None:
    plain = {**LEAST, "algorithm": {"kind": preset, **options}, "pruning": {"kind": "reduced_error", "on_tie": "cut"}}
    config = config_from_plain(plain, SCHEMA)
    assert config_from_plain(to_json(config), SCHEMA) == config
    assert isinstance(config.pruning, ReducedErrorPruning)
    for name, value in options.items():
        said = to_json(config)["algorithm"][name]
        assert said == value if not isinstance(value, dict) else value.items() <= said.items()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"alpha": 0.01, "alpha_merge": 0.2, "alpha_split": 0.1, "bonferroni": False, "statistic": "likelihood_ratio"},
        {"alpha_split": None, "bins": 7, "binning": "equal_width", "missing": "weighted"},
        {"exhaustive": True, "stopping": {"max_depth": 3}},
    ],
)
@pytest.mark.parametrize("target", ["a", "b"])
def test_what_chaid_is_told_is_taken(target: str, options: dict[str, Any]) -> None:
    if target == "b":
        options = {name: value for name, value in options.items() if name != "statistic"}
    config = config_from_plain({"target": target, "algorithm": {"kind": "chaid", **options}}, SCHEMA)
    said = to_json(config)["algorithm"]
    assert config_from_plain(to_json(config), SCHEMA) == config == from_json(to_json(config))
    assert set(said) == {
        *("kind", "alpha", "alpha_merge", "alpha_split", "bonferroni", "exhaustive", "bins", "binning", "statistic"),
        *("missing", "stopping"),
    }
    assert (said["statistic"] is None) == (target == "b")
    assert (said["alpha_merge"] is None) == said["exhaustive"]
    for name, value in options.items():
        assert said[name] == value if not isinstance(value, dict) else value.items() <= said[name].items()


FOREST = {"kind": "random_forest"}


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "bagging"},
        {**FOREST, "base": "c45", "max_features": "log2", "features_per_tree": 0.5, "sample_size": 0.7},
        {**FOREST, "base": ["cart", "chaid"], "alpha_split": None, "stopping": {"max_depth": 3}, "n_trees": 2},
        {**FOREST, "max_features": 3, "sample_size": 10, "bootstrap": False, "imbalance": {"kind": "parts"}},
        {"kind": "extra_trees", "numeric": {"kind": "random"}, "imbalance": {"kind": "smote", "neighbours": 2}},
        {**FOREST, "members": [{"kind": "cart"}, {"kind": "cart", "criterion": {"kind": "information_gain"}}]},
    ],
)
def test_what_a_committee_is_told_is_taken_and_so_is_what_it_shows(options: dict[str, Any]) -> None:
    config = config_from_plain({"target": "a", "algorithm": options}, SCHEMA)
    shown = to_json(config)
    assert config_from_plain(shown, SCHEMA) == config == from_json(shown)
    own = [name for name in options if name in shown["algorithm"] and name not in ("members", "imbalance")]
    assert {name: options[name] for name in own} == {name: shown["algorithm"][name] for name in own}


def test_an_isolation_forest_needs_no_target() -> None:
    plain = {"algorithm": {"kind": "isolation_forest", "sample_size": 8, "threshold": 0.6}}
    config = config_from_plain(plain, SCHEMA)
    assert (config.target, config.targets) == ((), ())
    assert config_from_plain(to_json(config), SCHEMA) == config


@pytest.mark.parametrize(
    ("options", "path", "words"),
    [
        ({"base": "crat"}, ("base",), "must be one of id3, c45, cart"),
        ({"base": []}, ("base",), "or a list of them"),
        ({"base": "bagging"}, ("base",), "must be one of"),
        ({"n_trees": 0}, ("n_trees",), "must be a whole number from 1"),
        ({"max_features": 0}, ("max_features",), "sqrt, log2, all"),
        ({"max_features": 1.5}, ("max_features",), "whole number from 1"),
        ({"max_features": True}, ("max_features",), "whole number from 1"),
        ({"features_per_tree": "some"}, ("features_per_tree",), "sqrt, log2, all"),
        ({"sample_size": 1.5}, ("sample_size",), "a share above 0 and up to 1"),
        ({"sample_size": 0}, ("sample_size",), "whole number from 2"),
        ({"imbalance": {"kind": "smoot"}}, ("imbalance", "kind"), "did you mean smote?"),
        ({"imbalance": {"kind": "parts", "ratio": 1}}, ("imbalance", "ratio"), "not an option"),
        ({"imbalance": {"kind": "parts", "n_parts": 1}}, ("imbalance", "n_parts"), "from 2"),
        ({"missing": "guess"}, ("missing",), "own_category"),
        ({"members": []}, ("members",), "at least one entry"),
        ({"members": [{"kind": "cart"}, {"kind": "card"}]}, ("members", 1, "kind"), "did you mean cart?"),
        ({"threshold": 0.5}, ("threshold",), "not an option"),
    ],
)
def test_what_a_committee_cannot_be_told_is_refused_with_its_place(
    options: dict[str, Any], path: tuple[str, ...], words: str
) -> None:
    with pytest.raises(InvalidConfig) as refused:
        config_from_plain({"target": "a", "algorithm": {**FOREST, **options}}, SCHEMA)
    (fault,) = refused.value.faults
    assert fault.path == ("algorithm", *path)
    assert words in f"{fault.detail} {fault.hint}"


def test_none_is_as_if_it_were_left_out() -> None:
    with_nulls = {**LEAST, "sample_weight": None, "algorithm": {"kind": "cart", "stopping": {"min_gain": None}}}
    assert config_from_plain(with_nulls, SCHEMA) == config_from_plain(LEAST, SCHEMA)


def test_a_numeric_target_takes_the_presets_criterion_for_numbers() -> None:
    assert config_from_plain({**LEAST, "target": "b"}, SCHEMA).algorithm.criterion.kind == "squared_error"
    assert config_from_plain({**LEAST, "target": ["b", "w"]}, SCHEMA).target == ("b", "w")
    classes = config_from_plain({**LEAST, "target": "b", "target_kind": "categorical"}, SCHEMA)
    assert classes.algorithm.criterion.kind == "gini"


@pytest.mark.parametrize(
    ("plain", "path", "words"),
    [
        ({"algorithm": {"kind": "cart"}}, ("target",), "needs"),
        ({"target": "a"}, ("algorithm",), "needs"),
        ({**LEAST, "sed": 1}, ("sed",), "did you mean seed?"),
        ({**LEAST, "algorithm": {"kind": "carrt"}}, ("algorithm", "kind"), "did you mean cart?"),
        ({**LEAST, "algorithm": "cart"}, ("algorithm", "kind"), "must be a dictionary"),
        ({**LEAST, "algorithm": {"kind": "quest", "alpha": 0}}, ("algorithm", "alpha"), "from 1e-09 to 1"),
        ({**LEAST, "algorithm": {"kind": "quest", "categorical": "multiway"}}, ("algorithm", "categorical"), "not an"),
        ({**LEAST, "algorithm": {"kind": "cart", "dialect": "release8"}}, ("algorithm", "dialect"), "not an option"),
        (
            {**LEAST, "algorithm": {"kind": "cart", "stopping": {"max_dept": 3}}},
            ("algorithm", "stopping", "max_dept"),
            "did you mean max_depth?",
        ),
        (
            {**LEAST, "algorithm": {"kind": "cart", "stopping": {"max_depth": 2.5}}},
            ("algorithm", "stopping", "max_depth"),
            "must be a whole number from 0",
        ),
        (
            {**LEAST, "algorithm": {"kind": "cart", "stopping": {"min_gain": float("nan")}}},
            ("algorithm", "stopping", "min_gain"),
            "must be a number from 0",
        ),
        (
            {**LEAST, "algorithm": {"kind": "cart", "criterion": {"kind": "gini", "filter": "none"}}},
            ("algorithm", "criterion", "filter"),
            "not an option",
        ),
        (
            {**LEAST, "algorithm": {"kind": "cart", "numeric": {"kind": "uniform", "bins": True}}},
            ("algorithm", "numeric", "bins"),
            "must be a whole number from 2",
        ),
        ({**LEAST, "division": {"kind": "random", "train": 2}}, ("division", "train"), "from 1e-09 to 1"),
        ({**LEAST, "class_weights": {"x": -1}}, ("class_weights", "x"), "must be a number"),
        ({**LEAST, "misclassification_costs": {"x": 3}}, ("misclassification_costs", "x"), "must be a dictionary"),
        ({**LEAST, "attributes": []}, ("attributes",), "must be a list of names"),
        ({**LEAST, "target_kind": "number"}, ("target_kind",), "categorical, ordinal or numeric"),
        ({**LEAST, "seed": -1}, ("seed",), "must be a whole number from 0"),
        ({**LEAST, "algorithm": {"kind": "chaid", "criterion": {}}}, ("algorithm", "criterion"), "not an option"),
        ({**LEAST, "algorithm": {"kind": "chaid", "alpha": 2}}, ("algorithm", "alpha"), "from 1e-09 to 1"),
        ({**LEAST, "algorithm": {"kind": "chaid", "missing": "majority"}}, ("algorithm", "missing"), "own_category"),
        (
            {**LEAST, "algorithm": {"kind": "chaid", "exhaustive": True, "alpha_merge": 0.1}},
            ("algorithm", "alpha_merge"),
            "goes on to two groups",
        ),
        (
            {"target": "b", "algorithm": {"kind": "chaid", "statistic": "pearson"}},
            ("algorithm", "statistic"),
            "F judges numbers",
        ),
        ([], (), "must be a dictionary"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(plain: Any, path: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        config_from_plain(plain, SCHEMA)
    (fault,) = refused.value.faults
    assert fault.path == path
    assert words in f"{fault.detail} {fault.hint}"
