import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.engine.definition import grow
from core.prediction.routing import predict
from core.pruning.held_out_tree import HeldOutTree
from core.tree.tree import TreeView, full_view
from tests.core.strategies import trainings
from tests.examples import examples

pytestmark = pytest.mark.bounds


@examples(60)
@given(trainings(), st.randoms(use_true_random=False))
def test_answers_after_any_cuts_are_those_of_the_cut_tree(training, random):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    judged, is_leaf = HeldOutTree(full_view(tree), samples), tree.size == 1
    inner = np.flatnonzero(~is_leaf).tolist()
    random.shuffle(inner)
    for node in inner:
        if node not in TreeView(tree, is_leaf.copy()).nodes:
            continue
        expected = judged.credit_if_cut(node)
        judged.cut(node)
        is_leaf[node] = True
        assert judged.held_out.credit == expected
        answers = predict(TreeView(tree, is_leaf.copy()), samples.attributes)
        assert judged.held_out.answers + judged.held_out.origin == pytest.approx(answers, rel=1e-9, abs=1e-9)


@examples(60)
@given(trainings(), st.randoms(use_true_random=False))
def test_kernels_give_the_same_bits(training, random):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    judged, fast = (HeldOutTree(full_view(tree), samples, kernels=kernels) for kernels in (False, True))
    assert fast.held_out.credit == judged.held_out.credit
    inner = np.flatnonzero(tree.size > 1).tolist()
    random.shuffle(inner)
    is_leaf = tree.size == 1
    for node in inner:
        if node in TreeView(tree, is_leaf.copy()).nodes:
            assert fast.credit_if_cut(node) == judged.credit_if_cut(node)
            for each in (fast, judged):
                each.cut(node)
            is_leaf[node] = True
            assert fast.held_out.answers.tobytes() == judged.held_out.answers.tobytes()
