from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.curve import errors_as_of
from core.tables.target import Task
from core.tree.history import NEVER, Decision, History, Ledger, Method
from tests.core.building import CUT, id3, model_of
from tests.core.pruning.replay import measure_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import PRINTED_ORDER, golden_samples


@pytest.fixture(scope="module")
def history():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    validation = golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)
    return model_of(train, id3(), validation=validation, pruning=CUT).history


@examples(80)
@given(trainings(), st.integers(0, 2**32), st.booleans())
def test_views_along_a_history_are_nested_and_as_large_as_the_ledger_says(training, seed, is_gated):
    samples, algorithm = training
    validation = shuffled_targets(samples, seed)
    if is_gated:
        algorithm = replace(algorithm, stopping=replace(algorithm.stopping, validate_splits=True))
    model = model_of(samples, algorithm, validation=validation, pruning=CUT)
    views = [model.view(step) for step in range(model.history.selected + 1)]
    for smaller, larger in zip(views[1:], views, strict=False):
        assert set(smaller.nodes) <= set(larger.nodes)
        assert (smaller.is_leaf | ~larger.is_leaf).all()
    for step in model.history.steps:
        view = views[step.number]
        assert (step.leaves, step.depth) == (len(view.leaves), view.max_depth)
        before = views[step.number - 1]
        assert (set(view.nodes) == set(before.nodes)) == (step.decision is Decision.KEPT)
        below = [leaf for leaf in before.leaves if step.node <= leaf < step.node + model.tree.size[step.node]]
        stood = len(model.tree.children(step.node)) if step.method is Method.VALIDATE_SPLITS else len(below)
        assert step.evidence["branch_leaves"] == stood
    assert [step.number for step in model.history.steps] == list(range(1, len(views)))
    errors = errors_as_of(model, np.arange(len(model.history.steps) + 1), validation)
    for error, view in zip(errors, views, strict=True):
        measured = measure_of(view, validation)
        expected = 1 - measured if samples.target.task is Task.CLASSIFICATION else measured
        assert error == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_step_0_is_the_full_tree_and_the_last_is_selected(history):
    assert history.view(0).is_leaf.tolist() == (history.tree.size == 1).tolist()
    assert history.selected == len(history.steps)
    assert History(history.tree).selected == 0


def test_cut_at_names_the_step_of_each_cut(history):
    for node, number in enumerate(history.cut_at):
        if number != NEVER:
            step = history.steps[number - 1]
            assert (step.node, step.decision) == (node, Decision.CUT)
    assert np.count_nonzero(history.cut_at != NEVER) == sum(s.decision is Decision.CUT for s in history.steps)


def test_the_largest_tree_with_at_most_so_many_leaves(history):
    sizes = history.leaves_by_step
    assert sizes[0] == len(history.view(0).leaves)
    for wanted in range(1, max(sizes) + 3):
        step = history.largest_with_leaves(wanted)
        fitting = [size for size in sizes if size <= wanted]
        if not fitting:
            assert step is None
        else:
            assert sizes[step] == max(fitting)
            assert max(fitting) not in sizes[:step]


def test_a_ledger_goes_on_from_where_another_ended(history):
    ledger = Ledger(history.tree, history.steps)
    assert ledger.view.is_leaf.tolist() == history.view(history.selected).is_leaf.tolist()
    ledger.record(0, Method.REDUCED_ERROR, Decision.CUT, before=0.5, after=0.6, evidence={})
    last = ledger.finished().steps[-1]
    assert (last.number, last.leaves, last.depth) == (len(history.steps) + 1, 1, 0)
    assert ledger.view.nodes == [0]
