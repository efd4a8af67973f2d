"""The lists of some of the rows are those that these rows by themselves would have."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.forest.sample import take_lists
from tests.core.growth.kernels.lists_of_rows import Rows, rows_of_a_node
from tests.examples import examples

pytestmark = pytest.mark.bounds


@given(node=rows_of_a_node(most_classes=1), data=st.data())
@examples(40)
def test_taken_entries_keep_their_order_and_are_new_where_their_values_are(node: Rows, data: st.DataObject) -> None:
    chance = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    rows = np.flatnonzero(chance.random(node.n) < data.draw(st.sampled_from([0.1, 0.6, 1.0])))
    numbering = np.zeros(node.n, dtype=np.uint32)
    numbering[rows] = np.arange(1, len(rows) + 1)
    entries, taken = node.entries[None], np.zeros((1, len(rows) + 1), dtype=np.uint32)
    lengths, distinct = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.bool_)
    take_lists(entries, np.array([entries.shape[1]]), numbering, node.row_bits, taken, lengths, distinct)
    own = Rows(*(each[rows] for each in node[:4]), 1)
    values = own.values[own.known]
    is_new = np.append(False, values[1:] != values[:-1])[: len(values)]
    assert taken[0, : lengths[0]].tolist() == (is_new.astype(np.uint32) << np.uint32(31) | own.known).tolist()
    assert distinct[0] == is_new[1:].all()
