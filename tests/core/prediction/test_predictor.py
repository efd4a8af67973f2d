"""Every way to answer gives the bits of the definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import core.prediction.block_walk as block_walk
import core.prediction.predictor as predictor
from core.arithmetic.arrays import FloatArray
from core.compiler.raw_memory import address_of
from core.config.options import Algorithm, Categorical, MissingStrategy, Stopping
from core.engine.definition import grow
from core.growth.samples import Samples
from core.prediction.block_walk import BlockWalk
from core.prediction.kernels.routing import STEPS_BETWEEN
from core.prediction.predictor import Predictor, TreePredictor
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy, leaves_reached, predict, visits
from core.records.columns_in_memory import NumbersOfAttributes
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, Task
from core.tree.layout import LOOKUP, THRESHOLD, Layout
from core.tree.tree import TreeView, full_view
from tests.core.building import GINI
from tests.core.strategies import crowded_samples, trainings
from tests.core.wild_trees import some_view, wild_schema, wild_table, wild_tree
from tests.examples import examples

pytestmark = pytest.mark.bounds

POLICIES = (None, *MissingPolicy)


def assert_all_ways_agree(view: TreeView, table: Table) -> None:
    ready = Predictor(view)
    for policy in POLICIES:
        expected = predict(view, table, policy)
        reached = leaves_reached(view, table, policy or ready.as_grown)
        for kernels in (True, False):
            found = ready.batch(table, policy, kernels=kernels)
            assert found.shape == expected.shape
            assert found.tobytes() == expected.tobytes()
            assert ready.ends(table, policy, kernels=kernels).by_row() == reached
        one_by_one = [ready.one(cells, policy) for cells in cells_of(table)]
        assert np.array(one_by_one, dtype=np.float64).tobytes() == expected.tobytes()


@pytest.fixture
def tight(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels for every table, blocks of few rows, and little memory to begin with."""
    monkeypatch.setattr(predictor, "FEW_RECORDS", 0)
    monkeypatch.setattr(block_walk, "BLOCK_ROWS", 150)
    monkeypatch.setattr(block_walk, "WALK_ROWS", 70)
    monkeypatch.setattr(block_walk, "N_TILES", 2)
    monkeypatch.setattr(block_walk, "MOST_COPIES", 130)


@pytest.mark.usefixtures("tight")
@examples(150)
@given(st.integers(0, 2**32), st.integers(0, 200), st.booleans(), st.booleans())
def test_on_trees_that_nobody_grew(seed: int, n_rows: int, surrogates: bool, thresholds: bool) -> None:
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    tree = wild_tree(chance, schema, surrogates=surrogates, thresholds=thresholds)
    assert_all_ways_agree(some_view(chance, tree), wild_table(chance, schema, n_rows))


@pytest.mark.usefixtures("tight")
@examples(60)
@given(trainings(max_rows=40))
def test_on_trees_that_were_grown(training: tuple[object, Algorithm]) -> None:
    samples, algorithm = training
    tree = grow(samples, algorithm)
    for chance in map(np.random.default_rng, range(3)):
        assert_all_ways_agree(some_view(chance, tree), samples.attributes)


@pytest.mark.usefixtures("tight")
@pytest.mark.parametrize("seed", [0, 1, 2, 4, 5, 7])
def test_on_trees_grown_with_surrogates(seed: int) -> None:
    chance = np.random.default_rng(seed)
    samples = crowded_samples(chance, Task.CLASSIFICATION, min_rows=60, max_rows=80, max_columns=5)
    algorithm = Algorithm("cart", GINI, Categorical.TWO_GROUPS, missing=MissingStrategy.SURROGATE)
    tree = grow(samples, algorithm)
    assert any(tree.surrogates)
    assert_all_ways_agree(full_view(tree), samples.attributes)


@examples(60)
@given(st.integers(0, 2**32), st.integers(1, 90), st.booleans())
def test_arrivals_are_those_of_the_visits(seed: int, n_rows: int, surrogates: bool) -> None:
    chance = np.random.default_rng(seed)
    schema = wild_schema(chance)
    view = some_view(chance, wild_tree(chance, schema, surrogates=surrogates))
    table = wild_table(chance, schema, n_rows)
    for policy in (MissingPolicy.WEIGHTED, MissingPolicy.MAJORITY_BRANCH, MissingPolicy.SURROGATE):
        expected = [(visit.node, visit.rows, visit.weights) for visit in visits(view, table, policy)]
        found = list(BlockWalk(Layout(view.tree), view).arrivals(table, policy))
        assert [node for node, _, _ in found] == [node for node, _, _ in expected]
        for (_, rows, weights), (_, expected_rows, expected_weights) in zip(found, expected, strict=True):
            assert rows.tolist() == expected_rows.tolist()
            assert weights.tobytes() == expected_weights.tobytes()


def test_large_tables_take_many_blocks() -> None:
    chance = np.random.default_rng(11)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(6)))
    view = full_view(wild_tree(chance, schema, deepest=9, thresholds=True))
    columns = (np.where(chance.random(50_000) < 0.15, np.nan, chance.integers(-2, 9, 50_000) / 2) for _ in schema)
    table = Table(schema, tuple(columns))
    assert Predictor(view).batch(table, kernels=True).tobytes() == predict(view, table).tobytes()


