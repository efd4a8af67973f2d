import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.prediction.routing import MissingPolicy, leaves_reached
from core.rules.difference import rule_difference
from core.rules.extraction import path_rules
from tests.core.building import CUT, id3, model_of
from tests.core.pruning.test_reduced_error import shuffled_targets
from tests.core.strategies import trainings
from tests.examples import examples
from tests.golden_tables import PRINTED_ORDER, golden_samples


@examples(60)
@given(trainings(), st.integers(0, 2**32), st.data())
def test_moved_is_the_training_weight_whose_leaf_changed(training, seed, data):
    samples, algorithm = training
    model = model_of(samples, algorithm, validation=shuffled_targets(samples, seed), pruning=CUT)
    steps = st.integers(0, len(model.history.steps))
    before, after = model.view(data.draw(steps)), model.view(data.draw(steps))
    found = rule_difference(before, after, model.attributes)
    reached = [leaves_reached(view, samples.attributes, MissingPolicy.WEIGHTED) for view in (before, after)]
    moved = 0.0
    for weight, old, new in zip(samples.weights, *reached, strict=True):
        stayed = {leaf for leaf, _ in new}
        moved += weight * sum(share for leaf, share in old if leaf not in stayed)
    assert found.moved == pytest.approx(moved / samples.weights.sum(), rel=1e-6, abs=1e-9)
    assert found.n_same + len(found.gone) == len(path_rules(before, model.attributes))
    assert found.n_same + len(found.new) == len(path_rules(after, model.attributes))


@examples(60)
@given(trainings(), st.integers(0, 2**32), st.data())
def test_leaves_are_told_apart_as_their_rules_are(training, seed, data):
    samples, algorithm = training
    model = model_of(samples, algorithm, validation=shuffled_targets(samples, seed), pruning=CUT)
    steps = st.integers(0, len(model.history.steps))
    before, after = model.view(data.draw(steps)), model.view(data.draw(steps))
    found = rule_difference(before, after, model.attributes)
    old, new = ({rule.id: rule.leaf for rule in path_rules(view, model.attributes)} for view in (before, after))
    assert set(found.gone) == {leaf for name, leaf in old.items() if name not in new}
    assert set(found.new) == {leaf for name, leaf in new.items() if name not in old}


def test_the_worked_example():
    train = golden_samples("watermelon_2.0_train", attributes=PRINTED_ORDER)
    validation = golden_samples("watermelon_2.0_validation", attributes=PRINTED_ORDER, like=train)
    model = model_of(train, id3(), validation=validation, pruning=CUT)
    same = rule_difference(model.view(0), model.view(0), model.attributes)
    assert (same.gone, same.new, same.moved) == ((), (), 0.0)
    first = model.history.steps[0]
    found = rule_difference(model.view(0), model.view(1), model.attributes)
    assert found.new == (first.node,)
    assert set(found.gone) == set(model.tree.children(first.node))
    assert found.moved == pytest.approx(model.tree.weight[first.node] / 10)
    back = rule_difference(model.view(1), model.view(0), model.attributes)
    assert (back.gone, back.new, back.moved) == (found.new, found.gone, found.moved)
