"""Growing a tree by compiled kernels: the same tree as `grow`.

The kernels find which rows are on both sides of each cut, or which codes go down which branch, and add up every node's
sums in row order. From these, `growth.kernels.lists.assemble` computes thresholds and figures by the definition's
formulas, so that both engines store the same bytes.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.ties import TIE
from core.config.options import Algorithm, Categorical, Dialect, MissingStrategy, Numeric
from core.criteria.objective import Objective
from core.growth.best_first import best_first, deepest_needed
from core.growth.best_split import objective_of
from core.growth.column_draw import ColumnDraw
from core.growth.kernels.inputs.columns import Column, Weighing, columns_of, weighing_of
from core.growth.kernels.lists.assemble import assembled
from core.growth.kernels.lists.grow import DONE, STOP
from core.growth.kernels.lists.problem import SORTED, problem_of
from core.growth.kernels.lists.rules import rules_of
from core.growth.kernels.lists.scratch import work_for
from core.growth.kernels.lists.threads import grown_nodes
from core.growth.release8_tolerances import TOLERANCE
from core.growth.samples import Samples
from core.tables.progress import Watch, ignore_progress, part_of
from core.tree.tree import Tree

POLL_SECONDS = 0.25
CODING, SORTING = 0.05, 0.15  # the parts of the work that these take, roughly


def grow_fast(
    samples: Samples,
    algorithm: Algorithm,
    *,
    seed: int = 0,
    draw: ColumnDraw | None = None,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> Tree:
    """Grow the full tree; `watch` is called with the progress several times a second, and may raise to end growth."""
    max_leaves, algorithm = algorithm.stopping.max_leaves, as_kernels_grow(algorithm)
    weighing = weighing_of(samples, is_counting=algorithm.missing is not MissingStrategy.SURROGATE)
    columns = columns_of(samples, algorithm, weighing, part_of(watch, 0.0, CODING))
    objective = objective_of(algorithm, samples)
    progress, whole = np.zeros((threads, 3)), float(samples.weights.sum())
    with ThreadPoolExecutor(1) as pool:  # kernels release the GIL: this thread reports progress
        growing = pool.submit(grown, samples, algorithm, objective, columns, weighing, seed, draw, threads, progress)
        try:
            while not wait([growing], POLL_SECONDS).done:
                done = min(1.0, float(progress[:, DONE].sum()) / whole)
                watch(CODING + SORTING * float(progress[0, SORTED]) + (1 - CODING - SORTING) * done)
        except BaseException:
            progress[:, STOP] = 1.0
            raise
    tree = assembled(samples, algorithm, objective, columns, *growing.result(), watch=watch)
    watch(1.0)
    return tree if max_leaves is None else best_first(tree, max_leaves, objective.tolerance)


def grown(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    weighing: Weighing,
    seed: int,
    draw: ColumnDraw | None,
    threads: int,
    progress: FloatArray,
) -> tuple[Any, ...]:
    """Prepare the samples and grow all nodes with `grown_nodes`; `progress` has a row for each thread."""
    problem = problem_of(samples, algorithm, columns, weighing, threads, progress[0])
    rules = rules_of(samples, algorithm, objective, columns, weighing, seed, draw)
    # With missing values one thread grows all: others would need the weights of copies, saved for each node.
    n_growing = 1 if weighing.has_missing else threads
    works = [work_for(samples, algorithm, columns, weighing) for _ in range(n_growing)]
    return grown_nodes(problem, rules, works, progress[:n_growing])


def as_kernels_grow(algorithm: Algorithm) -> Algorithm:
    """The algorithm in options that the kernels know: a leaf limit becomes a depth limit, `release8` plain limits.

    The caller reduces the tree to the leaf limit with `best_first`.
    """
    if algorithm.stopping.max_leaves is not None:
        algorithm = without_leaf_limit(algorithm, algorithm.stopping.max_leaves)
    return in_release8(algorithm) if algorithm.dialect is Dialect.RELEASE8 else algorithm


def without_leaf_limit(algorithm: Algorithm, max_leaves: int) -> Algorithm:
    """The algorithm that grows every node which a tree of at most `max_leaves` leaves may have."""
    stopping = algorithm.stopping
    depth = deepest_needed(max_leaves, stopping.max_depth)
    return replace(algorithm, stopping=replace(stopping, max_leaves=None, max_depth=depth))


def in_release8(algorithm: Algorithm) -> Algorithm:
    """The algorithm with the options that `release8` has, its tolerance taking the place of TIE in the limits."""
    stopping = algorithm.stopping
    m, tolerance = stopping.min_samples_leaf, TOLERANCE - TIE
    min_split = max(stopping.min_samples_split, 2 * m - tolerance)
    return replace(
        algorithm,
        categorical=Categorical.MULTIWAY,
        numeric=Numeric(),
        attribute_costs=None,
        stopping=replace(stopping, min_samples_leaf=m - tolerance, min_samples_split=min_split),
    )
