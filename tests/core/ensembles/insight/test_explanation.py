"""Votes, the typical path, and contributions that sum to the answer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import CriterionKind
from core.engine.definition import grow
from core.ensembles.growing_forest import forest_of
from core.ensembles.insight.explanation import explain
from core.ensembles.insight.sentences import why
from core.ensembles.prediction.predictor import ForestPredictor
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy
from tests.core.building import cart, cart_for_numbers, samples_of, table_of
from tests.core.ensembles.building import bagged, forest_model_of
from tests.core.ensembles.prediction.test_predictor import wild_forest
from tests.core.strategies import trainings
from tests.core.wild_trees import wild_schema, wild_table
from tests.examples import examples


def assert_sums(forest, table, policy, *, kernels):
    predictor = ForestPredictor(forest)
    for cells in cells_of(table):
        found = explain(predictor.layout, predictor.ends(cells, policy, kernels=kernels), len(table.schema))
        answer = np.array(predictor.one(cells, policy, kernels=kernels))
        scale = max(1.0, float(np.abs(found.by_tree).max()))
        assert np.abs(found.values - answer).max() <= 1e-12 * scale
        assert np.abs(found.base + found.contributions.sum(axis=0) - answer).max() <= 1e-12 * scale


@examples(40)
@given(trainings(max_outputs=2))
def test_contributions_sum_to_the_answer(training):
    samples, algorithm = training
    trees = [grow(samples, algorithm, seed=seed) for seed in (0, 1)]
    assert_sums(
        forest_of(trees, [0, 0], [algorithm.criterion.kind], [samples.cuts]), samples.attributes, None, kernels=False
    )


@pytest.mark.slow
@examples(25)
@given(st.integers(0, 2**32), st.booleans(), st.sampled_from([None, *MissingPolicy]))
def test_contributions_sum_to_the_answer_whatever_the_trees(seed, has_sums, policy):
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    forest = wild_forest(chance, schema, sums=has_sums)
    assert_sums(forest, wild_table(chance, schema, 6), policy, kernels=True)


# Two trees by hand. The first asks x, then y; the second asks y alone.
#
#   x <= 1.5: p (2 p)                       y <= 5: p 1, q 1
#   x > 1.5                                 y > 5:  q (2 q)
#     y <= 5: p (1 p)    y > 5: q (1 q)
ROWS = samples_of({"x": [1, 1, 2, 2], "y": [0, 10, 0, 10]}, ["p", "p", "p", "q"])
MORE = samples_of({"x": [1, 1, 1, 1], "y": [0, 0, 10, 10]}, ["p", "q", "q", "q"])


def by_hand():
    first, second = grow(ROWS, cart()), grow(MORE, cart(max_depth=1))
    return forest_of([first, second], [0, 0], [CriterionKind.GINI], [()])


def test_contributions_worked_out_by_hand():
    forest = by_hand()
    predictor = ForestPredictor(forest)
    assert forest.tree(0).column.tolist()[0] == 0
    found = explain(predictor.layout, predictor.ends([2.0, 10.0], kernels=False), 2)
    # For q: roots say 1/4 and 3/4. x > 1.5 takes the first to 1/2, y > 5 to 1; y > 5 takes the second to 1.
    assert found.base.tolist() == [0.5, 0.5]
    assert found.contributions[:, 1].tolist() == [(0.5 - 0.25) / 2, (1 - 0.5) / 2 + (1 - 0.75) / 2]
    assert found.values.tolist() == [0.0, 1.0]
    assert found.votes.tolist() == [0, 2]
    assert (found.typical, found.leaf, found.weight) == (0, 4, 1.0)  # both are as near: the first
    assert found.spread.tolist() == [0.0, 0.0]


def test_a_missing_value_is_shared_by_its_paths():
    predictor = ForestPredictor(by_hand())
    found = explain(predictor.layout, predictor.ends([float("nan"), 10.0], kernels=False), 2)
    # Half of the record goes left to p, half right to q: x moves nothing on the whole, y half as much as before.
    assert found.contributions[:, 1].tolist() == [0.0, (1 - 0.5) / 2 / 2 + (1 - 0.75) / 2]
    assert found.values.tolist() == [0.25, 0.75]
    assert found.by_tree.tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert (found.typical, found.leaf, found.weight) == (0, 1, 0.5)  # equally near, and leftmost of equal weights


def test_what_is_said_of_classes():
    model = forest_model_of(ROWS, by_hand())
    predictor = ForestPredictor(model.forest)
    explained = explain(predictor.layout, predictor.ends([2.0, 10.0], kernels=False), 2)
    assert why(model, explained) == (
        "q with probability 1: 2 of 2 trees say q. Tree 0 is typical: q, because x > 1.5 and y > 5: "
        "1 of 1 training sample like this is q. y (0.375) and x (0.125) add to q."
    )
    partly = explain(predictor.layout, predictor.ends([float("nan"), 10.0], kernels=False), 2)
    assert why(model, partly) == (
        "q with probability 0.75: 1 of 2 trees say q. Tree 0 is typical, on the path of 50 % of the record: "
        "p, because x <= 1.5: 2 of 2 training samples like this are p. y adds 0.25 to q."
    )


def test_what_is_said_of_numbers():
    samples = samples_of({"x": [1, 2, 3, 4, 5, 6], "y": [1, 1, 1, 2, 2, 2]}, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
    model = forest_model_of(samples, bagged(samples, cart_for_numbers(max_depth=2), 3))
    predictor = ForestPredictor(model.forest)
    told = why(model, explain(predictor.layout, predictor.ends([1.0, 1.0], kernels=False), 2))
    assert "the mean of 3 trees, whose answers spread by" in told
    assert "x takes away" in told


def test_of_several_numbers_no_attribute_is_told():
    samples = samples_of({"x": [1, 2]}, [[1.0, 5.0], [2.0, 6.0]])
    forest = forest_of([grow(samples, cart_for_numbers())], [0], [CriterionKind.SQUARED_ERROR], [()])
    model = forest_model_of(samples, forest, target=("a", "b"))
    predictor = ForestPredictor(forest)
    told = why(model, explain(predictor.layout, predictor.ends([1.0], kernels=False), 1))
    assert told == (
        "a = 1, b = 5: the mean of 1 tree, whose answers spread by a = 0, b = 0. Tree 0 is typical: a = 1, b = 5, "
        "because x <= 1.5: the mean of 1 training sample like this, with a standard deviation of a = 0, b = 0."
    )


def test_a_record_of_nothing_known_still_has_a_typical_path():
    table = table_of({"x": [None], "y": [None]})
    predictor = ForestPredictor(by_hand())
    found = explain(predictor.layout, predictor.ends(cells_of(table)[0], kernels=False), 2)
    assert found.values == pytest.approx(found.base)
    assert found.contributions == pytest.approx(np.zeros((2, 2)))
