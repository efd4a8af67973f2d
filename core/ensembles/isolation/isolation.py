"""Isolation forests: trees of random cuts, in which rows unlike the others end early.

    h(x)  = depth of the leaf + c(rows of the sample in it)         the path length in one tree
    s(x)  = 2^(-E[h(x)] / c(n))                                     n rows are in each tree's sample
    c(n)  = 2 (ln(n - 1) + gamma) - 2 (n - 1) / n                   c(2) = 1, c(1) = 0

c is the mean length of an unsuccessful search in a binary search tree. Scores near 1 are anomalies, those well below
0.5 are not. Liu, Ting and Zhou 2008.

A tree of this forest is a tree like any other that answers with a number: the path length. So a row with a missing
value goes down both branches with weights r_v, in growth and in prediction, and so does one whose category no row of
the node had.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.logarithms import log
from core.arithmetic.powers import exp2_each
from core.arithmetic.randomness import (
    FOR_COLUMNS,
    FOR_CUTS,
    fractions,
    key_of,
    path_key,
    root_key,
    shuffled,
    stream,
    uniform,
)
from core.config.options import CriterionKind, Isolation
from core.ensembles.balance.neighbours import points_of
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import forest_of
from core.ensembles.sampling import n_drawn, tree_seed
from core.missing.fractional_weights import send_down
from core.splits.split import Split, SplitKind
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.schema import Kind, Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS, Tree

EULER = 0.5772156649015329


@dataclass(frozen=True)
class IsolationForest:
    """`forest` answers with path lengths; `n_sampled` rows are in each tree's sample.

    A score above `threshold` is an anomaly.
    """

    forest: Forest
    n_sampled: int
    threshold: float

    def __len__(self) -> int:
        return len(self.forest)

    def scores(self, path_lengths: FloatArray) -> FloatArray:
        """2^(-E[h] / c(n)); 0.5 for every row if the samples have a single row."""
        usual = usual_length(self.n_sampled)
        return exp2_each(-path_lengths / usual) if usual > 0 else np.full(path_lengths.shape, 0.5)


def usual_length(n: float) -> float:
    """c(n), interpolated linearly between integers; the weights of rows with missing values may be fractional."""
    below = math.floor(n)
    if below < n:
        return usual_length(below) + (n - below) * (usual_length(below + 1) - usual_length(below))
    if n <= 2:
        return 1.0 if n == 2 else 0.0
    return 2 * (log(n - 1) + EULER) - 2 * (n - 1) / n


def grow_isolation(table: Table, isolation: Isolation, *, seed: int, watch: Watch = ignore_progress) -> IsolationForest:
    """A forest of random trees over at least one row."""
    n_sampled = n_drawn(isolation.sample_size, table.n_rows)
    deepest = (n_sampled - 1).bit_length()  # log2 of it, rounded up
    trees = [
        grow_tree(
            table.take(sampled_rows(table.n_rows, n_sampled, seed=seed, tree=tree)), deepest, tree_seed(seed, tree)
        )
        for tree in watched(range(isolation.n_trees), watch)
    ]
    # The criterion restores impurities that are not stored; here all are 0.
    forest = forest_of(trees, [0] * len(trees), [CriterionKind.SQUARED_ERROR], [()])
    return IsolationForest(forest, n_sampled, isolation.threshold)


def sampled_rows(n_rows: int, n: int, *, seed: int, tree: int) -> RowArray:
    """n different rows, ascending; every choice is equally likely."""
    bits = stream(tree_seed(seed, tree), "rows of an isolation tree")
    if 4 * n > n_rows:
        return np.sort(shuffled(np.arange(n_rows), bits)[:n])
    drawn = np.empty(0, dtype=np.int64)
    while True:  # repeats are rare if few rows are drawn from many
        drawn = np.append(drawn, (fractions(bits, n) * n_rows).astype(np.int64))
        rows, first = np.unique(drawn, return_index=True)
        if len(rows) >= n:
            return np.sort(rows[np.argsort(first)[:n]])


@dataclass(frozen=True)
class _Node:
    """A node while it grows; `size` counts the nodes of its subtree, itself included."""

    depth: int
    share: float
    weight: float
    split: Split | None
    size: int


def grow_tree(sample: Table, deepest: int, seed: int) -> Tree:
    """A tree of random cuts, until a row is alone, rows are alike, or the tree is as deep as it may be."""
    points, schema = points_of(sample), sample.schema
    nodes = list[_Node]()

    def add(rows: RowArray, weights: FloatArray, share: float, depth: int, key: int) -> int:
        fraction, weight = len(nodes), float(weights.sum())
        split = random_split(points[rows], schema, key) if depth < deepest and weight > 1 else None
        nodes.append(_Node(depth, share, weight, split, 1))
        if split is not None:
            branch = split.branches(sample.columns[split.column][rows])
            shares = known_shares(branch, weights)
            received = send_down(rows, weights, branch, shares)
            size = 1 + sum(
                add(*arrived, share=float(shares[v]), depth=depth + 1, key=path_key(key, v))
                for v, arrived in enumerate(received)
            )
            nodes[fraction] = _Node(depth, share, weight, split, size)
        return nodes[fraction].size

    add(np.arange(sample.n_rows), np.ones(sample.n_rows), 1.0, 0, root_key(seed))
    return _tree_of(nodes)


def known_shares(branch: RowArray, weights: FloatArray) -> FloatArray:
    """r_v of two branches: the part of the known weight that goes down each."""
    known = np.bincount(branch[branch >= 0], weights[branch >= 0], minlength=2)
    return known / known.sum()


def random_split(points: FloatArray, schema: Schema, key: int) -> Split | None:
    """A random test on one of the attributes that vary here, all equally likely; None where none does."""
    low, high = np.fmin.reduce(points, axis=0), np.fmax.reduce(points, axis=0)
    varying = np.flatnonzero(low < high)
    if len(varying) == 0:
        return None
    column = int(varying[int(uniform(key_of(key, FOR_COLUMNS)) * len(varying))])
    cut_key = key_of(key, FOR_CUTS)
    if schema[column].kind is Kind.CATEGORICAL:
        present = np.unique(points[:, column])
        codes = present[~np.isnan(present)].astype(np.int64).tolist()
        return Split(
            column, SplitKind.GROUPS, 2, branch_of=random_groups(codes, len(schema[column].categories), cut_key)
        )
    threshold = random_cut(float(low[column]), float(high[column]), uniform(cut_key))
    return Split(column, SplitKind.THRESHOLD, 2, threshold=threshold)


def random_cut(low: float, high: float, fraction: float) -> float:
    """The number at a fraction of the way from low to high; low itself may be reached, high never."""
    return min(max((1 - fraction) * low + fraction * high, low), math.nextafter(high, -math.inf))


def random_groups(present: list[int], n_codes: int, key: int) -> tuple[int, ...]:
    """The branch of each code: a side for every code that is present, at random, neither side empty; -1 for others."""
    branch_of, attempt = [-1] * n_codes, 0
    while True:
        sides = [int(uniform(key_of(key_of(key, attempt), code)) < 0.5) for code in present]
        if 0 < sum(sides) < len(present):
            break
        attempt += 1
    for code, side in zip(present, sides, strict=True):
        branch_of[code] = side
    return tuple(branch_of)


def _tree_of(nodes: list[_Node]) -> Tree:
    """The nodes as a tree that answers with path lengths; an inner node answers as if it were a leaf."""
    splits = [node.split for node in nodes]
    gain = np.array([math.nan if split is None else 0.0 for split in splits])
    return Tree(
        task=Task.REGRESSION,
        size=np.array([node.size for node in nodes], dtype=np.int32),
        column=np.array([LEAF if split is None else split.column for split in splits], dtype=np.int32),
        kind=_kinds(splits),
        threshold=np.array([math.nan if split is None else split.threshold for split in splits]),
        branch_start=np.cumsum([0, *(0 if split is None else len(split.branch_of) for split in splits)]),
        branch_of=np.array(list(_branches(splits)), dtype=np.int32),
        share=np.array([node.share for node in nodes]),
        weight=np.array([node.weight for node in nodes]),
        impurity=np.zeros(len(nodes)),
        gain=gain,
        score=gain,
        values=np.array([[node.depth + usual_length(node.weight)] for node in nodes]),
        variances=np.zeros((len(nodes), 1)),
    )


def _kinds(splits: list[Split | None]) -> NDArray[np.int8]:
    return np.array([LEAF if split is None else SPLIT_KINDS.index(split.kind) for split in splits], dtype=np.int8)


def _branches(splits: list[Split | None]) -> Iterator[int]:
    for split in splits:
        if split is not None:
            yield from split.branch_of
