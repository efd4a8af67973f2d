"""The best division of a column's categories.

`levels[v]` are the sums of the samples whose value is v, `level_weights[v]` their weight; a level without weight is
not in the node. A binary division is a mask over the levels: True goes to the first branch.
"""

import numpy as np

from core.criteria.objective import Objective
from core.splits.numeric import both_sides
from core.table import BoolArray, FloatArray, RowArray
from core.target import Task
from core.ties import TIE, first_within_tie

EXHAUSTIVE_LEVELS = 12


def multiway_is_valid(level_weights: FloatArray, *, min_weight: float) -> bool:
    """Whether at least two branches of a multiway split hold enough."""
    return int(np.count_nonzero((level_weights > 0) & (level_weights >= min_weight - TIE))) >= 2


def best_one_vs_rest(
    levels: FloatArray, level_weights: FloatArray, objective: Objective, *, min_weight: float
) -> BoolArray | None:
    """The value that stands best alone against all others; on a tie the earlier declared."""
    present = np.flatnonzero(level_weights > 0)
    alone, weights = levels[present], level_weights[present]
    sides = np.stack([alone, sums_of_others(alone)], axis=1)
    side_weights = np.stack([weights, sums_of_others(weights)], axis=1)
    best = best_division(sides, side_weights, objective, min_weight)
    return None if best is None else np.arange(len(level_weights)) == present[best]


def best_two_groups(
    levels: FloatArray, level_weights: FloatArray, objective: Objective, *, min_weight: float
) -> BoolArray | None:
    """The two groups of values of largest gain; the earliest value in the node is in the first.

    With two classes, or one number to predict, the best grouping is a cut of the levels in the order of their share or
    mean (Breiman et al. 1984, theorem 4.5; Fisher 1958), as long as no size limit excludes one. Otherwise all groupings
    are tried up to 12 levels, and beyond that a search from several orders. Values that no sample of the node has join
    the heavier group.
    """
    present = np.flatnonzero(level_weights > 0)
    if len(present) < 2:
        return None
    seen, seen_weights = levels[present], level_weights[present]
    directions = splitting_directions(seen, seen_weights, objective.task)
    order = np.argsort(directions[0], kind="stable")
    if len(directions) == 1 and not excludes_any(seen_weights[order], min_weight):
        best = best_prefix(order, seen, seen_weights, objective, min_weight)
    elif len(present) <= EXHAUSTIVE_LEVELS:
        best = best_mask(all_groupings(len(present)), seen, seen_weights, objective, min_weight)
    else:
        masks = searched_groupings(directions, seen, seen_weights, objective, min_weight)
        best = best_mask(masks, seen, seen_weights, objective, min_weight)
    if best is None:
        return None
    if not best[0]:
        best = ~best
    first_is_heavier = seen_weights[best].sum() >= seen_weights[~best].sum() - TIE
    mask = np.full(len(level_weights), bool(first_is_heavier))
    mask[present] = best
    return mask


def excludes_any(ordered_weights: FloatArray, min_weight: float) -> bool:
    """Whether some cut of the order leaves too little on a side."""
    return bool(min(ordered_weights[0], ordered_weights[-1]) < min_weight - TIE)


