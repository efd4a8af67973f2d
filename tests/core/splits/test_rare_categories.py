import numpy as np
import pytest

from core.criteria.impurity import gini
from core.criteria.objective import Objective
from core.splits.categorical import best_one_vs_rest, best_two_groups
from core.splits.rare_categories import search_with_rare_as_one
from core.tables.target import Task

BY_GINI = Objective(Task.CLASSIFICATION, gini)


def divided(search, levels, limit):
    levels = np.array(levels, dtype=float)
    return search_with_rare_as_one(
        search, levels, levels.sum(axis=1), BY_GINI, min_weight=0.0, min_category_weight=limit
    ).tolist()


def test_rare_values_go_the_same_way():
    levels = [[9, 1], [1, 0], [0, 1], [1, 9]]
    assert divided(best_two_groups, levels, 0) == [True, True, False, False]
    assert divided(best_two_groups, levels, 2) in ([True, True, True, False], [True, False, False, False])


def test_rare_values_may_stand_together_against_the_rest():
    assert divided(best_one_vs_rest, [[5, 5], [0, 1], [5, 4], [0, 1]], 2) == [False, True, False, True]


@pytest.mark.parametrize("limit", [0, 1])
def test_one_rare_value_or_none_changes_nothing(limit):
    levels = [[9, 1], [1, 0], [1, 9]]
    assert divided(best_two_groups, levels, limit + 0.5) == divided(best_two_groups, levels, 0)


def test_a_value_without_rows_is_not_rare_but_absent():
    assert divided(best_two_groups, [[9, 1], [0, 0], [1, 2], [0, 1]], 4) == [True, True, False, False]
