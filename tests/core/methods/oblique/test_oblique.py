"""Multivariate trees: what they are for, and what becomes of missing values, categories and simple tests."""

import math

import numpy as np
import pytest

from core.config.options import Algorithm, Categorical, LinearFit, LinearTests, Stopping
from core.engine.considered import candidates_by_node
from core.engine.definition import grow
from core.evaluation.importance import impurity_decrease, times_selected
from core.growth.best_split import node_samples
from core.library import train
from core.methods.oblique.oblique import MOST_CATEGORIES, MOST_ROWS, learning_rows
from core.prediction.predictor import Predictor
from core.prediction.routing import predict
from core.splits.split import SplitKind
from core.storage.serialization import dump
from core.tree import layout
from core.tree.tree import full_view
from tests.core.building import GINI, cart, samples_of
from tests.golden_tables import golden_samples

PLAIN = {"division": {"kind": "none"}, "pruning": {"kind": "none"}}


def multivariate(fit=LinearFit.OC1, max_terms=None, **stopping):
    return Algorithm(
        "multivariate",
        GINI,
        Categorical.ONE_HOT,
        stopping=Stopping(**stopping),
        linear=LinearTests(fit, max_terms),
    )


def grown(samples, algorithm, seed=0):
    return grow(samples, algorithm, seed=seed)


def accuracy(tree, samples):
    return float((predict(full_view(tree), samples.attributes).argmax(axis=1) == samples.target.codes).mean())


def diagonal(n, seed):
    """Two classes on both sides of a plane through four columns, none of which is parallel to it."""
    x = np.random.default_rng(seed).normal(size=(n, 4))
    labels = np.where(x @ [1.0, 1.0, -0.5, 0.25] > 0.2, "a", "b").tolist()
    return samples_of({f"x{i}": x[:, i].tolist() for i in range(4)}, labels, classes=("a", "b"))


@pytest.mark.parametrize("seed", range(3))
def test_watermelon_3_0a_is_separated_by_two_tests(seed):
    samples = golden_samples("watermelon_3.0a")
    tree = grown(samples, multivariate(), seed)
    assert np.count_nonzero(tree.size > 1) <= 2
    assert accuracy(tree, samples) == 1.0
    assert tree.split(0).kind is SplitKind.LINEAR


def test_diagonal_data_needs_a_fifth_of_the_leaves_and_is_answered_better():
    samples, held_out = diagonal(300, 1), diagonal(400, 2)
    stairs, oblique = grown(samples, cart()), grown(samples, multivariate())
    assert 5 * len(full_view(oblique).leaves) <= len(full_view(stairs).leaves)
    assert accuracy(oblique, held_out) >= accuracy(stairs, held_out)


@pytest.mark.parametrize("fit", list(LinearFit))
def test_every_fit_is_deterministic_and_better_than_stairs(fit):
    samples = diagonal(150, 1)
    tree, again = (grown(samples, multivariate(fit), 5) for _ in range(2))
    assert tree.terms == again.terms
    assert tree.threshold.tobytes() == again.threshold.tobytes()
    assert len(tree) < len(grown(samples, cart()))


