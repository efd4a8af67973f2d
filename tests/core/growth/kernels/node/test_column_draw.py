"""The columns that a node draws are those of the definition."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.randomness import key_of
from core.growth.column_draw import ColumnDraw, searches
from core.growth.kernels.node.column_draw import draw_another, draw_columns, first_of_best, take_back
from tests.examples import examples

pytestmark = pytest.mark.bounds


class Rules(NamedTuple):
    open_columns: Any
    n_drawn: int
    coded_of_column: Any
    first_slots: Any


class Work(NamedTuple):
    is_drawn: Any
    order: Any
    taken: Any


@given(st.integers(0, 2**32), st.integers(1, 9), st.data())
@examples(30)
def test_columns_are_drawn_in_the_order_of_the_definition(seed: int, n_columns: int, data: st.DataObject) -> None:
    chance, key = np.random.default_rng(seed), key_of(seed, 1)
    n_open = data.draw(st.integers(1, n_columns))
    columns = np.sort(chance.permutation(n_columns)[:n_open])
    draw = ColumnDraw(tuple(columns.tolist()), data.draw(st.integers(1, n_open)))
    is_coded, is_spent = chance.random(n_columns) < 0.6, chance.random(n_columns) < 0.4
    spent = np.flatnonzero(is_coded & is_spent).tolist()
    n_slots = chance.integers(1, 4, n_columns)
    rules = Rules(
        columns,
        draw.n_drawn,
        np.where(is_coded, np.cumsum(is_coded) - 1, -1),
        np.append(0, np.cumsum(n_slots)),
    )
    work = Work(np.ones(n_slots.sum(), dtype=np.bool_), np.arange(n_open), np.zeros(n_open, dtype=np.int64))
    spent_codes = is_spent[is_coded]

    def marked() -> set[int]:
        by_slot = np.repeat(np.arange(n_columns), n_slots)
        assert set(by_slot[work.is_drawn]).isdisjoint(by_slot[~work.is_drawn])
        return set(by_slot[work.is_drawn].tolist())

    first, *further = searches(draw, key, n_columns, spent)
    turn = draw_columns(rules, work, spent_codes, np.uint64(key))
    assert marked() == set(range(n_columns)) - first
    for left_out in further:
        turn, is_flagged = draw_another(rules, work, spent_codes, np.uint64(key), turn)
        assert is_flagged
        assert marked() == set(range(n_columns)) - left_out
    turn, is_flagged = draw_another(rules, work, spent_codes, np.uint64(key), turn)
    assert not is_flagged
    assert turn == n_open
    take_back(work.order, work.taken, turn)
    assert work.order.tolist() == list(range(n_open))


def test_of_cuts_within_a_tie_the_first_column_wins() -> None:
    drawn, gains = np.array([4, 2, 7, 0]), np.array([0.5, 0.5 - 1e-12, 0.5, 0.4])
    assert first_of_best(drawn, gains, 4, 0.5, 1e-10) == 1
    assert first_of_best(drawn, gains, 1, 0.5, 1e-10) == 0
    assert first_of_best(drawn, gains, 0, 0.5, 1e-10) == -1
