"""Growing by `quest_kernels`: the same tree as `grow` with QUEST."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.config import Algorithm, MissingStrategy, WhenInsignificant
from core.growth.best_split import objective_of
from core.growth.samples import Samples
from core.progress import Watch, nobody
from core.splits.split import SplitKind
from core.table import BoolArray, CodeArray, Column, FloatArray, RowArray, is_missing
from core.target import ClassTarget
from core.tree import LEAF, SPLIT_KINDS, Tree

POLL_SECONDS = 0.25
BLOCK_ROWS = 1024
MOST_TABLES, MOST_SUMS = 64, 4_000_000  # of nodes that wait
LINE = 64  # bytes of memory that come together


class Problem(NamedTuple):
    """The samples, row by row: numbers and ordinals as float64, categories by their cells in the tables of all of them.

    A row has as many numbers as `width` says, those after the last column are 0. `has_missing` is about numbers.
    `ordered` and `nominal` are the columns that they are. `level_start` is where each category's table begins, and
    where the last one ends: there is the cell of rows that do not know theirs. `counts_ones` says that rows weigh 1
    and know everything: so it is then in every node.
    """

    numbers: FloatArray
    width: int
    has_missing: bool
    ordered: RowArray
    cells: CodeArray
    nominal: RowArray
    level_start: RowArray
    classes: CodeArray
    weights: FloatArray
    counts_ones: bool
    n_classes: int


class Limits(NamedTuple):
    """When growth stops, and how small the logarithms of p must be for the first and for Levene's test."""

    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    min_impurity: float
    min_copy_weight: float
    log10_alpha: float
    log10_levene_alpha: float
    stops_if_insignificant: bool


class Work(NamedTuple):
    """Room for a node: sums by class and column with an order, tables by cell and class, also for nodes that wait.

    What tests say of columns; its rows class after class, from `starts` on; the values of the column that is chosen,
    and twice those that are looked at, with their weights; rows that are put aside while others take their places.
    """

    class_weights: FloatArray
    moments: FloatArray
    tests: FloatArray
    tables: FloatArray
    statistics: FloatArray
    degrees: FloatArray
    levene: FloatArray
    logs: FloatArray
    is_left: BoolArray
    mask: BoolArray
    of_classes: FloatArray
    ways: FloatArray
    starts: RowArray
    grouped: RowArray
    grouped_weights: FloatArray
    second_classes: BoolArray
    values: FloatArray
    kept: FloatArray
    kept_weights: FloatArray
    others: FloatArray
    other_weights: FloatArray
    kept_rows: NDArray[np.uint64]


def is_supported(algorithm: Algorithm) -> bool:
    """Whether the kernels can grow this tree; the definition can grow every one."""
    return (
        algorithm.quest is not None
        and algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
        and not algorithm.stopping.validate_splits
        and algorithm.stopping.max_leaves is None
    )


def grow_quest(samples: Samples, algorithm: Algorithm, *, watch: Watch = nobody) -> Tree:
    """The full tree; `watch` hears how much is done several times a second, and may raise to end growth."""
    from core.growth import quest_kernels as kernels  # compiles: never in a process that answers requests

    schema = samples.attributes.schema
    ordered = [column for column, attribute in enumerate(schema) if attribute.has_order]
    nominal = [column for column, attribute in enumerate(schema) if not attribute.has_order]
    progress, whole = np.zeros(2), float(samples.weights.sum())
    problem = problem_of(samples, ordered, nominal)
    limits, work = limits_of(algorithm, len(schema), len(ordered)), work_for(problem, len(schema))
    with ThreadPoolExecutor(1) as pool:  # the kernels hold no lock, so this thread can say how far they are
        growing = pool.submit(kernels.grow_quest, problem, limits, work, progress)
        try:
            while not wait([growing], POLL_SECONDS).done:
                watch(min(1.0, float(progress[kernels.DONE]) / whole))
        except BaseException:
            progress[kernels.STOP] = 1.0
            raise
    tree = assembled(samples, algorithm, *growing.result())
    watch(1.0)
    return tree


