"""Confidence-based pruning, against a slow twin written from sections 4 and 9 of the specification alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, norm

from core.config.options import Bound, ConfidencePruning
from core.config.presets import resolve
from core.prediction.routing import predict
from core.pruning.confidence import prune_by_confidence
from core.splits.split import SplitKind
from core.storage.serialization import dump, load
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.tree.history import Decision, Ledger, Method
from tests.core.both_engines import grow
from tests.core.building import model_of, samples_of
from tests.core.strategies import crowded_samples
from tests.examples import examples

pytestmark = pytest.mark.bounds

C45 = resolve("c45", {"stopping": {"min_samples_leaf": 1}}, Task.CLASSIFICATION)
RELEASE8 = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)


class Node:
    """A test with its branches, and the samples that came: (row, weight)."""

    def __init__(self, split, children, rows):
        self.split, self.children, self.rows = split, children, rows


class Slow:
    """Bottom-up, one node after the other, every estimate from its rows."""

    def __init__(self, samples, pruning, slack, is_last_heaviest):
        self.samples, self.pruning, self.slack = samples, pruning, slack
        self.is_last_heaviest = is_last_heaviest
        self.decisions = []

    def classes(self, rows):
        sums = [0.0] * len(self.samples.target.classes)
        for row, weight in rows:
            sums[self.samples.target.codes[row]] += weight
        return sums

    def estimate(self, rows):
        sums = self.classes(rows)
        n = sum(sums)
        if n == 0:
            return 0.0
        errors, cf = max(0.0, n - max(sums)), self.pruning.cf
        if self.pruning.bound is Bound.BINOMIAL:
            return n if errors >= n else n * beta.ppf(1 - cf, errors + 1, n - errors)
        return errors + self.added(errors, n, cf)

    def added(self, e, n, cf):
        if e < 1:
            base = n * (1 - cf ** (1 / n))
            return base if e == 0 else base + e * (self.added(1.0, n, cf) - base)
        if e + 0.5 >= n:
            return max(n - e, 0.0)
        z, f = norm.ppf(1 - cf), (e + 0.5) / n
        inner = z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))
        return n * (f + z * z / (2 * n) + inner) / (1 + z * z / n) - e

    def parts(self, split, rows):
        """The rows of each branch; those without the value in parts, by the weight of the others."""
        known, unknown = [[] for _ in range(split.n_branches)], []
        for row, weight in rows:
            cell = self.samples.attributes.columns[split.column][row : row + 1]
            numeric = self.samples.attributes.schema[split.column].kind is Kind.NUMERIC
            if np.isnan(cell[0]) if numeric else cell[0] < 0:
                unknown.append((row, weight))
            else:
                known[int(split.branches(cell)[0])].append((row, weight))
        sizes = [sum(w for _, w in part) for part in known]
        whole = sum(sizes)
        shares = [size / whole if whole else 1 / len(sizes) for size in sizes]
        return [
            part + [(row, weight * share) for row, weight in unknown if share > 0]
            for part, share in zip(known, shares, strict=True)
        ]

    def sent(self, node, rows):
        """A copy of the branch with these rows sent through it."""
        if not node.children:
            return Node(None, [], rows)
        parts = self.parts(node.split, rows)
        return Node(node.split, [self.sent(c, part) for c, part in zip(node.children, parts, strict=True)], rows)

    def total(self, node):
        return sum(map(self.total, node.children)) if node.children else self.estimate(node.rows)

    def prune(self, node):
        if not node.children:
            return
        for child in node.children:
            self.prune(child)
        leaf, subtree = self.estimate(node.rows), self.total(node)
        raised = None
        if self.pruning.raising:
            sizes = [sum(w for _, w in child.rows) for child in node.children]
            largest = [position for position, size in enumerate(sizes) if size >= max(sizes) - 1e-6]
            raised = self.sent(node.children[largest[-1 if self.is_last_heaviest else 0]], node.rows)
        if leaf <= subtree + self.slack and (raised is None or leaf <= self.total(raised) + self.slack):
            self.decisions.append("cut")
            node.split, node.children = None, []
        elif raised is not None and self.total(raised) <= subtree + self.slack:
            self.decisions.append("raised")
            node.split, node.children = raised.split, raised.children
            self.prune(node)
        else:
            self.decisions.append("kept")


def built(slow, tree, node, rows):
    """The grown tree as nodes of the slow twin."""
    if tree.size[node] == 1:
        return Node(None, [], rows)
    parts = slow.parts(tree.split(node), rows)
    children = [built(slow, tree, c, part) for c, part in zip(tree.children(node), parts, strict=True)]
    return Node(tree.split(node), children, rows)


def assert_same(slow, twin, view, node):
    """The view below a node is the twin's branch, with its figures."""
    assert bool(view.is_leaf[node]) == (not twin.children)
    assert view.tree.values[node] == pytest.approx(slow.classes(twin.rows), abs=1e-9)
    assert view.tree.weight[node] == pytest.approx(sum(w for _, w in twin.rows), abs=1e-9)
    if twin.children:
        split = view.tree.split(node)
        assert (split.column, split.branch_of) == (twin.split.column, twin.split.branch_of)
        assert math.isnan(split.threshold) or split.threshold == twin.split.threshold
        for child, below in zip(view.tree.children(node), twin.children, strict=True):
            assert view.tree.parent[child] == node
            assert view.tree.depth[child] == view.tree.depth[node] + 1
            assert_same(slow, below, view, child)


