"""Rows that end in the same leaves."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from sklearn.ensemble import RandomForestClassifier

from core.config.options import Committee, FeatureShare
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.ensembles.growing_forest import forest_of
from core.ensembles.insight import proximity
from core.ensembles.insight.proximity import Neighbour, neighbours, outliers, pairs, standardised
from core.prediction.routing import MissingPolicy, leaves_reached
from core.tree.tree import full_view
from tests.core.building import cart, cart_for_numbers, samples_of
from tests.core.strategies import trainings

pytestmark = pytest.mark.bounds


def forest_from(samples, algorithm, n_trees=12, seed=0, **options):
    options = {"max_features": FeatureShare.SQRT} | options
    committee = Committee("random_forest", (algorithm,), n_trees=n_trees, **options)
    return grow_committee(samples, committee, seed=seed, engine=Engine.DEFINITION)


def clouds(n_rows=90, seed=0):
    """Two classes, each a cloud; the first row of class a lies among class b."""
    chance = np.random.default_rng(seed)
    codes = np.arange(n_rows) % 2
    numbers = chance.normal(size=(n_rows, 4)) + 1.5 * codes[:, None]
    numbers[0] = 2.0
    columns = {f"x{column}": numbers[:, column].tolist() for column in range(4)}
    return samples_of(columns, ["ab"[code] for code in codes.tolist()], classes=("a", "b"))


def proximity_by_definition(forest, table):
    found = np.zeros((table.n_rows, table.n_rows))
    for number in range(len(forest)):
        reached = [dict(leaves) for leaves in leaves_reached(
            full_view(forest.tree(number)), table, MissingPolicy.WEIGHTED
        )]  # fmt: skip
        for a, of_a in enumerate(reached):
            for b, of_b in enumerate(reached):
                found[a, b] += sum(weight * of_b.get(leaf, 0.0) for leaf, weight in of_a.items())
    return found / len(forest)


@given(trainings(max_rows=10))
def test_pairs_share_leaves_by_weight(training):
    samples, algorithm = training
    forest = forest_from(samples, algorithm, n_trees=3)
    found = pairs(forest, samples.attributes, kernels=False)
    assert found == pytest.approx(proximity_by_definition(forest, samples.attributes))
    assert found == pytest.approx(found.T)
    assert found.max() <= 1 + 1e-12


def test_proximities_are_those_of_the_leaves_of_scikit_learn():
    samples = clouds()
    numbers = np.stack(samples.attributes.columns, axis=1)
    forest = forest_from(samples, cart(max_depth=3), n_trees=200, max_features=2)
    leaves = RandomForestClassifier(200, max_depth=3, max_features=2, random_state=0).fit(
        numbers, samples.target.codes
    ).apply(numbers)  # fmt: skip
    theirs = (leaves[:, None] == leaves[None]).mean(axis=2)
    found = pairs(forest, samples.attributes, kernels=False)
    assert np.corrcoef(found.ravel(), theirs.ravel())[0, 1] > 0.98
    assert (np.diag(found) == 1.0).all()


def test_neighbours_are_the_nearest_rows_in_order():
    samples = clouds()
    forest, table = forest_from(samples, cart()), samples.attributes
    near = pairs(forest, table, kernels=False)
    found = neighbours(forest, table.take(np.array([4, 9])), table, 5, kernels=False)
    for record, of_record in zip((4, 9), found, strict=True):
        order = sorted(range(90), key=lambda row: (-near[record, row], row))[:5]
        assert of_record == [Neighbour(row, pytest.approx(near[record, row])) for row in order]
    assert len(neighbours(forest, table.take(np.array([4])), table, 500, kernels=False)[0]) == 90


def test_pieces_do_not_show(monkeypatch):
    samples = clouds()
    forest, table = forest_from(samples, cart()), samples.attributes
    whole = neighbours(forest, table.take(np.arange(7)), table, 4, kernels=False)
    raw = outliers(forest, table, samples.target.codes, seed=0, kernels=False)
    monkeypatch.setattr(proximity, "MOST_PAIRS", 200)
    assert neighbours(forest, table.take(np.arange(7)), table, 4, kernels=False) == whole
    assert outliers(forest, table, samples.target.codes, seed=0, kernels=False).tobytes() == raw.tobytes()


def test_no_matrix_of_all_rows_with_all_rows_is_in_memory(monkeypatch):
    monkeypatch.setattr(proximity, "MOST_PAIRS", 1 << 17)  # 1 MB
    samples = clouds(3000)
    samples.attributes.columns[1][::5] = np.nan
    forest = forest_from(samples, cart(max_depth=3), n_trees=2)
    tracemalloc.start()
    outliers(forest, samples.attributes, samples.target.codes, seed=0, kernels=False)
    neighbours(forest, samples.attributes, samples.attributes, 2, kernels=False)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12e6  # all pairs take 72 MB


def test_a_row_among_those_of_another_class_is_an_outlier():
    samples = clouds()
    forest = forest_from(samples, cart(max_depth=4), n_trees=60)
    found = outliers(forest, samples.attributes, samples.target.codes, seed=0, kernels=False)
    near = pairs(forest, samples.attributes, kernels=False)
    own = samples.target.codes == 0
    raw = 90 / (near[own][:, own] ** 2).sum(axis=1)
    wanted = (raw - np.median(raw)) / np.median(np.abs(raw - np.median(raw)))
    assert found[own] == pytest.approx(wanted)
    assert found[0] > 5
    assert np.median(found[own]) == pytest.approx(0.0, abs=1e-9)


def test_many_peers_are_drawn_and_stand_for_all(monkeypatch):
    samples = clouds(400)
    forest = forest_from(samples, cart(max_depth=3), n_trees=40)
    exact = outliers(forest, samples.attributes, samples.target.codes, seed=0, kernels=False)
    monkeypatch.setattr(proximity, "MOST_PEERS", 80)
    drawn = [outliers(forest, samples.attributes, samples.target.codes, seed=s, kernels=False) for s in (0, 0, 1)]
    assert np.corrcoef(exact, drawn[0])[0, 1] > 0.95
    assert drawn[0].tobytes() == drawn[1].tobytes()
    assert drawn[0].tobytes() != drawn[2].tobytes()


def test_the_kernels_find_the_same_leaves():
    samples = clouds(300)
    samples.attributes.columns[1][::5] = np.nan
    forest, table = forest_from(samples, cart()), samples.attributes
    for some in (table, table.take(np.flatnonzero(~np.isnan(table.columns[1])))):
        assert pairs(forest, some, kernels=True).tobytes() == pairs(forest, some, kernels=False).tobytes()


def test_numbers_to_predict_make_one_class():
    samples = samples_of({"x": [0.0, 0.1, 0.2, 0.3, 9.0]}, [1.0, 1.0, 1.0, 1.0, 7.0])
    forest = forest_of(
        [forest_from(samples, cart_for_numbers(), n_trees=1, bootstrap=False).tree(0)], [0],
        [cart_for_numbers().criterion.kind], [()],
    )  # fmt: skip
    found = outliers(forest, samples.attributes, np.zeros(5, dtype=np.int64), seed=0, kernels=False)
    # 5 / 4 for the four that are together, 5 / 1 for the one alone: medians 5/4 and 0, so the mean distance 3/4.
    assert found.tolist() == pytest.approx([0.0, 0.0, 0.0, 0.0, 5.0])


def test_values_that_are_all_alike_are_no_outliers():
    assert standardised(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert standardised(np.array([1.0, 2.0, 4.0])).tolist() == [-1.0, 0.0, 2.0]
