import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Algorithm, Categorical, OnTie, ReducedErrorPruning
from core.growth.samples import Samples
from core.tables.target import Task
from core.tree.history import Decision, Method
from core.tree.tree import TreeView
from tests.core.building import CUT, KEEP, SQUARED_ERROR, cart_for_numbers, id3, model_of, samples_of
from tests.core.pruning.replay import accuracy_of, measure_of, score_of
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import PRINTED_ORDER, golden_samples


@pytest.fixture(scope="module")
def watermelon():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    return train, golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)


def test_the_full_tree_of_watermelon_scores_three_of_seven(watermelon):
    train, validation = watermelon
    model = model_of(train, id3())
    assert accuracy_of(model.view(0), validation) == pytest.approx(3 / 7)
    assert accuracy_of(model.view(0), train) == 1.0


def test_reduced_error_pruning_of_watermelon_step_by_step(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=KEEP)
    ledger = [
        (model.attributes[int(model.tree.column[s.node])].name, s.decision, round(7 * s.before), round(7 * s.after))
        for s in model.history.steps
    ]
    assert ledger == [
        ("纹理", Decision.CUT, 3, 4),
        ("色泽", Decision.KEPT, 4, 4),
        ("色泽", Decision.CUT, 4, 5),
        ("根蒂", Decision.KEPT, 5, 5),
        ("脐部", Decision.KEPT, 5, 3),
    ]
    for step in model.history.steps:
        assert step.before == pytest.approx(round(7 * step.before) / 7)
        assert step.evidence["correct_before"] == pytest.approx(7 * step.before)
        assert step.evidence["correct_after"] == pytest.approx(7 * step.after)
        assert step.evidence["rows"] == step.evidence["weight"] == 7.0
        assert step.method is Method.REDUCED_ERROR
        assert step.alpha is None
    assert accuracy_of(model.view(model.history.selected), validation) == pytest.approx(5 / 7)


def test_on_a_tie_cut_also_cuts_what_changes_nothing(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=CUT)
    kept = [step for step in model.history.steps if step.decision is Decision.KEPT]
    assert [model.attributes[int(model.tree.column[step.node])].name for step in kept] == ["脐部"]
    assert len(model.view(model.history.selected).leaves) == 3
    assert accuracy_of(model.view(model.history.selected), validation) == pytest.approx(5 / 7)


def test_deepest_nodes_come_first_left_to_right(watermelon):
    train, validation = watermelon
    model = model_of(train, id3(), validation=validation, pruning=KEEP)
    positions = [(-int(model.tree.depth[step.node]), step.node) for step in model.history.steps]
    assert positions == sorted(positions)
    assert sorted(step.node for step in model.history.steps) == np.flatnonzero(model.tree.size > 1).tolist()


def test_numbers_are_pruned_by_their_squared_error():
    train = samples_of({"a": [1, 2, 3, 4]}, [0.0, 2.0, 10.0, 10.0])
    validation = samples_of({"a": [1, 2, 4]}, [2.0, 0.0, 10.0])
    model = model_of(train, cart_for_numbers(), validation=validation, pruning=KEEP)
    assert [(s.decision, s.before, s.after) for s in model.history.steps] == [
        (Decision.CUT, pytest.approx(8 / 3), pytest.approx(2 / 3)),
        (Decision.KEPT, pytest.approx(2 / 3), pytest.approx((3.5**2 + 5.5**2 + 4.5**2) / 3)),
    ]
    assert set(model.history.steps[0].evidence) == {"branch_leaves", "rows", "weight"}


@examples(80)
@given(trainings(), st.integers(0, 2**32), st.sampled_from(list(OnTie)))
def test_every_entry_says_what_predicting_the_rows_anew_says(training, seed, on_tie):
    samples, algorithm = training
    validation = shuffled_targets(samples, seed)
    model = model_of(samples, algorithm, validation=validation, pruning=ReducedErrorPruning(on_tie))
    tree = model.tree
    is_leaf = tree.size == 1
    tolerance = 1e-6 if samples.target.task is Task.REGRESSION else 1e-9
    for step in model.history.steps:
        as_leaf = is_leaf.copy()
        as_leaf[step.node] = True
        before, after = TreeView(tree, is_leaf), TreeView(tree, as_leaf)
        assert step.before == pytest.approx(measure_of(before, validation), rel=tolerance, abs=tolerance)
        assert step.after == pytest.approx(measure_of(after, validation), rel=tolerance, abs=tolerance)
        rise = score_of(after, validation) - score_of(before, validation)
        if abs(rise) > tolerance:
            assert (step.decision is Decision.CUT) == (rise > 0)
        elif samples.target.task is Task.CLASSIFICATION:
            assert (step.decision is Decision.CUT) == (on_tie is OnTie.CUT)
        if step.decision is Decision.CUT:
            is_leaf = as_leaf
    assert model.view(model.history.selected).is_leaf.tolist() == is_leaf.tolist()


def shuffled_targets(samples, seed):
    """The same rows with other answers, so that there is something to prune."""
    order = np.random.default_rng(seed).permutation(len(samples))
    return Samples(samples.attributes, samples.target.take(order), samples.weights[order])


def test_a_tie_of_numbers_far_from_0_is_a_tie():
    chance = np.random.default_rng(4)
    k = int(chance.integers(2, 6))
    pair = [1e8 + float(chance.integers(1, 99)) / 7, 1e8 + float(chance.integers(1, 99)) / 7]
    repeats = chance.integers(1, 6, k)
    cells = [chr(97 + i) for i, r in enumerate(repeats) for _ in range(2 * int(r))]
    train = samples_of({"a": cells}, pair * int(repeats.sum()))  # every branch has the same mean: nothing can change
    aside = samples_of({"a": [None]}, [1e8 + 3.0], kinds={"a": train.attributes.schema[0]})
    model = model_of(train, Algorithm("cart", SQUARED_ERROR, Categorical.MULTIWAY), validation=aside, pruning=KEEP)
    assert [step.decision for step in model.history.steps] == [Decision.KEPT]