@pytest.mark.parametrize("algorithm", [C45, RELEASE8], ids=["textbook", "release8"])
@pytest.mark.parametrize("raising", [False, True], ids=["", "raising"])
@examples(60)
@given(st.integers(0, 2**32), st.sampled_from([0.25, 0.05, 0.45]), st.sampled_from(list(Bound)), st.booleans())
def test_trees_are_pruned_as_the_slow_twin_does(algorithm, raising, seed, cf, bound, missing):
    samples = crowded_samples(np.random.default_rng(seed), Task.CLASSIFICATION, max_rows=40, missing=missing)
    samples = replace(samples, weights=np.ones(len(samples)))
    pruning, is_as_programmed = ConfidencePruning(cf, bound, raising), algorithm is RELEASE8
    tree, _ = grow(samples, algorithm)
    ledger = Ledger(tree)
    prune_by_confidence(ledger, pruning, algorithm, samples)
    history = ledger.finished()
    slow = Slow(samples, pruning, 0.1 if is_as_programmed else 1e-9, is_as_programmed)
    twin = built(slow, tree, 0, [(row, 1.0) for row in range(len(samples))])
    slow.prune(twin)
    assert [step.decision for step in history.steps] == slow.decisions
    view = history.view(history.selected)
    assert_same(slow, twin, view, 0)
    assert ledger.view.nodes == view.nodes
    for step in history.steps:
        here = history.view(step.number)
        assert (step.leaves, step.depth) == (len(here.leaves), here.max_depth)
        assert here.tree.weight[here.leaves].sum() == pytest.approx(len(samples))
        assert predict(here, samples.attributes).sum(axis=1) == pytest.approx(np.ones(len(samples)))


@examples(60)
@given(st.integers(0, 2**32), st.sampled_from(list(Bound)))
def test_without_raising_kernels_give_the_same_bits(seed, bound):
    samples = crowded_samples(np.random.default_rng(seed), Task.CLASSIFICATION, max_rows=40)
    tree, _ = grow(samples, C45)
    ledgers = [Ledger(tree), Ledger(tree)]
    for ledger, kernels in zip(ledgers, (False, True), strict=True):
        prune_by_confidence(ledger, ConfidencePruning(bound=bound), C45, samples, kernels=kernels)
    assert ledgers[0].finished().steps == ledgers[1].finished().steps


def test_a_subtree_of_the_book():
    # Quinlan 1993, section 4.2: leaves with 6, 9 and 1 rows of one class each are expected to err 6·0.206 + 9·0.143 +
    # 1·0.750 = 3.273 times, one leaf with 1 error in 16 only 16·0.157 = 2.512 times (exactly 16·0.1596 = 2.554).
    columns = {"a": ["x"] * 6 + ["y"] * 9 + ["z"]}
    samples = samples_of(columns, ["p"] * 15 + ["q"])
    tree, _ = grow(samples, C45)
    ledger = Ledger(tree)
    prune_by_confidence(ledger, ConfidencePruning(), C45, samples)
    (step,) = ledger.finished().steps
    assert (step.method, step.decision) == (Method.CONFIDENCE, Decision.CUT)
    assert step.before == pytest.approx(3.273, abs=5e-3)
    assert step.after == pytest.approx(2.554, abs=1e-3)
    assert step.evidence == {
        "branch_leaves": 3.0,
        "weight": 16.0,
        "errors": 1.0,
        "cf": 0.25,
        "bound": pytest.approx(step.after / 16),
        "leaf_estimate": step.after,
        "subtree_estimate": step.before,
    }


@pytest.mark.parametrize("raising", [False, True])
def test_the_leaves_that_stood_below_a_cut_are_those_that_go(raising):
    chance, n_cuts = np.random.default_rng(5), 0
    for _ in range(20):
        samples = crowded_samples(chance, Task.CLASSIFICATION, min_rows=30, max_rows=60)
        ledger = Ledger(grow(samples, RELEASE8)[0])
        prune_by_confidence(ledger, ConfidencePruning(raising=raising), RELEASE8, samples)
        history = ledger.finished()
        for step, leaves in zip(history.steps, history.leaves_by_step[:-1], strict=True):
            n_cuts += step.decision is Decision.CUT
            if step.decision is Decision.CUT:
                assert step.evidence["branch_leaves"] == leaves - step.leaves + 1
            assert step.evidence["branch_leaves"] > 1
    assert n_cuts > 20


