"""Confidence-based pruning: a subtree is cut when a leaf in its place is not expected to err more often.

What a leaf is expected to err on is the upper limit of its error rate times its weight; a subtree's estimate is the sum
of its leaves'. Bottom-up, left to right. With raising, a node's heaviest branch may take its place instead, with all
the node's samples sent through it. C4.5 (Quinlan 1993), chapter 4.

The textbook cuts when the leaf's estimate is not larger. The programs (`release8`) let it be 0.1 larger, and so the
raised branch's.
"""

from dataclasses import dataclass, field

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.randomness import path_key, root_key
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE, first_within_tie
from core.config.options import Algorithm, Bound, ConfidencePruning, Dialect
from core.criteria.binomial import added_errors, upper_limits
from core.growth.best_split import objective_of
from core.growth.release8_tolerances import TOLERANCE
from core.growth.routing import Route, routed
from core.growth.samples import Samples
from core.missing.fractional_weights import branch_shares
from core.pruning.cost_complexity import loops_of
from core.pruning.training_errors import errors_of
from core.splits.split import Split
from core.tables.progress import Watch, ignore_progress
from core.tables.target import ClassTarget
from core.tree.history import DECISIONS, METHODS, Decision, Ledger, Method, Steps
from core.tree.tree import RaisedBranch, Tree, TreeView

PROGRAMS_SLACK = 0.1


@dataclass(frozen=True)
class Expectation:
    """The errors expected of leaves; an estimate larger than another by at most `slack` counts as not larger."""

    pruning: ConfidencePruning
    costs: FloatArray | None
    slack: float
    _known: dict[tuple[float, float], float] = field(default_factory=dict)

    @classmethod
    def of(cls, pruning: ConfidencePruning, algorithm: Algorithm, tree: Tree) -> "Expectation":
        is_as_programmed = algorithm.dialect is Dialect.RELEASE8
        return cls(pruning, tree.costs, PROGRAMS_SLACK if is_as_programmed else TIE * float(tree.weight[0]))

    def estimates(self, errors: FloatArray, weights: FloatArray) -> FloatArray:
        """The errors expected of leaves with these training errors and weights; 0 for an empty leaf."""
        if self.pruning.bound is Bound.NORMAL:
            return errors + added_errors(errors, weights, self.pruning.cf)
        return weights * upper_limits(errors, weights, self.pruning.cf)

    def of_leaves(self, class_weights: FloatArray) -> FloatArray:
        """The estimates of leaves with these class weights, `[leaf, class]`; computed once for equal pairs."""
        errors, weights = errors_of(class_weights, self.costs), class_weights.sum(axis=1)
        pairs = list(zip(errors.tolist(), weights.tolist(), strict=True))
        new = [position for position, pair in enumerate(pairs) if pair not in self._known]
        if new:
            found = self.estimates(errors[new], weights[new]).tolist()
            self._known.update(zip([pairs[position] for position in new], found, strict=True))
        return np.array([self._known[pair] for pair in pairs])

    def is_not_larger(self, estimate: float, other: float) -> bool:
        return estimate <= other + self.slack

    def evidence(self, class_weights: FloatArray, leaf: float, subtree: float) -> dict[str, float]:
        """The figures behind a decision."""
        weight = float(class_weights.sum())
        return {
            "weight": weight,
            "errors": float(errors_of(class_weights[None], self.costs)[0]),
            "cf": self.pruning.cf,
            "bound": leaf / weight,
            "leaf_estimate": leaf,
            "subtree_estimate": subtree,
        }


def prune_by_confidence(
    ledger: Ledger,
    pruning: ConfidencePruning,
    algorithm: Algorithm,
    samples: Samples,
    *,
    seed: int = 0,
    kernels: bool = False,
    watch: Watch = ignore_progress,
) -> None:
    """Decide about every inner node left, and record each decision; raising needs the training samples."""
    expected = Expectation.of(pruning, algorithm, ledger.tree)
    if pruning.raising:
        Raising(ledger, expected, algorithm, samples, watch).prune(root_key(seed))
    else:
        ledger.extend(steps_without_raising(ledger.view, expected, kernels=kernels))


