import json
from dataclasses import replace

import pytest

from core.config.as_json import from_json, to_json
from core.config.options import (
    ISOLATION_TREE,
    Algorithm,
    BinsAs,
    Categorical,
    ColumnDivision,
    Committee,
    Criterion,
    CriterionKind,
    DatasetsDivision,
    FeatureShare,
    GainFilter,
    Isolation,
    MajorityParts,
    MissingStrategy,
    NoDivision,
    NoPruning,
    Numeric,
    NumericKind,
    Nunez,
    OnTie,
    RandomDivision,
    ReducedErrorPruning,
    Smote,
    Stopping,
    TanSchlimmer,
    TrainingConfig,
)
from tests.core.building import c45, cart, cart_for_numbers

CONFIGS = [
    TrainingConfig("y", cart()),
    TrainingConfig(
        "y",
        Algorithm(
            "c45",
            Criterion(CriterionKind.GAIN_RATIO, GainFilter.BETTER_HALF),
            Categorical.ONE_VS_REST,
            Numeric(NumericKind.BOUNDARY),
            stopping=Stopping(3, None, 2.5, 1.5, 0.1, 0.2, 0.3, True),
        ),
        target_kind="categorical",
        attributes=("b", "a"),
        sample_weight="w",
        class_weights={"p": 2.0},
        seed=7,
        division=ColumnDivision("part"),
        pruning=ReducedErrorPruning(OnTie.CUT),
    ),
    TrainingConfig("y", c45(), division=NoDivision(), pruning=ReducedErrorPruning()),
    TrainingConfig("y", replace(c45(), numeric=Numeric(NumericKind.QUANTILE, bins=5, bins_as=BinsAs.INTERVALS))),
    TrainingConfig("y", replace(c45(), numeric=Numeric(NumericKind.RANDOM, draws=3))),
    TrainingConfig("y", replace(c45(), numeric=Numeric(NumericKind.MDLP))),
    TrainingConfig("y", replace(c45(), missing=MissingStrategy.SURROGATE, attribute_costs=TanSchlimmer({"a": 2.0}))),
    TrainingConfig("y", replace(c45(), attribute_costs=Nunez({"a": 0.0}, w=0.5))),
    TrainingConfig("y", c45(min_copy_weight=0.1), division=DatasetsDivision("ds_1", None)),
    TrainingConfig("y", c45(), misclassification_costs={"p": {"q": 2.0}}),
    TrainingConfig("y", c45(), division=RandomDivision(0.5, 0.25, 0.25, False)),
    TrainingConfig(("y", "z"), cart_for_numbers()),
    TrainingConfig(("y",), cart_for_numbers()),
    TrainingConfig("y", cart(), ensemble=Committee("bagging", (cart(),))),
    TrainingConfig(
        "y",
        cart(max_depth=3),
        ensemble=Committee(
            "random_forest",
            (cart(max_depth=3), c45(max_depth=3)),
            n_trees=7,
            max_features=FeatureShare.LOG2,
            features_per_tree=0.5,
            sample_size=20,
            bootstrap=False,
            imbalance=Smote(neighbours=3),
        ),
    ),
    TrainingConfig(
        "y", cart(), ensemble=Committee("extra_trees", (cart(),), max_features=3, imbalance=MajorityParts())
    ),
    TrainingConfig((), ISOLATION_TREE, ensemble=Isolation(n_trees=50, sample_size=0.5, threshold=0.6)),
]


@pytest.mark.parametrize("config", CONFIGS)
def test_a_configuration_survives_being_written_as_json(config):
    again = from_json(json.loads(json.dumps(to_json(config))))
    assert again == config
    assert repr(again) == repr(config)  # words are members of their enums again, not only equal to them


def test_a_tie_that_is_to_be_cut_is_still_to_be_cut_after_json():
    again = from_json(json.loads(json.dumps(to_json(CONFIGS[1]))))
    assert again.pruning.on_tie is OnTie.CUT


def test_every_default_is_written_out():
    plain = to_json(CONFIGS[0])
    assert plain["division"] == {"kind": "random", "train": 0.6, "validation": 0.2, "test": 0.2, "stratified": True}
    assert plain["pruning"] == {"kind": "none"}
    assert plain["algorithm"]["criterion"] == {"kind": "gini"}
    assert plain["algorithm"]["stopping"]["min_samples_split"] == 2
    assert to_json(CONFIGS[2])["algorithm"]["criterion"]["filter"] == "above_average"
    assert plain["algorithm"]["numeric"] == {"kind": "exact"}
    assert to_json(CONFIGS[3])["algorithm"]["numeric"] == {"kind": "quantile", "bins": 5, "as": "intervals"}
    assert to_json(CONFIGS[4])["algorithm"]["numeric"] == {"kind": "random", "draws": 3}
    assert to_json(CONFIGS[5])["algorithm"]["numeric"] == {"kind": "mdlp", "as": "thresholds"}
    assert to_json(CONFIGS[2])["pruning"] == {"kind": "reduced_error", "on_tie": "keep"}


@pytest.mark.parametrize(
    ("config", "needs"),
    [
        (TrainingConfig("y", cart(), pruning=NoPruning()), False),
        (TrainingConfig("y", cart(), pruning=ReducedErrorPruning()), True),
        (TrainingConfig("y", cart(validate_splits=True)), True),
    ],
)
def test_what_needs_validation_rows(config, needs):
    assert config.needs_validation is needs


def test_what_an_earlier_release_did_not_write_takes_its_default():
    plain = json.loads(json.dumps(to_json(CONFIGS[0])))
    del plain["algorithm"]["attribute_costs"]
    assert from_json(plain) == CONFIGS[0]


def test_a_list_of_targets_is_a_list_in_json_and_a_single_target_is_not():
    assert to_json(TrainingConfig(("y", "z"), cart_for_numbers()))["target"] == ["y", "z"]
    assert to_json(TrainingConfig(("y",), cart_for_numbers()))["target"] == ["y"]
    assert to_json(TrainingConfig("y", cart_for_numbers()))["target"] == "y"
    assert TrainingConfig("y", cart()).targets == ("y",)


def test_a_committee_is_written_with_its_own_options_and_all_of_each_member():
    plain = to_json(CONFIGS[-3])["algorithm"]
    assert {name: value for name, value in plain.items() if name != "members"} == {
        "kind": "random_forest",
        "base": ["cart", "c45"],
        "n_trees": 7,
        "max_features": "log2",
        "features_per_tree": 0.5,
        "sample_size": 20,
        "bootstrap": False,
        "imbalance": {"kind": "smote", "ratio": 1.0, "neighbours": 3},
    }
    assert [member["kind"] for member in plain["members"]] == ["cart", "c45"]
    assert [member["stopping"]["max_depth"] for member in plain["members"]] == [3, 3]
    assert to_json(CONFIGS[-2])["algorithm"]["base"] == "cart"


def test_an_isolation_forest_has_no_target_in_json():
    plain = to_json(CONFIGS[-1])
    assert plain["target"] is None
    assert plain["algorithm"] == {"kind": "isolation_forest", "n_trees": 50, "sample_size": 0.5, "threshold": 0.6}
