from dataclasses import replace

import pytest

from core.config.committee_presets import COMMITTEES, options_of, pruning_of, resolve_method
from core.config.options import (
    ISOLATION_TREE,
    FeatureShare,
    Isolation,
    MissingStrategy,
    NoPruning,
    Numeric,
    NumericKind,
    Smote,
)
from core.config.presets import PRESETS, resolve
from core.tables.errors import InvalidConfig
from core.tables.target import Task

CLASSES, NUMBERS = Task.CLASSIFICATION, Task.REGRESSION


def committee(kind, overrides, task=CLASSES):
    algorithm, ensemble = resolve_method(kind, overrides, task)
    assert algorithm == ensemble.members[0]
    return ensemble


def faults_of(kind, overrides, task=CLASSES):
    with pytest.raises(InvalidConfig) as error:
        resolve_method(kind, overrides, task)
    return [(fault.path, f"{fault.detail}; {fault.hint}") for fault in error.value.faults]


@pytest.mark.parametrize(
    ("kind", "max_features", "bootstrap"),
    [
        ("bagging", FeatureShare.ALL, True),
        ("random_forest", FeatureShare.SQRT, True),
        ("extra_trees", FeatureShare.SQRT, False),
    ],
)
@pytest.mark.parametrize("task", [CLASSES, NUMBERS])
def test_committees_are_as_published(kind, max_features, bootstrap, task):
    made = committee(kind, {}, task)
    assert (made.kind, made.n_trees, made.sample_size, made.imbalance) == (kind, 100, 1.0, None)
    assert (made.max_features, made.features_per_tree, made.bootstrap) == (max_features, None, bootstrap)
    (member,) = made.members
    cuts = Numeric(NumericKind.RANDOM, draws=1) if kind == "extra_trees" else Numeric()
    assert member == replace(resolve("cart", {}, task), numeric=cuts)


def test_a_single_tree_has_no_ensemble():
    assert resolve_method("c45", {}, CLASSES) == (resolve("c45", {}, CLASSES), None)


def test_an_isolation_forest_has_trees_of_random_cuts():
    assert resolve_method("isolation_forest", {}, Task.ANOMALY_DETECTION) == (ISOLATION_TREE, Isolation(100, 256, 0.5))
    _, told = resolve_method("isolation_forest", {"n_trees": 5, "threshold": 0.7}, Task.ANOMALY_DETECTION)
    assert told == Isolation(5, 256, 0.7)


def test_a_committees_own_options_are_taken():
    said = {"n_trees": 7, "max_features": 0.5, "features_per_tree": "log2", "sample_size": 50, "bootstrap": False}
    made = committee("bagging", {**said, "imbalance": {"kind": "smote", "neighbours": 3}})
    assert {name: getattr(made, name) for name in said} == said
    assert made.features_per_tree is FeatureShare.LOG2
    assert made.imbalance == Smote(1.0, 3)


def test_what_is_said_beside_base_holds_for_every_base_that_has_it():
    said = {
        "criterion": {"kind": "information_gain"},
        "stopping": {"max_depth": 3},
        "alpha": 0.01,
        "dialect": "textbook",
    }
    made = committee("bagging", {"base": ["cart", "quest", "c45"], **said})
    cart, quest, c45 = made.members
    assert [member.kind for member in made.members] == ["cart", "quest", "c45"]
    assert [member.stopping.max_depth for member in made.members] == [3, 3, 3]
    assert c45.stopping.min_samples_leaf == 2  # C4.5's own, which nobody changed
    assert [cart.criterion.kind, c45.criterion.kind] == ["information_gain"] * 2
    assert quest.quest.alpha == 0.01