def steps_without_raising(view: TreeView, expected: Expectation, *, kernels: bool) -> Steps:
    """All decisions at once: they need the figures of nodes only."""
    tree, loops = view.tree, loops_of(kernels=kernels)
    errors = errors_of(tree.values, tree.costs)
    leaf, size = expected.estimates(errors, tree.weight), tree.size.astype(np.int64)
    is_inner = view.is_visible & ~view.is_leaf
    subtree, is_cut, branch_leaves = loops.subtree_estimates(size, is_inner, leaf, expected.slack)
    nodes = np.flatnonzero(is_inner)
    nodes = nodes[np.lexsort((-nodes, nodes + size[nodes]))]  # a node comes after its subtree, which is a range
    n_steps = len(nodes)
    cut_at = np.full(len(tree), n_steps + 1)
    cut_at[nodes[is_cut[nodes]]] = np.flatnonzero(is_cut[nodes]) + 1
    _, depths = loops.left_by_cuts(size, np.where(is_inner, cut_at, 0), n_steps + 1)
    weight, is_cut, branch_leaves = tree.weight[nodes], is_cut[nodes], branch_leaves[nodes]
    lost = np.where(is_cut, branch_leaves - 1, 0)
    cut, kept = DECISIONS.index(Decision.CUT), DECISIONS.index(Decision.KEPT)
    return Steps(
        node=nodes.astype(np.int32),
        method=np.full(n_steps, METHODS.index(Method.CONFIDENCE), dtype=np.int8),
        decision=np.where(is_cut, cut, kept).astype(np.int8),
        before=subtree[nodes],
        after=leaf[nodes],
        alpha=np.full(n_steps, np.nan),
        leaves=(len(view.leaves) - np.cumsum(lost)).astype(np.int32),
        depth=depths[1:].astype(np.int32),
        evidence={
            "branch_leaves": branch_leaves.astype(np.float64),
            "weight": weight,
            "errors": errors[nodes],
            "cf": np.full(n_steps, expected.pruning.cf),
            "bound": leaf[nodes] / weight,
            "leaf_estimate": leaf[nodes],
            "subtree_estimate": subtree[nodes],
        },
    )


@dataclass
class Sent:
    """A branch with other samples sent through it: its nodes in order, their class weights, r_v, and which are ends."""

    nodes: list[int] = field(default_factory=list)
    values: list[FloatArray] = field(default_factory=list)
    shares: list[float] = field(default_factory=list)
    is_leaf: list[bool] = field(default_factory=list)

    def leaf_values(self) -> FloatArray:
        return np.array([values for values, is_leaf in zip(self.values, self.is_leaf, strict=True) if is_leaf])


@dataclass(frozen=True)
class Visit:
    """Training samples at a node, which is visited before its children and again after them."""

    node: int
    rows: RowArray
    weights: FloatArray
    key: int
    is_after: bool


