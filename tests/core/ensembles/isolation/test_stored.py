"""What is stored of an isolation forest is enough to have it back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Isolation
from core.ensembles.isolation.isolation import grow_isolation
from core.ensembles.isolation.stored import isolation_arrays, isolation_header, read_isolation
from tests.core.ensembles.isolation.test_isolation import numeric_table
from tests.core.ensembles.test_forest import assert_same_tree
from tests.core.strategies import tables


@given(tables(min_rows=2, max_rows=20), st.integers(0, 5))
def test_a_forest_comes_back_to_the_last_bit(table, seed):
    isolation = grow_isolation(table, Isolation(n_trees=3, threshold=0.6), seed=seed)
    header, arrays = isolation_header(isolation), isolation_arrays(isolation)
    found = read_isolation(header, {"another": np.zeros(3), **arrays})
    assert (found.n_sampled, found.threshold, len(found)) == (isolation.n_sampled, 0.6, 3)
    for number in range(3):
        assert_same_tree(found.forest.tree(number), isolation.forest.tree(number))
    again = isolation_arrays(found)
    assert {name: values.tobytes() for name, values in again.items()} == {
        name: values.tobytes() for name, values in arrays.items()
    }


def test_a_node_takes_few_bytes():
    table = numeric_table(np.random.default_rng(0).normal(size=(2000, 6)))
    isolation = grow_isolation(table, Isolation(n_trees=20), seed=0)
    n_bytes = sum(values.nbytes for values in isolation_arrays(isolation).values())
    assert n_bytes / isolation.forest.n_nodes < 10
