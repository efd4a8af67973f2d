"""Why a forest answers as it does: how its trees vote, the path of a typical one, and what each attribute adds.

On its path from the root to a leaf, every test moves a record's answer by some amount, which is attributed to the
attribute tested (the path differences of Saabas 2014, "treeinterpreter"):

    answer = mean over trees of the root's answer + sum over attributes of their contributions
    contribution of a = mean over trees of sum over tests on a of (answer after the test - answer before it)

A record with a missing value takes several paths; each counts by its weight. The change by a linear test is shared
equally among its attributes.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.ties import TIE
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.voting import average, votes_of
from core.prediction.routing import Ends
from core.tables.target import Task


@dataclass(frozen=True)
class ForestExplanation:
    """What leads from the trees to the answer `values[output]`.

    trees           how many there are
    votes           `[class]`: how many of them vote for each class; empty for numbers
    by_tree         `[tree, output]`: what each answers
    base            `[output]`: the mean of the answers of the roots
    contributions   `[attribute, output]`: with `base` they sum to `values`
    typical         the tree whose answer is nearest to `values`, of equals the first
    leaf, weight    the leaf of that tree that most of the record reaches, of equals the leftmost, and its weight
    """

    values: FloatArray
    votes: RowArray
    by_tree: FloatArray
    base: FloatArray
    contributions: FloatArray
    typical: int
    leaf: int
    weight: float

    @property
    def trees(self) -> int:
        return len(self.by_tree)

    @property
    def spread(self) -> FloatArray:
        """`[output]`: the standard deviation of the trees' answers."""
        return np.sqrt(average((self.by_tree - self.values) ** 2))


def explain(layout: ForestLayout, ends: Ends, n_attributes: int) -> ForestExplanation:
    """Why a record that ends in these nodes, tree by tree, gets its answer: the mean of the trees'."""
    forest, by_tree = layout.forest, ends.total(layout.answers(ends.nodes))
    values = average(by_tree)
    votes = np.zeros(0, dtype=np.int64)
    if forest.task is Task.CLASSIFICATION:
        votes = np.bincount(votes_of(by_tree[:, None], forest.costs)[:, 0], minlength=len(values))
    typical = nearest(by_tree, values)
    own = slice(ends.starts[typical], ends.starts[typical + 1])
    heaviest = own.start + nearest(ends.weights[own, None], ends.weights[own].max(keepdims=True))
    return ForestExplanation(
        values=values,
        votes=votes,
        by_tree=by_tree,
        base=average(layout.answers(forest.start[:-1])),
        contributions=contributions(layout, ends, n_attributes),
        typical=typical,
        leaf=int(ends.nodes[heaviest] - forest.start[typical]),
        weight=float(ends.weights[heaviest]),
    )


def nearest(answers: FloatArray, wanted: FloatArray) -> int:
    """The index of the answer nearest to the wanted one; of equals, up to rounding, the first."""
    distance = ((answers - wanted) ** 2).sum(axis=1)
    return int(np.argmax(distance <= distance.min() + TIE))


def contributions(layout: ForestLayout, ends: Ends, n_attributes: int) -> FloatArray:
    """`[attribute, output]`: what tests on each attribute add to the mean answer, from the leaves up to the roots."""
    forest, parent = layout.forest, layout.shape.parent
    moved = np.zeros((n_attributes, layout.n_outputs))
    nodes, weights = ends.nodes, ends.weights
    while len(nodes):
        above = parent[nodes].astype(np.int64)
        is_below = above != nodes
        nodes, weights, above = nodes[is_below], weights[is_below], above[is_below]
        by_step = weights[:, None] * (layout.answers(nodes) - layout.answers(above))
        for step, columns in zip(by_step, _asked(layout, above), strict=True) if forest.terms else ():
            moved[list(columns)] += step / len(columns)
        if not forest.terms:
            np.add.at(moved, forest.columns["column"][above], by_step)
        nodes = above
    return moved / len(forest)


def _asked(layout: ForestLayout, nodes: RowArray) -> Sequence[tuple[int, ...]]:
    """The attributes that nodes test; each attribute of a linear test once."""
    column, terms = layout.forest.columns["column"], layout.forest.terms
    return [
        tuple(dict.fromkeys(term.column for term in terms[node])) or (int(column[node]),) for node in nodes.tolist()
    ]
