"""Every way to ask a forest gives the bits of its definition."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.ensembles.prediction.kernels.packed_trees as packed_trees_kernels
import core.ensembles.prediction.kernels.predictor as forest_prediction_kernels
import core.ensembles.prediction.layout as forest_layout
import core.ensembles.prediction.walk as forest_walk
from core.compiler.permission import KernelNotCompiled
from core.config.options import CriterionKind
from core.ensembles.forest import Forest
from core.ensembles.growing_forest import forest_of
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.predictor import (
    ForestPredictor,
    answers_by_tree,
    average_of_trees,
    ends_by_tree,
    possible_ends_by_tree,
    running_sums,
)
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy, predict
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.tree import Tree, full_view
from tests.core.wild_trees import wild_schema, wild_table, wild_tree
from tests.examples import examples

pytestmark = pytest.mark.bounds

N_RECORDS = 8  # of a table that are asked one by one


def wild_forest(chance: np.random.Generator, schema: Schema, **options: Any) -> Forest:
    """Trees that nobody grew, of one task and as many outputs, each with cuts of its own."""
    first = wild_tree(chance, schema, **options)
    trees = [first, *(wild_tree(chance, schema, like=first, **options) for _ in range(3))]
    criterion = CriterionKind.GINI if first.task is Task.CLASSIFICATION else CriterionKind.SQUARED_ERROR
    return forest_of(trees, range(4), [criterion] * 4, [tree.cuts if any(tree.cuts) else () for tree in trees])


def assert_all_ways_agree(forest: Forest, table: Table) -> None:
    ready = ForestPredictor(forest)
    for taken in MissingPolicy:
        expected, by_tree = average_of_trees(forest, table, taken), answers_by_tree(forest, table, taken)
        records = cells_of(table)[:N_RECORDS]
        reached = [ends_by_tree(forest, cells, taken).by_row() for cells in records]
        policies = [taken, None] if taken is ready.as_grown else [taken]
        for policy, kernels in product(policies, (True, False)):
            assert ready.average(table, policy, kernels=kernels).tobytes() == expected.tobytes()
            found = ready.by_tree(table, policy, kernels=kernels)
            assert found.answers.tobytes() == by_tree.answers.tobytes()
            assert found.weights == pytest.approx(by_tree.weights)
            for row, cells in enumerate(records):
                answer = np.array(ready.one(cells, policy, kernels=kernels))
                assert answer.tobytes() == expected[row].tobytes()
                assert ready.ends(cells, policy, kernels=kernels).by_row() == reached[row]


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of few rows, and little memory to begin with."""
    monkeypatch.setattr(forest_walk, "BLOCK_ROWS", 150)
    monkeypatch.setattr(forest_walk, "MOST_COPIES", 130)
    monkeypatch.setattr(forest_walk, "N_LEAVES", 4)


@pytest.mark.usefixtures("tight")
@examples(60)
@given(st.integers(0, 2**32), st.integers(0, 200), st.booleans(), st.booleans(), st.booleans())
def test_on_forests_that_nobody_grew(
    seed: int, n_rows: int, surrogates: bool, thresholds: bool, has_sums: bool
) -> None:
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    forest = wild_forest(chance, schema, surrogates=surrogates, thresholds=thresholds, sums=has_sums)
    assert_all_ways_agree(forest, wild_table(chance, schema, n_rows))


@pytest.mark.usefixtures("tight")
@examples(30)
@given(st.integers(0, 2**32), st.integers(1, 150), st.booleans(), st.booleans())
def test_running_sums_are_those_of_the_definition(seed: int, n_rows: int, surrogates: bool, thresholds: bool) -> None:
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    forest = wild_forest(chance, schema, surrogates=surrogates, thresholds=thresholds, sums=False)
    table = wild_table(chance, schema, n_rows)
    counted = [chance.random(n_rows) < 0.4 for _ in range(len(forest))]
    for policy in MissingPolicy:
        expected = [sums.tobytes() for sums in running_sums(forest, table, policy, counted)]
        for kernels in (True, False):
            found = ForestPredictor(forest).running_sums(table, counted, policy, kernels=kernels)
            assert [sums.tobytes() for sums in found] == expected


