"""Rows and attributes drawn for trees."""

import math

import numpy as np
import pytest

from core.config.options import Committee, FeatureShare
from core.ensembles.sampling import columns_of_tree, n_drawn, n_features, out_of_bag, times_drawn, tree_samples
from tests.core.building import cart, samples_of


def committee(**options):
    return Committee("random_forest", (cart(),), **options)


@pytest.mark.parametrize(
    ("features", "n_columns", "wanted"),
    [(FeatureShare.SQRT, 20, 4), (FeatureShare.SQRT, 1, 1), (FeatureShare.LOG2, 20, 4), (FeatureShare.LOG2, 1, 1),
     (FeatureShare.ALL, 20, 20), (3, 20, 3), (50, 20, 20), (0.3, 20, 6), (0.01, 20, 1)],
)  # fmt: skip
def test_how_many_attributes_are_drawn(features, n_columns, wanted):
    assert n_features(features, n_columns) == wanted


@pytest.mark.parametrize(("size", "wanted"), [(1.0, 100), (0.5, 50), (0.001, 1), (2, 2), (256, 100)])
def test_how_many_rows_are_drawn(size, wanted):
    assert n_drawn(size, 100) == wanted


def test_a_bootstrap_sample_has_about_two_thirds_of_the_rows():
    counts = times_drawn(committee(), 100_000, seed=3, tree=7)
    assert counts.sum() == 100_000
    assert np.count_nonzero(counts) / 100_000 == pytest.approx(1 - 1 / math.e, abs=0.005)


def test_without_repeats_every_row_is_there_once():
    assert (times_drawn(committee(bootstrap=False), 50, seed=3, tree=7) == 1).all()
    assert sorted(times_drawn(committee(bootstrap=False, sample_size=0.4), 50, seed=3, tree=7)) == [0] * 30 + [1] * 20


def test_draws_depend_on_seed_and_tree_alone():
    first = times_drawn(committee(), 500, seed=3, tree=7)
    assert (first == times_drawn(committee(), 500, seed=3, tree=7)).all()
    assert (first != times_drawn(committee(), 500, seed=3, tree=8)).any()
    assert (first != times_drawn(committee(), 500, seed=4, tree=7)).any()


def test_samples_of_a_tree_weigh_as_often_as_they_were_drawn():
    samples = samples_of({"x": [float(row) for row in range(40)]}, ["a", "b"] * 20, weights=[0.5, 2.0] * 20)
    counts = times_drawn(committee(), 40, seed=1, tree=0)
    drawn = tree_samples(samples, committee(), seed=1, tree=0)
    assert drawn.attributes.columns[0].tolist() == np.flatnonzero(counts).tolist()
    assert drawn.weights.tolist() == (samples.weights * counts)[counts > 0].tolist()
    assert not (out_of_bag(committee(), 40, seed=1, tree=0) & (counts > 0)).any()


def test_columns_of_a_tree_are_drawn_without_repeats():
    drawn = [columns_of_tree(committee(features_per_tree=5), 12, seed=0, tree=tree).tolist() for tree in range(200)]
    assert all(columns == sorted(set(columns)) and len(columns) == 5 for columns in drawn)
    times = np.bincount(np.concatenate(drawn), minlength=12)
    assert times.min() > 50  # of 83 on average
    assert columns_of_tree(committee(), 3, seed=0, tree=1).tolist() == [0, 1, 2]
