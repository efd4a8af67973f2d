from dataclasses import replace

import pytest

from core.config.checks import check
from core.config.committee_presets import resolve_method
from core.config.options import NoDivision, RandomDivision, Retraining, TrainingConfig
from core.tables.errors import InvalidConfig
from core.tables.summary import summarize
from core.tables.target import Task
from tests.core.building import table_of
from tests.core.config.test_checks import COLUMNS


def config_of(kind, options=None, task=Task.CLASSIFICATION, **others):
    algorithm, ensemble = resolve_method(kind, options or {}, task)
    order = {"target": "good", "attributes": ("texture", "density"), "division": NoDivision(), **others}
    return TrainingConfig(algorithm=algorithm, ensemble=ensemble, **order)


def isolation(**others):
    return config_of("isolation_forest", task=Task.ANOMALY_DETECTION, **{"target": (), **others})


def faults_of(config, columns=COLUMNS, *, members_listed=False):
    with pytest.raises(InvalidConfig) as error:
        check(config, columns, {}, members_listed=members_listed)
    return [(fault.path, f"{fault.detail}; {fault.hint}") for fault in error.value.faults]


@pytest.mark.parametrize(
    "config",
    [
        config_of("bagging"),
        config_of("random_forest", {"base": ["cart", "c45", "quest"], "imbalance": {"kind": "smote"}}),
        config_of("extra_trees", {"base": "c45"}, division=RandomDivision(0.5, 0.0, 0.5)),
        config_of("random_forest", {"base": ["cart", "chaid"]}, Task.REGRESSION, target="sugar"),
        config_of("bagging", task=Task.REGRESSION, target=("sugar", "negative")),
        config_of("bagging", {"imbalance": {"kind": "parts"}}, class_weights={"yes": 2.0}),
        isolation(),
        isolation(attributes=None),
    ],
)
def test_what_fits_passes(config):
    check(config, COLUMNS, {})


@pytest.mark.parametrize(
    ("config", "path", "words"),
    [
        (config_of("bagging", {"n_trees": 1, "base": ["cart", "c45"]}), ("algorithm", "n_trees"), "2 kinds take turns"),
        (
            config_of("extra_trees", {"numeric": {"kind": "exact"}}),
            ("algorithm", "numeric", "kind"),
            'use random_forest with "bootstrap": false',
        ),
        (config_of("extra_trees", {"base": "quest"}), ("algorithm", "base"), "QUEST makes its own"),
        (config_of("extra_trees", {"base": ["cart", "chaid"]}), ("algorithm", "base"), "CHAID makes its own"),
        (
            config_of("bagging", {"base": ["cart", "chaid"], "missing": "majority"}),
            ("algorithm", "missing"),
            "majority and weighted",
        ),
        (
            config_of("bagging", {"stopping": {"validate_splits": True}}, division=RandomDivision()),
            ("algorithm", "stopping", "validate_splits"),
            "not pruned",
        ),
        (
            config_of("bagging", {"imbalance": {"kind": "undersample"}}, Task.REGRESSION, target="sugar"),
            ("algorithm", "imbalance"),
            "numbers have none",
        ),
        (
            config_of("bagging", {"imbalance": {"kind": "parts", "n_parts": 9}, "n_trees": 3}),
            ("algorithm", "imbalance", "n_parts"),
            "only 3 trees",
        ),
        # What is wrong with a tree is wrong with each of many.
        (config_of("bagging", {"base": "id3"}), ("attributes", 1), '"as": "intervals"'),
        (config_of("extra_trees", {"base": "id3"}), ("attributes", 1), "or list the attributes without it"),
        (
            config_of("bagging", {"base": "multivariate"}, Task.REGRESSION, target="sugar"),
            ("target",),
            "A multivariate tree predicts classes",
        ),
        (
            config_of("bagging", {"base": ["cart", "c45"]}, Task.REGRESSION, target="sugar"),
            ("target",),
            "C4.5 predicts classes",
        ),
        (
            config_of("bagging", {"base": ["cart", "c45"], "dialect": "release8", "categorical": "two_groups"}),
            ("algorithm", "categorical"),
            "release8 has no two_groups",
        ),
        (config_of("bagging", class_weights={"maybe": 1.0}), ("class_weights", "maybe"), "is not a class"),
        (config_of("bagging", target="goood"), ("target",), "did you mean good?"),
        (config_of("bagging", target=()), ("target",), "a training needs"),
        (TrainingConfig((), resolve_method("cart", {}, Task.CLASSIFICATION)[0]), ("target",), "only isolation_forest"),
        (isolation(target="good"), ("target",), "predicts no column"),
        (isolation(class_weights={"yes": 2.0}), ("class_weights",), "there is no target"),
        (isolation(misclassification_costs={"yes": {"no": 2.0}}), ("misclassification_costs",), "there is no target"),
        (isolation(target_kind="numeric"), ("target_kind",), "there is no target"),
        (isolation(sample_weight="weight"), ("sample_weight",), "counts rows"),
        (isolation(importance=Retraining()), ("importance",), "no measure that could fall"),
        (isolation(attributes=("texture", "texture")), ("attributes", 1), "listed twice"),
        (isolation(division=RandomDivision(0.5, 0.1, 0.1)), ("division",), "add up to"),
    ],
)
def test_what_does_not_fit_is_refused_once_with_its_place(config, path, words):
    ((found, said),) = faults_of(config)
    assert found == path
    assert words in said


def test_one_class_cannot_be_balanced():
    columns = summarize(table_of({"a": [1.0, 2.0], "y": ["p", "p"]}))
    config = config_of("bagging", {"imbalance": {"kind": "oversample"}}, target="y", attributes=("a",))
    ((path, said),) = faults_of(config, columns)
    assert path == ("algorithm", "imbalance")
    assert "only one class" in said


def test_what_is_wrong_with_a_listed_member_is_found_there():
    members = [{"kind": "cart"}, {"kind": "c45", "dialect": "release8", "missing": "majority"}]
    faults = faults_of(config_of("bagging", {"members": members}), members_listed=True)
    assert [path for path, _ in faults] == [("algorithm", "members", 1, "missing"), ("algorithm", "members")]


def test_a_fault_that_all_members_share_is_told_once():
    config = config_of("bagging", {"base": ["cart", "c45"], "min_category_weight": 2.0, "categorical": "multiway"})
    ((path, _),) = faults_of(config)
    assert path == ("algorithm", "min_category_weight")
    assert len(faults_of(config, members_listed=True)) == 2


def test_attributes_that_are_not_there_are_found_without_a_target_too():
    ((path, said),) = faults_of(replace(isolation(), attributes=("densty",)))
    assert path == ("attributes", 0)
    assert "did you mean density?" in said


def test_a_method_that_draws_its_cuts_is_not_told_to_choose_them():
    ((_, words),) = faults_of(config_of("extra_trees", {"base": "id3"}))
    assert "mdlp" not in words