def test_tests_that_do_not_fit_into_keys_are_asked_tree_by_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    chance, schema = np.random.default_rng(3), numbers(4)
    forest, table = wild_forest(chance, schema, sums=False), wild_table(chance, schema, 30)
    expected = ForestPredictor(forest).average(table, kernels=True)
    assert ForestPredictor(forest).layout.suits_keys
    monkeypatch.setattr(forest_layout, "KEY_BITS", 3)
    assert not ForestPredictor(forest).layout.suits_keys
    assert ForestPredictor(forest).average(table, kernels=True).tobytes() == expected.tobytes()


def test_where_nothing_may_be_compiled_the_definition_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise KernelNotCompiled

    monkeypatch.setattr(packed_trees_kernels, "average_packed", refuse)
    for kernel in ("average_block", "average_record", "ends_of_record", "reach_block"):
        monkeypatch.setattr(forest_prediction_kernels, kernel, refuse)
    chance, schema = np.random.default_rng(3), numbers(4)
    forest, table = wild_forest(chance, schema, thresholds=True, sums=False), wild_table(chance, schema, 5)
    ready, expected = ForestPredictor(forest), average_of_trees(forest, table, MissingPolicy.WEIGHTED)
    assert ready.average(table, kernels=True).tobytes() == expected.tobytes()
    assert ready.by_tree(table, kernels=True).answers.shape == (4, 5, expected.shape[1])
    for row, cells in enumerate(cells_of(table)):
        assert np.array(ready.one(cells, kernels=True)).tobytes() == expected[row].tobytes()
        reached = ends_by_tree(forest, cells, MissingPolicy.WEIGHTED).by_row()
        assert ready.ends(cells, kernels=True).by_row() == reached
        assert ready.possible_ends(cells, kernels=True).by_row() == possible_ends_by_tree(forest, cells).by_row()


def numbers(n_columns: int) -> Schema:
    return Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(n_columns)))


@pytest.mark.parametrize("holes", [0.0, 0.15])
@pytest.mark.parametrize("threads", [1, 3])
def test_large_tables_take_many_blocks_and_any_number_of_threads(holes: float, threads: int) -> None:
    chance, schema = np.random.default_rng(11), numbers(6)
    forest = wild_forest(chance, schema, thresholds=True, sums=False)
    columns = (np.where(chance.random(10_000) < holes, np.nan, chance.integers(-2, 9, 10_000) / 2) for _ in schema)
    table = Table(schema, tuple(columns))
    found = ForestPredictor(forest).average(table, kernels=True, threads=threads)
    assert found.tobytes() == average_of_trees(forest, table, MissingPolicy.WEIGHTED).tobytes()


def test_rows_go_down_as_far_as_the_longest_path() -> None:
    chance, schema = np.random.default_rng(8), numbers(3)
    tree = wild_tree(chance, schema, deepest=60, thresholds=True, sums=False)
    assert full_view(tree).max_depth > 30
    forest = forest_of([tree], [0], [CriterionKind.GINI], [tree.cuts])
    table = Table(schema, tuple(chance.integers(-2, 9, 1_000) / 2 for _ in schema))
    found = ForestPredictor(forest).average(table, kernels=True)
    assert found.tobytes() == predict(full_view(tree), table, MissingPolicy.WEIGHTED).tobytes()


@given(st.integers(0, 2**32))
def test_places_are_those_of_the_trees(seed: int) -> None:
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    forest = wild_forest(chance, schema)
    layout = ForestLayout(forest)
    for number in range(len(forest)):
        tree: Tree = forest.tree(number)
        nodes = slice(forest.start[number], forest.start[number + 1])
        start = int(forest.start[number])
        order = (layout.order[nodes] - start).tolist()
        assert sorted(order) == list(range(len(tree)))
        for node in np.flatnonzero(tree.size > 1).tolist():
            first = layout.shape.first_child[start + node] - start
            assert order[first : first + tree.n_children[node]] == tree.children(node)
        assert layout.shape.n_children[nodes].tolist() == tree.n_children.tolist()
        assert (layout.shape.parent[nodes] - start).tolist() == np.maximum(tree.parent, 0).tolist()
        assert layout.shape.depths[number] == full_view(tree).max_depth
        assert layout.nodes.share[nodes].tobytes() == tree.share[order].tobytes()
        everyone = np.arange(start, start + len(tree))
        assert layout.answers(everyone).tobytes() == tree.answers.tobytes()
        assert layout.weights(everyone).tobytes() == tree.weight.tobytes()
