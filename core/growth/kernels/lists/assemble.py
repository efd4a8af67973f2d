"""Building the tree from the kernels' nodes.

Thresholds and figures are computed by the definition's formulas, so that both engines store the same bytes.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import in_row_order
from core.config.options import Algorithm, CriterionKind, Dialect, MissingStrategy, NumericCorrection
from core.criteria.gain import corrected_gain, gain_ratio
from core.criteria.objective import Objective
from core.growth.best_split import score_with_cost
from core.growth.kernels.inputs.coding import as_numbers, number_columns
from core.growth.kernels.inputs.columns import Column, n_sums_of
from core.growth.kernels.lists.grow import depth_first
from core.growth.kernels.lists.rules import criterion_of, has_small
from core.growth.kernels.lists.surrogates import NOWHERE
from core.growth.kernels.node import state as kernels
from core.growth.kernels.node.finished import finished_tree
from core.growth.release8 import gain_and_ratio
from core.growth.samples import Samples
from core.missing.surrogates import Surrogate
from core.splits.candidates import midpoints
from core.splits.split import Split, SplitKind
from core.tables.progress import Watch, ignore_progress
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS, Tree

NODES_AT_ONCE = 1_000  # between two calls of the watch


def assembled(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    links: Any,
    figures: FloatArray,
    sums: FloatArray,
    levels: NDArray[np.uint16],
    *,
    watch: Watch = ignore_progress,
) -> Tree:
    """Build the tree: number the kernels' nodes depth first, and compute thresholds and figures as the definition does.

    While this takes long, `watch` is called repeatedly with 1.0, since growth has ended; it may raise.
    """
    if has_small(samples, algorithm, columns):
        nodes, numbers = (links, figures, sums, levels), number_columns(samples)
        return finished_tree(samples, numbers, objective, criterion_of(algorithm), nodes)
    sizes, order = depth_first(links)
    links, figures = links[order], figures[order]  # node i of the tree is the kernels' node order[i]
    is_inner = links[:, kernels.SLOT] >= 0
    first_slots = np.array([column.slot for column in columns])
    column = np.where(is_inner, np.searchsorted(first_slots, links[:, kernels.SLOT], side="right") - 1, LEAF)
    kind, more = kinds_of(column, columns), after_branches(samples, links, sums)
    gain, score, share = split_figures(
        samples, algorithm, objective, column, kind, links, figures[:, 0], sums, more, order
    )
    values, variances, impurity = node_values(figures, objective)
    branch_start, branch_of = branches_of(columns, column, links, levels)
    has_surrogates = algorithm.missing is MissingStrategy.SURROGATE
    surrogates = surrogates_of(samples, links, sums, levels, watch) if has_surrogates else ()
    return Tree(
        task=samples.target.task,
        size=sizes,
        column=column.astype(np.int32),
        kind=kind,
        threshold=thresholds_of(samples, columns, column, links, more[:, kernels.THRESHOLD]),
        branch_start=branch_start,
        branch_of=branch_of,
        share=share,
        weight=figures[:, 0].copy(),
        impurity=impurity,
        gain=gain,
        score=score,
        values=values,
        variances=variances,
        cuts=samples.cuts,
        surrogates=surrogates,
    )


def surrogates_of(
    samples: Samples, links: Any, sums: FloatArray, levels: NDArray[np.uint16], watch: Watch
) -> tuple[tuple[Surrogate, ...], ...]:
    """The surrogates of every node, read from what the kernels stored in `sums` and `levels`."""
    found: list[tuple[Surrogate, ...]] = [()] * len(links)
    inner = np.flatnonzero(links[:, kernels.SLOT] >= 0)
    first_levels, begins = links[inner, kernels.LEVELS], end_of_branches(samples, links[inner]) + kernels.N_MORE
    for position, (node, begin) in enumerate(zip(inner.tolist(), begins.tolist(), strict=True)):
        if position % NODES_AT_ONCE == 0:
            watch(1.0)
        end = begin + 1 + int(sums[begin]) * kernels.N_OF_SURROGATE
        told = sums[begin + 1 : end].reshape(-1, kernels.N_OF_SURROGATE).tolist()
        found[node] = tuple(surrogate_of(samples, each, levels, int(first_levels[position])) for each in told)
    return tuple(found)


def surrogate_of(samples: Samples, told: list[float], levels: NDArray[np.uint16], first_level: int) -> Surrogate:
    """The surrogate with the fields `told`; the branches by code of its node begin at `levels[first_level]`."""
    column, agreement, branches_at = int(told[kernels.SURROGATE]), told[kernels.AGREEMENT], told[kernels.BRANCHES_AT]
    if branches_at < 0:
        split = Split(column, SplitKind.THRESHOLD, 2, threshold=told[kernels.SURROGATE_THRESHOLD])
        return Surrogate(split, bool(told[kernels.IS_REVERSED]), agreement)
    begin, n_levels = first_level + int(branches_at), len(samples.attributes.schema[column].categories)
    branch_of = tuple(-1 if branch == NOWHERE else branch for branch in levels[begin : begin + n_levels].tolist())
    return Surrogate(Split(column, SplitKind.GROUPS, 2, branch_of=branch_of), is_reversed=False, agreement=agreement)


def split_figures(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    column: RowArray,
    kind: NDArray[np.int8],
    links: Any,
    weights: FloatArray,
    sums: FloatArray,
    more: FloatArray,
    order: RowArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gain and score of every split as in the definition, NaN in leaves, and the share of every node."""
    gain, score, share = np.full(len(links), np.nan), np.full(len(links), np.nan), np.ones(len(links))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    first_child = np.full(len(links), -1)  # in the kernels' numbering, where a node's children are adjacent
    is_first = (links[:, kernels.BRANCH] == 0) & (links[:, kernels.PARENT] >= 0)
    first_child[number[links[is_first, kernels.PARENT]]] = order[is_first]
    width = n_sums_of(samples)
    n_branches = np.where(column >= 0, links[:, kernels.N_BRANCHES], 0)
    is_corrected = algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8
    is_paying = is_corrected & (kind == SPLIT_KINDS.index(SplitKind.THRESHOLD))
    for n in np.unique(n_branches[n_branches > 0]):
        nodes = np.flatnonzero(n_branches == n)
        here = sums[links[nodes, kernels.SUMS][:, None] + np.arange(n * (1 + width))]
        branch_weights, branches = here[:, :n], here[:, n:].reshape(len(nodes), n, width)
        known = in_row_order(branch_weights.T)
        n_paid_for = np.where(is_paying[nodes], more[nodes, kernels.N_ALLOWED], 1.0)
        if algorithm.dialect is Dialect.RELEASE8:
            parts = np.column_stack([branch_weights, more[nodes, kernels.MISSING]])
            gain[nodes], score[nodes] = gain_and_ratio(branches, parts, objective, n_paid_for)
        else:
            rho = np.where(links[nodes, kernels.IS_COMPLETE].astype(bool), 1.0, known / weights[nodes])
            gain[nodes] = corrected_gain(rho * objective.decrease(branches, branch_weights), n_paid_for, weights[nodes])
            is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
            score[nodes] = gain_ratio(gain[nodes], branch_weights) if is_ratio else gain[nodes]
        children = first_child[nodes][:, None] + np.arange(n)
        share[number[children]] = branch_weights / known[:, None]
    if algorithm.attribute_costs is not None:
        for node in np.flatnonzero(column >= 0):
            name = samples.attributes.schema[int(column[node])].name
            score[node] = score_with_cost(float(gain[node]), float(score[node]), algorithm, name)
    return gain, score, share


