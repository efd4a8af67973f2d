"""What a forest relies on."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from core.config.options import Committee
from core.engine.engine import Engine, grow_with
from core.ensembles.growing import grow_committee
from core.ensembles.growing_forest import forest_of
from core.ensembles.insight.importance import (
    forest_falls_when_shuffled,
    forest_impurity_decrease,
    forest_times_selected,
    out_of_bags,
    worth_of,
)
from core.ensembles.sampling import tree_samples
from core.evaluation.importance import Fall, worth
from core.evaluation.measures import measure_classes
from tests.core.building import cart, cart_for_numbers, samples_of
from tests.core.ensembles.insight.test_proximity import forest_from
from tests.core.evaluation.test_importance import noisy, numbers_of, sides

pytestmark = pytest.mark.bounds


def falls(forest, samples, **options):
    return forest_falls_when_shuffled(forest, samples, **({"repeats": 3, "seed": 0, "kernels": False} | options))


@pytest.mark.parametrize(
    ("load", "forest_kind", "tree_kind", "algorithm"),
    [
        (load_breast_cancer, RandomForestClassifier, DecisionTreeClassifier, cart),
        (load_diabetes, RandomForestRegressor, DecisionTreeRegressor, cart_for_numbers),
    ],
)
def test_the_decrease_of_impurity_is_that_of_scikit_learn_s_forest(load, forest_kind, tree_kind, algorithm):
    """Of trees that are equal: both are given the same rows, and every tree may ask all attributes."""
    table = load()
    values = numbers_of(table.data, 6)
    answers = [int(y) for y in table.target] if algorithm is cart_for_numbers else [str(y) for y in table.target]
    samples = samples_of({f"x{column}": values[:, column].tolist() for column in range(6)}, answers)
    committee = Committee("bagging", (algorithm(max_depth=2),), n_trees=5)
    drawn = [tree_samples(samples, committee, seed=0, tree=tree) for tree in range(5)]
    trees = [grow_with(Engine.DEFINITION, one, committee.members[0], validation=None, seed=0)[0] for one in drawn]
    forest = forest_of(trees, [0] * 5, [algorithm().criterion.kind], [()])
    peer = forest_kind(5, random_state=0).fit(values, table.target)
    peer.estimators_ = [
        tree_kind(max_depth=2, random_state=0).fit(
            np.stack(one.attributes.columns, axis=1),
            table.target[[int(np.flatnonzero(values[:, 0] == x)[0]) for x in one.attributes.columns[0]]],
            sample_weight=one.weights,
        )
        for one in drawn
    ]
    assert forest_impurity_decrease(forest, 6) == pytest.approx(peer.feature_importances_, abs=1e-9)
    selected = sum(np.bincount(tree.tree_.feature[tree.tree_.feature >= 0], minlength=6) for tree in peer.estimators_)
    assert forest_times_selected(forest, 6).tolist() == selected.tolist()


def test_a_forest_of_leaves_relies_on_nothing():
    samples = samples_of({"a": [1, 2, 3], "b": ["x", "y", "x"]}, ["p", "p", "p"])
    forest = forest_from(samples, cart(), n_trees=3)
    assert forest_impurity_decrease(forest, 2).tolist() == [0.0, 0.0]
    assert forest_times_selected(forest, 2).tolist() == [0, 0]
    assert falls(forest, samples) == [Fall(0.0, 0.0), Fall(0.0, 0.0)]


@pytest.mark.parametrize(("target", "algorithm"), [(sides, cart), (lambda score: score.tolist(), cart_for_numbers)])
@pytest.mark.parametrize("rows", ["test", "out of the bag"])
def test_shuffling_tells_what_matters_from_what_does_not(target, algorithm, rows):
    samples, committee = noisy(300, 1, target), Committee("bagging", (algorithm(max_depth=6),), n_trees=15)
    forest = grow_committee(samples, committee, seed=0, engine=Engine.DEFINITION)
    if rows == "test":
        strong, weak, none = falls(forest, noisy(300, 2, target))
    else:
        strong, weak, none = falls(forest, samples, answering=out_of_bags(committee, 300, seed=0))
    assert strong.mean > 3 * weak.mean > 0
    assert abs(none.mean) < weak.mean
    assert strong.spread > 0


def test_rows_are_answered_by_trees_that_have_not_seen_them():
    samples, committee = noisy(60, 1, sides), Committee("bagging", (cart(),), n_trees=4)
    answering = out_of_bags(committee, 60, seed=0)
    for tree in range(4):
        seen = tree_samples(samples, committee, seed=0, tree=tree).attributes.columns[0]
        assert not set(samples.attributes.columns[0][answering[tree]]) & set(seen.tolist())
    assert falls(forest_from(samples, cart(), n_trees=4), samples, answering=np.zeros((4, 60), dtype=np.bool_)) is None


def test_threads_and_kernels_do_not_show():
    samples = noisy(200, 3, sides)
    forest = forest_from(samples, cart(max_depth=5), n_trees=6)
    wanted = falls(forest, samples)
    assert falls(forest, samples) == wanted
    assert falls(forest, samples, kernels=True, threads=2) == wanted
    assert falls(forest, samples, seed=1) != wanted


def test_the_worth_is_that_of_all_measures():
    samples = noisy(80, 4, sides)
    answers = np.random.default_rng(0).dirichlet([1, 1], 80)
    for costs in (None, np.array([[0.0, 3.0], [1.0, 0.0]])):
        measured = measure_classes(answers, samples.target.codes, samples.weights, samples.target.classes, costs)
        assert worth_of(answers, samples, costs) == pytest.approx(worth(measured))


def test_numbers_that_do_not_vary_cannot_be_measured():
    forest = forest_from(samples_of({"a": [1, 2, 3, 4]}, [0.0, 1.0, 2.0, 3.0]), cart_for_numbers())
    assert falls(forest, samples_of({"a": [1, 2]}, [5.0, 5.0])) is None
