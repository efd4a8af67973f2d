"""Rows that trees have not seen tell how good a forest is."""

from dataclasses import replace

import numpy as np
import pytest

from core.config.options import Committee
from core.engine.engine import Engine, grow_with
from core.ensembles.growing_forest import forest_of
from core.ensembles.insight.out_of_bag import judge_out_of_bag, points_of
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.sampling import out_of_bag, tree_samples
from core.growth.samples import Samples
from core.prediction.routing import predict
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.tree import full_view
from tests.core.building import cart, cart_for_numbers, samples_of
from tests.core.ensembles.building import bagged, committee_of, forest_model_of

pytestmark = pytest.mark.bounds

COLUMNS = {"x": [1, 2, 3, 4, 5, 6, 7, None, 9, 10], "colour": ["r", "g", None, "r", "g", "b", "b", "r", "g", "b"]}
CLASSES = ["p", "p", "q", "q", "p", "q", "q", "p", "q", "p"]
NUMBERS = [1.0, 2.0, 3.0, 5.0, 8.0, 13.0, 21.0, 34.0, 55.0, 89.0]


def judged(samples, algorithm, n_trees, *, kernels):
    model = forest_model_of(samples, bagged(samples, algorithm, n_trees))
    return model, judge_out_of_bag(
        model, ForestPredictor(model.forest), samples, committee_of(algorithm, n_trees), seed=0, kernels=kernels
    )


@pytest.mark.parametrize("kernels", [False, True])
@pytest.mark.parametrize(("target", "algorithm"), [(CLASSES, cart()), (NUMBERS, cart_for_numbers())])
def test_each_row_is_answered_by_the_trees_that_have_not_seen_it(target, algorithm, kernels):
    samples = samples_of(COLUMNS, target)
    model, found = judged(samples, algorithm, 3, kernels=kernels)
    bags = [out_of_bag(committee_of(algorithm, 3), 10, seed=0, tree=tree) for tree in range(3)]
    by_tree = [predict(full_view(model.forest.tree(tree)), samples.attributes) for tree in range(3)]
    for row in range(10):
        said = [answer[row] for answer, is_out in zip(by_tree, bags, strict=True) if is_out[row]]
        if said:
            assert found.answers[found.rows.tolist().index(row)] == pytest.approx(np.mean(said, axis=0))
    seen_by_all = [row for row in range(10) if not any(is_out[row] for is_out in bags)]
    assert seen_by_all  # of three trees some row is in every bag
    assert found.n_left_out == len(seen_by_all) == 10 - found.measures.rows
    assert not set(seen_by_all) & set(found.rows.tolist())


def test_the_curve_ends_with_the_error_of_the_whole_forest():
    _, found = judged(samples_of(COLUMNS, CLASSES), cart(), 6, kernels=False)
    assert [point.trees for point in found.curve] == [1, 2, 3, 4, 5, 6]
    assert found.curve[-1].error == pytest.approx(1 - found.measures.accuracy)
    assert found.curve[-1].rows == found.measures.rows
    _, of_numbers = judged(samples_of(COLUMNS, NUMBERS), cart_for_numbers(), 6, kernels=False)
    assert of_numbers.curve[-1].error == pytest.approx(of_numbers.measures.rmse**2)


def test_wrong_answers_cost_what_they_cost():
    samples = samples_of(COLUMNS, CLASSES)
    forest = replace(bagged(samples, cart(), 6), costs=np.array([[0.0, 5.0], [1.0, 0.0]]))
    model = forest_model_of(samples, forest)
    found = judge_out_of_bag(model, ForestPredictor(forest), samples, committee_of(cart(), 6), seed=0, kernels=False)
    assert found.curve[-1].error == pytest.approx(found.measures.mean_cost)


def test_trees_that_have_seen_every_row_tell_nothing():
    samples = samples_of(COLUMNS, CLASSES)
    everyone = replace(committee_of(cart(), 2), bootstrap=False)
    model = forest_model_of(samples, bagged(samples, cart(), 2))
    found = judge_out_of_bag(model, ForestPredictor(model.forest), samples, everyone, seed=0, kernels=False)
    assert (found.measures, found.n_left_out, len(found.rows)) == (None, 10, 0)
    assert [point.error for point in found.curve] == [None, None]


def test_of_many_trees_some_points_are_told():
    points = points_of(5_000)
    assert (points[0], points[-1], len(points)) == (1, 5_000, 200)
    assert points_of(3) == [1, 2, 3]


def test_it_is_within_a_point_of_rows_kept_aside():
    chance = np.random.default_rng(5)
    numbers = chance.normal(size=(6_000, 6))
    worth = numbers[:, 0] * numbers[:, 1] + np.sin(2 * numbers[:, 2]) + 0.5 * chance.normal(size=6_000)
    codes = np.digitize(worth, [-0.5, 0.5]).astype(np.int32)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(6)))

    def rows(chosen: slice) -> Samples:
        table = Table(schema, tuple(np.ascontiguousarray(column[chosen]) for column in numbers.T))
        return Samples(table, ClassTarget(("low", "middle", "high"), codes[chosen]), np.ones(table.n_rows))

    samples, aside = rows(slice(0, 3_000)), rows(slice(3_000, 6_000))
    committee = Committee("bagging", (cart(),), n_trees=60)
    trees = [
        grow_with(Engine.KERNELS, tree_samples(samples, committee, seed=2, tree=tree), cart(), validation=None, seed=0)[
            0
        ]
        for tree in range(60)
    ]
    model = forest_model_of(samples, forest_of(trees, [0] * 60, [cart().criterion.kind], [()]))
    predictor = ForestPredictor(model.forest)
    found = judge_out_of_bag(model, predictor, samples, committee, seed=2, kernels=True)
    held_out = predictor.average(aside.attributes, kernels=True).argmax(axis=1)
    accuracy = float((held_out == aside.target.codes).mean())
    assert found.measures.accuracy == pytest.approx(accuracy, abs=0.01)
    assert found.curve[0].error > found.curve[-1].error + 0.02  # many trees are better than one
