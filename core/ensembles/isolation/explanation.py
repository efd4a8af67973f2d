"""Why a record's paths through an isolation forest are as long as they are.

The length that is expected at a node is the mean over the sample's rows there, by weight: a leaf's own length, else

    E(node) = sum_v r_v E(child v)

A test moves the expectation from E(node) to E(child), which is attributed to its attribute. Over a path these changes
add up: h = E(root) + sum of the steps (as Saabas 2014 does for regression trees), and so do their means over the trees.
A value that is missing moves nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.ensembles.isolation.isolation import IsolationForest
from core.prediction.routing import MissingPolicy, visits
from core.tables.schema import Schema
from core.tables.table import Table
from core.tree.conditions import Condition, merged, path_conditions
from core.tree.tree import Tree, full_view

SHORTEST_PATHS = 3


@dataclass(frozen=True, slots=True)
class ShortWay:
    """A tree in which a record ends early: the length of its path, and the conditions on it.

    Where values are missing, the path is the heaviest of several, and the length the mean of all.
    """

    tree: int
    length: float
    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class ExplainedLength:
    """The mean path length of a record, and what each attribute adds to it.

    `length = expected + sum(by_attribute)`: what is expected of a row of the samples, and by how much each attribute
    makes the path of this one longer, or shorter where it is below 0. `depth` is the mean depth of the leaves alone.
    """

    length: float
    depth: float
    expected: float
    by_attribute: tuple[float, ...]
    shortest: tuple[ShortWay, ...]


def explained_lengths(
    isolation: IsolationForest, records: Table, *, n_paths: int = SHORTEST_PATHS
) -> list[ExplainedLength]:
    """The explanation of each record, with its `n_paths` shortest paths; of equal lengths the earlier tree's."""
    n_rows, n_trees, schema = records.n_rows, len(isolation), records.schema
    lengths, steps = np.zeros((n_rows, n_trees)), np.zeros((n_rows, len(schema)))
    depths, expected, heaviest = np.zeros(n_rows), 0.0, np.zeros((n_rows, n_trees), dtype=np.int64)
    for number in range(n_trees):
        tree = isolation.forest.tree(number)
        means, weight_of_heaviest = expected_lengths(tree), np.zeros(n_rows)
        expected += means[0]
        for visit in visits(full_view(tree), records, MissingPolicy.WEIGHTED):
            node, rows, weights = visit.node, visit.rows, visit.weights
            if node > 0:
                parent = tree.parent[node]
                steps[rows, tree.column[parent]] += weights * (means[node] - means[parent])
            if visit.ends.all():
                lengths[rows, number] += weights * means[node]
                depths[rows] += weights * tree.depth[node]
                is_heavier = weights > weight_of_heaviest[rows]
                heaviest[rows[is_heavier], number] = node
                weight_of_heaviest[rows[is_heavier]] = weights[is_heavier]
    ways = [
        _shortest(isolation, schema, of_record, leaves, n_paths)
        for of_record, leaves in zip(lengths, heaviest.tolist(), strict=True)
    ]
    return [
        ExplainedLength(
            length=float(np.add.accumulate(lengths[row])[-1] / n_trees),
            depth=float(depths[row] / n_trees),
            expected=expected / n_trees,
            by_attribute=tuple((steps[row] / n_trees).tolist()),
            shortest=ways[row],
        )
        for row in range(n_rows)
    ]


def expected_lengths(tree: Tree) -> FloatArray:
    """`[node]`: the expected path length of rows that reach it."""
    means = tree.answers[:, 0].copy()
    for node in range(len(tree) - 1, -1, -1):  # children come after their parents
        if tree.size[node] > 1:
            means[node] = sum(tree.share[child] * means[child] for child in tree.children(node))
    return means


def _shortest(
    isolation: IsolationForest, schema: Schema, lengths: FloatArray, leaves: Sequence[int], n_paths: int
) -> tuple[ShortWay, ...]:
    first = np.argsort(lengths, kind="stable")[:n_paths].tolist()
    return tuple(
        ShortWay(
            number,
            float(lengths[number]),
            tuple(merged(path_conditions(isolation.forest.tree(number), leaves[number], schema))),
        )
        for number in first
    )
