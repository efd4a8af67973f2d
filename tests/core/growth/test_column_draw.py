"""Columns drawn in a node."""

import numpy as np

from core.growth.column_draw import ColumnDraw, column_order, searches


def test_a_node_draws_every_order_equally_often():
    orders = [tuple(column_order(key, 4)) for key in range(24_000)]
    distinct, times = np.unique(orders, axis=0, return_counts=True)
    assert len(distinct) == 24
    assert ((times - 1000) ** 2 / 1000).sum() < 49.7  # chi-squared, 23 degrees of freedom, p = 0.001


def test_without_a_draw_no_column_is_left_out():
    assert list(searches(None, 5, 3, {1})) == [frozenset()]


def test_after_the_drawn_columns_the_others_are_searched_one_by_one():
    order = [(0, 2, 3, 5)[position] for position in column_order(5, 4)]
    left_out = list(searches(ColumnDraw((0, 2, 3, 5), 2), 5, 6, ()))
    searched = [sorted(set(range(6)) - closed) for closed in left_out]
    assert searched == [sorted(order[:2]), [order[2]], [order[3]]]


def test_columns_spent_on_the_way_do_not_count_as_drawn():
    first, *others = column_order(5, 4)
    left_out = list(searches(ColumnDraw((0, 1, 2, 3), 2), 5, 4, {first}))
    assert [sorted(set(range(4)) - closed) for closed in left_out] == [sorted(others[:2]), [others[2]]]
