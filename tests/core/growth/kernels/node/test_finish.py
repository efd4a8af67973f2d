"""Nodes as they were grown, and as a tree has them: depth first, with sizes and thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.node.finish import count_nodes, put_thresholds, sizes_and_positions, what_follows
from core.growth.kernels.node.state import BRANCH, HIGH, IS_CODED, IS_SMALL, LOW, N_LINKS, PARENT
from core.splits.candidates import midpoint
from tests.examples import examples

pytestmark = pytest.mark.bounds


@given(st.integers(0, 2**32), st.integers(0, 12))
@examples(30)
def test_nodes_are_numbered_depth_first_with_what_is_kept_apart(seed: int, n_splits: int) -> None:
    chance = np.random.default_rng(seed)
    parents, branches, children = [-1], [0], dict[int, tuple[int, int]]()
    for _ in range(n_splits):
        node = int(chance.choice([each for each in range(len(parents)) if each not in children]))
        children[node] = len(parents), len(parents) + 1
        parents += [node, node]
        branches += [0, 1]
    links = np.zeros((len(parents), N_LINKS), dtype=np.int64)
    links[:, PARENT], links[:, BRANCH] = parents, branches
    apart = {node: int(chance.integers(1, 6)) for node in range(len(parents)) if node not in children and node % 3 == 1}
    for node, n_nodes in apart.items():
        links[node, IS_CODED], links[node, LOW], links[node, HIGH] = IS_SMALL, 0, n_nodes
    expected_sizes, expected_places = np.zeros(len(parents), int), np.zeros(len(parents), int)

    def number(node: int, position: int) -> int:
        expected_places[node], size = position, apart.get(node, 1)
        for child in children.get(node, ()):
            size += number(child, position + size)
        expected_sizes[node] = size
        return size

    assert number(0, 0) == count_nodes(links)
    sizes, positions = sizes_and_positions(links)
    assert sizes.tolist() == expected_sizes.tolist()
    assert positions.tolist() == expected_places.tolist()


def test_a_threshold_is_the_midpoint_of_the_rows_on_both_sides() -> None:
    columns = [np.array([1.0, 2.0, 2.0 + 2.0**-51, 1e300]), np.array([-3.0, 0.0, 5.0, 7.0])]
    whole = np.array([[7, 1], [1, -1], [3, 0], [1, -1], [3, 0], [1, -1], [1, -1]], dtype=np.int32)
    sides = np.array([[0, 2], [0, 0], [1, 2], [0, 0], [2, 3], [0, 0], [0, 0]], dtype=np.int32)
    addresses, thresholds = np.array([each.ctypes.data for each in columns], dtype=np.uint64), np.zeros(7)
    put_thresholds(whole, sides, addresses, 4, thresholds)
    pairs = [columns[column][side] for (_, column), side in zip(whole, sides, strict=True) if column >= 0]
    assert thresholds[whole[:, 1] >= 0].tolist() == [midpoint(float(low), float(high)) for low, high in pairs]
    assert np.isnan(thresholds[whole[:, 1] < 0]).all()


def test_weights_and_shares_are_kept_only_where_they_do_not_follow() -> None:
    whole, numbers = np.array([[3, 0], [1, -1], [1, -1]], dtype=np.int32), np.array([[1.0, 3.0], [1, 0], [0, 3]])
    parts = tuple(np.zeros((6, 3)))
    parts[2][:], parts[3][:] = [1.0, 0.25, 0.75], [4.0, 1.0, 3.0]
    assert what_follows(whole, parts, numbers) == (True, True)
    parts[2][1] = 0.3
    assert what_follows(whole, parts, numbers) == (True, False)
    parts[3][2] = 2.5
    assert what_follows(whole, parts, numbers) == (False, False)
