"""The sequence of weakest links, against what dynamic programming finds best, and against scikit-learn."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from core.config.options import Cost
from core.engine.definition import grow
from core.pruning.cost_complexity import node_costs, tie_of, weakest_link_steps
from core.tables.target import Task
from core.tree.history import Decision, History, Ledger, Method, Steps
from core.tree.tree import LEAF, Tree, TreeView, full_view
from tests.core.building import cart, samples_of
from tests.core.strategies import trainings
from tests.examples import examples

pytestmark = pytest.mark.bounds

COSTS = {Task.CLASSIFICATION: [Cost.GINI, Cost.ENTROPY, Cost.ERROR], Task.REGRESSION: [Cost.SQUARED_ERROR]}


def impurity(tree: Tree, node: int, cost: Cost) -> float:
    """H(t), from its definition."""
    if cost is Cost.SQUARED_ERROR:
        return float(tree.variances[node].sum())
    weights = tree.values[node]
    if weights.sum() == 0:
        return 0.0
    if cost is Cost.ERROR and tree.costs is not None:
        return min(float(weights @ tree.costs[:, j]) for j in range(len(weights))) / float(weights.sum())
    shares = [w / weights.sum() for w in weights if w > 0]
    match cost:
        case Cost.GINI:
            return 1 - sum(p * p for p in shares)
        case Cost.ENTROPY:
            return -sum(p * np.log2(p) for p in shares)
        case _:
            return 1 - max(shares)


def best_subtree(tree: Tree, is_leaf, cost: Cost, alpha: float, tie: float) -> set[int]:
    """The leaves of the tree of least C_alpha, of equals the smallest: node by node, what is best below it."""
    best, leaves = {}, {}
    for node in range(len(tree) - 1, -1, -1):
        own = tree.weight[node] / tree.weight[0] * impurity(tree, node, cost) + alpha
        best[node], leaves[node] = own, {node}
        if not is_leaf[node]:
            below = sum(best[child] for child in tree.children(node))
            if below < own - tie:
                best[node] = below
                leaves[node] = set().union(*(leaves[child] for child in tree.children(node)))
    return leaves[0]


@examples(150)
@given(trainings(max_rows=24), st.data())
def test_every_tree_of_the_sequence_is_the_smallest_of_the_best(training, data):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    cost = data.draw(st.sampled_from(COSTS[samples.target.task]))
    if samples.target.task is Task.CLASSIFICATION and data.draw(st.booleans()):
        n = len(samples.target.classes)
        costs = np.array(data.draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=n * n, max_size=n * n)))
        tree = replace(tree, costs=costs.reshape(n, n) * (1 - np.eye(n)))
    steps = weakest_link_steps(full_view(tree), cost)
    history = History(tree, steps, len(steps))
    tie = max(1e-10, tie_of(tree, cost, float(node_costs(tree, cost)[0])) * 100)
    if len(tree) > 1:
        assert history.view(len(steps)).leaves == [0]
    alphas = np.unique(steps.alpha)
    for low, high in zip(alphas, np.append(alphas[1:], np.inf), strict=False):
        assert set(history.view(history.last_with_alpha(low)).leaves) == best_subtree(
            tree, tree.size == 1, cost, low, tie
        )
        if np.isfinite(high) and high - low > 100 * tie:
            between = (low + high) / 2
            assert set(history.view(history.last_with_alpha(between)).leaves) == best_subtree(
                tree, tree.size == 1, cost, between, tie / 1000
            )


@examples(100)
@given(trainings(max_rows=24), st.booleans())
def test_entries_say_what_happens(training, is_cut_before):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    cost = COSTS[samples.target.task][0]
    is_leaf = tree.size == 1
    if is_cut_before and len(tree) > 1:
        is_leaf = is_leaf | (np.arange(len(tree)) == np.flatnonzero(~is_leaf)[-1])
    start = TreeView(tree, is_leaf)
    steps = weakest_link_steps(start, cost)
    assert (np.diff(steps.alpha) >= 0).all()
    is_leaf, before = is_leaf.copy(), float(sum(node_costs(tree, cost)[start.leaves]))
    for step in steps:
        view = TreeView(tree, is_leaf.copy())
        assert step.node in view.nodes
        assert not view.is_leaf[step.node]
        below = [leaf for leaf in view.leaves if step.node <= leaf < step.node + tree.size[step.node]]
        own, branch = node_costs(tree, cost)[step.node], float(node_costs(tree, cost)[below].sum())
        assert step.evidence["node_cost"] == own
        assert step.evidence["branch_cost"] == pytest.approx(branch, rel=1e-9, abs=1e-12)
        assert step.evidence["branch_leaves"] == len(below)
        scale = max(1.0, float(node_costs(tree, cost)[0]))
        assert step.evidence["link"] == pytest.approx((own - branch) / (len(below) - 1), rel=1e-9, abs=1e-12 * scale)
        assert step.alpha == pytest.approx(step.evidence["link"], rel=1e-9, abs=2e-12 * scale)
        assert step.before == pytest.approx(before, rel=1e-9, abs=1e-12 * scale)
        before = step.after
        is_leaf[step.node] = True
        view = TreeView(tree, is_leaf.copy())
        assert (step.leaves, step.depth) == (len(view.leaves), view.max_depth)
        assert step.after == pytest.approx(node_costs(tree, cost)[view.leaves].sum(), rel=1e-9, abs=1e-12 * scale)
        assert (step.method, step.decision) == (Method.COST_COMPLEXITY, Decision.CUT)
    for one, another in pairwise(steps):
        assert one.alpha < another.alpha or one.node < another.node


@examples(60)
@given(trainings(max_rows=40))
def test_kernels_give_the_same_bits(training):
    samples, algorithm = training
    tree = grow(samples, algorithm)
    cost = COSTS[samples.target.task][0]
    one, other = (weakest_link_steps(full_view(tree), cost, kernels=kernels) for kernels in (False, True))
    assert one == other


def test_links_of_equal_strength_are_cut_together_in_order_of_their_nodes():
    # Two pairs that differ in nothing: each saves an eighth of the Gini value for its second leaf.
    columns = {"a": [1, 1, 1, 1, 2, 2, 2, 2], "b": [1, 1, 2, 2, 1, 1, 2, 2]}
    samples = samples_of(columns, ["p", "p", "q", "q", "r", "r", "s", "s"])
    tree = grow(samples, cart())
    steps = weakest_link_steps(full_view(tree), Cost.GINI)
    assert [(step.node, step.leaves) for step in steps] == [(0, 1)]  # all three links save 0.25 a leaf
    uneven = samples_of(columns, ["p", "p", "q", "q", "p", "p", "q", "q"])
    tree = grow(uneven, replace(cart(), stopping=replace(cart().stopping, max_depth=2)))
    assert weakest_link_steps(full_view(tree), Cost.GINI)[0].alpha == pytest.approx(0.5)


def test_prices_of_wrong_answers_change_what_is_cut():
    # Without prices both branches answer p and the split saves no error; with q dear, the right one answers q.
    columns = {"a": ["x"] * 4 + ["y"] * 5}
    samples = samples_of(columns, ["p"] * 4 + ["p", "p", "p", "q", "q"])
    tree = grow(samples, cart())
    plain = weakest_link_steps(full_view(tree), Cost.ERROR)
    assert [(step.node, step.alpha) for step in plain] == [(0, 0.0)]
    dear = replace(tree, costs=np.array([[0.0, 1.0], [4.0, 0.0]]))
    (step,) = weakest_link_steps(full_view(dear), Cost.ERROR)
    # As a leaf it answers q and pays 7 of 9; in two, x answers p for nothing and y answers q and pays 3.
    assert step.evidence["node_cost"] == pytest.approx(7 / 9)
    assert step.alpha == pytest.approx(4 / 9)


def as_tree(theirs, task: Task) -> Tree:
    """scikit-learn's tree as one of ours: it numbers nodes in the same way."""
    left, n = theirs.children_left, theirs.node_count
    size = np.ones(n, dtype=np.int32)
    for node in range(n - 1, -1, -1):
        if left[node] >= 0:
            assert left[node] == node + 1
            size[node] += size[left[node]] + size[theirs.children_right[node]]
    weight = theirs.weighted_n_node_samples
    is_class = task is Task.CLASSIFICATION
    return Tree(
        task=task,
        size=size,
        column=np.where(left < 0, LEAF, theirs.feature).astype(np.int32),
        kind=np.zeros(n, dtype=np.int8),
        threshold=theirs.threshold,
        branch_start=np.zeros(n + 1, dtype=np.int64),
        branch_of=np.empty(0, dtype=np.int32),
        share=np.ones(n),
        weight=weight,
        impurity=theirs.impurity,
        gain=np.zeros(n),
        score=np.zeros(n),
        values=theirs.value[:, 0, :] * (weight[:, None] if is_class else 1.0),
        variances=np.empty((n, 0)) if is_class else theirs.impurity[:, None],
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("load", "criterion", "cost"),
    [
        (load, criterion, cost)
        for load in (load_iris, load_wine, load_breast_cancer)
        for criterion, cost in (("gini", Cost.GINI), ("entropy", Cost.ENTROPY))
    ]
    + [(load_diabetes, "squared_error", Cost.SQUARED_ERROR)],
)
def test_alphas_and_impurities_are_those_of_scikit_learn(load, criterion, cost, weighted):
    numbers, answers = load(return_X_y=True)
    weights = np.random.default_rng(3).uniform(0.5, 2.0, len(answers)) if weighted else None
    is_class = cost is not Cost.SQUARED_ERROR
    peer = (DecisionTreeClassifier if is_class else DecisionTreeRegressor)(criterion=criterion, random_state=0)
    path = peer.cost_complexity_pruning_path(numbers, answers, sample_weight=weights)
    fitted = peer.fit(numbers, answers, sample_weight=weights)
    tree = as_tree(fitted.tree_, Task.CLASSIFICATION if is_class else Task.REGRESSION)
    for grown_by in (None, cost):
        steps = weakest_link_steps(full_view(tree), cost, grown_by=grown_by)
        scale = max(1.0, float(steps.after[-1]))
        for alpha, cost_left in zip(path.ccp_alphas[1:], path.impurities[1:], strict=True):
            near = np.flatnonzero(np.abs(steps.alpha - alpha) <= 1e-9 * scale)
            assert len(near)
            # Links that we cut together it cuts one by one, or the node above them at once.
            reached = [*steps.after[near], steps.before[near[0]]]
            ours = steps.after[near[-1]]
            theirs = path.impurities[np.abs(path.ccp_alphas - alpha) <= 1e-9 * scale][-1]
            assert ours == pytest.approx(theirs, abs=1e-9 * scale)
            assert min(reached) - 1e-9 * scale <= cost_left <= ours + 1e-9 * scale
        assert {round(a / scale, 8) for a in steps.alpha} <= {round(a / scale, 8) for a in path.ccp_alphas}


