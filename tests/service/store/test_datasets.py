import asyncio
import os
import time
from pathlib import Path

import pytest
from sqlalchemy import Text, func, select, type_coerce

from core.tables.summary import summarize
from service.errors import DatasetInUse, DatasetNotFound
from service.store import datasets, jobs, models, tables
from service.store.artifacts import Artifacts
from service.store.datasets import sweep_files
from service.store.transactions import Database
from tests.service.store.orders import add_dataset, claim, finish, make_model, melons, order_training

pytestmark = pytest.mark.anyio


def files_in(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


async def delete(database: Database, dataset_id: str) -> None:
    async with database.writing() as session:
        await datasets.delete(session, dataset_id)


async def get(database: Database, dataset_id: str) -> datasets.DatasetRecord:
    async with database.reading() as session:
        return await datasets.get(session, dataset_id)


async def test_a_dataset_comes_back_as_it_was(database: Database, artifacts: Artifacts) -> None:
    added = await add_dataset(database, artifacts, name="瓜")
    found = await get(database, added.id)
    assert found == added
    assert (found.name, found.n_rows, found.n_missing) == ("瓜", 3, 4)
    assert found.columns == summarize(melons())
    assert found.size == artifacts.path(found.digest).stat().st_size
    assert artifacts.read(found.digest).schema == melons().schema


async def test_digests_and_column_texts_are_the_same_on_both_databases(
    database: Database, artifacts: Artifacts
) -> None:
    added = await add_dataset(database, artifacts)
    assert added.digest == "sha256:b390e169e853a1efd058e510e6f9144089589cdc7fbd2b2634b737b05b10eb02"
    async with database.reading() as session:
        text = (await session.execute(select(type_coerce(tables.datasets.c.columns, Text)))).scalar_one()
    assert text.startswith(
        '[{"name":"密度","kind":"numeric","categories":[],"n_missing":1,"minimum":0.243,"maximum":0.697,'
    )


async def test_the_same_table_twice_is_two_datasets_and_one_file(
    database: Database, artifacts: Artifacts, settings: object
) -> None:
    first, second = await add_dataset(database, artifacts), await add_dataset(database, artifacts)
    assert first.id < second.id
    assert first.digest == second.digest
    assert len(files_in(artifacts.path(first.digest).parents[2])) == 1


async def test_lists_are_paged_newest_first_and_light(database: Database, artifacts: Artifacts) -> None:
    made = [(await add_dataset(database, artifacts, melons(1.0 + n))).id for n in range(3)]
    async with database.reading() as session:
        first = await datasets.page(session, 2, None)
        last = await datasets.page(session, 2, first.next_cursor)
        empty = await datasets.page(session, 2, "ds_0")
    assert [item.id for item in first.items + last.items] == made[::-1]
    assert (first.items[0].n_columns, first.items[0].n_rows, first.items[0].n_missing) == (4, 1, 0)
    assert (last.next_cursor, empty.items) == (None, ())


async def test_a_deleted_dataset_is_gone_with_its_file(database: Database, artifacts: Artifacts) -> None:
    added = await add_dataset(database, artifacts)
    await delete(database, added.id)
    with pytest.raises(DatasetNotFound, match=added.id):
        await get(database, added.id)
    with pytest.raises(DatasetNotFound):
        await delete(database, added.id)
    async with database.reading() as session:
        assert (await datasets.page(session, 10, None)).items == ()
    assert await sweep_files(database, artifacts) == 1
    assert not artifacts.path(added.digest).exists()
    async with database.reading() as session:
        for table in (tables.datasets, tables.files):
            assert await session.scalar(select(func.count()).select_from(table)) == 0


async def test_a_file_stays_for_another_dataset_with_the_same_content(database: Database, artifacts: Artifacts) -> None:
    first, second = await add_dataset(database, artifacts), await add_dataset(database, artifacts)
    await delete(database, first.id)
    assert await sweep_files(database, artifacts) == 0
    assert artifacts.read((await get(database, second.id)).digest).n_rows == 3


async def test_a_waiting_model_keeps_its_datasets(database: Database, artifacts: Artifacts) -> None:
    validation = await add_dataset(database, artifacts, melons(9.0))
    ordered = await order_training(database, artifacts, validation=validation.id)
    for dataset_id in (ordered.dataset_id, validation.id):
        with pytest.raises(DatasetInUse, match=ordered.training_id):
            await delete(database, dataset_id)
    async with database.writing() as session:
        await jobs.request_cancel(session, ordered.job_id)
    await delete(database, ordered.dataset_id)
    await delete(database, validation.id)
    assert await sweep_files(database, artifacts) == 2


async def test_a_models_files_stay_until_the_model_is_deleted(database: Database, artifacts: Artifacts) -> None:
    validation = await add_dataset(database, artifacts, melons(9.0))
    ordered = await make_model(database, artifacts, validation=validation.id)
    another = await make_model(database, artifacts, dataset_id=ordered.dataset_id)
    digests = {(await get(database, dataset_id)).digest for dataset_id in (ordered.dataset_id, validation.id)}
    for dataset_id in (ordered.dataset_id, validation.id):
        await delete(database, dataset_id)
    assert await sweep_files(database, artifacts) == 0
    async with database.reading() as session:
        kept = await datasets.get_even_if_deleted(session, ordered.dataset_id)
    assert artifacts.read(kept.digest).n_rows == 3
    async with database.writing() as session:
        await models.delete(session, ordered.model_id)
    assert await sweep_files(database, artifacts) == 1
    assert artifacts.path(kept.digest).exists()
    async with database.writing() as session:
        await models.delete(session, another.model_id)
    assert await sweep_files(database, artifacts) == 1
    assert not any(artifacts.path(digest).exists() for digest in digests)


async def test_an_upload_never_loses_its_file_to_a_sweep(database: Database, artifacts: Artifacts) -> None:
    """Uploads, deletions and sweeps of the same content, all at once."""

    async def upload_and_delete() -> None:
        for _ in range(5):
            added = await add_dataset(database, artifacts)
            assert artifacts.read(added.digest).n_rows == 3
            await delete(database, added.id)

    async def upload() -> None:
        for _ in range(5):
            kept.append(await add_dataset(database, artifacts))
            assert artifacts.path(kept[-1].digest).exists()

    async def sweep() -> None:
        for _ in range(10):
            await sweep_files(database, artifacts)

    kept: list[datasets.DatasetRecord] = []
    await asyncio.gather(upload_and_delete(), upload_and_delete(), sweep(), sweep())
    await asyncio.gather(upload_and_delete(), sweep(), upload(), sweep())
    for dataset in kept:
        assert artifacts.read((await get(database, dataset.id)).digest).n_rows == 3


async def test_a_sweep_waits_for_an_upload_under_way(database: Database, artifacts: Artifacts) -> None:
    first = await add_dataset(database, artifacts)
    await delete(database, first.id)
    temporary = artifacts.write_temporary(melons())
    async with database.writing() as session:
        again = await datasets.add(session, artifacts, temporary, name="x", n_rows=3, columns=summarize(melons()))
        sweep = asyncio.create_task(sweep_files(database, artifacts))
        await asyncio.sleep(0.3)
        assert artifacts.path(again.digest).exists()
    assert await sweep == 0
    assert artifacts.path(again.digest).exists()


async def test_an_upload_that_ended_half_way_leaves_nothing_for_long(database: Database, artifacts: Artifacts) -> None:
    temporary = artifacts.write_temporary(melons())
    with pytest.raises(ZeroDivisionError):
        await add_and_fail(database, artifacts, temporary)
    forgotten = artifacts.write_temporary(melons())
    fresh = artifacts.write_temporary(melons())
    long_ago = time.time() - 2 * 24 * 3600
    for path in (artifacts.path(temporary.digest), forgotten.path):
        os.utime(path, (long_ago, long_ago))
    assert await sweep_files(database, artifacts) == 1
    assert not artifacts.path(temporary.digest).exists()
    assert not forgotten.path.exists()
    assert fresh.path.exists()


async def add_and_fail(database: Database, artifacts: Artifacts, temporary: object) -> None:
    async with database.writing() as session:
        await datasets.add(session, artifacts, temporary, name="x", n_rows=3, columns=summarize(melons()))  # type: ignore[arg-type]
        raise ZeroDivisionError


async def test_deleting_and_ordering_together_never_leaves_a_training_without_data(
    database: Database, artifacts: Artifacts
) -> None:
    for number in range(5):
        dataset = await add_dataset(database, artifacts, melons(float(number)))
        order, deletion = await asyncio.gather(
            order_training(database, artifacts, dataset_id=dataset.id),
            delete(database, dataset.id),
            return_exceptions=True,
        )
        await sweep_files(database, artifacts)
        if isinstance(order, BaseException):
            assert isinstance(order, DatasetNotFound)
            assert deletion is None
        else:
            assert isinstance(deletion, DatasetInUse)
            assert artifacts.path(dataset.digest).exists()
            job = await claim(database)
            assert job is not None
            await finish(database, job, order.model_id)
