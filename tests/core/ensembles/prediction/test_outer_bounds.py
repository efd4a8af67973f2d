"""Bounds of a mean are outer ones, and of one tree exact."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from core.engine.definition import grow
from core.ensembles.growing_forest import forest_of
from core.ensembles.prediction.outer_bounds import bounds_of_trees, is_decided, outer_bounds
from core.ensembles.prediction.predictor import ForestPredictor, average_of_trees, possible_ends_by_tree
from core.growth.held_out import labels_of
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy
from core.tables.table import is_missing
from core.tables.target import Task
from tests.core.building import cart, cart_for_numbers, samples_of
from tests.core.ensembles.building import bagged
from tests.core.strategies import trainings
from tests.examples import examples


@examples(60)
@given(trainings(max_outputs=2))
def test_they_are_the_mean_of_the_exact_bounds_of_the_trees(training):
    samples, algorithm = training
    trees = [grow(samples, algorithm, seed=seed) for seed in (0, 1)]
    forest, records = forest_of(trees, [0, 0], [algorithm.criterion.kind], [samples.cuts]), samples.attributes
    predictor = ForestPredictor(forest)
    expected, answers = bounds_of_trees(forest, records), average_of_trees(forest, records, MissingPolicy.WEIGHTED)
    for kernels in (True, False):
        assert outer_bounds(predictor, records, answers, kernels=kernels) == pytest.approx(expected, rel=1e-12)
    for cells in cells_of(records):
        reached = possible_ends_by_tree(forest, cells).by_row()
        assert predictor.possible_ends(cells, kernels=True).by_row() == reached


def test_every_completion_lies_within_them():
    columns = {"x": [1, 2, 3, 4, 5, 6, 7, 8], "colour": ["r", "g", "b", "r", "g", "b", "r", "g"]}
    samples = samples_of(columns, ["p", "q", "q", "p", "q", "p", "p", "q"])
    forest = bagged(samples, cart(), 7)
    predictor = ForestPredictor(forest)
    lacking = replace(samples.attributes, columns=(np.full(8, np.nan), samples.attributes.columns[1]))
    answers = predictor.average(lacking, kernels=False)
    limits = outer_bounds(predictor, lacking, answers, kernels=False)
    decided = is_decided(limits, labels_of(answers), Task.CLASSIFICATION, None)
    for value in (0.0, 1.5, 2.7, 3.5, 4.4, 5.5, 6.6, 9.0):
        complete = replace(lacking, columns=(np.full(8, value), lacking.columns[1]))
        found = predictor.average(complete, kernels=False)
        assert (limits[:, :, 0] <= found + 1e-12).all()
        assert (found <= limits[:, :, 1] + 1e-12).all()
        assert (labels_of(found) == labels_of(answers))[decided].all()


def test_rows_that_lack_nothing_are_decided():
    samples = samples_of({"x": [1, 2, None]}, ["p", "q", "q"])
    forest = bagged(samples, cart(), 3)
    answers = ForestPredictor(forest).average(samples.attributes, kernels=False)
    limits = outer_bounds(ForestPredictor(forest), samples.attributes, answers, kernels=False)
    known = ~is_missing(samples.attributes.columns[0])
    assert (limits[known, :, 0] == limits[known, :, 1]).all()
    numbers = bagged(samples_of({"x": [1, 2, 3]}, [1.0, 2.0, 3.0]), cart_for_numbers(), 3)
    complete = ForestPredictor(numbers).average(samples.attributes, kernels=False)
    of_numbers = outer_bounds(ForestPredictor(numbers), samples.attributes, complete, kernels=False)
    assert is_decided(of_numbers, np.zeros(3, dtype=np.int64), Task.REGRESSION, None).tolist() == [True, True, False]


@pytest.mark.parametrize(
    ("limits", "costs", "wanted"),
    [
        ([[0.6, 0.7], [0.3, 0.4]], None, True),
        ([[0.4, 0.7], [0.3, 0.5]], None, False),
        ([[0.5, 0.5], [0.5, 0.5]], None, False),  # a tie is not told by bounds
        ([[0.6, 0.7], [0.3, 0.4]], [[0.0, 1.0], [3.0, 0.0]], False),  # 1.2 for a at most, at least 0.6 for b
        ([[0.8, 0.9], [0.1, 0.2]], [[0.0, 1.0], [3.0, 0.0]], True),  # 0.6 for a at most, at least 0.8 for b
    ],
)
def test_a_class_is_decided_where_no_other_can_reach_it(limits, costs, wanted):
    matrix = None if costs is None else np.array(costs)
    found = is_decided(np.array([limits]), np.array([0]), Task.CLASSIFICATION, matrix)
    assert found.tolist() == [wanted]
