"""The best split of a node: the best one of every attribute, then the best of these by the criterion."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.randomness import FOR_CUTS, key_of
from core.arithmetic.sums import in_row_order, sums_by, weights_by
from core.arithmetic.ties import TIE, first_within_tie
from core.config.options import (
    Algorithm,
    Categorical,
    CriterionKind,
    GainFilter,
    Numeric,
    NumericCorrection,
    NumericKind,
    Nunez,
    TanSchlimmer,
)
from core.criteria.cost_gain import nunez, tan_schlimmer
from core.criteria.gain import above_average, better_half, corrected_gain, gain_ratio, intrinsic_value
from core.criteria.impurity import entropy, error_rate, gini, squared_error
from core.criteria.objective import Objective
from core.criteria.significance import Significance
from core.growth.samples import Samples
from core.splits.candidates import (
    Choose,
    at_random,
    equal_frequency,
    equal_width,
    every_midpoint,
    found_before,
    midpoints_at_changes,
)
from core.splits.categorical import best_one_vs_rest, best_two_groups, multiway_is_valid, sums_of_others
from core.splits.numeric import Cut, best_cut, best_cuts
from core.splits.rare_categories import search_with_rare_as_one
from core.splits.split import Split, SplitKind
from core.tables.table import Column, is_missing
from core.tables.target import Target, Task

MOST_CELLS = 1_000_000  # rows x columns x sums of a row, in columns that are searched together

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

    `branch_weights` are the known weights that go each way, `known` is rho, and `n_thresholds` is how many thresholds
    were tried. Where attributes are compared by tests, gain and score are NaN; `significance` is the result of the
    attribute's test, `adjusted_p_value` its p adjusted for the number of tests, and `levene` QUEST's second test, of
    attributes with an order. CHAID compares by `log10_adjusted_p`, and its `groups` are codes of `Samples.categories`
    that occur in the node.
    """

    split: Split
    gain: float
    score: float
    known: float
    branch_weights: FloatArray
    n_thresholds: int | None
    significance: Significance | None = None
    adjusted_p_value: float | None = None
    levene: Significance | None = None
    log10_adjusted_p: float = 0.0
    groups: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True)
class NodeSamples:
    """A node's rows with their weights in the node, in row order, and the weighted statistics of their targets.

    `statistics` computes these when they are first needed. `key` names the node's random draws; `undrawn` columns are
    not searched. `tick` is called before each column is searched, since that takes long for many rows; an exception
    from it ends the search.
    """

    rows: RowArray
    weights: FloatArray
    statistics: Callable[[], FloatArray]
    key: int = 0
    tick: Callable[[], None] = lambda: None
    undrawn: frozenset[int] = frozenset()

    @property
    def sums(self) -> FloatArray:
        """`[row, :]`: each row's statistics, which add up to class weights, or to moments."""
        return self.statistics()


def node_samples(
    samples: Samples, rows: RowArray, weights: FloatArray, *, key: int = 0, tick: Callable[[], None] = lambda: None
) -> NodeSamples:
    """The samples of a node, ready to be summed."""
    return NodeSamples(rows, weights, cache(partial(samples.target.statistics, rows, weights)), key, tick)


def objective_of(algorithm: Algorithm, samples: Samples) -> Objective:
    """What the algorithm maximises on these samples."""
    return objective_for(algorithm, samples.target, samples.weights)


