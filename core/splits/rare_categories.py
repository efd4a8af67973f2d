"""Merges the rare categories of a node, so that an exact search over many categories does not overfit."""

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
    """The best binary split when all categories below a weight limit in the node count as one category.

    That category takes the position of the earliest of them, and all of them go the same way.
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
