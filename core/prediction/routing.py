"""Records on their way down a tree: one routing for answers, explanations, validation and evaluation.

A record with a missing value goes down every branch with weight r_v; the answer is the weight-averaged answer of the
leaves it reaches, and the weights of those leaves sum to 1.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.ties import first_within_tie
from core.missing.fractional_weights import send_down
from core.missing.surrogates import followed
from core.tables.table import Table
from core.tree.tree import Tree, TreeView


class MissingPolicy(StrEnum):
    """How a record is routed if the tested attribute is missing."""

    WEIGHTED = "weighted"  # every branch, with weight r_v
    LAST_NODE = "last_node"  # the record stops, and this node answers
    MAJORITY_BRANCH = "majority_branch"  # the branch of largest r_v
    SURROGATE = "surrogate"  # the branch of the first surrogate whose value is known, else that of largest r_v


def policy_as_grown(tree: Tree) -> MissingPolicy:
    """How the tree's own training rows were routed; branches chosen at random are not drawn again."""
    return MissingPolicy.SURROGATE if tree.surrogates else MissingPolicy.WEIGHTED


@dataclass(frozen=True)
class Visit:
    """Rows that reach a node with these weights; `ends` flags those that go no further."""

    node: int
    rows: RowArray
    weights: FloatArray
    ends: BoolArray


def visits(
    view: TreeView,
    records: Table,
    policy: MissingPolicy | None = None,
    *,
    weights: FloatArray | None = None,
) -> Iterator[Visit]:
    """Every node that some record reaches, depth first, left to right; records weigh 1 at the root unless given.

    Without a policy they are routed as the tree was grown.
    """
    policy = policy or policy_as_grown(view.tree)
    start = np.ones(records.n_rows) if weights is None else weights
    waiting = [(0, np.arange(records.n_rows), start)]
    while waiting:
        node, rows, here = waiting.pop()
        if len(rows) == 0:
            continue
        if view.is_leaf[node]:
            yield Visit(node, rows, here, np.ones(len(rows), dtype=np.bool_))
            continue
        split, children = view.tree.split(node), view.tree.children(node)
        branch, shares = split.branches_of(records.columns, rows), view.tree.share[children]
        ends = np.zeros(len(rows), dtype=np.bool_)
        if policy is MissingPolicy.MAJORITY_BRANCH:
            branch = np.where(branch < 0, first_within_tie(shares), branch)
        elif policy is MissingPolicy.SURROGATE:
            branch = followed(records, rows, branch, view.tree.surrogates_of(node), shares)
        elif policy is MissingPolicy.LAST_NODE:
            ends = branch < 0
            shares = np.zeros_like(shares)
        yield Visit(node, rows, here, ends)
        received = send_down(rows, here, branch, shares)
        waiting.extend((child, *arrived) for child, arrived in zip(reversed(children), reversed(received), strict=True))


def predict(view: TreeView, records: Table, policy: MissingPolicy | None = None) -> FloatArray:
    """`[row, :]`: class probabilities, or means, added up leaf by leaf from left to right."""
    answers = np.zeros((records.n_rows, view.tree.values.shape[1]))
    for visit in visits(view, records, policy):
        rows, weights = visit.rows[visit.ends], visit.weights[visit.ends]
        answers[rows] += np.outer(weights, view.tree.answers[visit.node])
    return answers


@dataclass(frozen=True)
class Ends:
    """The nodes that answer each record, left to right: `nodes[starts[row] : starts[row + 1]]`, with their weights."""

    starts: RowArray
    nodes: RowArray
    weights: FloatArray

    def __len__(self) -> int:
        return len(self.starts) - 1

    @property
    def rows(self) -> RowArray:
        """The record that each of the nodes answers."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def take(self, rows: RowArray) -> "Ends":
        """The ends of these records, in this order."""
        lengths = np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(lengths))
        positions = np.arange(starts[-1]) + np.repeat(self.starts[rows] - starts[:-1], lengths)
        return Ends(starts, self.nodes[positions], self.weights[positions])

    def total(self, amounts: FloatArray) -> FloatArray:
        """`[row, :]`: the weighted sum of amounts[end, :], added up from left to right."""
        rows = self.rows
        sums = [np.bincount(rows, self.weights * column, minlength=len(self)) for column in amounts.T]
        return np.stack(sums, axis=1) if sums else np.zeros((len(self), 0))

    def by_row(self) -> list[list[tuple[int, float]]]:
        """For each record its nodes and weights."""
        pairs = list(zip(self.nodes.tolist(), self.weights.tolist(), strict=True))
        return [pairs[start:end] for start, end in pairwise(self.starts.tolist())]


Met = tuple[int | RowArray, RowArray, FloatArray]  # a node, or one per row; the rows that end there; their weights


def ends_of(met: Iterable[Met], n_rows: int) -> Ends:
    """The ends of records, from nodes in the order of visits."""
    nothing: Met = (0, np.empty(0, dtype=np.int64), np.empty(0))
    every = [nothing, *met]
    nodes = np.concatenate([np.broadcast_to(node, rows.shape) for node, rows, _ in every])
    rows, weights = (np.concatenate([part[position] for part in every]) for position in (1, 2))
    order = np.argsort(rows, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(rows, minlength=n_rows)))
    return Ends(starts, nodes[order], weights[order])


def ends(view: TreeView, records: Table, policy: MissingPolicy) -> Ends:
    """The nodes that answer each record, and how much each weighs."""
    met = ((visit.node, visit.rows[visit.ends], visit.weights[visit.ends]) for visit in visits(view, records, policy))
    return ends_of(met, records.n_rows)


def leaves_reached(view: TreeView, records: Table, policy: MissingPolicy) -> list[list[tuple[int, float]]]:
    """For each record the nodes that answer it, left to right, with their weights."""
    return ends(view, records, policy).by_row()
