"""What the mean of many trees could become once the missing values are known: outer bounds.

Of each tree the lowest and the highest answer are those of the leaves that the record can reach. The mean of the lowest
is never above what the forest can answer, and that of the highest never below. Both may lie further out, since one
value of an attribute need not lead to the lowest answer in all trees; so the bounds are `outer`.

Where a value is missing every branch is taken. In a grown tree every branch has training samples with a known value, or
belongs to a category that no test above has excluded; so the leaves reached are those of `bounds.possible_leaves`.
"""

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.sums import matrix_product
from core.arithmetic.ties import TIE
from core.ensembles.forest import Forest
from core.ensembles.prediction.predictor import ForestPredictor
from core.prediction.bounds import bounds, possible_leaves
from core.prediction.record_walk import cells_of
from core.tables.table import Table, is_missing
from core.tables.target import Task
from core.tree.tree import full_view


def bounds_of_trees(forest: Forest, records: Table) -> FloatArray:
    """`[row, output, (lowest, highest)]`: the mean over the trees of `bounds.bounds`. The definition."""
    total = np.zeros((records.n_rows, forest.columns["values"].shape[1], 2))
    for number in range(len(forest)):
        view = full_view(forest.tree(number))
        total += [bounds(view, possible_leaves(view, records, row)) for row in range(records.n_rows)]
    return total / len(forest)


def outer_bounds(predictor: ForestPredictor, records: Table, answers: FloatArray, *, kernels: bool) -> FloatArray:
    """`bounds_of_trees`, computed by taking all branches; complete rows are bounded by their `answers`."""
    limits = np.stack([answers, answers], axis=2)
    lacking = np.flatnonzero(np.logical_or.reduce([is_missing(column) for column in records.columns]))
    taken = records.take(lacking)
    for row, cells in zip(lacking.tolist(), cells_of(taken), strict=True):
        ends = predictor.possible_ends(cells, kernels=kernels)
        reached, starts = predictor.layout.answers(ends.nodes), ends.starts[:-1]
        for side, extreme in enumerate((np.minimum, np.maximum)):
            limits[row, :, side] = np.add.reduce(extreme.reduceat(reached, starts), axis=0) / len(predictor.forest)
    return limits


def is_decided(limits: FloatArray, labels: RowArray, task: Task, costs: FloatArray | None) -> BoolArray:
    """`[row]`: whether no completion changes the answer; False where outer bounds cannot show it.

    A class stays the answer when its least share is above the largest of every other, with costs when its largest
    expected cost is below the least of every other. A number stays when it cannot move.
    """
    lowest, highest = limits[:, :, 0], limits[:, :, 1]
    if task is not Task.CLASSIFICATION:
        return (lowest == highest).all(axis=1)
    rows = np.arange(len(labels))
    if costs is not None:  # a cost is a sum with no negative terms, so that bounds of shares bound it
        lowest, highest = -matrix_product(highest, costs), -matrix_product(lowest, costs)
    others = highest.copy()
    others[rows, labels] = -np.inf
    return lowest[rows, labels] > others.max(axis=1) + TIE
