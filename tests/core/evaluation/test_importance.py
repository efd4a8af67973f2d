import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from core.evaluation.importance import Fall, Measure, falls_when_shuffled, impurity_decrease, measure_of, times_selected
from tests.core.building import cart, cart_for_numbers, id3, model_of, samples_of
from tests.core.pruning.replay import accuracy_of
from tests.golden_tables import PRINTED_ORDER, golden_samples


def falls(model, samples, step=0, repeats=5, seed=0, kernels=False):
    return falls_when_shuffled(model, step, samples, repeats=repeats, seed=seed, kernels=kernels)


def numbers_of(table, n_columns):
    """Distinct numbers, so that no two trees are equally good."""
    chance = np.random.default_rng(0)
    return np.asarray(table)[:, :n_columns] + chance.normal(scale=1e-4, size=(len(table), n_columns))


@pytest.mark.parametrize(
    ("load", "peer", "algorithm"),
    [
        (load_breast_cancer, DecisionTreeClassifier, cart),
        (load_diabetes, DecisionTreeRegressor, cart_for_numbers),
    ],
)
def test_the_decrease_of_impurity_is_that_of_scikit_learn(load, peer, algorithm):
    table = load()
    values = numbers_of(table.data, 8)
    answers = [int(y) for y in table.target] if algorithm is cart_for_numbers else [str(y) for y in table.target]
    samples = samples_of({f"x{column}": values[:, column].tolist() for column in range(8)}, answers)
    view = model_of(samples, algorithm(max_depth=3)).view(0)
    tree = peer(max_depth=3, random_state=0).fit(values, table.target)
    assert impurity_decrease(view, 8) == pytest.approx(tree.feature_importances_, abs=1e-9)
    assert times_selected(view, 8).tolist() == [int((tree.tree_.feature == column).sum()) for column in range(8)]


def test_attributes_of_the_worked_table_as_of_each_step():
    aside = golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER)
    model = model_of(golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER), id3(), validation=aside)
    for step in range(len(model.history.steps) + 1):
        view = model.view(step)
        asked = [node for node in view.nodes if not view.is_leaf[node]]
        selected = times_selected(view, 6)
        assert selected.sum() == len(asked)
        assert selected[PRINTED_ORDER.index("脐部")] == 1
        assert impurity_decrease(view, 6).sum() == pytest.approx(1.0)


def test_a_single_leaf_relies_on_nothing():
    samples = samples_of({"a": [1, 2, 3], "b": ["x", "y", "x"]}, ["p", "p", "p"])
    model = model_of(samples, cart())
    assert impurity_decrease(model.view(0), 2).tolist() == [0.0, 0.0]
    assert times_selected(model.view(0), 2).tolist() == [0, 0]
    assert falls(model, samples) == [Fall(0.0, 0.0), Fall(0.0, 0.0)]


def sides(score):
    return ["high" if one > 0 else "low" for one in score]


def noisy(n_rows, seed, target):
    chance = np.random.default_rng(seed)
    columns = {
        "strong": chance.normal(size=n_rows).tolist(),
        "weak": chance.normal(size=n_rows).tolist(),
        "none": chance.normal(size=n_rows).tolist(),
    }
    score = np.array(columns["strong"]) + 0.3 * np.array(columns["weak"])
    return samples_of(columns, target(score), classes=("high", "low"))


@pytest.mark.parametrize(
    ("target", "algorithm"),
    [
        (sides, cart),
        (lambda score: score.tolist(), cart_for_numbers),
        (lambda score: np.stack([score, 2 * score], axis=1).tolist(), cart_for_numbers),
    ],
)
def test_shuffling_tells_what_matters_from_what_does_not(target, algorithm):
    model = model_of(noisy(500, 1, target), algorithm(max_depth=6), target="y")
    strong, weak, none = falls(model, noisy(500, 2, target))
    assert strong.mean > 3 * weak.mean > 0
    assert abs(none.mean) < weak.mean
    assert strong.spread > 0


def test_an_attribute_that_no_node_asks_changes_nothing():
    samples = noisy(200, 3, sides)
    model = model_of(samples, cart(max_depth=1))
    strong, *others = falls(model, samples)
    assert others == [Fall(0.0, 0.0), Fall(0.0, 0.0)]
    assert strong.mean > 0.2


def test_the_fall_is_that_of_the_measure():
    samples = samples_of({"a": [1, 2, 3, 4, 5, 6]}, list("ppqqrr"))
    model = model_of(samples, cart())
    (found,) = falls(model, samples, repeats=400)
    # Of six values in random order a row meets one of its own class by chance: a third.
    assert accuracy_of(model.view(0), samples) == 1.0
    assert found.mean == pytest.approx(1 - 1 / 3, abs=0.03)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_falls_by_either_engine():
    samples = noisy(300, 4, sides)
    holes = samples_of(
        {"strong": [None if row % 7 == 0 else v for row, v in enumerate(samples.attributes.columns[0].tolist())]}
        | {name: samples.attributes.values(name).tolist() for name in ("weak", "none")},
        sides(samples.attributes.columns[0]),
    )
    model = model_of(holes, cart(max_depth=4))
    assert falls(model, holes, seed=7) == falls(model, holes, seed=7)
    assert falls(model, holes, seed=7) != falls(model, holes, seed=8)
    assert falls(model, holes, seed=7, kernels=True) == falls(model, holes, seed=7)


def test_numbers_that_do_not_vary_cannot_be_measured():
    model = model_of(samples_of({"a": [1, 2, 3, 4]}, [0.0, 1.0, 2.0, 3.0]), cart_for_numbers())
    assert measure_of(model) is Measure.R2
    assert falls(model, samples_of({"a": [1, 2]}, [5.0, 5.0])) is None
