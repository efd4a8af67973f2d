"""How good a forest is on rows that its trees have not seen, without any rows kept aside.

Every training row is answered by the mean of those trees that it was not drawn for, about 36.8 % of all where as many
rows are drawn as there are. A row that was drawn for every tree has no such answer and is left out. Breiman 1996.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.sums import sum_of_products
from core.config.options import Committee
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.sampling import out_of_bag
from core.evaluation.curve import MOST_POINTS
from core.evaluation.measures import Measures, measure_classes, measure_numbers
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.target import ClassTarget


@dataclass(frozen=True, slots=True)
class TreesPoint:
    """The error of the first trees on the rows that one of them or more has not seen; None while there is no such row.

    The error is the share answered wrongly, the mean cost where wrong answers have costs, or the mean squared error
    (summed over the targets where there are several).
    """

    trees: int
    rows: int
    error: float | None


@dataclass(frozen=True)
class OutOfBag:
    """How good a forest is on the rows out of the bag.

    rows        those that have an answer, and `answers[row, output]` are theirs; `n_left_out` have none
    measures    as of any other part of the data; None where no row has an answer
    curve       the error by the number of trees
    """

    rows: RowArray
    answers: FloatArray
    n_left_out: int
    measures: Measures | None
    curve: tuple[TreesPoint, ...]


def judge_out_of_bag(
    model: ForestModel,
    predictor: ForestPredictor,
    samples: Samples,
    committee: Committee,
    *,
    seed: int,
    kernels: bool,
    watch: Watch = ignore_progress,
) -> OutOfBag:
    """Evaluate the forest on its own training rows, each answered by trees that have not seen it.

    `watch` is called with the progress, from 0 to 1, and may raise to end it.
    """
    n_rows, n_trees = len(samples), len(model)
    told, curve, counts = set(points_of(n_trees)), list[TreesPoint](), np.zeros(n_rows, dtype=np.int64)
    answers = np.zeros((n_rows, len(model.prior)))

    def bags() -> Iterator[BoolArray]:
        for tree in watched(range(n_trees), watch):
            is_out = out_of_bag(committee, n_rows, seed=seed, tree=tree)
            counts[is_out] += 1
            yield is_out

    records = model.as_trained(samples.attributes)
    for number, sums in enumerate(predictor.running_sums(records, bags(), kernels=kernels), start=1):
        if number in told:
            answers = sums / np.maximum(counts, 1)[:, None]
            curve.append(_point(model, samples, answers, counts, number))
    rows = np.flatnonzero(counts)
    measures = _measures(model, samples, answers, rows) if len(rows) else None
    return OutOfBag(rows, answers[rows], n_rows - len(rows), measures, tuple(curve))


def points_of(n_trees: int) -> list[int]:
    """The numbers of trees for which the error is reported: all, or some evenly spaced, with the first and last."""
    return np.unique(np.linspace(1, n_trees, min(n_trees, MOST_POINTS)).round().astype(np.int64)).tolist()


def losses(model: ForestModel, samples: Samples, answers: FloatArray) -> FloatArray:
    """The loss of each row's answer: 1 or a cost if it is wrong, or the sum of squared errors."""
    target, costs = samples.target, model.costs
    if not isinstance(target, ClassTarget):
        return ((answers - target.numbers) ** 2).sum(axis=1)
    labels = labels_of(answers, costs)
    return (labels != target.codes).astype(np.float64) if costs is None else costs[target.codes, labels]


def _point(model: ForestModel, samples: Samples, answers: FloatArray, counts: RowArray, n_trees: int) -> TreesPoint:
    weights = np.where(counts > 0, samples.weights, 0.0)
    n_rows = int(np.count_nonzero(counts))
    error = float(sum_of_products(weights, losses(model, samples, answers)) / weights.sum()) if n_rows else None
    return TreesPoint(n_trees, n_rows, error)


def _measures(model: ForestModel, samples: Samples, answers: FloatArray, rows: RowArray) -> Measures:
    target, weights = samples.target, samples.weights[rows]
    if isinstance(target, ClassTarget):
        return measure_classes(answers[rows], target.codes[rows], weights, target.classes, model.costs)
    return measure_numbers(
        answers[rows], target.numbers[rows], weights, () if isinstance(model.target, str) else model.target
    )
