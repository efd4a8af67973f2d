"""What models have in common is stored once, and stays as long as one of them."""

import asyncio

import pytest
from sqlalchemy import func, select

from service.errors import DatasetNotFound, ModelNotFound
from service.store import datasets, jobs, models, tables, trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Kind
from service.store.models import Parent, WaitingModel
from service.store.transactions import Database
from tests.service.store.orders import add_dataset, claim, make_model, model_ids

pytestmark = pytest.mark.anyio


async def count(database: Database, table: str) -> int:
    async with database.reading() as session:
        return int(await session.scalar(select(func.count()).select_from(tables.metadata.tables[table])) or 0)


async def content(database: Database, model_id: str) -> bytes:
    async with database.reading() as session:
        return await models.read_content(session, model_id)


async def delete(database: Database, model_id: str) -> None:
    async with database.writing() as session:
        await models.delete(session, model_id)


async def descend(
    database: Database, parent_id: str, *, validation: str | None = None, name: str = "melon"
) -> WaitingModel:
    """A model made of another, still without content of its own."""
    async with database.writing() as session:
        parent = Parent(parent_id, "melon", 1, 0)
        return await models.add_descendant(session, parent, name=name, configuration={}, validation=validation)


async def publish(database: Database, model_id: str, *pieces: bytes) -> None:
    async with database.writing() as session:
        await models.publish(
            session,
            model_id,
            content=models.pack(*pieces),
            digest="sha256:01",
            task="classification",
            target="等级",
            format=1,
            facts={},
            evaluation={},
        )


async def family(database: Database, artifacts: Artifacts) -> tuple[str, str]:
    """A model of the pieces `head` and `tree`, and another of `other` and `tree`."""
    first = await make_model(database, artifacts, b"tree")
    second = await descend(database, first.model_id)
    await publish(database, second.id, b"other", b"tree")
    return first.model_id, second.id


async def test_what_two_models_share_is_stored_once(database: Database, artifacts: Artifacts) -> None:
    parent, child = await family(database, artifacts)
    assert (await content(database, parent), await content(database, child)) == (b"tree", b"othertree")
    assert await count(database, "pieces") == 2


@pytest.mark.parametrize("gone", [0, 1])
async def test_deleting_one_leaves_the_other_whole(database: Database, artifacts: Artifacts, gone: int) -> None:
    both = await family(database, artifacts)
    before = [await content(database, model_id) for model_id in both]
    await delete(database, both[gone])
    assert await content(database, both[1 - gone]) == before[1 - gone]
    with pytest.raises(ModelNotFound):
        await content(database, both[gone])
    await delete(database, both[1 - gone])
    assert [await count(database, name) for name in ("pieces", "piece_chunks", "model_pieces")] == [0, 0, 0]


async def test_a_model_to_be_has_its_parents_content_even_when_that_is_deleted(
    database: Database, artifacts: Artifacts
) -> None:
    parent = await make_model(database, artifacts, b"tree")
    child = await descend(database, parent.model_id)
    await delete(database, parent.model_id)
    assert await content(database, child.id) == b"tree"
    await publish(database, child.id, b"smaller")
    assert await content(database, child.id) == b"smaller"
    assert await count(database, "pieces") == 1


async def test_a_cancelled_descendant_frees_what_only_it_kept(database: Database, artifacts: Artifacts) -> None:
    parent = await make_model(database, artifacts, b"tree")
    async with database.writing() as session:
        origin = Parent(parent.model_id, "melon", 1, 0)
        child = await models.add_descendant(session, origin, name="melon", configuration={}, validation=None)
        job_id = await jobs.enqueue(session, kind=Kind.PRUNING)
        await trainings.add(
            session,
            job_id=job_id,
            model_id=child.id,
            name=child.name,
            version=child.version,
            dataset_id=parent.dataset_id,
            configuration={},
            parent=origin,
        )
    await delete(database, parent.model_id)
    job = await claim(database)
    assert job is not None
    async with database.writing() as session:
        await jobs.finish_cancelled(session, job)
    assert await model_ids(database) == set()
    assert await count(database, "pieces") == 0


async def test_a_descendant_says_where_it_comes_from(database: Database, artifacts: Artifacts) -> None:
    parent, child = await family(database, artifacts)
    await delete(database, parent)
    async with database.reading() as session:
        record = await models.get(session, child)
    assert (record.version, record.parent) == (2, Parent(parent, "melon", 1, 0))


async def test_a_descendant_keeps_the_datasets_of_its_parent(database: Database, artifacts: Artifacts) -> None:
    other, others = await add_dataset(database, artifacts), tables.model_datasets
    parent = await make_model(database, artifacts, validation=other.id)
    async with database.writing() as session:
        await datasets.delete(session, parent.dataset_id)
    newest = await add_dataset(database, artifacts)
    same, changed = (
        await descend(database, parent.model_id),
        await descend(database, parent.model_id, validation=newest.id),
    )
    async with database.reading() as session:
        for model_id, validation in ((same.id, other.id), (changed.id, newest.id)):
            uses = await session.execute(
                select(others.c.role, others.c.dataset_id).where(others.c.model_id == model_id)
            )
            assert {use.role: use.dataset_id for use in uses} == {"train": parent.dataset_id, "validation": validation}


async def test_what_is_gone_has_no_descendants(database: Database, artifacts: Artifacts) -> None:
    parent = await make_model(database, artifacts)
    dataset = await add_dataset(database, artifacts)
    async with database.writing() as session:
        await datasets.delete(session, dataset.id)
    with pytest.raises(DatasetNotFound):
        await descend(database, parent.model_id, validation=dataset.id)
    await delete(database, parent.model_id)
    with pytest.raises(ModelNotFound):
        await descend(database, parent.model_id)


async def test_models_that_come_and_go_together_never_lose_a_piece(database: Database, artifacts: Artifacts) -> None:
    dataset = await add_dataset(database, artifacts)
    root = await make_model(database, artifacts, b"root", dataset_id=dataset.id)

    async def live(number: int) -> None:
        for turn in range(4):
            child = await descend(database, root.model_id, name=f"m{number}")
            await publish(database, child.id, b"shared", b"%d" % (turn % 2))
            assert await content(database, child.id) == b"shared%d" % (turn % 2)
            await delete(database, child.id)

    await asyncio.gather(*map(live, range(4)))
    await delete(database, root.model_id)
    assert await count(database, "pieces") == 0