def objective_for(algorithm: Algorithm, target: Target, weights: FloatArray) -> Objective:
    """What the algorithm maximises on samples with these targets and weights."""
    task, impurity = target.task, IMPURITIES[algorithm.criterion.kind]
    if task is Task.CLASSIFICATION:
        return Objective(task, impurity)
    sums = target.statistics(np.arange(len(weights)), weights)
    return Objective(task, impurity, TIE * float(impurity(sums.sum(axis=0))))


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The best candidate of all attributes; None when no attribute has a valid split."""
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
    """Every attribute that has a valid split, in column order; `spent` ones cannot split this node."""
    found: dict[int, list[Candidate]] = {}
    together, one_by_one = columns_to_search(samples, algorithm, node.undrawn.union(spent))
    n_at_once = max(1, MOST_CELLS // node.sums.size)
    for start in range(0, len(together), n_at_once):
        node.tick()
        found |= threshold_candidates(samples, node, together[start : start + n_at_once], algorithm, objective)
    for column in one_by_one:
        node.tick()
        found[column] = column_candidates(samples, node, column, algorithm, objective)
    return [one for column in sorted(found) for one in found[column]]


def columns_to_search(samples: Samples, algorithm: Algorithm, closed: Collection[int]) -> tuple[list[int], list[int]]:
    """The columns that are searched together, since every midpoint is a candidate, and the others."""
    schema = samples.attributes.schema
    left = [column for column in range(len(schema)) if column not in closed]
    if algorithm.numeric.kind is not NumericKind.EXACT:
        return [], left
    together = [column for column in left if schema[column].has_order]
    return together, [column for column in left if not schema[column].has_order]


def threshold_candidates(
    samples: Samples, node: NodeSamples, columns: list[int], algorithm: Algorithm, objective: Objective
) -> dict[int, list[Candidate]]:
    """`column_candidates` of several columns with an order, at once."""
    cells = [samples.attributes.columns[column][node.rows] for column in columns]
    values = np.stack([np.where(is_missing(each), np.nan, each) for each in cells])
    cuts = best_cuts(values, node.sums, node.weights, objective, min_weight=algorithm.stopping.min_samples_leaf)
    positions = [position for position, cut in enumerate(cuts) if cut is not None]
    if not positions:
        return {}
    figured = thresholds_with_figures(
        [columns[position] for position in positions],
        [cut for cut in cuts if cut is not None],
        values[positions],
        node,
        algorithm.criterion.kind,
        objective,
    )
    found: dict[int, list[Candidate]] = {}
    for one, cut in figured:
        column = one.split.column
        final = with_correction_or_cost(one, cut, node, algorithm, samples.attributes.schema[column].name)
        found[column] = [] if final is None else [final]
    return found


def column_candidates(
    samples: Samples, node: NodeSamples, column: int, algorithm: Algorithm, objective: Objective
) -> list[Candidate]:
    """A column's best split; one-hot, each of its categories is an attribute of its own and has one."""
    if algorithm.categorical is Categorical.ONE_HOT and not samples.attributes.schema[column].has_order:
        return one_hot_candidates(samples, node, column, algorithm, objective)
    found = candidate(samples, node, column, algorithm, objective)
    return [] if found is None else [found]


def one_hot_candidates(
    samples: Samples, node: NodeSamples, column: int, algorithm: Algorithm, objective: Objective
) -> list[Candidate]:
    """Each category against the rest, in declared order, where both sides hold enough."""
    attribute, values = samples.attributes.schema[column], samples.attributes.columns[column][node.rows]
    known = ~is_missing(values)
    weights = weights_by(values[known].astype(np.int64), node.weights[known], len(attribute.categories))
    smaller = np.minimum(weights, sums_of_others(weights))
    least, found = algorithm.stopping.min_samples_leaf, []
    for code in np.flatnonzero((smaller > 0) & (smaller >= least - TIE)):
        branch_of = tuple(int(other != code) for other in range(len(weights)))
        split = Split(column, SplitKind.ONE_VS_REST, 2, branch_of=branch_of)
        figured = with_figures(split, values, node, algorithm.criterion.kind, objective, None)
        if figured is not None:
            found.append(with_cost(figured, algorithm, attribute.name))
    return found


