"""How alpha is chosen: given, by the error on validation rows, or by cross-validation.

In a cross-validation the training rows are split into folds at random, class by class. The tree grown without a fold is
pruned by cost-complexity too, and answers the rows of the fold. The tree of alpha_k in the sequence is judged by the
fold trees pruned at the geometric midpoint of alpha_k and the next alpha, the last one at infinity. All alphas are
judged at once (`step_losses`). Breiman, Friedman, Olshen and Stone 1984, section 3.4.
"""

from collections.abc import Iterator

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.randomness import shuffled, stream
from core.arithmetic.ties import TIE
from core.config.options import AlphaRule, Cost
from core.growth.samples import Samples
from core.pruning.cost_complexity import tie_of, weakest_link_steps
from core.pruning.step_losses import StepLosses, losses_by_step
from core.tables.progress import Watch
from core.tables.target import ClassTarget, Target
from core.tree.history import CrossValidation, History, Ledger, Steps


def by_validation(history: History, first_step: int, validation: Samples, *, kernels: bool, watch: Watch) -> int:
    """The step of least error on the validation rows, of the alphas from a step on; ties go to the smaller tree."""
    steps = last_steps(history.steps, first_step)
    losses = losses_by_step(history.tree, history.cut_at, len(history.steps), validation, kernels=kernels, watch=watch)
    return int(steps[last_of_least(losses.mean[steps])])


def by_cross_validation(table: CrossValidation, rule: AlphaRule) -> int:
    """The step that the rule takes from the table; ties go to the smaller tree."""
    best = last_of_least(table.error)
    if rule is AlphaRule.MINIMUM:
        return int(table.step[best])
    limit = float(table.error[best] + table.standard_error[best])
    return int(table.step[np.flatnonzero(table.error <= limit + tie_of_errors(table.error))[-1]])


def last_of_least(errors: FloatArray) -> int:
    """The last index whose error is within a tie of the least; trees become smaller from one to the next."""
    return int(np.flatnonzero(errors <= errors.min() + tie_of_errors(errors))[-1])


def tie_of_errors(errors: FloatArray) -> float:
    """The difference up to which two errors count as equal."""
    return TIE * float(errors.max())


def last_steps(steps: Steps, first_step: int) -> RowArray:
    """The last step of each alpha from a step on; where no link has alpha 0, the first step is that of 0."""
    alphas = steps.alpha[first_step:]
    is_last = np.append(alphas[1:] != alphas[:-1], True)[: len(alphas)]
    lasts = np.flatnonzero(is_last) + 1 + first_step
    return lasts if len(alphas) and alphas[0] == 0 else np.append(first_step, lasts)


def fold_of_rows(target: Target, n_folds: int, seed: int) -> RowArray:
    """The fold of each row: rows in random order, class by class, are dealt to the folds in turn."""
    bits, n_rows = stream(seed, "folds"), len(target.is_known)
    rows = np.arange(n_rows)
    groups = [rows]
    if isinstance(target, ClassTarget):
        groups = [np.flatnonzero(target.codes == code) for code in np.unique(target.codes)]
    dealt = np.concatenate([shuffled(group, bits) for group in groups])
    folds = np.empty(n_rows, dtype=np.int64)
    folds[dealt] = rows % n_folds
    return folds


def midpoints(alphas: FloatArray) -> FloatArray:
    """The alpha by which other trees are pruned for each of these ascending ones; infinite for the last."""
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), np.inf)


def cross_validated(
    history: History,
    first_step: int,
    folds: Iterator[tuple[Ledger, Samples]],
    n_folds: int,
    cost: Cost,
    *,
    grown_by: Cost | None,
    kernels: bool,
) -> CrossValidation:
    """The table of a cross-validation: every alpha of the sequence with the error of fold trees on rows left out."""
    steps = last_steps(history.steps, first_step)
    alphas = np.where(steps == first_step, 0.0, history.steps.alpha[steps - 1])
    judged_at = midpoints(alphas)
    total, squares, weight, n_rows = np.zeros_like(alphas), np.zeros_like(alphas), 0.0, 0
    for ledger, left_out in folds:
        steps_of_fold, losses = fold_losses(ledger, left_out, judged_at, cost, grown_by=grown_by, kernels=kernels)
        total, squares = total + losses.loss[steps_of_fold], squares + losses.squares[steps_of_fold]
        weight, n_rows = weight + losses.weight, n_rows + len(left_out)
    error = total / weight
    # The standard deviation of the rows' losses, over the root of their number.
    standard_error = np.sqrt(np.maximum(squares / weight - error**2, 0.0) / n_rows)
    leaves = history.leaves_by_step[steps].astype(np.int64)
    return CrossValidation(alphas, steps, leaves, error, standard_error, n_folds)


def fold_losses(
    ledger: Ledger, left_out: Samples, judged_at: FloatArray, cost: Cost, *, grown_by: Cost | None, kernels: bool
) -> tuple[RowArray, StepLosses]:
    """The step of a fold's tree at each of some ascending alphas, and the losses of the rows left out at all steps."""
    start = ledger.n_steps
    steps = weakest_link_steps(ledger.view, cost, grown_by=grown_by, kernels=kernels)
    ledger.extend(steps)
    history = ledger.finished()
    tie = tie_of(ledger.tree, cost, float(steps.after[-1]) if len(steps) else 0.0)  # the last tree is the root alone
    at = start + np.searchsorted(steps.alpha, judged_at + tie, side="right")
    return at, losses_by_step(ledger.tree, history.cut_at, len(history.steps), left_out, kernels=kernels)
