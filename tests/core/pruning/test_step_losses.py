from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.held_out import labels_of
from core.prediction.routing import predict
from core.pruning import step_losses
from core.pruning.step_losses import losses_by_step
from core.tables.target import ClassTarget, NumberTarget
from core.tree.history import Decision, History, Ledger, Method
from core.tree.tree import Tree
from tests.core.both_engines import grow
from tests.core.building import cart, samples_of
from tests.core.strategies import trainings
from tests.examples import examples

pytestmark = pytest.mark.bounds


def cut_in_any_order(tree: Tree, seed: int) -> History:
    """A history that cuts some nodes from the bottom up, in an order left to chance, and keeps others."""
    ledger, chance = Ledger(tree), np.random.default_rng(seed)
    waiting = [node for node in range(len(tree)) if tree.size[node] > 1]
    while waiting:
        ready = [node for node in waiting if not any(child in waiting for child in tree.children(node))]
        node = int(chance.choice(ready))
        waiting.remove(node)
        decision = Decision.CUT if chance.random() < 0.8 or node in ready[:1] else Decision.KEPT
        ledger.record(node, Method.REDUCED_ERROR, decision, before=0.0, after=0.0, evidence={})
    return ledger.finished()


def losses_at(history: History, step: int, samples) -> np.ndarray:
    """The definition: ask the tree as of the step. Numbers are counted from their mean: far from 0 they lose digits."""
    tree = history.tree
    if isinstance(samples.target, NumberTarget):
        tree = replace(tree, values=tree.values - tree.values[0])
    answers = predict(replace(history, tree=tree).view(step), samples.attributes)
    if isinstance(samples.target, ClassTarget):
        labels, actual = labels_of(answers, history.tree.costs), samples.target.codes
        return (labels != actual) * 1.0 if history.tree.costs is None else history.tree.costs[actual, labels]
    return ((answers - (samples.target.numbers - history.tree.values[0])) ** 2).sum(axis=1)


def assert_equal_to_the_definition(history: History, samples, *, kernels: bool) -> None:
    n_steps = len(history.steps)
    found = losses_by_step(history.tree, history.cut_at, n_steps, samples, kernels=kernels)
    assert found.loss.shape == found.squares.shape == (n_steps + 1,)
    rows = [losses_at(history, step, samples) for step in range(n_steps + 1)]
    expected, squares = ([samples.weights @ losses**power for losses in rows] for power in (1, 2))
    scale = max(expected)
    assert found.loss == pytest.approx(expected, rel=1e-9, abs=1e-9 * scale + 1e-300)
    assert found.squares == pytest.approx(squares, rel=1e-9, abs=1e-9 * max(squares) + 1e-300)
    assert found.mean == pytest.approx(np.array(expected) / samples.weights.sum(), rel=1e-9, abs=1e-9 * scale)


@examples(150)
@given(trainings(max_outputs=2), st.integers(0, 2**32), st.booleans())
def test_every_step_loses_what_its_tree_loses(training, seed, kernels):
    samples, algorithm = training
    tree, _ = grow(samples, algorithm)
    assert_equal_to_the_definition(cut_in_any_order(tree, seed), samples, kernels=kernels)


@pytest.mark.parametrize("kernels", [True, False])
def test_rows_with_holes_are_looked_at_some_at_a_time(monkeypatch, kernels):
    monkeypatch.setattr(step_losses, "CHANGES_AT_A_TIME", 7)
    monkeypatch.setattr(step_losses, "ROWS_AT_A_TIME", 5)
    chance = np.random.default_rng(3)
    columns = {
        name: [None if chance.random() < 0.3 else float(chance.integers(9)) for _ in range(60)] for name in "abc"
    }
    samples = samples_of(columns, [str(label) for label in chance.integers(3, size=60)])
    tree, _ = grow(samples, cart())
    assert len(tree) > 20
    assert_equal_to_the_definition(cut_in_any_order(tree, 1), samples, kernels=kernels)


def test_progress_is_told_from_0_to_1():
    samples = samples_of({"a": [1, 2, 3, 4]}, ["x", "y", "x", "y"])
    tree, _ = grow(samples, cart())
    heard: list[float] = []
    losses_by_step(tree, History(tree).cut_at, 0, samples, watch=heard.append)
    assert heard == sorted(heard)
    assert (heard[0], heard[-1]) == (0.0, 1.0)
    assert len(heard) > len(tree)
