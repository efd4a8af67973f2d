"""What the mean of many trees' answers could become once the missing values are known.

Of each tree that is known exactly (`bounds`). The mean of the trees' lowest answers is a limit for the mean of all, and
that of their highest another: outer ones, since the trees need not all come to their lowest by the same values.
"""

import numpy as np

from core.answers import Answers
from core.bounds import opened
from core.ensembles.forest_model import ForestModel
from core.prediction import MissingPolicy
from core.predictor import Predictor
from core.records import EncodedRecords
from core.table import FloatArray
from core.tree import full_view


def outer_bounds(model: ForestModel, records: EncodedRecords, answers: FloatArray, *, kernels: bool) -> FloatArray:
    """`[row, output, (lowest, highest)]`; `answers[row, output]` are those of records that lack nothing."""
    limits = np.stack([answers, answers], axis=2)
    if records.states is None:
        return limits
    lacking = np.flatnonzero(records.states.any(axis=1))
    table, total = records.table.take(lacking), np.zeros((len(lacking), *limits.shape[1:]))
    for number in range(len(model)):
        tree = model.forest.tree(number)
        possible = Predictor(opened(full_view(tree), model.attributes))
        ends = possible.ends(table, MissingPolicy.WEIGHTED, kernels=kernels)
        total += Answers(tree, ends, ends).bounds
    limits[lacking] = total / len(model)
    return limits
