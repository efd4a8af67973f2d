"""Packed trees are the trees of the forest; a path through them meets few lines of memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.ensembles.prediction.packed_trees as packing
from core.config.options import CriterionKind
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import forest_of
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.packed_trees import (
    BLOCK_DEPTH,
    LEAF_BIT,
    LINE_BYTES,
    TREES_IN_FLIGHT,
    PackedTrees,
    packed_trees,
    suits_packing,
)
from core.ensembles.prediction.predictor import ForestPredictor, average_of_trees
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import Task
from tests.core.wild_trees import wild_table, wild_tree
from tests.examples import examples

pytestmark = pytest.mark.slow

LINE_TESTS = 8


def numbers(n_columns: int) -> Schema:
    return Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(n_columns)))


def forest_of_thresholds(seed: int, n_trees: int = 3, deepest: int = 12) -> Forest:
    chance = np.random.default_rng(seed)
    trees = [wild_tree(chance, numbers(3), deepest=deepest, thresholds=True, sums=False)]
    while len(trees) < n_trees:
        trees.append(wild_tree(chance, numbers(3), deepest=deepest, thresholds=True, sums=False, like=trees[0]))
    criterion = CriterionKind.GINI if trees[0].task is Task.CLASSIFICATION else CriterionKind.SQUARED_ERROR
    return forest_of(trees, range(n_trees), [criterion] * n_trees, [()] * n_trees)


def answer_of_leaf(layout: ForestLayout, packed: PackedTrees, number: int, key: int) -> list[float]:
    told = (key - (1 << LEAF_BIT)) >> layout.column_bits
    row = told + (int(packed.before[number]) if told >= layout.n_outputs else 0)
    return layout.nodes.answers[row].tolist()


@examples(25)
@given(st.integers(0, 2**32))
def test_every_node_is_where_its_parent_leads(seed: int) -> None:
    forest = forest_of_thresholds(seed)
    layout = ForestLayout(forest)
    packed, column_mask = packed_trees(layout), (1 << layout.column_bits) - 1
    taken = set()
    for number in range(len(forest)):
        tree, waiting = forest.tree(number), [(0, int(packed.start[number]))]
        while waiting:
            node, position = waiting.pop()
            first, key = packed.tests[position].tolist()
            taken.add(position)
            if tree.size[node] == 1:
                assert first == position
                assert answer_of_leaf(layout, packed, number, key) == (tree.answers[node] + 0.0).tolist()
                continue
            column = key & column_mask
            assert layout.tested[column] == tree.column[node]
            assert layout.thresholds[column][(key >> layout.column_bits) - 1] == tree.threshold[node]
            waiting += [(child, first + branch) for branch, child in enumerate(tree.children(node))]
    assert len(taken) == forest.n_nodes


@examples(25)
@given(st.integers(0, 2**32))
def test_lines_are_left_after_two_levels(seed: int) -> None:
    forest = forest_of_thresholds(seed)
    packed = packed_trees(ForestLayout(forest))
    assert packed.tests.__array_interface__["data"][0] % LINE_BYTES == 0
    assert packed.tests.itemsize * LINE_TESTS == LINE_BYTES
    for number in range(len(forest)):
        tree, root = forest.tree(number), int(packed.start[number])
        assert root % LINE_TESTS == 0
        depths, positions = tree.depth, {0: root}
        for node in np.flatnonzero(tree.size > 1).tolist():
            positions |= {
                child: int(packed.tests[positions[node]]["first"]) + v for v, child in enumerate(tree.children(node))
            }
            is_same_line = positions[node] // LINE_TESTS == positions[tree.children(node)[0]] // LINE_TESTS
            assert is_same_line or depths[node] % BLOCK_DEPTH == 0


@pytest.mark.parametrize(("n_trees", "deepest"), [(5, 1), (5, 2), (5, 3), (5, 12), (5, 40), (TREES_IN_FLIGHT + 2, 2)])
def test_a_complete_record_is_answered_as_by_the_definition(n_trees: int, deepest: int) -> None:
    forest, chance = forest_of_thresholds(5, n_trees, deepest), np.random.default_rng(1)
    table = Table(numbers(3), tuple(chance.integers(-2, 9, 30) / 2 for _ in range(3)))
    ready, expected = ForestPredictor(forest), average_of_trees(forest, table, MissingPolicy.WEIGHTED)
    for row, cells in enumerate(cells_of(table)):
        assert np.array(ready.one(cells, kernels=True)).tobytes() == expected[row].tobytes()


def test_what_does_not_fit_into_keys_is_answered_without_packing(monkeypatch: pytest.MonkeyPatch) -> None:
    forest, table = forest_of_thresholds(3), wild_table(np.random.default_rng(1), numbers(3), 9)
    assert suits_packing(ForestLayout(forest))
    expected = average_of_trees(forest, table, MissingPolicy.WEIGHTED)
    monkeypatch.setattr(packing, "LEAF_BIT", 4)
    assert not suits_packing(ForestLayout(forest))
    for row, cells in enumerate(cells_of(table)):
        assert np.array(ForestPredictor(forest).one(cells, kernels=True)).tobytes() == expected[row].tobytes()