class Raising:
    """Pruning with raised branches: every node is visited with its training samples.

    A node that a branch replaced keeps its number; `_tested_by` has the node whose test it took, `_children` its new
    children.
    """

    def __init__(
        self, ledger: Ledger, expected: Expectation, algorithm: Algorithm, samples: Samples, watch: Watch
    ) -> None:
        self._ledger, self._expected, self._algorithm, self._samples = ledger, expected, algorithm, samples
        self._watch, self._objective = watch, objective_of(algorithm, samples)
        self._has_missing = samples.attributes.has_missing
        view = ledger.view
        self._tree, self._is_leaf = view.tree, view.is_leaf.copy()
        self._values, self._share = self._tree.values.copy(), self._tree.share.copy()
        self._estimate = np.zeros(len(self._tree))  # of the subtree as pruned so far
        expected.of_leaves(self._values)  # all at once: little slower than one
        self._tested_by: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}
        self._done = 0.0

    def prune(self, key: int) -> None:
        """Decide about every node, children first; after raising a branch, a node is visited again."""
        waiting = [Visit(0, self._samples.rows, self._samples.weights, key, is_after=False)]
        while waiting:
            visit = waiting.pop()
            node = visit.node
            if self._is_leaf[node]:
                self._estimate[node] = self._expected.of_leaves(self._values[node : node + 1])[0]
                self._tell(visit)
            elif not visit.is_after:
                waiting.append(Visit(node, visit.rows, visit.weights, visit.key, is_after=True))
                parts = zip(self.children(node), self._divided(node, visit, self._shares_at(node)), strict=True)
                below = [
                    Visit(child, *part, path_key(visit.key, branch), is_after=False)
                    for branch, (child, part) in enumerate(parts)
                ]
                waiting.extend(reversed(below))
            elif self._decide(visit):
                waiting.append(Visit(node, visit.rows, visit.weights, visit.key, is_after=False))

    def children(self, node: int) -> list[int]:
        return self._children.get(node) or self._tree.children(node)

    def _decide(self, visit: Visit) -> bool:
        """Make the node a leaf, raise its heaviest branch, or leave it; returns whether a branch was raised."""
        node, expected = visit.node, self._expected
        leaf = float(expected.of_leaves(self._values[node : node + 1])[0])
        subtree = float(sum(self._estimate[child] for child in self.children(node)))
        heaviest = self._heaviest_child(node)
        raised = self._raised_estimate(heaviest, visit)
        evidence = expected.evidence(self._values[node], leaf, subtree)
        evidence |= {"raised_estimate": raised, "raised_node": float(heaviest)}
        self._estimate[node] = subtree
        if expected.is_not_larger(leaf, subtree) and expected.is_not_larger(leaf, raised):
            self._record(node, Decision.CUT, subtree, leaf, evidence)
            self._is_leaf[node] = True
            self._estimate[node] = leaf
        elif expected.is_not_larger(raised, subtree):
            sent = self._sent_through(heaviest, visit)
            self._record(node, Decision.RAISED, subtree, raised, evidence, self._raise(node, heaviest, sent))
            return True
        else:
            self._record(node, Decision.KEPT, subtree, leaf, evidence)
        return False

    def _record(
        self,
        node: int,
        decision: Decision,
        before: float,
        after: float,
        evidence: dict[str, float],
        raised: RaisedBranch | None = None,
    ) -> None:
        self._ledger.record(
            node, Method.CONFIDENCE, decision, before=before, after=after, evidence=evidence, raised=raised
        )

    def _heaviest_child(self, node: int) -> int:
        """The child that most weight came to; of equals the first, in the programs the last."""
        children = self.children(node)
        weights = self._values[children].sum(axis=1)
        if self._algorithm.dialect is Dialect.RELEASE8:
            return children[int(np.flatnonzero(weights >= weights.max() - TOLERANCE)[-1])]
        return children[first_within_tie(weights / weights.sum())]

    def _raised_estimate(self, child: int, visit: Visit) -> float:
        """The errors expected of a child's subtree with all samples of the node sent through it.

        Where all values are known, the child's own samples stay where they are: only the others have to be sent.
        """
        if self._has_missing:
            return float(self._expected.of_leaves(self._sent_through(child, visit).leaf_values()).sum())
        parts = self._divided(visit.node, visit, self._shares_at(visit.node))
        others = [part for sibling, part in zip(self.children(visit.node), parts, strict=True) if sibling != child]
        rows, weights = (np.concatenate(each) for each in zip(*others, strict=True))
        waiting, estimate, leaf_values = [Visit(child, rows, weights, visit.key, is_after=False)], 0.0, []
        while waiting:
            arrived = waiting.pop()
            node = arrived.node
            if len(arrived.rows) == 0:
                estimate += float(self._estimate[node])
            elif self._is_leaf[node]:
                leaf_values.append(self._values[node] + self._class_weights(arrived))
            else:
                parts = self._divided(node, arrived, self._shares_at(node))
                waiting.extend(
                    Visit(lower, *part, visit.key, is_after=False)
                    for lower, part in zip(self.children(node), parts, strict=True)
                )
        return estimate + (float(self._expected.of_leaves(np.array(leaf_values)).sum()) if leaf_values else 0.0)

    def _sent_through(self, child: int, visit: Visit) -> Sent:
        """The samples of the node sent through a child's subtree, with r_v of every node computed from them."""
        sent = Sent()
        waiting = [(child, visit, float(self._share[visit.node]))]
        while waiting:
            node, arrived, share = waiting.pop()
            sent.nodes.append(visit.node if node == child else node)
            sent.values.append(self._class_weights(arrived))
            sent.shares.append(share)
            sent.is_leaf.append(bool(self._is_leaf[node]))
            if not self._is_leaf[node]:
                shares = self._new_shares(node, arrived)
                parts = self._divided(node, arrived, shares)
                below = [
                    (lower, Visit(lower, *part, path_key(arrived.key, branch), is_after=False), float(shares[branch]))
                    for branch, (lower, part) in enumerate(zip(self.children(node), parts, strict=True))
                ]
                waiting.extend(reversed(below))
        return sent

    def _raise(self, node: int, child: int, sent: Sent) -> RaisedBranch:
        """Replace the node by the child, with the figures of the samples sent through it."""
        self._tested_by[node] = self._tested_by.get(child, child)
        self._children[node] = self.children(child)
        nodes, values = np.array(sent.nodes), np.array(sent.values)
        self._values[nodes], self._share[nodes] = values, sent.shares
        return RaisedBranch(
            node,
            child,
            nodes,
            weight=values.sum(axis=1),
            share=np.array(sent.shares),
            impurity=np.asarray(self._objective.impurity(values)),
            values=values,
        )

    def _split(self, node: int) -> Split:
        return self._tree.split(self._tested_by.get(node, node))

    def _shares_at(self, node: int) -> FloatArray:
        return self._share[self.children(node)]

    def _new_shares(self, node: int, arrived: Visit) -> FloatArray:
        """r_v from the samples that know the value; if none does, all branches get equal shares, as in the programs."""
        split = self._split(node)
        branch = split.branches_of(self._samples.attributes.columns, arrived.rows)
        is_known: BoolArray = branch >= 0
        known = weights_by(branch[is_known], arrived.weights[is_known], split.n_branches)
        return branch_shares(known) if known.sum() > 0 else np.full(split.n_branches, 1 / split.n_branches)

    def _divided(self, node: int, arrived: Visit, shares: FloatArray) -> list[tuple[RowArray, FloatArray]]:
        surrogates = self._tree.surrogates_of(self._tested_by.get(node, node))
        route = Route(self._split(node), shares, surrogates, arrived.key)
        return routed(self._samples, self._algorithm, arrived.rows, arrived.weights, route)

    def _class_weights(self, arrived: Visit) -> FloatArray:
        target = self._samples.target
        assert isinstance(target, ClassTarget)
        return weights_by(target.codes[arrived.rows], arrived.weights, len(target.classes))

    def _tell(self, visit: Visit) -> None:
        self._done = min(1.0, self._done + float(visit.weights.sum()) / float(self._tree.weight[0]))
        self._watch(self._done)
