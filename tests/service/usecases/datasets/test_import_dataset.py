from pathlib import Path

import numpy as np
import pytest

from core.tables.schema import Attribute, Kind, Schema
from core.tables.summary import ColumnSummary, summarize
from core.tables.table import Table
from service.errors import StoreUnavailable
from service.settings import Settings
from service.store import datasets
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.datasets.delete_dataset import delete_dataset
from service.usecases.datasets.import_dataset import import_dataset, oddities

TABLE = Table(
    Schema((Attribute("密度", Kind.NUMERIC), Attribute("纹理", Kind.CATEGORICAL, ("清晰", "模糊")))),
    (np.array([0.697, np.nan]), np.array([-1, 0], dtype=np.int32)),
)


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.anyio
async def test_the_same_table_twice_is_two_datasets_and_one_file(database, artifacts, settings):
    first = await import_dataset(database, artifacts, "melons", TABLE)
    second = await import_dataset(database, artifacts, "melons", TABLE)
    assert first.id != second.id
    assert first.digest == second.digest
    assert (first.n_rows, first.n_missing, first.columns) == (2, 2, summarize(TABLE))
    assert len(files_in(settings.data_dir)) == 1
    async with database.reading() as session:
        assert await datasets.get(session, first.id) == first
    stored = artifacts.read(first.digest)
    assert stored.schema == TABLE.schema
    assert all(
        np.array_equal(a, b, equal_nan=a.dtype == float) for a, b in zip(stored.columns, TABLE.columns, strict=True)
    )


@pytest.mark.anyio
async def test_deleting_the_last_one_removes_the_file(database, artifacts, settings):
    kept = [await import_dataset(database, artifacts, "melons", TABLE) for _ in range(2)]
    await delete_dataset(database, artifacts, kept[0].id)
    assert len(files_in(settings.data_dir)) == 1
    await delete_dataset(database, artifacts, kept[1].id)
    assert files_in(settings.data_dir) == []


@pytest.mark.anyio
async def test_a_database_that_is_away_leaves_no_file_behind(tmp_path):
    database = Database(Settings(database_url="postgresql://nobody@127.0.0.1:1/none"))
    with pytest.raises(StoreUnavailable):
        await import_dataset(database, Artifacts(tmp_path), "melons", TABLE)
    assert files_in(tmp_path) == []
    await database.close()


def column(name: str, kind: Kind = Kind.CATEGORICAL, n_categories: int = 2, n_values: int = 3) -> ColumnSummary:
    return ColumnSummary(name, kind, tuple(map(str, range(n_categories))), 0, None, None, n_values)


@pytest.mark.parametrize(
    ("columns", "warning"),
    [
        ([column("a"), column("b")], None),
        ([column("a", n_values=0)], 'column "a" has no known value'),
        ([column("a", n_categories=1_000)], None),
        ([column("a", n_categories=1_001)], "1001 categories and looks like an id"),
        ([column("a", Kind.IGNORE, n_categories=5_000)], None),
        ([column("a;b;c")], "separated by commas"),
    ],
)
def test_oddities(columns, warning):
    found = list(oddities(columns))
    assert len(found) == (warning is not None)
    assert warning is None or warning in found[0]
