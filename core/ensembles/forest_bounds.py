"""What the mean of many trees' answers could become once the missing values are known.

Of each tree that is known exactly (`bounds`). The mean of the trees' lowest answers is a limit for the mean of all, and
that of their highest another: outer ones, since the trees need not all come to their lowest by the same values.
"""

import numpy as np

from core.answers import Answers
from core.bounds import bounds, opened, possible_leaves
from core.ensembles.forest_model import ForestModel
from core.prediction import MissingPolicy
from core.predictor import Predictor
from core.records import EncodedRecords
from core.table import FloatArray, Table
from core.tree import TreeView, full_view

FEW_RECORDS = 8  # up to here the leaves of each are looked for; else the whole tree is opened for all of them


def outer_bounds(model: ForestModel, records: EncodedRecords, answers: FloatArray, *, kernels: bool) -> FloatArray:
    """`[row, output, (lowest, highest)]`; `answers[row, output]` are those of records that lack nothing."""
    limits = np.stack([answers, answers], axis=2)
    if records.states is None:
        return limits
    lacking = np.flatnonzero(records.states.any(axis=1))
    table, total = records.table.take(lacking), np.zeros((len(lacking), *limits.shape[1:]))
    for number in range(len(model)):
        total += bounds_of_tree(full_view(model.forest.tree(number)), table, kernels=kernels)
    limits[lacking] = total / len(model)
    return limits


def bounds_of_tree(view: TreeView, records: Table, *, kernels: bool) -> FloatArray:
    """`[row, output, (lowest, highest)]` of one tree, whichever way is quicker."""
    if records.n_rows <= FEW_RECORDS:
        found = [bounds(view, possible_leaves(view, records, row)) for row in range(records.n_rows)]
        return np.array(found).reshape(records.n_rows, view.tree.values.shape[1], 2)
    ends = Predictor(opened(view, records.schema)).ends(records, MissingPolicy.WEIGHTED, kernels=kernels)
    return Answers(view.tree, ends, ends).bounds
