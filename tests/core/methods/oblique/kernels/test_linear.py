"""The compiled twins of directions and steps, beside their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.ties import TIE
from core.config.options import LinearFit
from core.criteria.impurity import entropy, error_rate, gini
from core.criteria.objective import Objective
from core.methods.oblique import linear
from core.methods.oblique.kernels.linear import direction, scene_of
from core.methods.oblique.kernels.start import LEAST_SQUARES, LOGISTIC, OC1
from core.methods.oblique.kernels.step import best_step
from core.splits.kernels.unsorted import Labels
from core.tables.target import Task
from tests.examples import examples

pytestmark = pytest.mark.bounds

FITS = {LinearFit.OC1: OC1, LinearFit.LDA: LEAST_SQUARES, LinearFit.LOGISTIC: LOGISTIC}
IMPURITIES = (gini, entropy, error_rate)  # in the order of the kernels' criteria
NOBODY_STOPS = np.zeros(2)


def drawn(seed, n, *, n_classes):
    """Features with and without ties, classes that have to do with them, and weights, equal or not."""
    chance = np.random.default_rng(seed)
    x = chance.normal(size=(n, int(chance.integers(2, 6))))
    x = [x, np.round(x), np.round(x, 1)][int(chance.integers(3))]
    worth = x @ chance.normal(size=x.shape[1]) + chance.normal(size=n) * chance.choice([0.0, 0.5])
    classes = np.argsort(np.argsort(worth)) * n_classes // n
    weights = [np.ones(n), chance.uniform(0.3, 2, n), chance.integers(1, 4, n) * 0.5][int(chance.integers(3))]
    return x, classes.astype(np.int32), weights


def both(x, classes, weights, n_classes, criterion, min_weight):
    """The scene of the definition, and what the kernels take instead."""
    objective = Objective(Task.CLASSIFICATION, IMPURITIES[criterion])
    sums = np.eye(n_classes)[classes] * weights[:, None]
    rows = np.vstack([np.ascontiguousarray(x.T), np.full((1, len(x)), -1.0)])
    labels = Labels(classes, weights, n_classes, criterion, min_weight)
    return linear.Scene(x, sums, weights, objective, min_weight), rows, labels


@examples(120)
@given(
    st.integers(0, 2**32),
    st.sampled_from([4, 15, 60, 300]),
    st.sampled_from([2, 2, 3, 5]),
    st.sampled_from(list(LinearFit)),
    st.integers(0, 2),
    st.sampled_from([0.5, 1.0, 2.5]),
    st.sampled_from([None, None, 2]),
)
def test_directions_are_the_same_to_the_last_bit(seed, n, n_classes, fit, criterion, min_weight, max_terms):
    x, classes, weights = drawn(seed, n, n_classes=n_classes)
    scene, rows, labels = both(x, classes, weights, n_classes, criterion, min_weight)
    expected = linear.direction(scene, fit, max_terms, seed)
    found = direction(rows, labels, FITS[fit], max_terms or 0, np.uint64(seed), NOBODY_STOPS)
    assert (found == (np.zeros(x.shape[1]) if expected is None else expected)).all()


@examples(150)
@given(
    st.integers(0, 2**32),
    st.sampled_from([3, 30, 400, 2000]),
    st.sampled_from([2, 3, 4, 7]),  # few enough for corners, and more
    st.integers(0, 2),
    st.booleans(),
)
def test_a_step_is_the_same_where_it_gains_more_than_the_bar(seed, n, n_classes, criterion, has_bar):
    x, classes, weights = drawn(seed, n, n_classes=n_classes)
    scene, rows, labels = both(x, classes, weights, n_classes, criterion, 1.0)
    chance = np.random.default_rng(seed)
    sides, slopes = linear.sums_along(x, chance.normal(size=x.shape[1])) - 0.3, x[:, 0].copy()
    gain, step = linear.best_step(scene, sides, slopes)
    bar = gain - chance.choice([1e-3, 3 * TIE]) if has_bar else linear.NO_GAIN
    found, found_step = best_step(scene_of(rows, labels), sides, slopes, bar)
    assert found == pytest.approx(gain, abs=1e-12)
    assert found_step == step


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_step_that_cannot_exceed_the_bar_is_not_looked_for(n_classes):
    x, classes, weights = drawn(1, 2000, n_classes=n_classes)
    _, rows, labels = both(x, classes, weights, n_classes, 0, 1.0)
    found, _ = best_step(scene_of(rows, labels), x[:, 0] - 0.5, x[:, 1].copy(), 0.9)
    assert found < 0.9


def test_nobody_waits_for_a_direction_that_is_not_wanted_any_more():
    x, classes, weights = drawn(3, 60, n_classes=2)
    _, rows, labels = both(x, classes, weights, 2, 0, 1.0)
    assert not direction(rows, labels, OC1, 0, np.uint64(0), np.ones(2)).any()
