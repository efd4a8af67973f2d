"""How good a cut tree is, found by predicting every row anew."""

import numpy as np

from core.growth.samples import Samples
from core.prediction.routing import predict
from core.tables.target import ClassTarget
from core.tree.tree import TreeView


def accuracy_of(view: TreeView, samples: Samples) -> float:
    """The weight of the rows whose class of largest averaged weight is their own, over the whole weight."""
    assert isinstance(samples.target, ClassTarget)
    right = 0.0
    for row, answer in enumerate(predict(view, samples.attributes)):
        label = next(code for code, share in enumerate(answer) if share >= answer.max() - 1e-12)
        right += float(samples.weights[row]) * (label == samples.target.codes[row])
    return right / float(samples.weights.sum())


def score_of(view: TreeView, samples: Samples) -> float:
    """Accuracy, or less the mean squared error: larger is better."""
    if isinstance(samples.target, ClassTarget):
        return accuracy_of(view, samples)
    errors = predict(view, samples.attributes) - samples.target.numbers
    return -float(np.average((errors**2).sum(axis=1), weights=samples.weights))


def measure_of(view: TreeView, samples: Samples) -> float:
    """Accuracy, or the mean squared error, as a ledger shows it."""
    score = score_of(view, samples)
    return score if isinstance(samples.target, ClassTarget) else -score
