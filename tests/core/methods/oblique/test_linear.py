"""Directions of linear tests: against brute force, and on data whose answer is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import LinearFit
from core.criteria.impurity import gini
from core.criteria.objective import Objective
from core.methods.oblique.linear import (
    Scene,
    best_step,
    direction,
    in_units,
    labels_tried,
    least_squares,
    logistic,
    refined,
    rounded,
    solved,
    without_useless,
)
from core.tables.target import Task
from tests.examples import examples

OBJECTIVE = Objective(Task.CLASSIFICATION, gini)


def scene_of(x, classes, *, n_classes=2, min_weight=1.0):
    x = np.asarray(x, dtype=np.float64)
    return Scene(x, np.eye(n_classes)[classes], np.ones(len(x)), OBJECTIVE, min_weight)


def cloud(n=60, seed=0):
    """Points on both sides of x0 = x1; the third column tells nothing."""
    x = np.random.default_rng(seed).normal(size=(n, 3))
    return scene_of(x, (x[:, 0] > x[:, 1]).astype(int))


small_whole = st.integers(-3, 3)
samples = st.lists(st.tuples(small_whole, small_whole, st.integers(0, 2)), min_size=2, max_size=9)


@examples(80)
@given(samples, st.sampled_from([0.0, 1.0, 2.0]))
def test_the_best_step_is_that_of_trying_every_one(rows, min_weight):
    sides, slopes, classes = (np.array(each) for each in zip(*rows, strict=True))
    scene = scene_of(np.zeros((len(rows), 1)), classes, n_classes=3, min_weight=min_weight)
    gain, step = best_step(scene, sides.astype(float), slopes.astype(float))
    turns = np.unique(-sides[slopes != 0] / slopes[slopes != 0])
    tried = [-1.0]
    for s in (turns[:-1] + turns[1:]) / 2:
        above = sides + s * slopes > 0
        if min(above.sum(), (~above).sum()) >= max(min_weight, 1):
            tried.append(scene.gain(sides + s * slopes))
    assert gain == pytest.approx(max(tried), abs=1e-12)
    if gain >= 0:
        assert scene.gain(sides + step * slopes) == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize("learn", [least_squares, logistic])
def test_both_ways_to_learn_find_the_diagonal(learn):
    w = learn(cloud(400), 1)
    assert w[0] > 0 > w[1]
    assert abs(w[0] + w[1]) < 0.15 * abs(w[0])
    assert abs(w[2]) < 0.15 * abs(w[0])


def test_a_refined_direction_gains_at_least_as_much_and_here_all_there_is():
    scene = cloud()
    start = np.array([1.0, -0.2, 0.3])
    found = refined(scene, start, key=7)
    assert scene.cut(found)[0] >= scene.cut(start)[0]
    assert scene.cut(found)[0] == pytest.approx(scene.objective.impurity(scene.sums.sum(axis=0)), abs=1e-12)


@pytest.mark.parametrize("fit", list(LinearFit))
def test_what_tells_nothing_is_left_out(fit):
    x = np.random.default_rng(3).normal(size=(40, 3))
    x = x[np.abs(x[:, 0] - x[:, 1]) > 1.0]
    found = direction(scene_of(x, (x[:, 0] > x[:, 1]).astype(int)), fit, None, key=1)
    assert found is not None
    assert found[2] == 0.0
    assert (found[:2] != 0).all()


def test_no_more_terms_than_told():
    x = np.random.default_rng(0).normal(size=(80, 5))
    found = direction(scene_of(x, (x.sum(axis=1) > 0).astype(int)), LinearFit.OC1, 2, key=1)
    assert found is not None
    assert np.count_nonzero(found) <= 2


def test_where_nothing_divides_the_samples_there_is_no_direction():
    assert direction(scene_of(np.zeros((4, 2)), [0, 1, 0, 1]), LinearFit.OC1, None, key=0) is None


def test_small_weights_stay_where_they_tell_something():
    scene = scene_of([[0, 0], [0, 1], [1, -2], [1, -1]], [0, 1, 0, 1])
    assert np.count_nonzero(without_useless(scene, np.array([1.1, 1.0]))) == 2


def test_of_two_classes_one_is_set_against_the_other_and_of_more_each():
    assert labels_tried(np.eye(3)[[0, 2, 2]]) == [2]
    assert labels_tried(np.eye(3)[[0, 1, 2]]) == [0, 1, 2]
    assert len(labels_tried(np.eye(30))) == 20


def test_weights_in_the_units_of_the_data_have_length_1_and_six_digits():
    assert in_units(np.array([3.0, 4.0]), np.array([1.0, 1.0])).tolist() == [0.6, 0.8]
    assert in_units(np.array([1.0, -1.0]), np.array([1.0, 3.0])).tolist() == [0.948683, -0.316228]
    assert in_units(np.array([1.0, 1.0]), np.array([1.0, 3e290])).tolist() == [1.0, pytest.approx(3.33333e-291)]
    assert in_units(np.array([1.0, 1.0]), np.array([1e-300, 1e300])).tolist() == [1.0, 0.0]
    assert in_units(np.array([1e10, 1.0]), np.array([1e-300, 1.0])).tolist() == [0.0, 0.0]  # beyond float64


@given(st.floats(-1, 1))
def test_a_rounded_weight_is_near_and_has_six_digits(weight):
    found = rounded(weight)
    assert found == pytest.approx(weight, rel=5.1e-6, abs=1e-300)
    assert abs(weight) < 1e-15 or found == float(f"{found:.6g}")


@given(st.integers(0, 2**32), st.integers(1, 12))
def test_equations_are_solved(seed, n):
    x = np.random.default_rng(seed).normal(size=(2 * n, n))
    matrix, right = x.T @ x + np.eye(n), x[0]
    assert (matrix @ solved(matrix, right)).tolist() == pytest.approx(right.tolist(), abs=1e-8)
