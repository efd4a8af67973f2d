"""Growing many trees by kernels, on samples of the same rows: columns are coded and sorted once for all of them.

One tree is one task, grown from start to end by one thread in that thread's scratch buffers. What trees share is only
read: each copies its rows' entries from the sorted lists, in one pass that keeps their order.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.compiler.growing_arrays import list_capacity
from core.config.options import Algorithm, MissingStrategy
from core.criteria.objective import Objective
from core.growth.best_first import best_first
from core.growth.best_split import IMPURITIES, objective_for
from core.growth.kernels.forest.sample import take_lists
from core.growth.kernels.inputs.coding import NumberColumns, number_columns
from core.growth.kernels.inputs.columns import Column, Weighing, columns_of, weighing_of
from core.growth.kernels.lists.assemble import assembled
from core.growth.kernels.lists.grow import DONE, STOP, grow_piece, root_piece
from core.growth.kernels.lists.grow_fast import CODING, POLL_SECONDS, SORTING, as_kernels_grow
from core.growth.kernels.lists.problem import SORTED, problem_of
from core.growth.kernels.lists.rules import has_small, rules_of
from core.growth.kernels.lists.scratch import work_for
from core.growth.kernels.lists.threads import GrowthEnded, Pool
from core.growth.kernels.node.finished import finished_nodes
from core.growth.kernels.node.kept import NodeBuffers, node_buffers
from core.growth.kernels.ranks.trees import (
    RankedScratch,
    RankedTable,
    grow_by_ranks,
    is_ranked,
    ranked_table,
    tolerance_of,
)
from core.growth.samples import Samples
from core.growth.tree_sample import TreeSample
from core.tables.progress import Watch, ignore_progress, part_of
from core.tree.finished_nodes import FinishedNodes
from core.tree.tree import Tree


@dataclass(frozen=True)
class Shared:
    """What all trees share: the samples in the form that kernels take; `problem` has the lists of all rows.

    `numbers` are the columns if a kernel can finish the nodes, else None. `ranked` is None unless trees are grown by
    ranks.
    """

    samples: Samples
    algorithm: Algorithm
    max_leaves: int | None
    columns: list[Column]
    weighing: Weighing
    problem: Any
    numbers: NumberColumns | None
    ranked: RankedTable | None


class Scratch:
    """The scratch buffers of a thread, reused for tree after tree; `apart` stores the nodes of small subtrees."""

    def __init__(self, work: Any, progress: FloatArray, ranked: RankedScratch) -> None:
        self.work, self.progress, self.ranked = work, progress, ranked
        self.apart: NodeBuffers | None = None


def grow_many(
    samples: Samples,
    algorithm: Algorithm,
    trees: Sequence[int],
    sample_of: Callable[[int], TreeSample],
    keep: Callable[[int, Tree | FinishedNodes], None],
    *,
    has_repeats: bool,
    has_draws: bool,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> None:
    """Grow these trees and pass each to `keep`, in any order and from any thread.

    `engine.compilable.can_grow_by_gains` must hold. `has_repeats` says that rows may weigh several times as much in a
    sample as in `samples`, `has_draws` that nodes draw columns. `watch` is called with the progress several times a
    second, and may raise to end growth.
    """
    max_leaves, algorithm = algorithm.stopping.max_leaves, as_kernels_grow(algorithm)
    is_counting = not has_repeats and algorithm.missing is not MissingStrategy.SURROGATE
    weighing = weighing_of(samples, is_counting=is_counting)
    told_of_columns = part_of(watch, 0.0, CODING / len(trees))
    columns = columns_of(samples, algorithm, weighing, told_of_columns, has_draws=has_draws)
    progress, done = np.zeros((threads, 3)), list[int]()
    scratches = Pool(
        Scratch(
            work_for(samples, algorithm, columns, weighing, has_draws=has_draws),
            progress[thread],
            RankedScratch(samples),
        )
        for thread in range(threads)
    )

    def share() -> Shared:
        problem = problem_of(samples, algorithm, columns, weighing, threads, progress[0])
        is_finished_here = max_leaves is None and has_small(samples, algorithm, columns)
        numbers = number_columns(samples) if is_finished_here else None
        ranked = None
        if numbers is not None and has_draws and is_ranked(samples, weighing):
            ranked = ranked_table(samples, numbers, problem)
        return Shared(samples, algorithm, max_leaves, columns, weighing, problem, numbers, ranked)

    def grow(tree: int, shared: Shared) -> None:
        with scratches.one() as scratch:
            scratch.progress[DONE] = 0.0
            keep(tree, grow_sample(shared, sample_of(tree), scratch))
            done.append(tree)

    def told() -> float:
        """The progress from 0 to 1; coding and sorting count as a part of one tree."""
        growing = float(progress[:, DONE].sum()) / float(samples.weights.sum())
        sorting = SORTING * float(progress[0, SORTED])
        return min(1.0, (CODING + sorting + (1 - CODING - SORTING) * min(len(done) + growing, len(trees))) / len(trees))

    with ThreadPoolExecutor(threads) as pool:  # kernels release the GIL, so this thread can report progress
        try:
            sharing = pool.submit(share)
            while not wait([sharing], POLL_SECONDS).done:
                watch(told())
            growing = [pool.submit(grow, tree, sharing.result()) for tree in trees]
            while wait(growing, POLL_SECONDS).not_done:
                watch(told())
        except BaseException:
            progress[:, STOP] = 1.0
            pool.shutdown(cancel_futures=True)
            raise
    for each in growing:
        each.result()
    watch(1.0)


def grow_sample(shared: Shared, sample: TreeSample, scratch: Scratch) -> Tree | FinishedNodes:
    """Grow the tree of some of the rows, or its finished nodes; rows keep their numbers in `shared.samples`."""
    samples, algorithm, numbers = shared.samples, shared.algorithm, shared.numbers
    objective = objective_of(shared, sample)
    keeps_small = numbers is not None and sample.draw is not None
    rules = rules_of(
        samples,
        algorithm,
        objective,
        shared.columns,
        shared.weighing,
        sample.seed,
        sample.draw,
        keeps_small=keeps_small,
    )
    if shared.ranked is not None:
        return grow_by_ranks(shared.ranked, sample, rules, scratch.ranked, scratch.progress)
    problem = problem_of_rows(shared, sample)
    root, figures = root_piece(problem, rules, scratch.work)
    apart = scratch.apart or node_buffers(2 * len(samples) if keeps_small else 0, len(figures))
    *nodes, _, splits, results, _ = grow_piece(problem, rules, scratch.work, root, figures, 0, scratch.progress, *apart)
    scratch.apart = splits, results
    del problem  # its lists take a third of all memory and are no longer needed
    if scratch.progress[STOP]:
        raise GrowthEnded
    if numbers is not None:
        return finished_nodes(samples, numbers, rules[0], nodes, scratch.apart)
    tree = assembled(samples, algorithm, objective, shared.columns, *nodes)
    return tree if shared.max_leaves is None else best_first(tree, shared.max_leaves, objective.tolerance)


def objective_of(shared: Shared, sample: TreeSample) -> Objective:
    """What the tree of a sample maximises."""
    if shared.ranked is None:
        return objective_for(shared.algorithm, shared.samples.target.take(sample.rows), sample.weights)
    impurity = IMPURITIES[shared.algorithm.criterion.kind]
    return Objective(shared.samples.target.task, impurity, tolerance_of(shared.ranked, sample))


def problem_of_rows(shared: Shared, sample: TreeSample) -> tuple[Any, ...]:
    """The fields of the kernels' `Problem` for some of the rows."""
    lists, lengths, _, slots, _, _, classes, numbers, _, missing, has_missing, *coded = shared.problem
    codes, in_codes, bits, in_bits, _, shift, values, _ = coded
    rows, n_rows = sample.rows, len(sample.rows)
    numbering = np.zeros(len(shared.samples), dtype=np.uint32)
    numbering[rows] = np.arange(1, n_rows + 1)
    capacity = list_capacity(n_rows, has_missing)
    # One entry more: entries that are not taken are written too, and then overwritten.
    taken, n_taken = np.empty((len(lists), capacity + 1), dtype=np.uint32), np.zeros(len(lists), dtype=np.int64)
    distinct = np.zeros(len(lists), dtype=np.bool_)
    take_lists(lists, lengths, numbering, shift, taken, n_taken, distinct)
    return (
        taken,
        n_taken,
        distinct,
        slots,
        np.arange(capacity, dtype=np.uint32),
        n_rows,
        classes[rows],
        numbers[rows],
        sample.weights.copy() if has_missing else sample.weights,
        missing[rows],
        has_missing,
        codes[rows],
        in_codes,
        bits[rows],
        in_bits,
        rows.astype(np.uint32),
        shift,
        np.ascontiguousarray(values[:, rows]) if values.size else values,
        np.empty(0),  # no path: a row weighs as often as it was drawn, which its flags cannot tell
    )
