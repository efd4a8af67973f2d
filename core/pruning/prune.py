"""The way of pruning that a configuration names, on a tree that stands ready."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import assert_never

from core.config import (
    Algorithm,
    ConfidencePruning,
    CostComplexityPruning,
    Dialect,
    NoPruning,
    Pruning,
    ReducedErrorPruning,
)
from core.growth.samples import Samples
from core.progress import Watch, nobody, part_of
from core.pruning.collapse import collapse
from core.pruning.history import History, Ledger
from core.pruning.reduced_error import prune_by_validation
from core.table import RowArray

COLLAPSING = 0.1  # the part of pruning that this takes, about

# What grows the tree anew without some training rows, and hands over these rows as the tree takes them.
LeaveOut = Callable[[RowArray, Watch], tuple[Ledger, Samples]]


@dataclass(frozen=True)
class Evidence:
    """The rows that a way of pruning may look at.

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
    watch: Watch = nobody,
) -> History:
    """Decide what is cut, from what the ledger left; by compiled kernels if asked for: the bytes are the same.

    `watch` hears how much is done, from 0 to 1, and may raise to end it.
    """
    take_back(ledger, pruning, algorithm, part_of(watch, 0.0, COLLAPSING))
    watch = part_of(watch, COLLAPSING, 1.0)
    match pruning:
        case NoPruning():
            return ledger.finished()
        case ReducedErrorPruning(on_tie=on_tie):
            assert rows.validation is not None
            prune_by_validation(ledger, rows.validation, on_tie, kernels=kernels, watch=watch)
            return ledger.finished()
        case ConfidencePruning():
            raise NotImplementedError(seed)
        case CostComplexityPruning():
            raise NotImplementedError(seed)
        case _:
            assert_never(pruning)


def take_back(ledger: Ledger, pruning: Pruning, algorithm: Algorithm, watch: Watch = nobody) -> None:
    """Collapse, where the algorithm asks for it; the programs do not before reduced-error pruning."""
    is_as_programmed = algorithm.dialect is Dialect.RELEASE8
    if algorithm.collapse and not (is_as_programmed and isinstance(pruning, ReducedErrorPruning)):
        collapse(ledger, watch)
