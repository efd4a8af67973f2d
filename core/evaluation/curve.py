"""Size against error along a pruning history: the loss of each part of the data at the steps that change the tree."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import sum_of_products
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.pruning.step_losses import Judge, losses_by_step
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tree.history import DECISIONS, Decision, History
from core.tree.model import Model

MOST_POINTS = 200  # approximate; a picture cannot show more
MOST_ASKED, FEWEST_POINTS = 4_000_000, 20  # rows over all points, if every point needs a prediction of its own

Parts = Mapping[Part, Samples | None]


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Size and error as of a step; None for an empty part, and if the step was not cross-validated.

    The error is the share answered wrongly, the mean cost if wrong answers have costs, or the mean squared error
    (summed over the targets if there are several). `spread` is the standard error of the cross-validation's error.
    """

    step: int
    leaves: int
    alpha: float | None
    errors: Mapping[Part, float | None]
    cross_validation: float | None
    spread: float | None


def curve(
    model: Model, parts: Parts, *, kernels: bool = False, watch: Watch = ignore_progress
) -> tuple[CurvePoint, ...]:
    """The error of steps on every part, from the full tree on: of all that change the tree, if not too many.

    Of many, about MOST_POINTS are chosen, always including the first, the last, the selected one, and the one of least
    error on each part and in the cross-validation (of equal ones, the smallest tree). If branches were raised, the
    least is that of the chosen steps, which are fewer if there are many rows.
    """
    history, watches = model.history, shared_out(watch, parts)
    steps = changing_steps(history)
    if history.raises:  # each step is a tree of its own, so no single pass gives all errors
        n_rows = sum(len(samples) for samples in parts.values() if samples is not None)
        most = max(FEWEST_POINTS, MOST_ASKED // n_rows)
        steps = thinned(steps, history.leaves_by_step[steps], [history.selected], most=most)
    errors = {
        part: None if samples is None else errors_as_of(model, steps, samples, kernels=kernels, watch=watches[part])
        for part, samples in parts.items()
    }
    left_out, spread = cross_validated(history, steps)
    judged = [each for each in (*errors.values(), left_out) if each is not None]
    needed = [history.selected, *(steps[last_least(each)] for each in judged)]
    chosen = thinned(steps, history.leaves_by_step[steps], needed)
    alphas = np.append(np.nan, history.steps.alpha)
    return tuple(
        CurvePoint(
            step=int(steps[position]),
            leaves=int(history.leaves_by_step[steps[position]]),
            alpha=known(alphas[steps[position]]),
            errors={part: None if each is None else float(each[position]) for part, each in errors.items()},
            cross_validation=known(left_out[position]),
            spread=known(spread[position]),
        )
        for position in np.searchsorted(steps, chosen)
    )


def shared_out(watch: Watch, parts: Parts) -> dict[Part, Watch]:
    """A watch for each part, with a share of the progress by its number of rows."""
    sizes = [0 if samples is None else len(samples) for samples in parts.values()]
    ends = (np.cumsum(sizes) / max(1, sum(sizes))).tolist()
    return {part: part_of(watch, start, end) for part, start, end in zip(parts, [0.0, *ends], ends, strict=False)}


def changing_steps(history: History) -> RowArray:
    """The full tree, every step that changed something, the last one and the selected one."""
    changed = np.flatnonzero(history.steps.decision != DECISIONS.index(Decision.KEPT)) + 1
    return np.unique([0, len(history.steps), history.selected, *changed])


def thinned(steps: RowArray, leaves: RowArray, needed: Iterable[int], *, most: int = MOST_POINTS) -> RowArray:
    """At most about `most` of the steps, including the first, the last and the needed ones.

    Half of them are evenly spaced. The other half is chosen so that trees shrink by a constant factor: small trees come
    last and within few steps, and are those that users choose among. `leaves` are those of each step and never
    increase.
    """
    if len(steps) <= min(most, MOST_POINTS):
        return steps
    half = max(2, min(most, MOST_POINTS) // 2)
    evenly = np.linspace(0, len(steps) - 1, half).round().astype(np.int64)
    by_size = np.searchsorted(-leaves, -np.geomspace(leaves[0], leaves[-1], half))
    chosen = np.union1d(evenly, np.minimum(by_size, len(steps) - 1))
    return np.union1d(steps[chosen], np.fromiter(needed, np.int64))


def last_least(errors: FloatArray) -> int:
    """The index of the least error; of equal ones the last, which is the smallest tree."""
    return int(np.flatnonzero(errors <= np.nanmin(errors))[-1]) if not np.isnan(errors).all() else 0


def known(number: float) -> float | None:
    """The number; None for NaN."""
    return None if np.isnan(number) else float(number)


def errors_as_of(
    model: Model, steps: RowArray, samples: Samples, *, kernels: bool = False, watch: Watch = ignore_progress
) -> FloatArray:
    """The mean loss of the samples as of each of these steps."""
    history = model.history
    if not history.raises:
        losses = losses_by_step(model.tree, history.cut_at, len(history.steps), samples, kernels=kernels, watch=watch)
        return losses.mean[steps]
    return np.array([error_as_of(model, step, samples, kernels=kernels) for step in watched(steps.tolist(), watch)])


def error_as_of(model: Model, step: int, samples: Samples, *, kernels: bool = False) -> float:
    """The mean loss of the samples as of a step."""
    view = model.view(step)
    judge = Judge(view.tree, samples)
    losses = judge.of_answers(samples.rows, Predictor(view).batch(samples.attributes, kernels=kernels) - judge.origin)
    return float(sum_of_products(samples.weights, losses) / samples.weights.sum())


def cross_validated(history: History, steps: RowArray) -> tuple[FloatArray, FloatArray]:
    """Error and standard error of the cross-validation as of each of these steps; NaN for steps without one."""
    table = history.cross_validation
    by_step = np.full((2, len(history.steps) + 1), np.nan)
    if table is not None:
        by_step[:, table.step] = table.error, table.standard_error
    error, spread = by_step[:, steps]
    return error, spread
