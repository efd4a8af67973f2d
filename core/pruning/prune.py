"""Prunes a grown tree as a configuration says."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import assert_never

import numpy as np

from core.arithmetic.arrays import RowArray
from core.config.options import (
    Algorithm,
    Choose,
    ConfidencePruning,
    CostComplexityPruning,
    Dialect,
    NoPruning,
    Pruning,
    ReducedErrorPruning,
)
from core.config.presets import COSTS
from core.growth.samples import Samples
from core.pruning.choose_alpha import by_cross_validation, by_validation, cross_validated, fold_of_rows
from core.pruning.collapse import collapse
from core.pruning.confidence import prune_by_confidence
from core.pruning.cost_complexity import weakest_link_steps
from core.pruning.reduced_error import prune_by_validation
from core.tables.progress import Watch, ignore_progress, part_of
from core.tree.history import History, Ledger

COLLAPSING = 0.1  # the approximate part of the work that collapsing takes

# Grows the tree again without some training rows; returns it with these rows as its records.
LeaveOut = Callable[[RowArray, Watch], tuple[Ledger, Samples]]


@dataclass(frozen=True)
class Evidence:
    """The rows that pruning may use.

    `train` as the tree grew from them; `validation` as records of the model, None where there are none.
    """

    train: Samples
    validation: Samples | None
    leave_out: LeaveOut


def prune(
    ledger: Ledger,
    pruning: Pruning,
    algorithm: Algorithm,
    rows: Evidence,
    *,
    seed: int = 0,
    kernels: bool = False,
    watch: Watch = ignore_progress,
) -> History:
    """Prune the tree in the ledger; kernels give equal bytes.

    `watch` is called with the progress, from 0 to 1, and may raise to end it.
    """
    collapse_if_asked(ledger, pruning, algorithm, part_of(watch, 0.0, COLLAPSING))
    watch = part_of(watch, COLLAPSING, 1.0)
    match pruning:
        case NoPruning():
            return ledger.finished()
        case ReducedErrorPruning(on_tie=on_tie):
            assert rows.validation is not None
            prune_by_validation(ledger, rows.validation, on_tie, kernels=kernels, watch=watch)
            return ledger.finished()
        case ConfidencePruning():
            prune_by_confidence(ledger, pruning, algorithm, rows.train, seed=seed, kernels=kernels, watch=watch)
            return ledger.finished()
        case CostComplexityPruning():
            return cut_weakest_links(ledger, pruning, algorithm, rows, seed=seed, kernels=kernels, watch=watch)
        case _:
            assert_never(pruning)


def cut_weakest_links(
    ledger: Ledger,
    pruning: CostComplexityPruning,
    algorithm: Algorithm,
    rows: Evidence,
    *,
    seed: int,
    kernels: bool,
    watch: Watch,
) -> History:
    """Cut the whole sequence down to the root, and select the step of the given or chosen alpha.

    Where alpha was to be chosen by validation rows, and there are none, cross-validation chooses it.
    """
    cost, grown_by, start = pruning.cost, COSTS[algorithm.criterion.kind], ledger.n_steps
    ledger.extend(weakest_link_steps(ledger.view, cost, grown_by=grown_by, kernels=kernels))
    history = ledger.finished()
    if pruning.alpha is not None:
        return history.with_selected(max(start, history.last_with_alpha(pruning.alpha)))
    if len(history.steps) == start:  # there is only one tree
        return history
    n_folds = n_folds_of(pruning, rows.train, rows.validation)
    if n_folds == 0:
        assert rows.validation is not None
        return history.with_selected(by_validation(history, start, rows.validation, kernels=kernels, watch=watch))
    fold_of = fold_of_rows(rows.train.target, n_folds, seed)

    def folds() -> Iterator[tuple[Ledger, Samples]]:
        for fold in range(n_folds):
            yield rows.leave_out(np.flatnonzero(fold_of == fold), part_of(watch, fold / n_folds, (fold + 1) / n_folds))

    table = cross_validated(history, start, folds(), n_folds, cost, grown_by=grown_by, kernels=kernels)
    return replace(history, selected=by_cross_validation(table, pruning.rule), cross_validation=table)


def n_folds_of(pruning: Pruning, train: Samples, validation: Samples | None) -> int:
    """How many trees a cross-validation grows; 0 where alpha is not chosen by one."""
    if not isinstance(pruning, CostComplexityPruning) or pruning.alpha is not None:
        return 0
    return 0 if pruning.choose is Choose.VALIDATION and validation is not None else min(pruning.folds, len(train))


def collapse_if_asked(ledger: Ledger, pruning: Pruning, algorithm: Algorithm, watch: Watch = ignore_progress) -> None:
    """Collapse if the algorithm does so; the programs do not before reduced-error pruning."""
    is_as_programmed = algorithm.dialect is Dialect.RELEASE8
    if algorithm.collapse and not (is_as_programmed and isinstance(pruning, ReducedErrorPruning)):
        collapse(ledger, watch)