def problem_of(samples: Samples, ordered: list[int], nominal: list[int]) -> Problem:
    """The samples with their columns side by side, row by row."""
    from core.lane_kernels import WIDTH

    assert isinstance(samples.target, ClassTarget)
    columns, schema = samples.attributes.columns, samples.attributes.schema
    numbers = [as_numbers(columns[column]) for column in ordered]
    level_start = np.cumsum([0, *(len(schema[column].categories) for column in nominal)], dtype=np.int64)
    cells = [
        cells_of(columns[column], int(start), int(level_start[-1]))
        for column, start in zip(nominal, level_start, strict=False)
    ]
    width = -(-len(ordered) // WIDTH) * WIDTH
    has_missing = any(bool(np.isnan(values).any()) for values in numbers)
    return Problem(
        numbers=row_by_row(numbers, len(samples), width, np.float64),
        width=width,
        has_missing=has_missing,
        ordered=np.array(ordered, dtype=np.int64),
        cells=row_by_row(cells, len(samples), len(nominal), np.uint32),
        nominal=np.array(nominal, dtype=np.int64),
        level_start=level_start,
        classes=samples.target.codes,
        weights=samples.weights,
        counts_ones=not has_missing and is_complete(samples, nominal) and bool((samples.weights == 1).all()),
        n_classes=len(samples.target.classes),
    )


def is_complete(samples: Samples, columns: Sequence[int]) -> bool:
    """Whether no category is missing in these columns."""
    return all(bool((samples.attributes.columns[column] >= 0).all()) for column in columns)


def as_numbers(values: Column) -> FloatArray:
    """A column with an order, NaN where a value is missing."""
    is_number = values.dtype == np.float64
    return values.astype(np.float64, copy=False) if is_number else np.where(is_missing(values), np.nan, values)


def cells_of(codes: Column, start: int, missing: int) -> Column:
    """The cells of a column's categories, whose table begins there."""
    cells = codes + start
    return cells if len(codes) == 0 or codes.min() >= 0 else np.where(is_missing(codes), missing, cells)


def row_by_row(columns: Sequence[Column], n_rows: int, width: int, kind: type) -> Any:
    """The columns side by side, and 0 up to a width; some rows of all columns at a time, so that they stay near."""
    table: Any = in_lines((n_rows, width), kind)
    table[:, len(columns) :] = 0
    for start in range(0, n_rows if columns else 0, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        for place, values in enumerate(columns):
            table[rows, place] = values[rows]
    return table.ravel()


def in_lines(shape: tuple[int, int], kind: type) -> Any:
    """An array that begins where a line of the processor's cache does, so that rows of whole lines touch no others."""
    n = shape[0] * shape[1]
    room: Any = np.empty(n + LINE, dtype=kind)
    start = -room.ctypes.data % LINE // room.itemsize
    return room[start : start + n].reshape(shape)


def limits_of(algorithm: Algorithm, n_attributes: int, n_ordered: int) -> Limits:
    """The limits of growth and of significance."""
    assert algorithm.quest is not None
    stopping, alpha = algorithm.stopping, algorithm.quest.alpha
    return Limits(
        max_depth=np.iinfo(np.int64).max if stopping.max_depth is None else stopping.max_depth,
        min_samples_split=float(stopping.min_samples_split),
        min_samples_leaf=float(stopping.min_samples_leaf),
        min_impurity=float(stopping.min_impurity),
        min_copy_weight=float(stopping.min_copy_weight) if algorithm.missing is MissingStrategy.WEIGHTED else 0.0,
        log10_alpha=math.log10(alpha / n_attributes),
        log10_levene_alpha=math.log10(alpha / (n_attributes + n_ordered)),
        stops_if_insignificant=algorithm.quest.when_insignificant is WhenInsignificant.STOP,
    )


def work_for(problem: Problem, n_attributes: int) -> Work:
    """Room for a node, and for the tables of those that wait."""
    from core.criteria.class_moments_kernels import OF_CLASS, OF_TEST
    from core.lane_kernels import WIDTH

    n_rows, n_classes, n_blocks = len(problem.classes), problem.n_classes, problem.width // WIDTH
    n_cells, n_levels = int(problem.level_start[-1]) + 1, np.diff(problem.level_start)
    is_kept = problem.counts_ones and len(problem.nominal) > 0
    n_tables = max(1, min(MOST_TABLES, MOST_SUMS // (n_cells * n_classes))) if is_kept else 1
    return Work(
        class_weights=np.empty(n_classes),
        moments=np.empty(n_classes * n_blocks * OF_CLASS),
        tests=np.empty(n_blocks * OF_TEST),
        tables=np.empty((n_tables, n_cells, n_classes)),
        statistics=np.empty(n_attributes),
        degrees=np.empty((2, n_attributes)),
        levene=np.empty(n_attributes),
        logs=np.empty(n_attributes),
        is_left=np.empty(n_attributes, dtype=np.bool_),
        mask=np.empty(int(n_levels.max(initial=0)), dtype=np.bool_),
        of_classes=np.empty((4, n_classes)),
        ways=np.empty((2, 3)),
        starts=np.empty(n_classes + 1, dtype=np.int64),
        grouped=np.empty(n_rows, dtype=np.int64),
        grouped_weights=np.empty(n_rows),
        second_classes=np.empty(n_classes, dtype=np.bool_),
        values=np.empty(n_rows),
        kept=np.empty(n_rows),
        kept_weights=np.empty(n_rows),
        others=np.empty(n_rows),
        other_weights=np.empty(n_rows),
        kept_rows=np.empty(n_rows, dtype=np.uint64),
    )


def assembled(
    samples: Samples, algorithm: Algorithm, of_node: RowArray, figures: FloatArray, groups: BoolArray
) -> Tree:
    """The tree of what the kernels found; see `quest_kernels.grow_quest`."""
    column, values = of_node[:, 0], figures[:, 3:].copy()
    has_order = np.array([attribute.has_order for attribute in samples.attributes.schema])
    kinds = np.where(has_order, SPLIT_KINDS.index(SplitKind.THRESHOLD), SPLIT_KINDS.index(SplitKind.GROUPS))
    no_gain = np.full(len(column), np.nan)
    return Tree(
        task=samples.target.task,
        size=of_node[:, 3].astype(np.int32),
        column=column.astype(np.int32),
        kind=np.where(column == LEAF, LEAF, kinds[column]).astype(np.int8),
        threshold=figures[:, 0].copy(),
        branch_start=np.append(of_node[:, 1], len(groups)),
        branch_of=(~groups).astype(np.int32),
        share=figures[:, 1].copy(),
        weight=figures[:, 2].copy(),
        impurity=np.where(figures[:, 2] > 0, objective_of(algorithm, samples).impurity(values), 0.0),
        gain=no_gain,
        score=no_gain.copy(),
        values=values,
        variances=np.empty((len(column), 0)),
        cuts=samples.cuts,
    )
