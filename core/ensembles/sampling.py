"""What chance gives each tree of a committee: its rows, its attributes, and those that each of its nodes may ask.

Everything is named by the seed and the tree's number, and draws in a node by the way to it, so that a tree is the same
whoever grows it and when, and its rows can be told again without having been kept.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from core.config import Committee, Features, FeatureShare
from core.growth.samples import Samples
from core.randomness import FOR_COLUMNS, key_of, root_key, shuffled, splitmix64, stream
from core.table import BoolArray, RowArray

CountArray = NDArray[np.int64]


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
    if not committee.bootstrap:
        counts = np.zeros(n_rows, dtype=np.int64)
        counts[shuffled(np.arange(n_rows), bits)[:size]] = 1
        return counts
    fractions = (bits.random_raw(size) >> np.uint64(11)) * 2.0**-53
    return np.bincount((fractions * n_rows).astype(np.int64), minlength=n_rows)


def out_of_bag(committee: Committee, n_rows: int, *, seed: int, tree: int) -> BoolArray:
    """`[row]`: whether a tree has never seen the row."""
    return times_drawn(committee, n_rows, seed=seed, tree=tree) == 0


def tree_samples(samples: Samples, committee: Committee, *, seed: int, tree: int) -> Samples:
    """What a tree is grown from: each row drawn once, with as many times its weight as it was drawn."""
    counts = times_drawn(committee, len(samples), seed=seed, tree=tree)
    rows = np.flatnonzero(counts)
    return replace(
        samples,
        attributes=samples.attributes.take(rows),
        target=samples.target.take(rows),
        weights=samples.weights[rows] * counts[rows],
    )


def columns_of_tree(committee: Committee, n_columns: int, *, seed: int, tree: int) -> RowArray:
    """The columns that a tree may ask, ascending; all, unless some are drawn for each tree."""
    if committee.features_per_tree is None:
        return np.arange(n_columns)
    n_taken = n_features(committee.features_per_tree, n_columns)
    order = shuffled(np.arange(n_columns), stream(tree_seed(seed, tree), "columns of a tree"))
    return np.sort(order[:n_taken])


def column_order(node_key: int, n_columns: int) -> list[int]:
    """The columns in the order in which a node draws them: every order is equally likely (Fisher and Yates)."""
    key, order = key_of(node_key, FOR_COLUMNS), list(range(n_columns))
    for place in range(n_columns - 1):
        # The high half of a product of 64 bits: as good as uniform for so few columns.
        other = place + ((splitmix64(key_of(key, place)) >> 32) * (n_columns - place) >> 32)
        order[place], order[other] = order[other], order[place]
    return order
