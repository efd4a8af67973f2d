"""How good a forest is on each part of the data, and on the rows that its trees have not seen."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.config import Committee, TrainingConfig
from core.curve import MOST_POINTS, Parts, shared_out
from core.division import Part
from core.ensembles.forest_model import ForestModel
from core.ensembles.forest_predictor import ForestPredictor
from core.ensembles.sampling import out_of_bag
from core.evaluation import ROWS_AT_A_TIME, as_trained, measure
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.measures import Measures
from core.predictor import Predictor
from core.preparation import Prepared, take
from core.progress import Watch, nobody, part_of, watched
from core.table import FloatArray, RowArray, Table
from core.target import ClassTarget
from core.tree import full_view

ANSWERING = 0.5  # the part of the work that asks all trees, about; the rest asks each of rows that it has not seen


@dataclass(frozen=True, slots=True)
class TreesPoint:
    """The error of the first trees on the rows out of their bags; None where there is no such row yet."""

    trees: int
    rows: int
    error: float | None


@dataclass(frozen=True, slots=True)
class ForestEvaluation:
    """Measures of each part and of the rows out of the bag, the same for the simplest answer, and the curve."""

    parts: Mapping[Part, Measures | None]
    out_of_bag: Measures | None
    baseline: Mapping[Part, Measures | None]
    baseline_out_of_bag: Measures | None
    curve: tuple[TreesPoint, ...]


def evaluate_forest(
    model: ForestModel,
    prepared: Prepared,
    config: TrainingConfig,
    *,
    kernels: bool = False,
    threads: int = 1,
    watch: Watch = nobody,
) -> ForestEvaluation:
    """Everything about the trees together; by compiled kernels if the caller may wait for a compiler.

    `watch` hears how much is done, from 0 to 1, and may raise to end it.
    """
    answering = part_of(watch, 0.0, ANSWERING)
    parts = measure_forest(model, prepared.parts, kernels=kernels, threads=threads, watch=answering)
    left_out = left_out_answers(model, prepared, config, kernels=kernels, watch=part_of(watch, ANSWERING, 1.0))
    return ForestEvaluation(
        parts=parts,
        out_of_bag=left_out.measures,
        baseline={part: measure_simplest(model, samples) for part, samples in prepared.parts.items()},
        baseline_out_of_bag=measure_simplest(model, left_out.samples),
        curve=left_out.curve,
    )


def measure_forest(
    model: ForestModel, parts: Parts, *, kernels: bool = False, threads: int = 1, watch: Watch = nobody
) -> dict[Part, Measures | None]:
    """All measures of the trees together on each part; None for an empty one."""
    predictor, watches = ForestPredictor(model.forest), shared_out(watch, parts)
    measured: dict[Part, Measures | None] = dict.fromkeys(parts)
    for part, samples in parts.items():
        if samples is not None:
            records = as_trained(model, samples)
            answers = answers_to(predictor, records.attributes, kernels=kernels, threads=threads, watch=watches[part])
            measured[part] = measure(model, answers, records)
    return measured


@dataclass(frozen=True)
class LeftOut:
    """The rows that some tree has not seen (None where there are none), how good the answers to them are, and when."""

    samples: Samples | None
    measures: Measures | None
    curve: tuple[TreesPoint, ...]


def left_out_answers(
    model: ForestModel, prepared: Prepared, config: TrainingConfig, *, kernels: bool, watch: Watch
) -> LeftOut:
    """Each training row answered by the mean of those trees that it was not drawn for. Breiman 1996."""
    committee, records = config.ensemble, as_trained(model, prepared.train)
    assert isinstance(committee, Committee)
    n_rows, n_trees = len(records), len(model)
    totals, counts = np.zeros((n_rows, len(model.prior))), np.zeros(n_rows)
    told, curve = set(points_of(n_trees)), list[TreesPoint]()
    for number in watched(range(n_trees), watch):
        rows = np.flatnonzero(out_of_bag(committee, n_rows, seed=config.seed, tree=number))
        predictor = Predictor(full_view(model.forest.tree(number)))
        totals[rows] += predictor.batch(records.attributes.take(rows), kernels=kernels)
        counts[rows] += 1
        if number + 1 in told:
            curve.append(point_of(model, records, totals, counts, number + 1))
    known = np.flatnonzero(counts)
    if len(known) == 0:
        return LeftOut(None, None, ())
    samples = take(records, known)
    assert samples is not None
    answers = totals[known] / counts[known, None]
    return LeftOut(samples, measure(model, answers, samples), tuple(curve))


def points_of(n_trees: int) -> list[int]:
    """The numbers of trees of which the error is told: all, or some evenly chosen, the first and the last too."""
    return np.unique(np.linspace(1, n_trees, min(n_trees, MOST_POINTS)).round().astype(np.int64)).tolist()


def point_of(model: ForestModel, records: Samples, totals: FloatArray, counts: FloatArray, n_trees: int) -> TreesPoint:
    """The error of so many trees on the rows that one of them or more has not seen."""
    known = np.flatnonzero(counts)
    if len(known) == 0:
        return TreesPoint(n_trees, 0, None)
    losses = losses_of(model, records, known, totals[known] / counts[known, None])
    weights = records.weights[known]
    return TreesPoint(n_trees, len(known), float(weights @ losses / weights.sum()))


def losses_of(model: ForestModel, samples: Samples, rows: RowArray, answers: FloatArray) -> FloatArray:
    """What each row loses by its answer: 1 or a cost where it is wrong, or the sum of squared errors."""
    target = samples.target
    if not isinstance(target, ClassTarget):
        return ((answers - target.numbers[rows]) ** 2).sum(axis=1)
    labels, actual = labels_of(answers, model.costs), target.codes[rows]
    return (labels != actual).astype(np.float64) if model.costs is None else model.costs[actual, labels]


def answers_to(predictor: ForestPredictor, records: Table, *, kernels: bool, threads: int, watch: Watch) -> FloatArray:
    """What the trees answer each record together."""
    starts = range(0, records.n_rows, ROWS_AT_A_TIME)
    blocks = (records.take(np.arange(s, min(s + ROWS_AT_A_TIME, records.n_rows))) for s in watched(starts, watch))
    return np.concatenate([predictor.average(block, kernels=kernels, threads=threads) for block in blocks])


def measure_simplest(model: ForestModel, samples: Samples | None) -> Measures | None:
    """The same of always answering what there is without any tree."""
    return None if samples is None else measure(model, np.tile(model.prior, (len(samples), 1)), samples)