def after_branches(samples: Samples, links: Any, sums: FloatArray) -> FloatArray:
    """`[node, :]`: the `N_MORE` fields that follow the branch figures of a split; NaN in leaves."""
    more, is_inner = np.full((len(links), kernels.N_MORE), np.nan), links[:, kernels.SLOT] >= 0
    more[is_inner] = sums[end_of_branches(samples, links[is_inner])[:, None] + np.arange(kernels.N_MORE)]
    return more


def end_of_branches(samples: Samples, links: Any) -> RowArray:
    """For nodes that are split, the index in `sums` after their branch figures."""
    ends: RowArray = links[:, kernels.SUMS] + links[:, kernels.N_BRANCHES] * (1 + n_sums_of(samples))
    return ends


def node_values(figures: FloatArray, objective: Objective) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Class weights, or means and variances, and the impurity of every node; all 0 in a node without rows."""
    weight = figures[:, :1]
    if objective.task is Task.CLASSIFICATION:
        values = figures[:, 1:].copy()
        return values, np.empty((len(figures), 0)), np.where(weight[:, 0] > 0, objective.impurity(values), 0.0)
    centre, moment, square, around = np.split(figures[:, 1:], 4, axis=1)
    divisor = np.where(weight > 0, weight, 1.0)
    return (
        centre + moment / divisor,
        around / divisor,
        np.where(weight[:, 0] > 0, objective.impurity(np.hstack([weight, moment, square])), 0.0),
    )


def kinds_of(column: RowArray, columns: list[Column]) -> NDArray[np.int8]:
    """The kind of every node's split as an index into SPLIT_KINDS; `LEAF` in a leaf."""
    by_column = [
        SPLIT_KINDS.index(SplitKind.THRESHOLD if each.coding is None else each.coding.kind) for each in columns
    ]
    return np.array([*by_column, LEAF], dtype=np.int8)[column]


