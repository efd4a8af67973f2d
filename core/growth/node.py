"""A node while the tree grows, and the finished tree made from such nodes."""

from dataclasses import dataclass, field

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.growth.best_split import Candidate
from core.missing.surrogates import Surrogate
from core.splits.split import Cuts
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS, Tree

EMPTY = np.empty(0)


@dataclass(eq=False)
class GrowingNode:
    """A node during growth; `values` and `impurity` are as in a tree, `number` is set when growth has ended.

    `key` names the node's random draws; `surrogates` imitate its split.
    """

    rows: RowArray
    weights: FloatArray
    depth: int
    share: float
    spent: frozenset[int]
    weight: float
    impurity: float
    values: FloatArray
    variances: FloatArray
    chosen: Candidate | None = None
    children: list["GrowingNode"] = field(default_factory=list)
    number: int = -1
    key: int = 0
    surrogates: tuple[Surrogate, ...] = ()

    def forget_rows(self) -> None:
        """Release the rows, which a node that was split or became a leaf no longer needs."""
        self.rows, self.weights = EMPTY.astype(np.int64), EMPTY


def finished_tree(root: GrowingNode, task: Task, cuts: Cuts = (), *, has_surrogates: bool = False) -> Tree:
    """Number the nodes depth first, left to right, and store them as arrays."""
    nodes = numbered(root)
    sizes = np.ones(len(nodes), dtype=np.int32)
    for node in reversed(nodes):
        sizes[node.number] += sum(int(sizes[child.number]) for child in node.children)
    branch_of = [() if node.chosen is None else node.chosen.split.branch_of for node in nodes]
    terms = tuple(() if node.chosen is None else node.chosen.split.terms for node in nodes)
    return Tree(
        task=task,
        size=sizes,
        column=np.array([LEAF if n.chosen is None else n.chosen.split.column for n in nodes], dtype=np.int32),
        kind=np.array([LEAF if n.chosen is None else SPLIT_KINDS.index(n.chosen.split.kind) for n in nodes], np.int8),
        threshold=np.array([np.nan if n.chosen is None else n.chosen.split.threshold for n in nodes]),
        branch_start=np.cumsum([0, *(len(branches) for branches in branch_of)], dtype=np.int64),
        branch_of=np.array([branch for branches in branch_of for branch in branches], dtype=np.int32),
        share=np.array([n.share for n in nodes]),
        weight=np.array([n.weight for n in nodes]),
        impurity=np.array([n.impurity for n in nodes]),
        gain=np.array([np.nan if n.chosen is None else n.chosen.gain for n in nodes]),
        score=np.array([np.nan if n.chosen is None else n.chosen.score for n in nodes]),
        values=np.array([n.values for n in nodes]),
        variances=np.array([n.variances for n in nodes]),
        cuts=cuts,
        surrogates=tuple(n.surrogates for n in nodes) if has_surrogates else (),
        terms=terms if any(terms) else (),
    )


def numbered(root: GrowingNode) -> list[GrowingNode]:
    """All nodes depth first, left to right; sets the number of each."""
    nodes: list[GrowingNode] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.number = len(nodes)
        nodes.append(node)
        waiting.extend(reversed(node.children))
    return nodes
