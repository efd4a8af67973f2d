"""Ranks of all rows, and places of rows among those of their small subtree, beside what sorting tells."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.ranks.local_ranks import fill_ranks, place_rows
from core.growth.kernels.ranks.state import BEGIN, CHILD, N_ROWS
from tests.core.growth.kernels.lists_of_rows import Rows, rows_of_a_node
from tests.examples import examples

pytestmark = pytest.mark.bounds


class Bag(NamedTuple):
    rows: Any
    lists: Any
    distinct: Any
    shift: int
    home: Any
    begins: Any
    position: Any
    value: Any
    positions_taken: Any
    values_taken: Any
    last_ranks: Any


@pytest.mark.parametrize("n_fine", [0, 2])
@given(node=rows_of_a_node(holes=False, most_classes=1))
@examples(25)
def test_a_rank_is_how_many_distinct_values_come_before(node: Rows, n_fine: int) -> None:
    ranks, fine = np.zeros((node.n, 2), dtype=np.uint32), np.zeros(node.n, dtype=np.uint32)
    fill_ranks(node.entries, node.row_bits, 1, ranks, n_fine, fine)
    _, expected = np.unique(node.values, return_inverse=True)
    assert ((ranks[:, 1] << np.uint32(n_fine)) | fine).tolist() == expected.tolist()
    assert not ranks[:, 0].any()


@given(node=rows_of_a_node(holes=False, most_classes=1), seed=st.integers(0, 2**32))
@examples(25)
def test_places_are_those_among_the_rows_of_a_subtree(node: Rows, seed: int) -> None:
    chance, n = np.random.default_rng(seed), node.n
    is_distinct = len(np.unique(node.values)) == n
    rows = chance.permutation(n).astype(np.uint32)
    ends = np.unique(np.append(chance.integers(0, n + 1, 3), n))
    begins = np.append(0, ends[:-1])
    links = np.zeros((len(ends) + 1, 1 + max(BEGIN, CHILD, N_ROWS)), dtype=np.int64)
    links[0, CHILD] = 1  # it has children of its own
    links[1:, BEGIN], links[1:, N_ROWS], links[1:, CHILD] = begins, ends - begins, -1
    is_left_out = chance.random(len(ends)) < 0.2  # a leaf
    links[1:, N_ROWS][is_left_out] = 0
    bag = Bag(
        rows,
        node.entries[None],
        np.array([is_distinct]),
        node.row_bits,
        np.zeros(n, dtype=np.uint32),
        np.zeros(len(ends) + 1, dtype=np.uint32),
        np.full((1, n + 256), 255, dtype=np.uint8),
        np.full((1, n + 256), 255, dtype=np.uint8),
        np.zeros(len(ends) + 1, dtype=np.uint8),
        np.zeros(len(ends) + 1, dtype=np.uint8),
        np.zeros(len(ends) + 1, dtype=np.uint32),
    )
    place_rows(bag, links, len(links), np.array([0]))
    for begin, end, left_out in zip(begins, ends, is_left_out, strict=True):
        if left_out:
            continue
        own = node.values[rows[begin:end]]
        in_order = np.lexsort((rows[begin:end], own))
        assert bag.position[0, begin:end][in_order].tolist() == list(range(end - begin))
        if not is_distinct:
            values = bag.value[0, begin:end].astype(int)
            assert [(values == each).tolist() for each in values] == [(own == each).tolist() for each in own]
            assert (np.diff(values[in_order]) >= 0).all()