def test_a_simple_test_that_is_as_good_is_kept():
    samples = samples_of({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, ["x", "x", "y", "y"])
    tree = grown(samples, multivariate())
    assert tree.split(0).kind is SplitKind.THRESHOLD
    assert tree.terms == ()


def test_categories_have_a_weight_each():
    rows = [(kind, size) for kind in ("p", "q") for size in range(8)]
    labels = ["x" if size + (3 if kind == "q" else 0) > 5 else "y" for kind, size in rows]
    samples = samples_of({"kind": [kind for kind, _ in rows], "size": [size for _, size in rows]}, labels)
    tree = grown(samples, multivariate())
    terms = tree.split(0).terms
    assert [(term.column, term.code) for term in terms] == [(0, 0), (1, -1)]
    assert terms[0].weight / terms[1].weight == pytest.approx(-3, abs=1)
    assert len(tree) == 3


def test_a_sample_without_a_value_that_the_sum_needs_goes_both_ways():
    whole = diagonal(60, 4)
    x = [column.tolist() for column in whole.attributes.columns]
    x[0][:6] = [math.nan] * 6
    labels = [whole.target.classes[code] for code in whole.target.codes]
    samples = samples_of({f"x{i}": x[i] for i in range(4)}, labels, classes=("a", "b"))
    tree = grown(samples, multivariate(max_depth=1))
    split = tree.split(0)
    assert {term.column for term in split.terms} >= {0, 1}
    branch = split.branches_of(samples.attributes.columns, samples.rows)
    assert (branch[:6] == -1).all()
    known = np.bincount(branch[6:], minlength=2)
    assert tree.share[1:].tolist() == pytest.approx((known / 54).tolist())
    assert tree.weight[1:].tolist() == pytest.approx((known + 6 * known / 54).tolist())
    (candidates,) = candidates_by_node(full_view(tree), samples, multivariate(max_depth=1)).values()
    assert candidates[-1].split == split
    assert candidates[-1].known == pytest.approx(0.9)


def test_a_column_that_few_samples_know_is_no_part_of_a_sum():
    samples = samples_of({"a": [1, 2, 3, 4], "b": [1, None, None, None], "c": [2, None, 1, 3]}, ["x", "y", "x", "y"])
    node = node_samples(samples, samples.rows, samples.weights)
    learnt = learning_rows(samples, node)
    assert (learnt.columns, learnt.positions.tolist()) == ([0, 2], [0, 2, 3])


def test_large_nodes_are_learnt_on_evenly_spaced_rows_and_many_categories_are_left_out():
    n = 3 * MOST_ROWS
    names = [f"c{row % (MOST_CATEGORIES + 1)}" for row in range(n)]
    samples = samples_of({"a": list(range(n)), "b": names}, ["x", "y"] * (n // 2))
    learnt = learning_rows(samples, node_samples(samples, samples.rows, samples.weights))
    assert learnt.columns == [0]
    assert len(learnt.positions) == MOST_ROWS
    assert (learnt.positions[0], learnt.positions[-1]) == (0, n - 1)


def test_extreme_units_do_not_matter():
    samples = diagonal(60, 4)
    units = [1e150, 1.0, 1e-150, 1e3]
    columns = {f"x{i}": (samples.attributes.columns[i] * units[i]).tolist() for i in range(4)}
    labels = [samples.target.classes[code] for code in samples.target.codes]
    tree = grown(samples_of(columns, labels, classes=("a", "b")), multivariate())
    assert accuracy(tree, samples_of(columns, labels, classes=("a", "b"))) == 1.0


def test_training_by_name_gives_a_model_that_can_be_stored_pruned_and_read():
    samples = diagonal(80, 1)
    columns = {f"x{i}": samples.attributes.columns[i] for i in range(4)}
    data = train.table({**columns, "y": [samples.target.classes[code] for code in samples.target.codes]})
    order = {"target": "y", "algorithm": {"kind": "multivariate", "max_terms": 3}, **PLAIN}
    trained, again = (train.train(data, order) for _ in range(2))
    assert dump(trained.model) == dump(again.model)
    assert trained.model.tree.has_linear_tests
    for pruning in ({"kind": "cost_complexity", "alpha": 0.01}, {"kind": "confidence", "cf": 0.25, "raising": True}):
        assert train.train(data, {**order, "pruning": pruning}).model.history.selected >= 0


def test_attributes_of_a_sum_share_its_importance():
    samples = diagonal(60, 4)
    view = full_view(grown(samples, multivariate(max_depth=1)))
    n_asked = len(view.tree.split(0).columns)
    assert times_selected(view, 4).sum() == n_asked > 1
    parts = impurity_decrease(view, 4)
    assert parts[parts > 0].tolist() == pytest.approx([1 / n_asked] * n_asked)
    assert parts.sum() == pytest.approx(1.0)


def test_a_tree_of_very_many_sums_is_asked_node_by_node(monkeypatch):
    samples = diagonal(150, 1)
    view = full_view(grown(samples, multivariate(LinearFit.LDA)))
    monkeypatch.setattr(layout, "MOST_SUMS", 0)
    answers = Predictor(view).batch(samples.attributes, kernels=True)
    assert answers.tobytes() == predict(view, samples.attributes).tobytes()