@pytest.mark.parametrize("holes", [0.0, 0.1])
def test_rows_go_down_as_far_as_the_longest_path(holes: float) -> None:
    chance = np.random.default_rng(8)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(3)))
    view = full_view(wild_tree(chance, schema, deepest=60, thresholds=True))
    assert view.max_depth > 2 * STEPS_BETWEEN
    columns = (np.where(chance.random(1_000) < holes, np.nan, chance.integers(-2, 9, 1_000) / 2) for _ in schema)
    table = Table(schema, tuple(columns))
    assert Predictor(view).batch(table, kernels=True).tobytes() == predict(view, table).tobytes()


@pytest.mark.parametrize("step", [1, 2, -1])
def test_columns_may_lie_anywhere_in_memory(step: int) -> None:
    chance = np.random.default_rng(12)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(4)))
    view = full_view(wild_tree(chance, schema, thresholds=True))
    memory = np.empty(4 * 1_000 * 8 + 1, dtype=np.uint8)[1:].view(np.float64).reshape(4, 1_000)
    memory[:] = np.where(chance.random(memory.shape) < 0.1, np.nan, chance.integers(-2, 9, memory.shape) / 2)
    table = Table(schema, tuple(memory[:, ::step]))
    assert Predictor(view).batch(table, kernels=True).tobytes() == predict(view, table).tobytes()


def test_a_tree_of_more_places_than_a_key_can_tell_does_without_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_walk, "MOST_POSITIONS", 1)
    test_large_tables_take_many_blocks()


def test_all_views_share_what_does_not_depend_on_them() -> None:
    chance = np.random.default_rng(5)
    schema = wild_schema(chance)
    tree = wild_tree(chance, schema)
    shared, table = TreePredictor(tree), wild_table(chance, schema, 30)
    for _ in range(5):
        view = some_view(chance, tree)
        found = shared.of(view).batch(table, kernels=False)
        assert found.tobytes() == predict(view, table).tobytes()


def test_a_table_without_rows_has_no_answers() -> None:
    chance = np.random.default_rng(3)
    schema = wild_schema(chance)
    ready = Predictor(full_view(wild_tree(chance, schema)))
    empty = wild_table(chance, schema, 0)
    for kernels in (True, False):
        assert ready.batch(empty, kernels=kernels).shape == (0, ready.view.tree.values.shape[1])
        assert ready.ends(empty, kernels=kernels).by_row() == []


TABLES = Schema(
    (
        Attribute("number", Kind.NUMERIC),
        Attribute("category", Kind.CATEGORICAL, tuple("abcdefg")),
        Attribute("other", Kind.CATEGORICAL, tuple("xyz")),
    )
)


def tables_of_codes(seed: int, holes: float, categorical: Categorical) -> tuple[TreeView, Table]:
    """A tree of thresholds and tables of codes, and rows for it, some of which lack something."""
    chance = np.random.default_rng(seed)
    codes = [chance.integers(len(attribute.categories), size=700).astype(np.int32) for attribute in TABLES.columns[1:]]
    numbers = chance.normal(size=700)
    classes = (codes[0] % 3 + codes[1] + (numbers > 0.3) + chance.integers(2, size=700)).astype(np.int32)
    table = Table(TABLES, (numbers, *codes))
    samples = Samples(table, ClassTarget(tuple("0123456"), classes), np.ones(700))
    tree = grow(samples, Algorithm("cart", GINI, categorical, stopping=Stopping(max_depth=7)))
    view = some_view(chance, tree)
    columns = (np.where(chance.random(700) < holes, np.nan if c.dtype == np.float64 else -1, c) for c in table.columns)
    with_holes = tuple(c.astype(own.dtype) for c, own in zip(columns, table.columns, strict=True))
    return view, Table(TABLES, with_holes)


@pytest.mark.parametrize("categorical", [Categorical.TWO_GROUPS, Categorical.MULTIWAY])
@pytest.mark.parametrize("holes", [0.0, 0.05])
@pytest.mark.parametrize("seed", range(3))
def test_rows_read_tables_of_codes_as_quickly_as_thresholds(seed: int, holes: float, categorical: Categorical) -> None:
    view, table = tables_of_codes(seed, holes, categorical)
    assert set(Layout(view.tree).full.kind.tolist()) == {THRESHOLD, LOOKUP}
    assert view.tree.takes_all
    assert_all_ways_agree(view, table)


def in_memory(numbers: FloatArray) -> NumbersOfAttributes:
    addresses = np.array([address_of(column) for column in numbers], dtype=np.uint64)
    return NumbersOfAttributes(addresses, numbers, numbers.shape[1])


def test_leaves_of_complete_records_that_come_as_numbers() -> None:
    view, table = tables_of_codes(0, 0.0, Categorical.TWO_GROUPS)
    numbers = np.array([column.astype(np.float64) for column in table.columns])
    found = Predictor(view).leaves_of_numbers(in_memory(numbers))
    assert found is not None
    assert [[(leaf, 1.0)] for leaf in found.tolist()] == leaves_reached(view, table, MissingPolicy.WEIGHTED)


def test_trees_that_ask_for_more_than_numbers_do_without_that() -> None:
    chance = np.random.default_rng(1)
    schema = wild_schema(chance)
    trees = [wild_tree(chance, schema) for _ in range(30)]
    left = [tree for tree in trees if not tree.takes_all or any(tree.terms)]
    assert left
    for tree in left:
        assert Predictor(full_view(tree)).leaves_of_numbers(in_memory(np.zeros((len(schema), 3)))) is None
