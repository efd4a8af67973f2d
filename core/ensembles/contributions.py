"""Where the answer of many trees comes from: by how much each attribute moved it on the way down.

A tree begins with the answer of its root. A test leads to a child, whose answer is another, and the difference is the
doing of the attribute tested, shared out equally where a test is on a sum of several. Over a whole way these
differences add up: answer = root + sum of differences (Saabas 2014), and so do their means over the trees. A record
that lacks a value goes several ways, and each counts by its weight.
"""

from dataclasses import dataclass

import numpy as np

from core.ensembles.forest_model import ForestModel
from core.prediction import Ends, MissingPolicy
from core.predictor import Predictor
from core.table import FloatArray, RowArray, Table
from core.tree import Tree, full_view


@dataclass(frozen=True)
class Contributions:
    """`start[output]` is the mean answer of the roots, `parts[row, column, output]` what each attribute adds to it.

    `nearest[row]` is the tree whose answer is nearest to that of all, and `heaviest[row]` the node of it to which most
    of the record comes, with `weights[row]`.
    """

    start: FloatArray
    parts: FloatArray
    nearest: RowArray
    heaviest: RowArray
    weights: FloatArray


def contributions(
    model: ForestModel, records: Table, answers: FloatArray, policy: MissingPolicy, *, kernels: bool
) -> Contributions:
    """The contributions to the mean of the trees' answers, which is `answers[row, output]`; records as trees take them.

    Of trees that are equally near the first one is told, and of nodes with equal weight the one furthest left.
    """
    n_rows, n_outputs = answers.shape
    start, parts = np.zeros(n_outputs), np.zeros((n_rows, len(model.attributes), n_outputs))
    least, nearest = np.full(n_rows, np.inf), np.zeros(n_rows, dtype=np.int64)
    heaviest, weights = np.zeros(n_rows, dtype=np.int64), np.zeros(n_rows)
    for number in range(len(model)):
        tree = model.forest.tree(number)
        ends = Predictor(full_view(tree)).ends(records, policy, kernels=kernels)
        start += tree.answers[0]
        add_steps(parts, tree, ends)
        apart = np.abs(ends.total(tree.answers[ends.nodes]) - answers).sum(axis=1)
        nodes, arrived = heaviest_ends(ends)
        is_nearer = apart < least
        least[is_nearer], nearest[is_nearer] = apart[is_nearer], number
        heaviest[is_nearer], weights[is_nearer] = nodes[is_nearer], arrived[is_nearer]
    return Contributions(start / len(model), parts / len(model), nearest, heaviest, weights)


def add_steps(parts: FloatArray, tree: Tree, ends: Ends) -> None:
    """Add what the tests on the ways to these nodes change, to the attributes that they ask."""
    nodes, rows, weights = ends.nodes, ends.rows, ends.weights
    while len(nodes):
        is_below = nodes > 0
        nodes, rows, weights = nodes[is_below], rows[is_below], weights[is_below]
        parents = tree.parent[nodes]
        steps = weights[:, None] * (tree.answers[nodes] - tree.answers[parents])
        if tree.has_linear_tests:
            for row, parent, step in zip(rows.tolist(), parents.tolist(), steps, strict=True):
                columns = list(dict.fromkeys(tree.split(parent).columns))
                parts[row, columns] += step / len(columns)
        else:
            np.add.at(parts, (rows, tree.column[parents]), steps)
        nodes = parents


def heaviest_ends(ends: Ends) -> tuple[RowArray, FloatArray]:
    """For each row the node to which most of it comes, the first of equals, and how much that is."""
    first = ends.starts[:-1]
    most = np.maximum.reduceat(ends.weights, first)
    is_most = ends.weights == most[ends.rows]
    places = np.minimum.reduceat(np.where(is_most, np.arange(len(ends.nodes)), len(ends.nodes)), first)
    return ends.nodes[places], most
