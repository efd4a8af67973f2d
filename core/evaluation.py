"""How good a model is on each part of the data, against the simplest answer, and along its pruning history."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from core.division import Part
from core.growth.samples import Samples
from core.measures import Measures, measure_classes, measure_numbers
from core.model import Model
from core.predictor import Predictor
from core.pruning.held_out_tree import HeldOutTree
from core.pruning.history import Decision
from core.table import FloatArray
from core.target import ClassTarget, Task

Parts = Mapping[Part, Samples | None]


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


def evaluate(model: Model, step: int, parts: Parts, *, kernels: bool = False) -> Evaluation:
    """Everything about the tree as of a step; by compiled kernels if the caller may wait for a compiler."""
    predictor, simplest = Predictor(model.view(step)), model.tree.answers[0]
    parts = {part: None if s is None else as_trained(model, s) for part, s in parts.items()}

    def of_model(samples: Samples) -> FloatArray:
        return predictor.batch(samples.attributes, kernels=kernels)

    def of_baseline(samples: Samples) -> FloatArray:
        return np.tile(simplest, (len(samples), 1))

    return Evaluation(
        parts={part: None if s is None else measure(model, of_model(s), s) for part, s in parts.items()},
        baseline={part: None if s is None else measure(model, of_baseline(s), s) for part, s in parts.items()},
        curve=curve(model, parts, kernels=kernels),
    )


def as_trained(model: Model, samples: Samples) -> Samples:
    """The samples as records of this model: their missing values filled, if it fills those of records."""
    return replace(samples, attributes=model.as_trained(samples.attributes))


def measure(model: Model, answers: FloatArray, samples: Samples) -> Measures:
    """All measures of answers to these samples, whose target is the model's."""
    target, weights = samples.target, samples.weights
    if isinstance(target, ClassTarget):
        return measure_classes(answers, target.codes, weights, target.classes, model.tree.costs)
    return measure_numbers(answers, target.numbers, weights, () if isinstance(model.target, str) else model.target)


def curve(model: Model, parts: Parts, *, kernels: bool = False) -> tuple[CurvePoint, ...]:
    """The error of every step on every part, from the full tree on."""
    errors = {
        part: None if samples is None else errors_by_step(model, samples, kernels=kernels)
        for part, samples in parts.items()
    }
    sizes = model.history.leaves_by_step
    alphas = [None, *(step.alpha for step in model.history.steps)]
    return tuple(
        CurvePoint(step, sizes[step], alphas[step], {part: e if e is None else e[step] for part, e in errors.items()})
        for step in range(len(sizes))
    )


def errors_by_step(model: Model, samples: Samples, *, kernels: bool = False) -> list[float]:
    """The error as of steps 0, 1, …: the cuts replayed on these samples."""
    replayed = HeldOutTree(model.view(0), samples, kernels=kernels)
    errors = [_error(replayed)]
    for step in model.history.steps:
        if step.decision is Decision.CUT:
            replayed.cut(step.node)
        errors.append(_error(replayed))
    return errors


def _error(replayed: HeldOutTree) -> float:
    held_out, tree = replayed.held_out, replayed.tree
    measured = held_out.measure(held_out.credit)
    return 1 - measured if tree.task is Task.CLASSIFICATION and tree.costs is None else measured
