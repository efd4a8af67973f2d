"""The best split of a column's categories.

`levels[v]` are the sums of the samples of category v, `level_weights[v]` their weight; a category without weight is not
in the node. A binary split is a mask over the categories: True goes to the first branch.

Weights that are compared with a limit, and numbers that categories are sorted by, are added up in the order of the
categories, so that the definition and the kernels get the same bits.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.logarithms import log2_each
from core.arithmetic.sums import in_row_order, matrix_product
from core.arithmetic.ties import TIE, first_within_tie
from core.criteria.impurity import Impurity, entropy, error_rate, gini, squared_error
from core.criteria.objective import Objective
from core.splits.numeric import both_sides
from core.tables.target import Task

EXHAUSTIVE_LEVELS = 12
POWER_STEPS = 16
LEAST_SHARE = 1e-6  # a class's share counts as at least this where its logarithm is taken


def multiway_is_valid(level_weights: FloatArray, *, min_weight: float) -> bool:
    """Whether at least two branches of a multiway split hold at least `min_weight`."""
    return int(np.count_nonzero((level_weights > 0) & (level_weights >= min_weight - TIE))) >= 2


def best_one_vs_rest(
    levels: FloatArray, level_weights: FloatArray, objective: Objective, *, min_weight: float
) -> BoolArray | None:
    """The category that is best split off from all others, on a tie the earlier declared; None if no split is valid."""
    present = np.flatnonzero(level_weights > 0)
    alone, weights = levels[present], level_weights[present]
    sides = np.stack([alone, sums_of_others(alone)], axis=1)
    side_weights = np.stack([weights, sums_of_others(weights)], axis=1)
    best = best_of_splits(sides, side_weights, objective, min_weight)
    return None if best is None else np.arange(len(level_weights)) == present[best]


def best_two_groups(
    levels: FloatArray, level_weights: FloatArray, objective: Objective, *, min_weight: float
) -> BoolArray | None:
    """The two groups of categories of largest gain; the earliest category in the node is in the first.

    With two classes, or one number to predict, the best grouping is a cut of the categories sorted by their share or
    mean (Breiman et al. 1984, theorem 4.5; Fisher 1958), as long as no size limit excludes a cut. Otherwise all
    groupings of up to 12 categories are tried; beyond that, a search starts from several orders. Categories without
    samples in the node join the heavier group.
    """
    present = np.flatnonzero(level_weights > 0)
    if len(present) < 2:
        return None
    seen, seen_weights = levels[present], level_weights[present]
    directions = splitting_directions(seen, seen_weights, objective.task)
    order = ordered(directions[0])
    if len(directions) == 1 and not excludes_any(seen_weights[order], min_weight):
        best = best_prefix(order, seen, seen_weights, objective, min_weight)
    elif len(present) <= EXHAUSTIVE_LEVELS:
        best = best_mask(all_groupings(len(present)), seen, seen_weights, objective, min_weight)
    else:
        masks = searched_groupings(directions, seen, seen_weights, objective, min_weight)
        best = best_mask(masks, seen, seen_weights, objective, min_weight)
    if best is None:
        return None
    best = with_earliest(best)
    first_is_heavier = in_row_order(seen_weights[best]) >= in_row_order(seen_weights[~best]) - TIE
    mask = np.full(len(level_weights), bool(first_is_heavier))
    mask[present] = best
    return mask


def with_earliest(mask: BoolArray) -> BoolArray:
    """The grouping, with its groups exchanged if the earliest category is not in the first."""
    return mask if mask[0] else ~mask


def ordered(direction: FloatArray) -> RowArray:
    """The categories sorted by `direction`, ties in declared order.

    A tie is a run of numbers that are within TIE of the smallest of them.
    """
    order = np.argsort(direction, kind="stable")
    start = 0
    for end in range(1, len(order) + 1):
        if end == len(order) or direction[order[end]] > direction[order[start]] + TIE:
            order[start:end] = np.sort(order[start:end])
            start = end
    return order


def excludes_any(ordered_weights: FloatArray, min_weight: float) -> bool:
    """Whether some cut of the order leaves less than `min_weight` on a side."""
    return bool(min(ordered_weights[0], ordered_weights[-1]) < min_weight - TIE)


def splitting_directions(levels: FloatArray, level_weights: FloatArray, task: Task) -> list[FloatArray]:
    """The numbers to sort the categories by; if there is one array only, the best grouping is a cut of its order.

    Each class's share (or output's mean) is a direction; if there are several, the first principal component of all of
    them comes before them.
    """
    features = features_of(levels, level_weights, task, unit_of(levels, task))
    if task is Task.CLASSIFICATION:
        features = features[:, levels.sum(axis=0) > 0]
        if features.shape[1] <= 2:
            return [features[:, -1]]
    elif features.shape[1] == 1:
        return [features[:, 0]]
    return [principal_component(features, level_weights), *features.T]


def features_of(sums: FloatArray, weights: FloatArray, task: Task, unit: float) -> FloatArray:
    """Each class's share, or each output's mean divided by `unit`, of categories or of groups of them."""
    if task is Task.CLASSIFICATION:
        return sums / weights[:, None]
    return sums[:, 1 : 1 + (sums.shape[1] - 1) // 2] / weights[:, None] / unit


def unit_of(levels: FloatArray, task: Task) -> float:
    """The unit of outputs, about their standard deviation, so that they are comparable with shares; 1 for classes."""
    if task is Task.CLASSIFICATION:
        return 1.0
    moments = in_row_order(levels)
    square = float(in_row_order(moments[1 + (len(moments) - 1) // 2 :]) / moments[0])
    return float(np.sqrt(square)) if square > 0 else 1.0


def principal_component(features: FloatArray, level_weights: FloatArray) -> FloatArray:
    """Each category's coordinate along the direction in which the categories differ most, approximately.

    A fixed number of steps of the power method: where several directions are equally good, the last bits of a table do
    not choose among them.
    """
    weights = level_weights[:, None]
    centred = features - in_row_order(features * weights) / in_row_order(level_weights)
    scatter = np.zeros((features.shape[1], features.shape[1]))
    for position, weight in zip(centred, level_weights, strict=True):
        scatter += np.outer(weight * position, position)
    largest = scatter.diagonal().max()
    if largest == 0:
        return np.zeros(len(features))
    axis = scatter[first_within_tie(scatter.diagonal() / largest)] / largest
    for _ in range(POWER_STEPS):
        axis = in_row_order(scatter * axis[:, None])
        axis = axis / np.abs(axis).max()
    return in_row_order((centred * axis).T)


def best_prefix(
    order: RowArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The best of the groupings that cut an order in two; cumulative sums allow very many categories."""
    cuts = np.arange(len(order) - 1)
    sides = both_sides(levels[order], cuts)
    side_weights = both_sides(level_weights[order][:, None], cuts)[..., 0]
    best = best_of_splits(sides, side_weights, objective, min_weight)
    if best is None:
        return None
    mask = np.zeros(len(order), dtype=np.bool_)
    mask[order[: best + 1]] = True
    return mask


