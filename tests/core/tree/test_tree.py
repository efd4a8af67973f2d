import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.ties import first_within_tie
from core.tables.target import Task
from core.tree.tree import TreeView, full_view
from tests.core.both_engines import grow
from tests.core.building import id3
from tests.core.strategies import trainings
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


@given(trainings())
def test_parents_children_and_depths_agree(training):
    tree, _ = grow(*training)
    assert tree.parent[0] == -1
    for node in range(len(tree)):
        children = tree.children(node)
        assert all(tree.parent[child] == node and tree.depth[child] == tree.depth[node] + 1 for child in children)
        assert tree.branch[children].tolist() == list(range(len(children)))
        assert tree.n_children[node] == len(children)
        assert tree.size[node] == 1 + sum(tree.size[child] for child in children)
        assert (tree.column[node] == -1) == (not children)
        if children:
            assert tree.split(node).n_branches == len(children)


def test_the_tree_of_watermelon_2_0_is_numbered_depth_first():
    tree, _ = grow(golden_samples("watermelon_2.0"), id3())
    assert tree.children(0)[0] == 1
    order, waiting = [], [0]
    while waiting:
        node = waiting.pop()
        order.append(node)
        waiting.extend(reversed(tree.children(node)))
    assert order == list(range(len(tree)))


def test_a_view_shows_what_is_left():
    tree, _ = grow(golden_samples("watermelon_2.0"), id3())
    full = full_view(tree)
    assert full.nodes == list(range(len(tree)))
    assert full.max_depth == tree.depth.max()
    cut = full.is_leaf.copy()
    cut[1] = True
    view = TreeView(tree, cut)
    hidden = set(range(2, 1 + int(tree.size[1])))
    assert hidden
    assert set(view.nodes) == set(range(len(tree))) - hidden
    assert view.leaves == [node for node in view.nodes if cut[node]]
    assert TreeView(tree, np.ones(len(tree), dtype=bool)).nodes == [0]
    assert TreeView(tree, np.ones(len(tree), dtype=bool)).max_depth == 0


@given(trainings(), st.integers(0, 2**32))
def test_what_a_view_hides_is_below_a_leaf(training, seed):
    tree, _ = grow(*training)
    view = TreeView(tree, (tree.size == 1) | (np.random.default_rng(seed).random(len(tree)) < 0.3))
    for node in range(len(tree)):
        above = int(tree.parent[node])
        assert view.is_visible[node] == (above < 0 or (view.is_visible[above] and not view.is_leaf[above]))


@given(trainings(task=Task.CLASSIFICATION))
def test_labels_are_majorities_of_who_answers(training):
    tree, _ = grow(*training)
    for node in range(len(tree)):
        values = tree.values[tree.answering[node]]
        assert tree.labels[node] == first_within_tie(values / values.sum())