def passing_filter(candidates: list[Candidate], gain_filter: GainFilter | None) -> BoolArray:
    """Which candidates the criterion may choose from."""
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
    """The attribute's best split, found on the rows whose value is known; None when it has no valid one."""
    values = samples.attributes.columns[column][node.rows]
    known = ~is_missing(values)
    if not known.any():
        return None
    min_weight, n_thresholds, cut = algorithm.stopping.min_samples_leaf, None, None
    if not samples.attributes.schema[column].has_order:
        n_levels = len(samples.attributes.schema[column].categories)
        codes = values[known].astype(np.int64)
        levels = sums_by(codes, node.sums[known], n_levels)
        level_weights = weights_by(codes, node.weights[known], n_levels)
        found = categorical_split(column, algorithm, levels, level_weights, objective)
    elif algorithm.numeric.makes_intervals:
        found = interval_split(column, values[known], node.weights[known], samples.cuts[column] or (), min_weight)
    else:
        cut = best_cut(
            values[known].astype(np.float64),
            node.sums[known],
            node.weights[known],
            objective,
            min_weight=min_weight,
            choose=way_to_choose(algorithm.numeric, samples, node, column),
        )
        found = None if cut is None else Split(column, SplitKind.THRESHOLD, 2, threshold=cut.threshold)
        n_thresholds = None if cut is None else cut.n_thresholds
    if found is None:
        return None
    figured = with_figures(found, values, node, algorithm.criterion.kind, objective, n_thresholds)
    if figured is None:
        return None
    return with_correction_or_cost(figured, cut, node, algorithm, samples.attributes.schema[column].name)


def with_correction_or_cost(
    candidate: Candidate, cut: Cut | None, node: NodeSamples, algorithm: Algorithm, attribute: str
) -> Candidate | None:
    """The candidate with its threshold's correction, or its attribute's cost, applied; None when no gain is left."""
    if cut is not None and algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8:
        return with_correction(candidate, cut.n_allowed, float(in_row_order(node.weights)))
    return candidate if algorithm.attribute_costs is None else with_cost(candidate, algorithm, attribute)


def with_correction(candidate: Candidate, n_allowed: int, weight: float) -> Candidate | None:
    """A threshold's candidate with its gain corrected for the number of thresholds; None when no gain is left."""
    gain = float(corrected_gain(candidate.gain, n_allowed, weight))
    if gain <= TIE:
        return None
    return replace(candidate, gain=gain, score=gain / float(intrinsic_value(candidate.branch_weights)))


def with_cost(candidate: Candidate, algorithm: Algorithm, attribute: str) -> Candidate:
    """The candidate with its gain weighed against its attribute's cost, if attributes have costs."""
    return replace(candidate, score=score_with_cost(candidate.gain, candidate.score, algorithm, attribute))


def score_with_cost(gain: float, score: float, algorithm: Algorithm, attribute: str) -> float:
    """The value of a gain at its attribute's cost; the score as it is when attributes have no costs."""
    cost = algorithm.cost_of(attribute)
    match algorithm.attribute_costs:
        case TanSchlimmer():
            return tan_schlimmer(gain, cost)
        case Nunez(w=w):
            return nunez(gain, cost, w)
        case None:
            return score


def way_to_choose(numeric: Numeric, samples: Samples, node: NodeSamples, column: int) -> Choose:
    """The function that chooses the thresholds of a column that are tried in a node."""
    match numeric.kind:
        case NumericKind.EXACT:
            return every_midpoint
        case NumericKind.BOUNDARY:
            return midpoints_at_changes
        case NumericKind.QUANTILE:
            return partial(equal_frequency, bins=numeric.bins)
        case NumericKind.UNIFORM:
            return partial(equal_width, bins=numeric.bins)
        case NumericKind.RANDOM:
            return partial(at_random, draws=numeric.draws, key=key_of(key_of(node.key, FOR_CUTS), column))
        case NumericKind.MDLP:
            return partial(found_before, cuts=samples.cuts[column] or ())


def interval_split(
    column: int, values: Column, weights: FloatArray, cuts: tuple[float, ...], min_weight: float
) -> Split | None:
    """One branch for each interval between cuts found before growth; None unless at least two hold enough."""
    split = Split(column, SplitKind.INTERVALS, len(cuts) + 1, cuts=cuts)
    interval_weights = weights_by(split.branches(values), weights, split.n_branches)
    return split if multiway_is_valid(interval_weights, min_weight=min_weight) else None