def best_move(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The best of a grouping and all groupings that move one category to the other group; None if none is valid."""
    sides = moved_sums(mask, levels)
    side_weights = moved_sums(mask, level_weights[:, None])[..., 0]
    best = best_of_splits(sides, side_weights, objective, min_weight)
    if best is None or best == 0:
        return None if best is None else mask
    moved = mask.copy()
    moved[best - 1] = ~mask[best - 1]
    return moved


def moved_sums(mask: BoolArray, sums: FloatArray) -> FloatArray:
    """`[move, side, :]`: the sums of both groups; move 0 changes nothing, move i + 1 swaps the group of category i."""
    moved = np.empty((len(mask) + 1, 2, sums.shape[1]))
    for side, group in enumerate((mask, ~mask)):
        moved[0, side] = in_row_order(sums[group])
        moved[1:, side][group] = sums_of_others(sums[group])
        moved[1:, side][~group] = moved[0, side] + sums[~group]
    return moved


def sums_of_others(sums: FloatArray) -> FloatArray:
    """For each entry the sum of all others, added up and never subtracted, so that a sum of nothing is exactly 0."""
    others = np.zeros_like(sums)
    others[1:] += np.cumsum(sums, axis=0)[:-1]
    others[:-1] += np.cumsum(sums[::-1], axis=0)[-2::-1]
    return others


def all_groupings(n_levels: int) -> BoolArray:
    """Every way to make two non-empty groups, the first category always in the first group; in counting order."""
    numbers = np.arange(2 ** (n_levels - 1) - 1)
    others = (numbers[:, None] >> np.arange(n_levels - 1)[None, :]) & 1
    return np.hstack([np.ones((len(numbers), 1), dtype=np.bool_), others.astype(np.bool_)])


def searched_groupings(
    directions: list[FloatArray], levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray:
    """Good groupings where there are too many to try all: the best cut of each order, improved step by step.

    A search ends at a grouping that was found before, and where after a step it is still behind the best.
    """
    found: list[BoolArray] = []
    largest = -np.inf
    for direction in directions:
        start = best_prefix(ordered(direction), levels, level_weights, objective, min_weight)
        mask, n_steps = None if start is None else with_earliest(start), 0
        while mask is not None and not any(np.array_equal(mask, known) for known in found):
            found.append(mask)
            gain = gains_of_masks(mask[None], levels, level_weights, objective, min_weight)[0]
            largest = max(largest, gain)
            is_behind = n_steps > 0 and gain < largest - objective.tolerance
            mask = None if is_behind else improved(mask, levels, level_weights, objective, min_weight)
            n_steps += 1
    return np.array(found, dtype=np.bool_).reshape(-1, len(levels))


def improved(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """A better grouping, if any: a cut of the order that the grouping's gradient suggests, or one category moved."""
    order = ordered(gradient_direction(mask, levels, level_weights, objective))
    for search in (partial(best_prefix, order), partial(best_move, mask)):
        other = search(levels, level_weights, objective, min_weight)
        if other is not None:
            both = np.array([mask, with_earliest(other)])
            gains = gains_of_masks(both, levels, level_weights, objective, min_weight)
            if gains[0] < gains[1] - objective.tolerance:
                return both[1]
    return None


def gradient_direction(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective
) -> FloatArray:
    """How much better each category fits into the second group than into the first, in proportion to its weight.

    The remaining impurity, N_1 H(D_1) + N_2 H(D_2), is concave in the sums of the groups, so at its minimum the
    categories of the two groups are separated by the difference of its gradients there (Chou 1991).
    """
    unit = unit_of(levels, objective.task)
    groups = np.stack([in_row_order(levels[mask]), in_row_order(levels[~mask])])
    weights = np.stack([in_row_order(level_weights[mask]), in_row_order(level_weights[~mask])])
    first, second = map(ATTRACTIONS[objective.impurity], features_of(groups, weights, objective.task, unit))
    features = features_of(levels, level_weights, objective.task, unit)
    return in_row_order((features * (second - first)).T)


def most_frequent(shares: FloatArray) -> FloatArray:
    """1 for the classes of largest share, 0 for the others."""
    return (shares >= shares.max() - TIE).astype(np.float64)


def logarithms(shares: FloatArray) -> FloatArray:
    """log2 of each share, which counts as at least LEAST_SHARE, also of an absent class."""
    return log2_each(np.maximum(shares, LEAST_SHARE))


# How much a group attracts each class, or a unit of each output, by the group's shares or means: the negative gradient
# of the remaining impurity, less what is equal for all categories, and halved where the impurity is a square.
ATTRACTIONS: dict[Impurity, Callable[[FloatArray], FloatArray]] = {
    gini: np.positive,
    entropy: logarithms,
    error_rate: most_frequent,
    squared_error: np.positive,
}


def best_mask(
    masks: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The first grouping within a tie of the largest gain; None if none has enough weight on both sides."""
    best = first_best(gains_of_masks(masks, levels, level_weights, objective, min_weight), objective)
    if best is None:
        return None
    chosen: BoolArray = masks[best]
    return chosen


def gains_of_masks(
    masks: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> FloatArray:
    """The gain of each grouping, -inf where a side has too little weight."""
    sides = np.stack([masks, ~masks], axis=1).astype(np.float64)
    side_weights = in_row_order((sides * level_weights).transpose(2, 0, 1))
    return gains_of_splits(matrix_product(sides, levels), side_weights, objective, min_weight)


def best_of_splits(sides: FloatArray, side_weights: FloatArray, objective: Objective, min_weight: float) -> int | None:
    """The first of the splits `sides[i]` within a tie of the largest gain; None if no split is valid."""
    return first_best(gains_of_splits(sides, side_weights, objective, min_weight), objective)


def first_best(gains: FloatArray, objective: Objective) -> int | None:
    """The first position within a tie of the largest gain; None if no split is valid."""
    return first_within_tie(gains, objective.tolerance) if (gains > -np.inf).any() else None


def gains_of_splits(sides: FloatArray, side_weights: FloatArray, objective: Objective, min_weight: float) -> FloatArray:
    """The gain of each of the splits `sides[i]`, -inf where a side has too little weight."""
    smaller = side_weights.min(axis=1, initial=np.inf)
    allowed = (smaller > 0) & (smaller >= min_weight - TIE)
    gains = np.full(len(sides), -np.inf)
    gains[allowed] = objective.decrease(sides[allowed], side_weights[allowed])
    return gains
