"""The best split of a node: every attribute's own best, then the best of them by the criterion."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from core.config import Algorithm, Categorical, CriterionKind, GainFilter, NumericKind
from core.criteria.gain import above_average, better_half, gain_ratio, intrinsic_value
from core.criteria.impurity import entropy, error_rate, gini, squared_error
from core.criteria.objective import Objective
from core.growth.samples import Samples
from core.splits.categorical import best_one_vs_rest, best_two_groups, multiway_is_valid
from core.splits.numeric import best_cut
from core.splits.split import Split, SplitKind
from core.sums import sums_by, weights_by
from core.table import BoolArray, Column, FloatArray, RowArray, is_missing
from core.target import Task
from core.ties import TIE, first_within_tie

IMPURITIES = {
    CriterionKind.INFORMATION_GAIN: entropy,
    CriterionKind.GAIN_RATIO: entropy,
    CriterionKind.GINI: gini,
    CriterionKind.ERROR_RATE: error_rate,
    CriterionKind.SQUARED_ERROR: squared_error,
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """An attribute's best split with its figures.

    `branch_weights` are the known weights that go each way, `known` is rho, `n_thresholds` how many were tried.
    """

    split: Split
    gain: float
    score: float
    known: float
    branch_weights: FloatArray
    n_thresholds: int | None


@dataclass(frozen=True)
class NodeSamples:
    """A node's rows with their weights here, in row order, and the weighted statistics of their targets."""

    rows: RowArray
    weights: FloatArray
    sums: FloatArray


def node_samples(samples: Samples, rows: RowArray, weights: FloatArray) -> NodeSamples:
    """The samples of a node, ready to be summed."""
    return NodeSamples(rows, weights, samples.target.statistics(rows, weights))


def objective_of(algorithm: Algorithm, samples: Samples) -> Objective:
    """What the algorithm maximises on these samples."""
    task, impurity = samples.target.task, IMPURITIES[algorithm.criterion.kind]
    if task is Task.CLASSIFICATION:
        return Objective(task, impurity)
    root = node_samples(samples, samples.rows, samples.weights)
    return Objective(task, impurity, TIE * float(impurity(root.sums.sum(axis=0))))


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The winner among all attributes; None when no attribute has a valid split."""
    candidates = all_candidates(samples, node, algorithm, objective, spent)
    if not candidates:
        return None
    eligible = passing_filter(candidates, algorithm.criterion.filter)
    scores = np.array([candidate.score for candidate in candidates])
    scores[~eligible] = -np.inf
    return candidates[first_within_tie(scores, objective.tolerance)]


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute that has a valid split, in column order; `spent` ones were used in a multiway split above."""
    found = (
        candidate(samples, node, column, algorithm, objective)
        for column in range(len(samples.attributes.schema))
        if column not in spent
    )
    return [one for one in found if one is not None]


def passing_filter(candidates: list[Candidate], gain_filter: GainFilter | None) -> BoolArray:
    """Among which candidates the criterion may choose."""
    gains = np.array([candidate.gain for candidate in candidates])
    match gain_filter:
        case GainFilter.ABOVE_AVERAGE:
            return above_average(gains)
        case GainFilter.BETTER_HALF:
            return better_half(gains)
        case _:
            return np.ones(len(gains), dtype=np.bool_)


def candidate(
    samples: Samples, node: NodeSamples, column: int, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The attribute's best split, found on the rows whose value is known; None when there is no valid one."""
    values = samples.attributes.columns[column][node.rows]
    known = ~is_missing(values)
    if not known.any():
        return None
    min_weight, n_thresholds = algorithm.stopping.min_samples_leaf, None
    if samples.attributes.schema[column].has_order:
        cut = best_cut(
            values[known].astype(np.float64),
            node.sums[known],
            node.weights[known],
            objective,
            min_weight=min_weight,
            only_class_changes=algorithm.numeric.kind is NumericKind.BOUNDARY,
        )
        if cut is None:
            return None
        split, n_thresholds = Split(column, SplitKind.THRESHOLD, 2, threshold=cut.threshold), cut.n_thresholds
    else:
        n_levels = len(samples.attributes.schema[column].categories)
        codes = values[known].astype(np.int64)
        levels = sums_by(codes, node.sums[known], n_levels)
        level_weights = weights_by(codes, node.weights[known], n_levels)
        found = categorical_split(column, algorithm.categorical, levels, level_weights, objective, min_weight)
        if found is None:
            return None
        split = found
    return with_figures(split, values, node, algorithm.criterion.kind, objective, n_thresholds)


def categorical_split(
    column: int,
    how: Categorical,
    levels: FloatArray,
    level_weights: FloatArray,
    objective: Objective,
    min_weight: float,
) -> Split | None:
    """The best split of a categorical attribute in the given way."""
    if how is Categorical.MULTIWAY:
        n_levels = len(level_weights)
        valid = multiway_is_valid(level_weights, min_weight=min_weight)
        return Split(column, SplitKind.MULTIWAY, n_levels, branch_of=tuple(range(n_levels))) if valid else None
    kind, search = {
        Categorical.ONE_VS_REST: (SplitKind.ONE_VS_REST, best_one_vs_rest),
        Categorical.TWO_GROUPS: (SplitKind.GROUPS, best_two_groups),
    }[how]
    mask = search(levels, level_weights, objective, min_weight=min_weight)
    return None if mask is None else Split(column, kind, 2, branch_of=tuple(int(not first) for first in mask))


def with_figures(
    split: Split,
    values: Column,
    node: NodeSamples,
    criterion: CriterionKind,
    objective: Objective,
    n_thresholds: int | None,
) -> Candidate | None:
    """A split's gain and score, its sums taken in row order; None when its intrinsic value is 0.

    gain  = rho (H(D~) - sum_v r_v H(D~_v))
    score = gain / IV for the gain ratio, else the gain
    """
    branch = split.branches(values)
    known = branch >= 0
    branches = sums_by(branch[known], node.sums[known], split.n_branches)
    branch_weights = weights_by(branch[known], node.weights[known], split.n_branches)
    if intrinsic_value(branch_weights) <= 0:
        return None
    rho = float(branch_weights.sum() / node.weights.sum()) if not known.all() else 1.0
    gain = rho * objective.decrease(branches, branch_weights)
    score = gain_ratio(gain, branch_weights) if criterion is CriterionKind.GAIN_RATIO else gain
    return Candidate(split, float(gain), float(score), rho, branch_weights, n_thresholds)
