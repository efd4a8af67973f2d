"""The best division of a column's categories.

`levels[v]` are the sums of the samples whose value is v, `level_weights[v]` their weight; a level without weight is
not in the node. A binary division is a mask over the levels: True goes to the first branch.
"""

import numpy as np

from core.criteria.objective import Objective
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
    return best_mask(np.eye(len(level_weights), dtype=np.bool_)[present], levels, level_weights, objective, min_weight)


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
    in_order = prefixes(np.argsort(directions[0], kind="stable"))
    if len(directions) == 1 and not excludes_any(in_order, seen_weights, min_weight):
        masks = in_order
    elif len(present) <= EXHAUSTIVE_LEVELS:
        masks = all_groupings(len(present))
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


def excludes_any(masks: BoolArray, level_weights: FloatArray, min_weight: float) -> bool:
    """Whether some grouping leaves too little on a side."""
    on_first = masks @ level_weights
    return bool((np.minimum(on_first, level_weights.sum() - on_first) < min_weight - TIE).any())


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


def prefixes(order: RowArray) -> BoolArray:
    """`[cut, level]`: the groupings that cut an order in two."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[None, :] <= np.arange(len(order) - 1)[:, None]


def all_groupings(n_levels: int) -> BoolArray:
    """Every way to make two non-empty groups, the first level always in the first group; in counting order."""
    numbers = np.arange(2 ** (n_levels - 1) - 1)
    others = (numbers[:, None] >> np.arange(n_levels - 1)[None, :]) & 1
    return np.hstack([np.ones((len(numbers), 1), dtype=np.bool_), others.astype(np.bool_)])


def searched_groupings(
    directions: list[FloatArray], levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray:
    """Good groupings where there are too many to try: the best cut of each order, then one level moved at a time."""
    found = []
    for direction in directions:
        mask = best_mask(prefixes(np.argsort(direction, kind="stable")), levels, level_weights, objective, min_weight)
        while mask is not None:
            found.append(mask)
            moves = np.vstack([mask, mask ^ np.eye(len(mask), dtype=np.bool_)])  # row 0: as it is
            better = best_mask(moves, levels, level_weights, objective, min_weight)
            mask = None if better is None or np.array_equal(better, mask) else better
    return np.array(found, dtype=np.bool_).reshape(-1, len(levels))


def best_mask(
    masks: BoolArray, levels: FloatArray, level_weights: FloatArray, objective: Objective, min_weight: float
) -> BoolArray | None:
    """The first grouping within a tie of the largest gain, among those with enough weight on both sides."""
    sides = np.stack([masks, ~masks], axis=1).astype(np.float64)
    side_weights = sides @ level_weights
    smaller = side_weights.min(axis=1, initial=np.inf)
    allowed = np.flatnonzero((smaller > 0) & (smaller >= min_weight - TIE))
    if len(allowed) == 0:
        return None
    gains = objective.decrease(sides[allowed] @ levels, side_weights[allowed])
    chosen: BoolArray = masks[allowed[first_within_tie(gains, objective.tolerance)]]
    return chosen