def test_a_raised_branch_is_stored_and_every_step_can_be_read():
    chance = np.random.default_rng(11)
    for _ in range(200):
        samples = crowded_samples(chance, Task.CLASSIFICATION, min_rows=30, max_rows=60)
        tree, _ = grow(samples, RELEASE8)
        ledger = Ledger(tree)
        prune_by_confidence(ledger, ConfidencePruning(bound=Bound.NORMAL, raising=True), RELEASE8, samples)
        if ledger.finished().raises:
            break
    history = ledger.finished()
    assert history.raises
    model = replace(model_of(samples, RELEASE8), history=history)
    again = load(dump(model))
    assert dump(again) == dump(model)
    first = min(history.raises)
    assert history.view(first - 1).tree is history.tree
    assert model.as_of(first - 1) is model
    for step in range(len(history.steps) + 1):
        one, other = model.view(step), again.view(step)
        assert one.nodes == other.nodes
        assert predict(one, samples.attributes).tolist() == predict(other, samples.attributes).tolist()
        if step < len(history.steps):
            assert history.tested_columns[step] == one.tree.column[history.steps[step].node]
        as_of = model.as_of(step)
        assert as_of.tree.answers[one.leaves].tolist() == one.tree.answers[one.leaves].tolist()
        assert as_of.view(step).nodes == one.nodes


def test_an_empty_branch_that_is_gone_does_no_harm():
    # The first test has a branch for a value that no row has; the branch under x takes its place.
    colours = Attribute("a", Kind.CATEGORICAL, ("x", "y", "never"))
    rows = [("x", 1, "p")] * 20 + [("x", 2, "q")] * 20 + [("y", 1, "q"), ("y", 1, "p"), ("y", 2, "p"), ("y", 2, "q")]
    columns = {"a": [a for a, _, _ in rows], "b": [b for _, b, _ in rows]}
    samples = samples_of(columns, [y for _, _, y in rows], kinds={"a": colours})
    by_a, _ = grow(replace(samples, attributes=samples.attributes.select(("a",))), C45)
    assert by_a.size.tolist() == [4, 1, 1, 1]
    tree = replace(
        by_a,
        size=np.array([6, 3, 1, 1, 1, 1], dtype=np.int32),
        column=np.array([0, 1, -1, -1, -1, -1], dtype=np.int32),
        kind=np.array([by_a.kind[0], 0, -1, -1, -1, -1], dtype=np.int8),
        threshold=np.array([np.nan, 1.5, np.nan, np.nan, np.nan, np.nan]),
        branch_start=np.array([0, 3, 3, 3, 3, 3, 3]),
        share=np.array([1.0, 40 / 44, 0.5, 0.5, 4 / 44, 0.0]),
        weight=np.array([44.0, 40.0, 20.0, 20.0, 4.0, 0.0]),
        values=np.array([[22.0, 22.0], [20.0, 20.0], [20.0, 0.0], [0.0, 20.0], [2.0, 2.0], [0.0, 0.0]]),
        **{name: np.zeros(6) for name in ("impurity", "gain", "score")},
        variances=np.empty((6, 0)),
    )
    assert tree.split(1).kind is SplitKind.THRESHOLD
    ledger = Ledger(tree)
    prune_by_confidence(ledger, ConfidencePruning(raising=True), C45, samples)
    history = ledger.finished()
    assert [step.decision for step in history.steps][-1] is not Decision.CUT
    assert history.raises
    view = history.view(history.selected)
    assert view.leaves == [2, 3]
    assert view.tree.labels[view.leaves].tolist() == [0, 1]
    assert view.tree.values[0].tolist() == [22.0, 22.0]


def test_costs_of_wrong_answers_change_what_is_cut():
    # As a leaf p errs 5 times. With q four times as dear, the right branch answers q, and its 15 errors count 3.75.
    columns = {"a": ["x"] * 40 + ["y"] * 20}
    samples = samples_of(columns, ["p"] * 55 + ["q"] * 5)
    tree, _ = grow(samples, C45)
    decisions = {}
    for name, costs in (("plain", None), ("dear", np.array([[0.0, 1.0], [4.0, 0.0]]))):
        ledger = Ledger(replace(tree, costs=costs))
        prune_by_confidence(ledger, ConfidencePruning(), C45, samples)
        decisions[name] = ledger.finished().steps[0].decision
    assert decisions == {"plain": Decision.CUT, "dear": Decision.KEPT}
