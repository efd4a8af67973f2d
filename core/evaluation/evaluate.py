"""How good a model is on each part of the data, compared with a baseline, and along its pruning history."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.evaluation.curve import CurvePoint, Parts, curve, shared_out
from core.evaluation.measures import Measures, measure_classes, measure_numbers
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.model import Model, Trained

ANSWERING = 0.4  # the approximate part of the work that measures the chosen step; the rest is for the curve
ROWS_AT_A_TIME = 5_000  # answered in a fraction of a second, even if many values are missing


class Judged(Protocol):
    """What measuring needs to know of a model, be it one tree or many."""

    @property
    def target(self) -> str | tuple[str, ...]:
        """The name of the target, or of each target."""
        ...

    @property
    def costs(self) -> FloatArray | None:
        """`[actual, predicted]` of wrong answers; None if all cost the same."""
        ...


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measures of each part, those of the baseline (majority class or mean of the training rows), and the curve."""

    parts: Mapping[Part, Measures | None]
    baseline: Mapping[Part, Measures | None]
    curve: tuple[CurvePoint, ...]


def evaluate(
    model: Model, step: int, parts: Parts, *, kernels: bool = False, watch: Watch = ignore_progress
) -> Evaluation:
    """Evaluate the tree as of a step; with kernels only if the caller may wait for compilation.

    `watch` is called with the progress, from 0 to 1, and may raise to end it.
    """
    simplest = model.tree.answers[0]
    as_records = {part: None if s is None else as_trained(model, s) for part, s in parts.items()}

    def of_baseline(samples: Samples) -> FloatArray:
        return np.tile(simplest, (len(samples), 1))

    return Evaluation(
        parts=measure_parts(model, step, parts, kernels=kernels, watch=part_of(watch, 0.0, ANSWERING)),
        baseline={part: None if s is None else measure(model, of_baseline(s), s) for part, s in as_records.items()},
        curve=curve(model, as_records, kernels=kernels, watch=part_of(watch, ANSWERING, 1.0)),
    )


def measure_parts(
    model: Model, step: int, parts: Parts, *, kernels: bool = False, watch: Watch = ignore_progress
) -> dict[Part, Measures | None]:
    """The measures of the tree as of a step on each part; None for an empty one."""
    predictor, watches = Predictor(model.view(step)), shared_out(watch, parts)
    measured: dict[Part, Measures | None] = dict.fromkeys(parts)
    for part, samples in parts.items():
        if samples is not None:
            records = as_trained(model, samples)
            answers = answers_to(predictor, records.attributes, kernels=kernels, watch=watches[part])
            measured[part] = measure(model, answers, records)
    return measured


def answers_to(predictor: Predictor, records: Table, *, kernels: bool, watch: Watch) -> FloatArray:
    """The tree's answer to each record."""
    starts = range(0, records.n_rows, ROWS_AT_A_TIME)
    blocks = (records.take(np.arange(s, min(s + ROWS_AT_A_TIME, records.n_rows))) for s in watched(starts, watch))
    return np.concatenate([predictor.batch(block, kernels=kernels) for block in blocks])


def as_trained(model: Trained, samples: Samples) -> Samples:
    """The samples as records of this model: with missing values filled in, if the model does so for records."""
    return replace(samples, attributes=model.as_trained(samples.attributes))


def measure(model: Judged, answers: FloatArray, samples: Samples) -> Measures:
    """All measures of answers to these samples, whose target is the model's."""
    target, weights = samples.target, samples.weights
    if isinstance(target, ClassTarget):
        return measure_classes(answers, target.codes, weights, target.classes, model.costs)
    return measure_numbers(answers, target.numbers, weights, () if isinstance(model.target, str) else model.target)
