"""Growing by `methods.oblique.kernels.grow`: gives the tree that `growth.grow` gives with tests on sums."""

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.arithmetic.randomness import root_key
from core.arithmetic.ties import TIE
from core.config.options import Algorithm, LinearFit, MissingStrategy
from core.growth.best_first import best_first
from core.growth.best_split import objective_of
from core.growth.kernels.inputs.columns import (
    classes_of,
    n_classes_of,
    numbers_of,
    row_bits_of,
    weighing_of,
)
from core.growth.kernels.inputs.row_by_row import row_by_row
from core.growth.kernels.lists.grow_fast import POLL_SECONDS, without_leaf_limit
from core.growth.kernels.lists.problem import SORTED, fill_lists
from core.growth.kernels.lists.rules import criterion_of, filter_of, is_ratio, tables_of
from core.growth.samples import Samples
from core.methods.oblique.assemble import assembled
from core.methods.oblique.kernels import grow as kernels
from core.methods.oblique.kernels import start
from core.methods.oblique.kernels.grow import DONE
from core.methods.oblique.kernels.start import STOP
from core.methods.oblique.oblique import columns_for_sums
from core.tables.progress import Watch, ignore_progress
from core.tables.table import is_missing
from core.tree.tree import Tree

SORTING = 0.05  # the approximate part of the work that sorting takes


class Problem(NamedTuple):
    """The samples: `cells[row, column]` as numbers, NaN where missing, and each `ordered` column as a sorted list too.

    `n_levels` counts a column's categories, 0 for numbers. Candidate slots are numbered by column, with one slot for
    each category of a `nominal` column. `for_sums` are the columns that sums may have. The kernels overwrite `lists`,
    and `weights` too if values are missing. `numbers` is empty; shared kernels expect it.
    """

    cells: FloatArray
    lists: NDArray[np.uint32]
    lengths: RowArray
    distinct: BoolArray
    ordered: RowArray
    nominal: RowArray
    n_levels: RowArray
    first_slots: RowArray
    for_sums: RowArray
    has_missing: bool
    classes: CodeArray
    weights: FloatArray
    numbers: FloatArray
    n_classes: int
    shift: int


class Rules(NamedTuple):
    """How to grow: the criterion, when to stop, how sums are learnt, and precomputed tables.

    `max_terms` is 0 if the number of terms is not limited.
    """

    criterion: int
    is_counted: bool
    is_unit: bool
    is_ratio: bool
    gain_filter: int
    tolerance: float
    n_classes: int
    max_depth: int
    min_split: float
    min_leaf: float
    min_gain: float
    min_score: float
    min_impurity: float
    min_copy: float
    fit: int
    max_terms: int
    root_key: np.uint64
    reciprocal: FloatArray
    small_logs: NDArray[np.int64]
    large_logs: NDArray[np.int64]
    small_unit: float
    large_unit: float


def grow_multivariate(samples: Samples, algorithm: Algorithm, *, seed: int = 0, watch: Watch = ignore_progress) -> Tree:
    """Grow the full tree; `watch` is called with the progress several times a second, and may raise to stop growth."""
    max_leaves = algorithm.stopping.max_leaves
    if max_leaves is not None:
        algorithm = without_leaf_limit(algorithm, max_leaves)
    progress, whole = np.zeros(3), float(samples.weights.sum())
    with ThreadPoolExecutor(1) as pool:  # the kernels release the GIL, so this thread can report progress
        growing = pool.submit(grown, samples, algorithm, seed, progress)
        try:
            while not wait([growing], POLL_SECONDS).done:
                done = min(1.0, float(progress[DONE]) / whole)
                watch(SORTING * float(progress[SORTED]) + (1 - SORTING) * done)
        except BaseException:
            progress[STOP] = 1.0
            raise
    tree = assembled(samples, algorithm, *growing.result())
    watch(1.0)
    return tree if max_leaves is None else best_first(tree, max_leaves, TIE)


def grown(samples: Samples, algorithm: Algorithm, seed: int, progress: FloatArray) -> tuple[Any, ...]:
    """The nodes and terms that the kernels grow."""
    nodes: tuple[Any, ...] = kernels.grow_multivariate(
        problem_of(samples, progress), rules_of(samples, algorithm, seed), progress
    )
    return nodes


def problem_of(samples: Samples, progress: FloatArray) -> Problem:
    """The samples as cells and as sorted lists."""
    columns, schema = samples.attributes.columns, samples.attributes.schema
    numbers = [np.where(is_missing(values), np.nan, values) for values in columns]
    ordered = [column for column, attribute in enumerate(schema) if attribute.has_order]
    nominal = [column for column, attribute in enumerate(schema) if not attribute.has_order]
    n_slots = [1 if attribute.has_order else len(attribute.categories) for attribute in schema]
    lists = np.empty((len(ordered), len(samples)), dtype=np.uint32)
    lengths, distinct = fill_lists(samples, ordered, lists, 1, progress)
    return Problem(
        cells=row_by_row(numbers, len(samples), len(numbers), np.float64).reshape(len(samples), len(numbers)),
        lists=lists,
        lengths=lengths,
        distinct=distinct,
        ordered=np.array(ordered, dtype=np.int64),
        nominal=np.array(nominal, dtype=np.int64),
        n_levels=np.array([len(attribute.categories) for attribute in schema], dtype=np.int64),
        first_slots=np.cumsum([0, *n_slots], dtype=np.int64),
        for_sums=np.array(columns_for_sums(samples), dtype=np.int64),
        has_missing=any(bool(np.isnan(values).any()) for values in numbers),
        classes=classes_of(samples),
        weights=samples.weights.copy(),
        numbers=numbers_of(samples),
        n_classes=n_classes_of(samples),
        shift=row_bits_of(samples),
    )


def rules_of(samples: Samples, algorithm: Algorithm, seed: int) -> Rules:
    """The algorithm's options for the kernels."""
    stopping, linear = algorithm.stopping, algorithm.linear
    assert linear is not None
    fits = {
        LinearFit.OC1: start.OC1,
        LinearFit.LDA: start.LEAST_SQUARES,
        LinearFit.LOGISTIC: start.LOGISTIC,
    }
    is_weighted = algorithm.missing is MissingStrategy.WEIGHTED
    weighing, criterion = weighing_of(samples), criterion_of(algorithm)
    reciprocal, small_logs, large_logs, small_unit, large_unit = tables_of(
        len(samples) if weighing.is_counted else 1, criterion
    )
    return Rules(
        criterion=criterion,
        is_counted=weighing.is_counted,
        is_unit=weighing.is_unit,
        is_ratio=is_ratio(algorithm),
        gain_filter=filter_of(algorithm),
        tolerance=objective_of(algorithm, samples).tolerance,
        n_classes=n_classes_of(samples),
        max_depth=np.iinfo(np.int64).max if stopping.max_depth is None else stopping.max_depth,
        min_split=float(stopping.min_samples_split),
        min_leaf=float(stopping.min_samples_leaf),
        min_gain=float(stopping.min_gain),
        min_score=float(stopping.min_score),
        min_impurity=float(stopping.min_impurity),
        min_copy=float(stopping.min_copy_weight) if is_weighted else 0.0,
        fit=fits[linear.fit],
        max_terms=linear.max_terms or 0,
        root_key=np.uint64(root_key(seed)),
        reciprocal=reciprocal,
        small_logs=small_logs,
        large_logs=large_logs,
        small_unit=small_unit,
        large_unit=large_unit,
    )
