import numpy as np
import pytest

from core.config.options import Algorithm
from core.config.presets import resolve
from core.engine.engine import SMALL_ROWS, Engine, definition_seconds, for_trees, prefers_kernels
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Task

pytestmark = pytest.mark.bounds

BOTH = [Task.CLASSIFICATION, Task.REGRESSION]


def samples(n_rows: int, n_columns: int, *, task: Task = Task.CLASSIFICATION, holes: bool = False) -> Samples:
    schema = Schema(tuple(Attribute(f"x{i}", Kind.NUMERIC) for i in range(n_columns)))
    columns = tuple(np.arange(n_rows, dtype=np.float64) for _ in schema)
    if holes:
        columns[-1][0] = np.nan
    is_class = task is Task.CLASSIFICATION
    target = ClassTarget(("a",), np.zeros(n_rows, dtype=np.int32)) if is_class else NumberTarget(np.ones((n_rows, 1)))
    return Samples(Table(schema, columns), target, np.ones(n_rows))


def algorithm(kind: str) -> Algorithm:
    return resolve(kind, {}, Task.CLASSIFICATION)


@pytest.mark.parametrize("task", BOTH)
@pytest.mark.parametrize("engine", [Engine.AUTO, Engine.AUTO_COLD])
def test_small_data_never_waits_for_a_compiler(engine: Engine, task: Task) -> None:
    assert not prefers_kernels(engine, samples(SMALL_ROWS, 1000, task=task, holes=True))


def test_kernels_that_are_there_are_used_from_then_on() -> None:
    assert prefers_kernels(Engine.AUTO, samples(SMALL_ROWS + 1, 1))


def test_many_trees_of_few_rows_are_much_work_too() -> None:
    assert not prefers_kernels(Engine.AUTO, samples(SMALL_ROWS // 2, 20))
    assert prefers_kernels(Engine.AUTO, samples(SMALL_ROWS // 2, 20), n_trees=100)
    assert not prefers_kernels(Engine.AUTO_COLD, samples(SMALL_ROWS // 2, 20), n_trees=100)
    assert prefers_kernels(Engine.AUTO_COLD, samples(5_000, 20), n_trees=100)


def test_until_they_are_there_the_definition_does_what_takes_it_no_longer_than_compiling() -> None:
    assert not prefers_kernels(Engine.AUTO_COLD, samples(5_000, 20))
    assert not prefers_kernels(Engine.AUTO_COLD, samples(5_000, 20, holes=True))
    assert not prefers_kernels(Engine.AUTO_COLD, samples(5_000, 20, task=Task.REGRESSION))
    assert not prefers_kernels(Engine.AUTO_COLD, samples(5_000, 20, task=Task.REGRESSION, holes=True))
    assert prefers_kernels(Engine.AUTO_COLD, samples(80_000, 20))
    assert prefers_kernels(Engine.AUTO_COLD, samples(40_000, 20, holes=True))
    assert prefers_kernels(Engine.AUTO_COLD, samples(60_000, 20, task=Task.REGRESSION))


def test_many_trees_are_worth_waiting_for_a_compiler() -> None:
    table, small, cart = samples(5_000, 20, holes=True), samples(SMALL_ROWS, 1000), algorithm("cart")
    assert for_trees(Engine.AUTO_COLD, table, cart, 1) is Engine.AUTO_COLD
    assert for_trees(Engine.AUTO_COLD, table, cart, 11) is Engine.AUTO
    assert not prefers_kernels(for_trees(Engine.AUTO_COLD, small, cart, 1000), small)
    assert for_trees(Engine.DEFINITION, table, cart, 1000) is Engine.DEFINITION


def test_trees_whose_kernels_are_compiled_sooner_wait_for_them_sooner() -> None:
    table = samples(5_000, 20)
    assert for_trees(Engine.AUTO_COLD, table, algorithm("quest"), 1) is Engine.AUTO_COLD
    assert for_trees(Engine.AUTO_COLD, samples(5_000, 20, holes=True), algorithm("quest"), 1) is Engine.AUTO_COLD
    assert for_trees(Engine.AUTO_COLD, table, algorithm("quest"), 11) is Engine.AUTO
    assert for_trees(Engine.AUTO_COLD, table, algorithm("multivariate"), 3) is Engine.AUTO_COLD
    assert for_trees(Engine.AUTO_COLD, table, algorithm("multivariate"), 6) is Engine.AUTO
    assert for_trees(Engine.AUTO_COLD, table, algorithm("cart"), 6) is Engine.AUTO_COLD


def test_numbers_and_missing_values_take_the_definition_longer() -> None:
    plain = definition_seconds(samples(100, 2))
    assert definition_seconds(samples(100, 2, task=Task.REGRESSION)) > plain
    assert definition_seconds(samples(100, 2, holes=True)) > plain
    assert definition_seconds(samples(200, 2)) == pytest.approx(2 * plain)
    assert definition_seconds(samples(100, 2), algorithm("quest")) < plain


@pytest.mark.parametrize("n_rows", [2, 100_000])
def test_who_asks_for_an_engine_gets_it(n_rows: int) -> None:
    assert prefers_kernels(Engine.KERNELS, samples(n_rows, 2))
    assert not prefers_kernels(Engine.DEFINITION, samples(n_rows, 2))
