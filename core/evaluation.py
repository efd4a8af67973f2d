"""How good a model is on each part of the data, against the simplest answer, and along its pruning history."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.division import Part
from core.growth.samples import Samples
from core.measures import Measures, measure_classes, measure_numbers
from core.model import Model
from core.predictor import Predictor
from core.progress import Watch, nobody, part_of, watched
from core.pruning.held_out_tree import HeldOutTree
from core.pruning.history import Decision
from core.table import FloatArray, Table
from core.target import ClassTarget, Task

Parts = Mapping[Part, Samples | None]

ANSWERING = 0.2  # the part of the work that measures the chosen step, about; the rest goes along the pruning history
SENDING = 0.2  # the part of a curve that sends the rows down the tree, about
ROWS_AT_A_TIME = 5_000  # are answered in a fraction of a second, also where each lacks many values


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Size and error as of a step; None for an empty part.

    The error is the share answered wrongly, the mean cost where wrong answers have costs, or the mean squared error
    (summed over the targets where there are several).
    """

    step: int
    leaves: int
    alpha: float | None
    errors: Mapping[Part, float | None]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Measures of each part, the same for the majority class or the mean of the training rows, and the curve."""

    parts: Mapping[Part, Measures | None]
    baseline: Mapping[Part, Measures | None]
    curve: tuple[CurvePoint, ...]


def evaluate(model: Model, step: int, parts: Parts, *, kernels: bool = False, watch: Watch = nobody) -> Evaluation:
    """Everything about the tree as of a step; by compiled kernels if the caller may wait for a compiler.

    `watch` hears how much is done, from 0 to 1, and may raise to end it.
    """
    predictor, simplest = Predictor(model.view(step)), model.tree.answers[0]
    parts = {part: None if s is None else as_trained(model, s) for part, s in parts.items()}
    answering = shared_out(part_of(watch, 0.0, ANSWERING), parts)

    def of_model(samples: Samples, watch: Watch) -> FloatArray:
        return answers_to(predictor, samples.attributes, kernels=kernels, watch=watch)

    def of_baseline(samples: Samples) -> FloatArray:
        return np.tile(simplest, (len(samples), 1))

    return Evaluation(
        parts={p: None if s is None else measure(model, of_model(s, answering[p]), s) for p, s in parts.items()},
        baseline={part: None if s is None else measure(model, of_baseline(s), s) for part, s in parts.items()},
        curve=curve(model, parts, kernels=kernels, watch=part_of(watch, ANSWERING, 1.0)),
    )


def shared_out(watch: Watch, parts: Parts) -> dict[Part, Watch]:
    """A watch for each part, one after the other, by how many rows it has."""
    sizes = [0 if samples is None else len(samples) for samples in parts.values()]
    ends = (np.cumsum(sizes) / max(1, sum(sizes))).tolist()
    return {part: part_of(watch, start, end) for part, start, end in zip(parts, [0.0, *ends], ends, strict=False)}


def answers_to(predictor: Predictor, records: Table, *, kernels: bool, watch: Watch) -> FloatArray:
    """What the tree answers each record."""
    starts = range(0, records.n_rows, ROWS_AT_A_TIME)
    blocks = (records.take(np.arange(s, min(s + ROWS_AT_A_TIME, records.n_rows))) for s in watched(starts, watch))
    return np.concatenate([predictor.batch(block, kernels=kernels) for block in blocks])


def as_trained(model: Model, samples: Samples) -> Samples:
    """The samples as records of this model: their missing values filled, if it fills those of records."""
    return replace(samples, attributes=model.as_trained(samples.attributes))


def measure(model: Model, answers: FloatArray, samples: Samples) -> Measures:
    """All measures of answers to these samples, whose target is the model's."""
    target, weights = samples.target, samples.weights
    if isinstance(target, ClassTarget):
        return measure_classes(answers, target.codes, weights, target.classes, model.tree.costs)
    return measure_numbers(answers, target.numbers, weights, () if isinstance(model.target, str) else model.target)


def curve(model: Model, parts: Parts, *, kernels: bool = False, watch: Watch = nobody) -> tuple[CurvePoint, ...]:
    """The error of every step on every part, from the full tree on."""
    watches = shared_out(watch, parts)
    errors = {
        part: None if samples is None else errors_by_step(model, samples, kernels=kernels, watch=watches[part])
        for part, samples in parts.items()
    }
    sizes = model.history.leaves_by_step.tolist()
    alphas = [None, *(step.alpha for step in model.history.steps)]
    return tuple(
        CurvePoint(step, sizes[step], alphas[step], {part: e if e is None else e[step] for part, e in errors.items()})
        for step in range(len(sizes))
    )


def errors_by_step(model: Model, samples: Samples, *, kernels: bool = False, watch: Watch = nobody) -> list[float]:
    """The error as of steps 0, 1, …: the cuts replayed on these samples."""
    replayed = HeldOutTree(model.view(0), samples, kernels=kernels, watch=part_of(watch, 0.0, SENDING))
    errors = [_error(replayed)]
    for step in watched(model.history.steps, part_of(watch, SENDING, 1.0)):
        if step.decision is Decision.CUT:
            replayed.cut(step.node)
        errors.append(_error(replayed))
    return errors


def _error(replayed: HeldOutTree) -> float:
    held_out, tree = replayed.held_out, replayed.tree
    measured = held_out.measure(held_out.credit)
    return 1 - measured if tree.task is Task.CLASSIFICATION and tree.costs is None else measured