def branches_of(
    columns: list[Column], column: RowArray, links: Any, levels: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """For splits by categories: where each node's branches start, and the branch of each declared category."""
    by_categories = (SplitKind.MULTIWAY, SplitKind.GROUPS, SplitKind.ONE_VS_REST)
    codings = [each.coding if each.coding and each.coding.kind in by_categories else None for each in columns]
    n_branches = np.array([*(coding.n_levels if coding else 0 for coding in codings), 0])[column]
    branch_start = np.concatenate([[0], np.cumsum(n_branches)])
    branch_of = np.empty(branch_start[-1], dtype=np.int32)
    for number, coding in enumerate(codings):
        if coding is not None:
            here, each_level = np.flatnonzero(column == number)[:, None], np.arange(coding.n_levels)
            is_multiway = coding.kind is SplitKind.MULTIWAY
            chosen = each_level if is_multiway else levels[links[here, kernels.LEVELS] + each_level]
            branch_of[branch_start[here] + each_level] = chosen
    return branch_start, branch_of


def thresholds_of(
    samples: Samples, columns: list[Column], column: RowArray, links: Any, given: FloatArray
) -> FloatArray:
    """The threshold of each cut: the one given, else computed from the rows or codes on both sides; NaN for no cut."""
    thresholds = np.full(len(column), np.nan)
    for number, each in enumerate(columns):
        if each.coding is not None and each.coding.kind is not SplitKind.THRESHOLD:
            continue
        here = np.flatnonzero(column == number)
        low, high = links[here, kernels.LOW], links[here, kernels.HIGH]
        if each.coding is None:
            values = as_numbers(samples, number)
            thresholds[here] = np.where(np.isnan(given[here]), midpoints(values[low], values[high]), given[here])
        else:
            is_coded = links[here, kernels.IS_CODED].astype(bool)
            low = np.where(is_coded, low, each.coding.codes[np.where(is_coded, 0, low)])
            high = np.where(is_coded, high, each.coding.codes[np.where(is_coded, 0, high)])
            thresholds[here] = each.coding.thresholds(low, high)
    return thresholds
