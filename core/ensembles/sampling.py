"""The random draws of each tree of a committee: its rows, its attributes, and those that each of its nodes may test.

Every draw is keyed by the seed and the tree's number, and in a node by the path to it. So a tree does not depend on the
engine, the thread or the order of growth, and its rows can be drawn again without having been stored.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, RowArray
from core.arithmetic.randomness import fractions, key_of, root_key, shuffled, stream
from core.config.options import Committee, Features, FeatureShare
from core.ensembles.balance.imbalance import balanced, joined
from core.growth.column_draw import ColumnDraw
from core.growth.samples import Samples

CountArray = NDArray[np.int64]

DRAWN_AT_ONCE = 8192  # rows: all at once would take as much memory as several columns


def tree_seed(seed: int, tree: int) -> int:
    """The seed of one tree of a committee."""
    return key_of(root_key(seed), tree)


def n_features(features: Features, n_columns: int) -> int:
    """How many of the columns are drawn: at least one."""
    if features is FeatureShare.ALL:
        return n_columns
    if features is FeatureShare.SQRT:
        return max(1, math.isqrt(n_columns))
    if features is FeatureShare.LOG2:
        return max(1, n_columns.bit_length() - 1)
    if isinstance(features, int):
        return min(features, n_columns)
    assert isinstance(features, float)
    return max(1, math.floor(features * n_columns))


def n_drawn(sample_size: float, n_rows: int) -> int:
    """How many rows are drawn: a share of them up to 1, at least one, or a number from 2, at most all."""
    return max(1, round(sample_size * n_rows)) if sample_size <= 1 else min(int(sample_size), n_rows)


def times_drawn(committee: Committee, n_rows: int, *, seed: int, tree: int) -> CountArray:
    """`[row]`: how often each row is in the sample of a tree; 0 where it is out of the bag.

    Of n rows drawn from n with repeats about 63.2 % are different ones (1 - 1/e). Breiman 1996.
    """
    size, bits = n_drawn(committee.sample_size, n_rows), stream(tree_seed(seed, tree), "rows of a tree")
    counts = np.zeros(n_rows, dtype=np.int64)
    if not committee.bootstrap:
        counts[shuffled(np.arange(n_rows), bits)[:size]] = 1
        return counts
    for begin in range(0, size, DRAWN_AT_ONCE):
        np.add.at(counts, (fractions(bits, min(DRAWN_AT_ONCE, size - begin)) * n_rows).astype(np.int64), 1)
    return counts


def leaves_rows_out(committee: Committee, n_rows: int) -> bool:
    """Whether trees are grown from some of the rows only; else none is ever out of a bag."""
    return committee.bootstrap or n_drawn(committee.sample_size, n_rows) < n_rows


def out_of_bag(committee: Committee, n_rows: int, *, seed: int, tree: int) -> BoolArray:
    """`[row]`: whether the row was not drawn for a tree, which therefore has never seen it.

    Rows that were drawn, and then left out because their class has many others, do not count: classes have the
    same shares of the rows out of the bag as of all rows, and so errors on them are like those on rows to come.
    """
    return times_drawn(committee, n_rows, seed=seed, tree=tree) == 0


def tree_samples(samples: Samples, committee: Committee, *, seed: int, tree: int, kernels: bool = False) -> Samples:
    """What a tree is grown from: each row drawn once, with as many times its weight as it was drawn.

    Where classes are balanced, after that, and with the rows made for it at the end.
    """
    counts, made = times_drawn(committee, len(samples), seed=seed, tree=tree), None
    if committee.imbalance is not None:
        counts, made = balanced(samples, counts, committee.imbalance, seed=seed, tree=tree, kernels=kernels)
    rows = np.flatnonzero(counts)
    drawn = replace(
        samples,
        attributes=samples.attributes.take(rows),
        target=samples.target.take(rows),
        weights=samples.weights[rows] * counts[rows],
    )
    return drawn if made is None else joined([drawn, made])


def columns_of_tree(committee: Committee, n_columns: int, *, seed: int, tree: int) -> RowArray:
    """The columns that a tree may test, ascending; all, unless some are drawn for each tree."""
    if committee.features_per_tree is None:
        return np.arange(n_columns)
    n_taken = n_features(committee.features_per_tree, n_columns)
    order = shuffled(np.arange(n_columns), stream(tree_seed(seed, tree), "columns of a tree"))
    return np.sort(order[:n_taken])


def column_draw(committee: Committee, n_columns: int, *, seed: int, tree: int) -> ColumnDraw | None:
    """How the nodes of a tree draw columns; None where each may test all."""
    columns = columns_of_tree(committee, n_columns, seed=seed, tree=tree)
    n_taken = n_features(committee.max_features, len(columns))
    return None if n_taken == n_columns else ColumnDraw(tuple(columns.tolist()), n_taken)
