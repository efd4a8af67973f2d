from typing import Any

import pytest

from core.config import ReducedErrorPruning, to_json
from core.errors import InvalidConfig
from core.plain_config import config_from_plain
from core.presets import PRESETS
from core.schema import Attribute, Kind, Schema

SCHEMA = Schema(
    (Attribute("a", Kind.CATEGORICAL, ("x", "y")), Attribute("b", Kind.NUMERIC), Attribute("w", Kind.NUMERIC))
)
LEAST: dict[str, Any] = {"target": "a", "algorithm": {"kind": "cart"}}


@pytest.mark.parametrize("preset", sorted(set(PRESETS) - {"quest"}))
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
        ([], (), "must be a dictionary"),
    ],
)
def test_what_cannot_be_is_refused_with_its_place(plain: Any, path: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        config_from_plain(plain, SCHEMA)
    (fault,) = refused.value.faults
    assert fault.path == path
    assert words in f"{fault.detail} {fault.hint}"