def deep_tree(n_inner: int, chance: np.random.Generator) -> Tree:
    """A tree that is one long path, each node with a leaf on its left."""
    n = 2 * n_inner + 1
    size = np.ones(n, dtype=np.int32)
    inner = np.arange(0, n - 1, 2)
    size[inner] = n - inner
    values = np.zeros((n, 2))
    values[1::2] = chance.integers(1, 5, (n_inner, 2))
    values[-1] = 1.0
    for node in inner[::-1]:
        values[node] = values[node + 1] + values[node + 2]
    empty = np.zeros(n)
    return Tree(
        task=Task.CLASSIFICATION,
        size=size,
        column=np.where(size > 1, 0, LEAF).astype(np.int32),
        kind=np.zeros(n, dtype=np.int8),
        threshold=empty,
        branch_start=np.zeros(n + 1, dtype=np.int64),
        branch_of=np.empty(0, dtype=np.int32),
        share=np.ones(n),
        weight=values.sum(axis=1),
        impurity=empty,
        gain=empty,
        score=empty,
        values=values,
        variances=np.empty((n, 0)),
    )


def test_a_path_of_many_thousand_nodes_is_no_trouble():
    tree = deep_tree(50_000, np.random.default_rng(5))
    steps = weakest_link_steps(full_view(tree), Cost.GINI, kernels=True)
    assert steps.leaves[-1] == 1
    assert (np.diff(steps.alpha) >= 0).all()
    assert (np.diff(steps.leaves) < 0).all()


def test_a_leaf_has_no_links():
    tree = grow(samples_of({"a": [1, 2]}, ["p", "p"]), cart())
    assert weakest_link_steps(full_view(tree), Cost.GINI) == ()


def test_a_ledger_takes_all_steps_at_once():
    samples = samples_of({"a": [1, 2, 3, 4]}, ["p", "q", "p", "q"])
    tree = grow(samples, cart())
    ledger = Ledger(tree)
    steps = weakest_link_steps(ledger.view, Cost.GINI)
    ledger.extend(steps)
    assert ledger.view.leaves == [0]
    one_by_one = Ledger(tree)
    for step in steps:
        one_by_one.record(step.node, step.method, step.decision, before=0.0, after=0.0, evidence={}, alpha=step.alpha)
    for one, other in zip(one_by_one.finished().steps, ledger.finished().steps, strict=True):
        assert (one.number, one.leaves, one.depth) == (other.number, other.leaves, other.depth)
    assert isinstance(ledger.finished().steps, Steps)