def categorical_split(
    column: int,
    algorithm: Algorithm,
    levels: FloatArray,
    level_weights: FloatArray,
    objective: Objective,
) -> Split | None:
    """The best split of a categorical attribute: into one branch per category, or into two."""
    min_weight = algorithm.stopping.min_samples_leaf
    if algorithm.categorical is Categorical.MULTIWAY:
        n_levels = len(level_weights)
        valid = multiway_is_valid(level_weights, min_weight=min_weight)
        return Split(column, SplitKind.MULTIWAY, n_levels, branch_of=tuple(range(n_levels))) if valid else None
    kind, search = {
        Categorical.ONE_VS_REST: (SplitKind.ONE_VS_REST, best_one_vs_rest),
        Categorical.TWO_GROUPS: (SplitKind.GROUPS, best_two_groups),
    }[algorithm.categorical]
    mask = search_with_rare_as_one(
        search,
        levels,
        level_weights,
        objective,
        min_weight=min_weight,
        min_category_weight=algorithm.min_category_weight,
    )
    return None if mask is None else Split(column, kind, 2, branch_of=tuple(int(not first) for first in mask))


def with_figures(
    split: Split,
    values: Column,
    node: NodeSamples,
    criterion: CriterionKind,
    objective: Objective,
    n_thresholds: int | None,
) -> Candidate | None:
    """A split with its gain and score, from sums in row order; None when its intrinsic value is 0.

    gain  = rho (H(D~) - sum_v r_v H(D~_v))
    score = gain / IV for the gain ratio, else the gain
    """
    return with_figures_of(split, split.branches(values), node, criterion, objective, n_thresholds)


def with_figures_of(
    split: Split,
    branch: RowArray,
    node: NodeSamples,
    criterion: CriterionKind,
    objective: Objective,
    n_thresholds: int | None,
) -> Candidate | None:
    """`with_figures`, given the branch of each row."""
    known = branch >= 0
    branches = sums_by(branch[known], node.sums[known], split.n_branches)
    branch_weights = weights_by(branch[known], node.weights[known], split.n_branches)
    if intrinsic_value(branch_weights) <= 0:
        return None
    rho = float(in_row_order(branch_weights) / in_row_order(node.weights)) if not known.all() else 1.0
    gain = rho * objective.decrease(branches, branch_weights)
    score = gain_ratio(gain, branch_weights) if criterion is CriterionKind.GAIN_RATIO else gain
    return Candidate(split, float(gain), float(score), rho, branch_weights, n_thresholds)


def thresholds_with_figures(
    columns: list[int],
    cuts: list[Cut],
    values: FloatArray,
    node: NodeSamples,
    criterion: CriterionKind,
    objective: Objective,
) -> Iterator[tuple[Candidate, Cut]]:
    """`with_figures` of thresholds, each in a column of its own; those whose intrinsic value is 0 are left out."""
    n, known = len(cuts), ~np.isnan(values)
    thresholds = np.array([cut.threshold for cut in cuts])
    side = 2 * np.arange(n)[:, None] + (values > thresholds[:, None])
    column, row = np.nonzero(known)
    branches = sums_by(side[column, row], node.sums[row], 2 * n).reshape(n, 2, -1)
    branch_weights = weights_by(side[column, row], node.weights[row], 2 * n).reshape(n, 2)
    rho = np.where(known.all(axis=1), 1.0, in_row_order(branch_weights.T) / in_row_order(node.weights))
    gains = rho * objective.decrease(branches, branch_weights)
    information = intrinsic_value(branch_weights)
    for position in np.flatnonzero(information > 0):
        gain = float(gains[position])
        score = gain / float(information[position]) if criterion is CriterionKind.GAIN_RATIO else gain
        split = Split(columns[position], SplitKind.THRESHOLD, 2, threshold=cuts[position].threshold)
        yield (
            Candidate(split, gain, score, float(rho[position]), branch_weights[position], cuts[position].n_thresholds),
            cuts[position],
        )
