from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import ConfidencePruning
from core.evaluation import curve as curves
from core.evaluation.curve import MOST_POINTS, curve, error_as_of, thinned
from core.pruning.prune import Evidence, prune
from core.tables.parts import Part
from core.tables.target import ClassTarget
from core.tree.history import CrossValidation, Decision, Ledger, Method
from tests.core.both_engines import grow
from tests.core.building import CUT, KEEP, cart, cart_for_numbers, id3, model_of, samples_of
from tests.core.pruning.replay import accuracy_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import PRINTED_ORDER, golden_samples

pytestmark = pytest.mark.bounds


@pytest.fixture(scope="module")
def watermelon():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    return train, golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)


def noise(n_rows, seed=0):
    chance = np.random.default_rng(seed)
    columns = {name: chance.random(n_rows).tolist() for name in "ab"}
    return samples_of(columns, [str(label) for label in chance.integers(2, size=n_rows)])


def test_a_point_for_every_step_that_changes_the_tree_and_for_the_selected_one(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=KEEP)
    points = curve(model, {Part.TRAIN: train, Part.VALIDATION: validation, Part.TEST: None})
    changed = [step.number for step in model.history.steps if step.decision is Decision.CUT]
    assert [point.step for point in points] == [0, *changed, 5]
    for point in points:
        view = model.view(point.step)
        assert point.leaves == len(view.leaves)
        assert (point.alpha, point.cross_validation, point.spread) == (None, None, None)
        assert point.errors[Part.TEST] is None
        assert point.errors[Part.VALIDATION] == pytest.approx(1 - accuracy_of(view, validation))
        assert point.errors[Part.TRAIN] == pytest.approx(1 - accuracy_of(view, train))


@given(trainings(max_outputs=2), st.integers(0, 2**32))
def test_points_are_what_their_steps_lose(training, seed):
    samples, algorithm = training
    aside = shuffled_targets(samples, seed)
    model = model_of(samples, algorithm, validation=aside, pruning=CUT)
    for point in curve(model, {Part.TRAIN: samples, Part.VALIDATION: aside}):
        for part, rows in ((Part.TRAIN, samples), (Part.VALIDATION, aside)):
            found = error_as_of(model, point.step, rows)
            assert point.errors[part] == pytest.approx(found, rel=1e-7, abs=1e-9)


def test_of_very_many_steps_some_are_shown_and_always_the_best():
    train, aside = noise(3_000), noise(400, seed=1)
    model = model_of(train, cart(), validation=aside, pruning=CUT)
    steps = curves.changing_steps(model.history)
    assert len(steps) > 2 * MOST_POINTS
    some = replace(model, history=model.history.with_selected(int(steps[7])))
    points = curve(some, {Part.TRAIN: train, Part.VALIDATION: aside})
    assert len(points) <= MOST_POINTS + 4
    shown = [point.step for point in points]
    assert shown == sorted(set(shown))
    assert {0, len(model.history.steps), int(steps[7])} <= set(shown)
    for part, rows in ((Part.TRAIN, train), (Part.VALIDATION, aside)):
        errors = curves.errors_as_of(model, steps, rows)
        best = steps[np.flatnonzero(errors == errors.min())[-1]]
        assert min(point.errors[part] for point in points) == errors.min()
        assert best in shown
    gaps = np.diff([np.searchsorted(steps, step) for step in shown])
    assert gaps.max() <= 2 * len(steps) / MOST_POINTS + 2
    small = [leaves for leaves in model.history.leaves_by_step[steps] if leaves <= 20]
    assert {point.leaves for point in points} >= set(small)


def test_the_table_of_a_cross_validation_stands_at_its_steps(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=KEEP)
    table = CrossValidation(
        alpha=np.array([0.0, 0.1]),
        step=np.array([0, 3]),
        leaves=np.array([6, 4]),
        error=np.array([0.5, 0.25]),
        standard_error=np.array([0.1, 0.2]),
        n_folds=2,
    )
    judged = replace(model, history=replace(model.history, cross_validation=table))
    points = {point.step: point for point in curve(judged, {Part.TRAIN: train})}
    assert (points[0].cross_validation, points[0].spread) == (0.5, 0.1)
    assert (points[3].cross_validation, points[3].spread) == (0.25, 0.2)
    assert points[1].cross_validation is None


@given(st.integers(1, 3_000), st.lists(st.integers(0, 2_999), max_size=5))
def test_what_is_needed_is_among_the_thinned(n_steps, wanted):
    steps, leaves = np.arange(n_steps) * 3, np.arange(n_steps)[::-1] + 1
    needed = [int(steps[position % n_steps]) for position in wanted]
    chosen = thinned(steps, leaves, needed)
    assert {0, int(steps[-1]), *needed} <= set(chosen.tolist()) <= set(steps.tolist())
    assert min(n_steps, MOST_POINTS // 2) <= len(chosen) <= MOST_POINTS + len(needed)
    assert n_steps > MOST_POINTS or len(chosen) == n_steps


@given(trainings(missing=True), st.integers(0, 2**32))
@examples(40)
def test_raised_branches_are_seen_at_their_steps(training, seed):
    samples, algorithm = training
    if not isinstance(samples.target, ClassTarget):
        return
    evidence = Evidence(samples, None, leave_out=None)
    pruning = ConfidencePruning(cf=0.25, raising=True)
    history = prune(Ledger(grow(samples, algorithm)[0]), pruning, algorithm, evidence)
    model = replace(model_of(samples, algorithm), history=history)
    aside = shuffled_targets(samples, seed)
    for point in curve(model, {Part.TEST: aside}):
        expected = 1 - accuracy_of(model.view(point.step), aside)
        assert point.errors[Part.TEST] == pytest.approx(expected, abs=1e-9)


def test_few_steps_are_asked_of_very_many_rows(monkeypatch):
    monkeypatch.setattr(curves, "MOST_ASKED", 1)
    monkeypatch.setattr(curves, "FEWEST_POINTS", 6)
    train = noise(300)
    evidence = Evidence(train, None, leave_out=None)
    ledger = Ledger(grow(train, cart())[0])
    history = prune(ledger, ConfidencePruning(cf=0.25, raising=True), cart(), evidence)
    assert history.raises
    model = replace(model_of(train, cart()), history=history)
    points = curve(model, {Part.TRAIN: train})
    assert 3 <= len(points) <= 7
    assert {0, history.selected} <= {point.step for point in points}


def test_the_alpha_of_a_step_is_shown():
    train = samples_of({"a": [1, 2, 3, 4]}, [0.0, 2.0, 10.0, 10.0])
    model = model_of(train, cart_for_numbers(), validation=train, pruning=CUT)
    steps = [replace(step, alpha=0.25, method=Method.COST_COMPLEXITY) for step in model.history.steps]
    history = replace(model.history, steps=type(model.history.steps).of(steps))
    assert [point.alpha for point in curve(replace(model, history=history), {Part.TRAIN: train})][:2] == [None, 0.25]
