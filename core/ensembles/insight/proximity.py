"""How similar two rows are to a forest: the share of its trees in which they end in the same leaf.

    proximity(a, b) = 1/T  sum over trees t, sum over leaves l of  w_t(a, l) w_t(b, l)

w_t(a, l) is the part of row a that reaches leaf l of tree t: 1 for its leaf, and less if values are missing, so that
such a row has a proximity below 1 even to itself. Breiman 2001.

Proximities are added up tree by tree from the leaves of the rows in question. Apart from a page, at most MOST_PAIRS of
them are in memory at once, never those of all rows with all rows.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.randomness import shuffled, stream
from core.arithmetic.sums import weights_by
from core.ensembles.forest import Forest
from core.prediction.predictor import Predictor
from core.prediction.routing import Ends, MissingPolicy
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.table import Table
from core.tree.tree import full_view

MOST_PAIRS = 1 << 22  # 32 MB, and a few times that while they are computed
MOST_PEERS = 1_000  # rows of its class that a row is compared with at most


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A row of a table, and how near it is."""

    row: int
    proximity: float


def tree_ends(
    forest: Forest, tables: tuple[Table, ...], *, policy: MissingPolicy | None, kernels: bool
) -> Iterator[tuple[Ends, ...]]:
    """For each tree the leaves of the rows of each table."""
    for number in range(len(forest)):
        predictor = Predictor(full_view(forest.tree(number)))
        yield tuple(predictor.ends(table, policy, kernels=kernels) for table in tables)


def in_one_leaf(some: Ends, others: Ends) -> FloatArray:
    """`[a, b]`: how far row a of `some` and row b of `others` end in the same leaves of one tree."""
    if len(some.nodes) == len(some) and len(others.nodes) == len(others):
        return (some.nodes[:, None] == others.nodes).astype(np.float64)  # every row ends in a single leaf
    # All pairs of a part of a row and a part of another in the same leaf, which are adjacent in `by_leaf`.
    by_leaf = np.argsort(others.nodes, kind="stable")
    begins, ends = (np.searchsorted(others.nodes[by_leaf], some.nodes, side=side) for side in ("left", "right"))
    n_pairs = ends - begins
    if n_pairs.sum() > MOST_PAIRS and len(some) > 1:
        halves = np.array_split(np.arange(len(some)), 2)
        return np.concatenate([in_one_leaf(some.take(half), others) for half in halves])
    parts = np.repeat(np.arange(len(some.nodes)), n_pairs)
    positions = by_leaf[np.arange(len(parts)) + np.repeat(begins - (np.cumsum(n_pairs) - n_pairs), n_pairs)]
    cells = some.rows[parts] * len(others) + others.rows[positions]
    shared = weights_by(cells, some.weights[parts] * others.weights[positions], len(some) * len(others))
    return shared.reshape(len(some), len(others))


def pairs(forest: Forest, page: Table, *, policy: MissingPolicy | None = None, kernels: bool) -> FloatArray:
    """`[a, b]`: the proximity of rows a and b of a page."""
    total = np.zeros((page.n_rows, page.n_rows))
    for (ends,) in tree_ends(forest, (page,), policy=policy, kernels=kernels):
        total += in_one_leaf(ends, ends)
    return total / len(forest)


def neighbours(
    forest: Forest, records: Table, rows: Table, n: int, *, policy: MissingPolicy | None = None, kernels: bool
) -> list[list[Neighbour]]:
    """For each record the n nearest of the rows, nearest first, ties to the earlier row; all where there are fewer."""
    found: list[list[Neighbour]] = []
    at_a_time = max(1, MOST_PAIRS // max(1, rows.n_rows))
    for start in range(0, records.n_rows, at_a_time):
        some = records.take(np.arange(start, min(start + at_a_time, records.n_rows)))
        total = np.zeros((some.n_rows, rows.n_rows))
        for of_some, of_rows in tree_ends(forest, (some, rows), policy=policy, kernels=kernels):
            total += in_one_leaf(of_some, of_rows)
        for near in total / len(forest):
            nearest = np.argsort(-near, kind="stable")[:n]
            found.append([Neighbour(row, float(near[row])) for row in nearest.tolist()])
    return found


def outliers(
    forest: Forest,
    table: Table,
    classes: RowArray,
    *,
    seed: int,
    policy: MissingPolicy | None = None,
    kernels: bool,
    watch: Watch = ignore_progress,
) -> FloatArray:
    """`[row]`: how unlike the others of its class a row is; above about 10 it may be an outlier (Breiman).

        n / sum over the rows k of its class of proximity(row, k)^2

    less the median of that over the class, and divided by the median of its distances from that median. Of a class of
    more than MOST_PEERS rows, a sample of that size is used. If numbers are predicted, all rows are one class.
    """
    found = np.zeros(table.n_rows)
    for code in watched(np.unique(classes).tolist(), watch):
        rows = np.flatnonzero(classes == code)
        bits = stream(seed, f"peers of class {code}")
        peers = rows if len(rows) <= MOST_PEERS else np.sort(shuffled(rows, bits)[:MOST_PEERS])
        squares = squared_proximities(forest, table, rows, peers, policy=policy, kernels=kernels)
        found[rows] = standardised(table.n_rows / squares)
    return found


def squared_proximities(
    forest: Forest, table: Table, rows: RowArray, peers: RowArray, *, policy: MissingPolicy | None, kernels: bool
) -> FloatArray:
    """The sum of squared proximities of each row to all these rows, estimated from those to its peers and to itself."""
    found, of_peers = [], table.take(peers)
    at_a_time = max(1, MOST_PAIRS // len(peers))
    for some in np.split(rows, range(at_a_time, len(rows), at_a_time)):
        total, with_itself = np.zeros((len(some), len(peers))), np.zeros(len(some))
        for ends, of_tree in tree_ends(forest, (table.take(some), of_peers), policy=policy, kernels=kernels):
            total += in_one_leaf(ends, of_tree)
            with_itself += np.bincount(ends.rows, ends.weights**2, minlength=len(some))
        total[some[:, None] == peers] = 0.0
        n_others = len(peers) - np.isin(some, peers)
        share = np.where(n_others > 0, (len(rows) - 1) / np.maximum(n_others, 1), 0.0)
        total /= len(forest)
        total *= total
        found.append(total.sum(axis=1) * share + (with_itself / len(forest)) ** 2)
    return np.concatenate(found)


def standardised(values: FloatArray) -> FloatArray:
    """Distances from the median in units of their own median, or of their mean where that is 0; 0 if all are equal."""
    apart = values - np.median(values)
    spread = float(np.median(np.abs(apart))) or float(np.abs(apart).mean())
    return apart / spread if spread > 0 else apart