def splitting_directions(levels: FloatArray, level_weights: FloatArray, task: Task) -> list[FloatArray]:
    """Numbers to order the levels by. One alone means that some cut of that order is the best grouping of all.

    Each class's share (or output's mean) is a direction, the first principal component of all of them one more.
    """
    if task is Task.CLASSIFICATION:
        features = levels[:, levels.sum(axis=0) > 0] / level_weights[:, None]
        if features.shape[1] <= 2:
            return [features[:, -1]]
    else:
        features = levels[:, 1 : 1 + (levels.shape[1] - 1) // 2] / level_weights[:, None]
        if features.shape[1] == 1:
            return [features[:, 0]]
    centred = features - (level_weights @ features) / level_weights.sum()
    axis = np.linalg.eigh((centred * level_weights[:, None]).T @ centred)[1][:, -1]
    return [centred @ axis, *features.T]


def best_prefix(
    order: RowArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The best of the groupings that cut an order in two; sums grow level by level, so there may be very many."""
    cuts = np.arange(len(order) - 1)
    sides = both_sides(levels[order], cuts)
    side_weights = both_sides(level_weights[order][:, None], cuts)[..., 0]
    best = best_division(sides, side_weights, objective, min_weight)
    if best is None:
        return None
    mask = np.zeros(len(order), dtype=np.bool_)
    mask[order[: best + 1]] = True
    return mask


def best_move(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The grouping itself, or the best that moves one level to the other group."""
    sides = moved_sums(mask, levels)
    side_weights = moved_sums(mask, level_weights[:, None])[..., 0]
    best = best_division(sides, side_weights, objective, min_weight)
    if best is None or best == 0:
        return None if best is None else mask
    moved = mask.copy()
    moved[best - 1] = ~mask[best - 1]
    return moved


def moved_sums(mask: BoolArray, sums: FloatArray) -> FloatArray:
    """`[move, side, :]`: the sums of both groups as they are (move 0), and with level i in the other group (i + 1)."""
    moved = np.empty((len(mask) + 1, 2, sums.shape[1]))
    for side, group in enumerate((mask, ~mask)):
        moved[0, side] = sums[group].sum(axis=0)
        moved[1:, side][group] = sums_of_others(sums[group])
        moved[1:, side][~group] = moved[0, side] + sums[~group]
    return moved


def sums_of_others(sums: FloatArray) -> FloatArray:
    """For each entry the sum of all the others, added up and never subtracted, so that nothing is exactly 0."""
    others = np.zeros_like(sums)
    others[1:] += np.cumsum(sums, axis=0)[:-1]
    others[:-1] += np.cumsum(sums[::-1], axis=0)[-2::-1]
    return others


def all_groupings(n_levels: int) -> BoolArray:
    """Every way to make two non-empty groups, the first level always in the first group; in counting order."""
    numbers = np.arange(2 ** (n_levels - 1) - 1)
    others = (numbers[:, None] >> np.arange(n_levels - 1)[None, :]) & 1
    return np.hstack([np.ones((len(numbers), 1), dtype=np.bool_), others.astype(np.bool_)])


def searched_groupings(
    directions: list[FloatArray], levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray:
    """Good groupings where there are too many to try: the best cut of each order, made better step by step."""
    found = []
    for direction in directions:
        mask = best_prefix(np.argsort(direction, kind="stable"), levels, level_weights, objective, min_weight)
        while mask is not None:
            found.append(mask)
            better = improved(mask, levels, level_weights, objective, min_weight)
            mask = None if better is None or np.array_equal(better, mask) else better
    return np.array(found, dtype=np.bool_).reshape(-1, len(levels))


def improved(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The grouping itself, the best cut of the order that its own gradient suggests, or one level moved."""
    order = np.argsort(gradient_direction(mask, levels, level_weights, objective), kind="stable")
    cut = best_prefix(order, levels, level_weights, objective, min_weight)
    moved = best_move(mask, levels, level_weights, objective, min_weight)
    known = [one for one in (mask, cut, moved) if one is not None]
    return best_mask(np.array(known), levels, level_weights, objective, min_weight)


def gradient_direction(
    mask: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective
) -> FloatArray:
    """How much rather each level, by its weight, would be in the second group.

    The impurity left, N_1 H(D_1) + N_2 H(D_2), is concave in the sums of the groups, so at its minimum the levels of
    the two groups are separated by the difference of its gradients there (Chou 1991).
    """
    gradients = []
    for group in (mask, ~mask):
        sums, weight = levels[group].sum(axis=0), level_weights[group].sum()
        step = 1e-6 * weight
        nudged = sums + step * np.eye(len(sums))
        grown = weight + step if objective.task is Task.CLASSIFICATION else nudged[:, 0]
        gradients.append((grown * objective.impurity(nudged) - weight * objective.impurity(sums)) / step)
    return levels @ (gradients[0] - gradients[1]) / level_weights


def best_mask(
    masks: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The first grouping within a tie of the largest gain, among those with enough weight on both sides."""
    sides = np.stack([masks, ~masks], axis=1).astype(np.float64)
    best = best_division(sides @ levels, sides @ level_weights, objective, min_weight)
    if best is None:
        return None
    chosen: BoolArray = masks[best]
    return chosen


def best_division(sides: FloatArray, side_weights: FloatArray, objective: Objective, min_weight: float) -> int | None:
    """The first of the divisions `sides[i]` within a tie of the largest gain, if any has enough on both sides."""
    smaller = side_weights.min(axis=1, initial=np.inf)
    allowed = np.flatnonzero((smaller > 0) & (smaller >= min_weight - TIE))
    if len(allowed) == 0:
        return None
    gains = objective.decrease(sides[allowed], side_weights[allowed])
    return int(allowed[first_within_tie(gains, objective.tolerance)])
