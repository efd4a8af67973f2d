"""How good a forest is on each part of the data, and on the rows that its trees have not seen."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Committee, TrainingConfig
from core.ensembles.insight.out_of_bag import TreesPoint, judge_out_of_bag
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.evaluation.curve import Parts, shared_out
from core.evaluation.evaluate import ROWS_AT_A_TIME, as_trained, measure
from core.evaluation.measures import Measures
from core.growth.samples import Samples
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tables.table import Table
from core.training.preparation import Prepared, take

ANSWERING = 0.5  # the approximate part of the work that predicts with all trees; the rest judges rows out of the bag


@dataclass(frozen=True, slots=True)
class ForestEvaluation:
    """Measures of each part and of the rows out of the bag, those of the prior as the answer, and the curve."""

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
    watch: Watch = ignore_progress,
) -> ForestEvaluation:
    """Evaluate the trees together; with kernels only if the caller may wait for compilation.

    `watch` is called with the progress, from 0 to 1, and may raise to end it.
    """
    committee, train, predictor = config.ensemble, prepared.train, ForestPredictor(model.forest)
    assert isinstance(committee, Committee)
    parts = measure_forest(
        model, predictor, prepared.parts, kernels=kernels, threads=threads, watch=part_of(watch, 0.0, ANSWERING)
    )
    judged = judge_out_of_bag(
        model,
        predictor,
        train,
        committee,
        seed=config.seed,
        kernels=kernels,
        watch=part_of(watch, ANSWERING, 1.0),
    )
    return ForestEvaluation(
        parts=parts,
        out_of_bag=judged.measures,
        baseline={part: measure_simplest(model, samples) for part, samples in prepared.parts.items()},
        baseline_out_of_bag=measure_simplest(model, take(train, judged.rows)),
        curve=judged.curve if judged.measures is not None else (),
    )


def measure_forest(
    model: ForestModel, predictor: ForestPredictor, parts: Parts, *, kernels: bool, threads: int, watch: Watch
) -> dict[Part, Measures | None]:
    """All measures of the trees together on each part; None for an empty one."""
    watches = shared_out(watch, parts)
    measured: dict[Part, Measures | None] = dict.fromkeys(parts)
    for part, samples in parts.items():
        if samples is not None:
            records = as_trained(model, samples)
            answers = answers_to(predictor, records.attributes, kernels=kernels, threads=threads, watch=watches[part])
            measured[part] = measure(model, answers, records)
    return measured


def answers_to(predictor: ForestPredictor, records: Table, *, kernels: bool, threads: int, watch: Watch) -> FloatArray:
    """The trees' common answer to each record."""
    starts = range(0, records.n_rows, ROWS_AT_A_TIME)
    blocks = (records.take(np.arange(s, min(s + ROWS_AT_A_TIME, records.n_rows))) for s in watched(starts, watch))
    return np.concatenate([predictor.average(block, kernels=kernels, threads=threads) for block in blocks])


def measure_simplest(model: ForestModel, samples: Samples | None) -> Measures | None:
    """All measures of always answering the prior: the class shares or means of the training rows."""
    return None if samples is None else measure(model, np.tile(model.prior, (len(samples), 1)), samples)
