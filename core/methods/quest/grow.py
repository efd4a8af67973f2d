"""Growing by `methods.quest.kernels.grow`: gives the tree that `growth.grow` gives with QUEST."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

import numpy as np

from core.arithmetic.logarithms import log10
from core.compiler.eight_lanes import WIDTH
from core.config.options import Algorithm, MissingStrategy, WhenInsignificant
from core.growth.best_split import objective_of
from core.growth.kernels.inputs.coding import number_columns
from core.growth.kernels.inputs.row_by_row import numbers_row_by_row, row_by_row
from core.growth.samples import Samples
from core.methods.quest.kernels import grow as kernels
from core.methods.quest.problem import Limits, Problem
from core.methods.quest.scratch import Grown, Work, node_buffers, tree_buffers
from core.splits.split import SplitKind
from core.tables.progress import Watch, ignore_progress
from core.tables.table import Column, is_missing
from core.tables.target import ClassTarget
from core.tree.tree import LEAF, SPLIT_KINDS, Tree

POLL_SECONDS = 0.25


def grow_quest(samples: Samples, algorithm: Algorithm, *, watch: Watch = ignore_progress) -> Tree:
    """Grow the full tree; `watch` is called with the progress several times a second, and may raise to stop growth."""
    schema = samples.attributes.schema
    ordered = [column for column, attribute in enumerate(schema) if attribute.has_order]
    nominal = [column for column, attribute in enumerate(schema) if not attribute.has_order]
    progress, whole = np.zeros(2), float(samples.weights.sum())
    problem, limits = problem_of(samples, ordered, nominal), limits_of(algorithm, len(schema), len(ordered))
    work, grown = buffers_for(problem, len(schema)), tree_buffers(len(samples), problem.n_classes)
    with ThreadPoolExecutor(1) as pool:  # the kernels release the GIL, so this thread can report progress
        growing = pool.submit(kernels.grow_quest, problem, limits, work, grown, progress)
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
    """The samples with their columns stored row by row."""
    assert isinstance(samples.target, ClassTarget)
    columns, schema = samples.attributes.columns, samples.attributes.schema
    level_start = np.cumsum([0, *(len(schema[column].categories) for column in nominal)], dtype=np.int64)
    cells = [
        cells_of(columns[column], int(start), int(level_start[-1]))
        for column, start in zip(nominal, level_start, strict=False)
    ]
    width = -(-len(ordered) // WIDTH) * WIDTH
    numbers, has_missing = numbers_row_by_row(number_columns(samples, ordered), len(samples), width)
    return Problem(
        numbers=numbers,
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
    """Whether these columns have no missing category."""
    return all(bool((samples.attributes.columns[column] >= 0).all()) for column in columns)


def cells_of(codes: Column, start: int, missing: int) -> Column:
    """The table cells of a column's categories, which begin at `start`; missing ones get the cell `missing`."""
    cells = codes + start
    return cells if len(codes) == 0 or codes.min() >= 0 else np.where(is_missing(codes), missing, cells)


def buffers_for(problem: Problem, n_attributes: int) -> Work:
    """The scratch for a node; tables of waiting nodes are kept if a child's can be had by subtraction."""
    return node_buffers(
        len(problem.classes),
        problem.n_classes,
        n_attributes,
        problem.width,
        problem.level_start,
        keeps_tables=problem.counts_ones and len(problem.nominal) > 0,
    )


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
        log10_alpha=log10(alpha / n_attributes),
        log10_levene_alpha=log10(alpha / (n_attributes + n_ordered)),
        stops_if_insignificant=algorithm.quest.when_insignificant is WhenInsignificant.STOP,
    )


def assembled(samples: Samples, algorithm: Algorithm, grown: Grown, n_nodes: int, n_groups: int) -> Tree:
    """The tree from the kernels' lists."""
    column, values = grown.column[:n_nodes].copy(), grown.values[:n_nodes].copy()
    weight = grown.weight[:n_nodes].copy()
    has_order = np.array([attribute.has_order for attribute in samples.attributes.schema])
    kinds = np.where(has_order, SPLIT_KINDS.index(SplitKind.THRESHOLD), SPLIT_KINDS.index(SplitKind.GROUPS))
    no_gain = np.full(n_nodes, np.nan)
    return Tree(
        task=samples.target.task,
        size=grown.size[:n_nodes].copy(),
        column=column,
        kind=np.where(column == LEAF, LEAF, kinds.astype(np.int8)[column]),
        threshold=grown.threshold[:n_nodes].copy(),
        branch_start=np.append(grown.group_start[:n_nodes], n_groups),
        branch_of=(~grown.groups[:n_groups]).astype(np.int32),
        share=grown.share[:n_nodes].copy(),
        weight=weight,
        impurity=np.where(weight > 0, objective_of(algorithm, samples).impurity(values), 0.0),
        gain=no_gain,
        score=no_gain.copy(),
        values=values,
        variances=np.empty((n_nodes, 0)),
        cuts=samples.cuts,
    )
