import asyncio
import random

import pytest
from sqlalchemy import func, select

from service.errors import DatasetNotFound, ModelNotFound, ModelNotReady
from service.store import datasets, jobs, models, tables
from service.store.artifacts import Artifacts
from service.store.pieces import CHUNK_BYTES
from service.store.transactions import Database
from tests.service.store.orders import add_dataset, claim, finish, make_model, model_ids, order_training, training

pytestmark = pytest.mark.anyio


async def get(database: Database, ref: str) -> models.ModelRecord:
    async with database.reading() as session:
        return await models.get(session, ref)


async def test_a_ready_model_is_found_by_id_name_and_version(database: Database, artifacts: Artifacts) -> None:
    first = await make_model(database, artifacts, name="瓜 🍉")
    second = await make_model(database, artifacts, name="瓜 🍉")
    waiting = await order_training(database, artifacts, name="瓜 🍉")
    assert (await get(database, first.model_id)).version == 1
    assert (await get(database, "瓜 🍉@1")).id == first.model_id
    assert (await get(database, "瓜 🍉")).id == second.model_id
    for ref in (waiting.model_id, "瓜 🍉@3"):
        with pytest.raises(ModelNotReady):
            await get(database, ref)


async def test_a_record_says_what_was_published(database: Database, artifacts: Artifacts) -> None:
    configuration = {"z": 1, "a": {"名": None, "ratio": 0.1}, "m": [1, 2]}
    ordered = await make_model(database, artifacts, b"x" * 10, configuration=configuration)
    record = await get(database, ordered.model_id)
    assert (record.task, record.target, record.format, record.size) == ("classification", "等级", 1, 10)
    assert (record.digest, record.facts, record.evaluation) == ("sha256:00", {"n_leaves": 3}, {"parts": {}})
    assert record.dataset_id == ordered.dataset_id
    assert list(record.configuration) == ["z", "a", "m"]
    assert record.configuration == configuration
    assert record.created_at.utcoffset() is not None
    assert record.created_at <= record.ready_at


async def test_only_waiting_versions_make_a_name_not_ready(database: Database, artifacts: Artifacts) -> None:
    await order_training(database, artifacts, name="melon")
    with pytest.raises(ModelNotReady):
        await get(database, "melon")


@pytest.mark.parametrize(
    "ref", ["melon", "mdl_0", "melon@1", "melon@", "melon@newest", "melon@-1", "melon@" + "9" * 40, "@1"]
)
async def test_what_is_not_there_is_not_found(database: Database, ref: str) -> None:
    with pytest.raises(ModelNotFound, match=ref):
        await get(database, ref)


async def test_versions_are_given_once_and_never_again(database: Database, artifacts: Artifacts) -> None:
    cancelled = await order_training(database, artifacts)
    async with database.writing() as session:
        await jobs.request_cancel(session, cancelled.job_id)
    deleted = await make_model(database, artifacts)
    async with database.writing() as session:
        await models.delete(session, deleted.model_id)
    last = await order_training(database, artifacts)
    assert (await training(database, last.training_id)).version == 3


async def test_versions_ordered_together_are_all_different(database: Database, artifacts: Artifacts) -> None:
    dataset = await add_dataset(database, artifacts)
    ordered = await asyncio.gather(*(order_training(database, artifacts, dataset_id=dataset.id) for _ in range(5)))
    versions = [(await training(database, order.training_id)).version for order in ordered]
    assert sorted(versions) == [1, 2, 3, 4, 5]


async def test_content_of_any_size_comes_back(database: Database, artifacts: Artifacts) -> None:
    content = bytes(range(256)) * 40_000 + random.Random(7).randbytes(2 * CHUNK_BYTES)
    ordered = await make_model(database, artifacts, content)
    async with database.reading() as session:
        assert await models.read_content(session, ordered.model_id) == content
        chunks = await session.execute(
            select(tables.piece_chunks.c.number, func.length(tables.piece_chunks.c.data)).order_by("number")
        )
        sizes = [size for _, size in chunks]
    assert len(sizes) == 3
    assert max(sizes) <= CHUNK_BYTES


async def test_deleting_a_model_takes_its_content_and_leaves_its_training(
    database: Database, artifacts: Artifacts
) -> None:
    ordered = await make_model(database, artifacts)
    async with database.writing() as session:
        assert (await models.delete(session, "melon")).id == ordered.model_id
    async with database.reading() as session:
        with pytest.raises(ModelNotFound):
            await models.read_content(session, ordered.model_id)
        for table in (tables.pieces, tables.piece_chunks, tables.model_pieces, tables.model_datasets):
            assert await session.scalar(select(func.count()).select_from(table)) == 0
    shown = await training(database, ordered.training_id)
    assert (shown.status, shown.model_id, shown.version) == ("succeeded", None, 1)


async def test_a_waiting_model_cannot_be_deleted(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    async with database.writing() as session:
        with pytest.raises(ModelNotReady):
            await models.delete(session, ordered.model_id)
    assert await model_ids(database) == {ordered.model_id}


async def test_no_model_waits_for_a_deleted_dataset(database: Database, artifacts: Artifacts) -> None:
    dataset = await add_dataset(database, artifacts)
    async with database.writing() as session:
        await datasets.delete(session, dataset.id)
    with pytest.raises(DatasetNotFound):
        await order_training(database, artifacts, dataset_id=dataset.id)
    assert await model_ids(database) == set()


async def test_lists_show_ready_models_newest_first(database: Database, artifacts: Artifacts) -> None:
    made = [(await make_model(database, artifacts, name=name)).model_id for name in ("a", "b", "a", "a")]
    await order_training(database, artifacts, name="a")
    async with database.reading() as session:
        first = await models.page(session, 3, None)
        rest = await models.page(session, 3, first.next_cursor)
        named = await models.page(session, 50, None, name="a")
    assert [item.id for item in first.items + rest.items] == made[::-1]
    assert rest.next_cursor is None
    assert [(item.name, item.version) for item in named.items] == [("a", 3), ("a", 2), ("a", 1)]


async def test_deleted_models_are_noticed(database: Database, artifacts: Artifacts) -> None:
    kept = await make_model(database, artifacts)
    gone = await make_model(database, artifacts)
    async with database.writing() as session:
        await models.delete(session, gone.model_id)
    async with database.reading() as session:
        assert await models.still_there(session, [kept.model_id, gone.model_id]) == {kept.model_id}
        assert await models.still_there(session, []) == set()


async def test_a_model_is_published_whole_or_not_at_all(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    job = await claim(database)
    assert job is not None
    await finish(database, job, ordered.model_id)
    with pytest.raises(jobs.LeaseLost):
        await finish(database, job, ordered.model_id, b"another")
    async with database.reading() as session:
        assert await models.read_content(session, ordered.model_id) == b"{}"
