"""Rare categories of a node taken as one, so that an exact search over many levels does not fit their chance."""

from collections.abc import Callable

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.sums import in_row_order
from core.arithmetic.ties import TIE
from core.criteria.objective import Objective

Search = Callable[..., BoolArray | None]


def search_with_rare_as_one(
    search: Search,
    levels: FloatArray,
    level_weights: FloatArray,
    objective: Objective,
    *,
    min_weight: float,
    min_category_weight: float,
) -> BoolArray | None:
    """The best binary division when the values that weigh less than a limit in the node count together as one value.

    They stand where the earliest of them stands, and go the same way.
    """
    rare = np.flatnonzero((level_weights > 0) & (level_weights < min_category_weight - TIE))
    if len(rare) < 2:
        return search(levels, level_weights, objective, min_weight=min_weight)
    merged, merged_weights = levels.copy(), level_weights.copy()
    merged[rare], merged_weights[rare] = 0.0, 0.0
    merged[rare[0]], merged_weights[rare[0]] = in_row_order(levels[rare]), in_row_order(level_weights[rare])
    mask = search(merged, merged_weights, objective, min_weight=min_weight)
    if mask is not None:
        mask[rare] = mask[rare[0]]
    return mask
