import pytest
from hypothesis import given

from core.tables.schema import Attribute, Kind
from core.tree.history import Decision, Method
from core.tree.tree import TreeView
from tests.core.both_engines import grow
from tests.core.building import cart_for_numbers, id3, model_of, samples_of
from tests.core.pruning.replay import accuracy_of, score_of
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import PRINTED_ORDER, golden_samples

pytestmark = pytest.mark.bounds


def watermelon():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    return train, golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)


def test_pre_pruning_of_watermelon_2_0_leaves_a_stump():
    train, validation = watermelon()
    model = model_of(train, id3(validate_splits=True), validation=validation)
    steps = model.history.steps
    names = [model.attributes[int(model.tree.column[step.node])].name for step in steps]
    assert names == ["脐部", "色泽", "根蒂"]
    assert [step.decision for step in steps] == [Decision.KEPT, Decision.CUT, Decision.CUT]
    assert {step.method for step in steps} == {Method.VALIDATE_SPLITS}
    assert steps[0].before == pytest.approx(3 / 7)
    assert steps[0].after == pytest.approx(5 / 7)
    assert [step.before for step in steps[1:]] == pytest.approx([5 / 7, 5 / 7])
    assert steps[1].after == pytest.approx(4 / 7)
    assert steps[2].after == pytest.approx(5 / 7)  # no rise, so no split
    view = model.view(model.history.selected)
    assert (len(view.leaves), view.max_depth) == (3, 1)
    assert accuracy_of(view, validation) == pytest.approx(5 / 7)


def test_full_has_the_children_of_every_split_that_was_tried():
    train, validation = watermelon()
    model = model_of(train, id3(validate_splits=True), validation=validation)
    assert model.view(0).max_depth == 2
    assert all(model.tree.size[step.node] > 1 for step in model.history.steps)


def test_a_split_must_strictly_raise_accuracy():
    train = samples_of({"a": ["x", "x", "y"]}, ["p", "p", "q"])
    same = samples_of({"a": ["x", "x"]}, ["p", "p"], classes=("p", "q"), kinds={"a": train.attributes.schema[0]})
    tree, trials = grow(train, id3(), validation=same)
    assert [trial.is_made for trial in trials] == [False]
    assert len(tree) == 3


def test_for_numbers_the_squared_error_must_fall():
    train = samples_of({"a": [1, 2, 3, 4]}, [0.0, 0.0, 10.0, 10.0])
    good = samples_of({"a": [1, 4]}, [1.0, 9.0])
    model = model_of(train, cart_for_numbers(validate_splits=True), validation=good)
    assert [(s.decision, s.before, s.after) for s in model.history.steps] == [(Decision.KEPT, 16.0, 1.0)]
    bad = samples_of({"a": [1, 4]}, [10.0, 0.0])
    model = model_of(train, cart_for_numbers(validate_splits=True), validation=bad)
    assert [(s.decision, s.before, s.after) for s in model.history.steps] == [(Decision.CUT, 25.0, 100.0)]


def test_a_validation_row_without_the_value_is_judged_by_all_branches():
    kinds = {"a": Attribute("a", Kind.CATEGORICAL, ("x", "y"))}
    train = samples_of({"a": ["x", "x", "x", "y"]}, ["p", "p", "p", "q"], kinds=kinds)
    aside = samples_of({"a": [None, "y"]}, ["p", "q"], kinds=kinds)
    _, trials = grow(train, id3(), validation=aside)
    assert [(t.credit_before, t.credit_after, t.is_made) for t in trials] == [(1.0, 2.0, True)]


@examples(80)
@given(trainings())
def test_trials_are_judged_by_the_whole_tree_with_undecided_nodes_as_leaves(training):
    samples, algorithm = training
    tree, trials = grow(samples, algorithm, validation=samples)
    whole, undecided = samples.weights.sum(), tree.size > 0  # every node a leaf at first
    for trial in trials:
        opened = undecided.copy()
        opened[trial.node] = False
        before, after = score_of(TreeView(tree, undecided), samples), score_of(TreeView(tree, opened), samples)
        assert trial.credit_before / whole == pytest.approx(before, rel=1e-6, abs=1e-6)
        assert trial.credit_after / whole == pytest.approx(after, rel=1e-6, abs=1e-6)
        if trial.is_made:
            undecided = opened