def test_a_way_to_treat_missing_values_is_for_the_methods_that_know_it():
    made = committee("bagging", {"base": ["cart", "chaid"], "missing": "own_category"})
    assert (made.members[0].missing, made.members[1].chaid.missing) == (MissingStrategy.WEIGHTED, "own_category")
    ((path, words),) = faults_of("bagging", {"base": "cart", "missing": "own_category"})
    assert path == ("algorithm", "missing")
    assert words == 'missing "own_category" is not an option of cart; leave it out, or use a base that has it: chaid'


def test_an_option_that_no_base_has_is_refused():
    faults = faults_of("random_forest", {"base": ["cart", "id3"], "alpha": 0.1, "fit": "lda"})
    assert faults == [
        (
            ("algorithm", "alpha"),
            "alpha is not an option of cart or id3; leave it out, or use a base that has it: chaid, quest",
        ),
        (
            ("algorithm", "fit"),
            "fit is not an option of cart or id3; leave it out, or use a base that has it: multivariate",
        ),
    ]


def test_members_may_be_listed_each_with_its_own_options():
    made = committee("bagging", {"members": [{"kind": "cart"}, {"kind": "cart", "criterion": {"kind": "error_rate"}}]})
    assert [member.criterion.kind for member in made.members] == ["gini", "error_rate"]


def test_beside_a_list_of_members_nothing_is_said_of_them():
    listed = {"members": [{"kind": "cart"}, {"kind": "c45"}]}
    assert committee("bagging", {**listed, "base": ["cart", "c45"]}) == committee("bagging", listed)
    (path, words), (base_path, base_words) = faults_of("bagging", {**listed, "base": "cart", "alpha": 0.1})
    assert (path, base_path) == (("algorithm", "alpha"), ("algorithm", "base"))
    assert "say it in each member" in words
    assert "of the kinds cart, c45" in base_words


def test_what_is_wrong_with_a_listed_member_is_found_there():
    listed = {"members": [{"kind": "cart"}, {"kind": "chaid", "exhaustive": True, "alpha_merge": 0.1}]}
    ((path, _),) = faults_of("bagging", listed)
    assert path == ("algorithm", "members", 1, "alpha_merge")


def test_trees_of_a_committee_are_not_collapsed():
    assert not committee("bagging", {"base": "c45", "dialect": "release8"}).members[0].collapse
    assert faults_of("bagging", {"base": "c45", "collapse": True})[0][0] == ("algorithm", "collapse")
    listed = {"members": [{"kind": "c45", "collapse": True}]}
    assert faults_of("bagging", listed)[0][0] == ("algorithm", "members", 0, "collapse")
    assert committee("bagging", {"members": [{"kind": "c45", "collapse": False}]}).members[0].collapse is False


def test_extra_trees_draw_one_cut_unless_told():
    drawn = [{}, {"numeric": {"kind": "random"}}, {"numeric": {"kind": "random", "draws": 4}}]
    assert [committee("extra_trees", said).members[0].numeric.draws for said in drawn] == [1, 1, 4]
    assert committee("random_forest", {"numeric": {"kind": "random"}}).members[0].numeric.draws == 10


@pytest.mark.parametrize("kind", [*COMMITTEES, "isolation_forest"])
def test_many_trees_together_are_not_pruned(kind):
    algorithm, ensemble = resolve_method(kind, {}, CLASSES)
    for said in (None, {"kind": "none"}):
        assert pruning_of(algorithm, ensemble, said, has_validation=True) == NoPruning()
    with pytest.raises(InvalidConfig) as error:
        pruning_of(algorithm, ensemble, {"kind": "reduced_error"}, has_validation=True)
    (fault,) = error.value.faults
    assert fault.path == ("pruning", "kind")
    assert kind in fault.detail
    assert '{"kind": "none"}' in fault.hint


@pytest.mark.parametrize("kind", PRESETS)
def test_a_methods_options_are_those_that_its_configuration_shows(kind):
    assert "stopping" in options_of(kind, CLASSES)
    assert "kind" not in options_of(kind, CLASSES)
    assert ("criterion" in options_of(kind, CLASSES)) == (kind not in ("chaid", "quest"))
