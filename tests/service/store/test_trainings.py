import pytest
from sqlalchemy import Text, func, select, type_coerce

from service.errors import TrainingNotEnded, TrainingNotFound
from service.store import tables, trainings
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from tests.service.store.orders import claim, finish, make_model, model_ids, order_training, training

pytestmark = pytest.mark.anyio


async def test_a_training_shows_its_order(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts, name="瓜", configuration={"b": 1, "a": "é"})
    shown = await training(database, ordered.training_id)
    assert (shown.id, shown.name, shown.version) == (ordered.training_id, "瓜", 1)
    assert (shown.status, shown.stage, shown.progress) == ("queued", None, 0.0)
    assert (shown.model_id, shown.dataset_id) == (ordered.model_id, ordered.dataset_id)
    assert list(shown.configuration) == ["b", "a"]
    assert (shown.warnings, shown.problem, shown.started_at, shown.finished_at) == ((), None, None, None)
    async with database.reading() as session:
        assert await trainings.id_of_job(session, ordered.job_id) == ordered.training_id


async def test_json_is_the_same_text_everywhere(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts, configuration={"b": 0.1, "a": ["纹理", None, True]})
    query = select(type_coerce(tables.trainings.c.configuration, Text)).where(
        tables.trainings.c.id == ordered.training_id
    )
    async with database.reading() as session:
        assert await session.scalar(query) == '{"b":0.1,"a":["纹理",null,true]}'


async def test_lists_are_paged_newest_first(database: Database, artifacts: Artifacts) -> None:
    made = [(await order_training(database, artifacts)).training_id for _ in range(5)]
    seen, cursor = [], None
    while True:
        async with database.reading() as session:
            page = await trainings.page(session, 2, cursor)
        seen += [item.id for item in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert seen == made[::-1]


async def test_only_ended_trainings_can_be_deleted(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)

    async def delete() -> None:
        async with database.writing() as session:
            await trainings.delete(session, ordered.training_id)

    with pytest.raises(TrainingNotEnded, match="queued"):
        await delete()
    job = await claim(database)
    with pytest.raises(TrainingNotEnded, match="running"):
        await delete()
    assert job is not None
    await finish(database, job, ordered.model_id)
    await delete()
    with pytest.raises(TrainingNotFound):
        await training(database, ordered.training_id)
    assert await model_ids(database) == {ordered.model_id}


async def test_a_deleted_training_leaves_no_job(database: Database, artifacts: Artifacts) -> None:
    ordered = await make_model(database, artifacts)
    async with database.writing() as session:
        await trainings.delete(session, ordered.training_id)
    async with database.reading() as session:
        assert await session.scalar(select(func.count()).select_from(tables.jobs)) == 0


@pytest.mark.parametrize("call", [trainings.get, trainings.cancel, trainings.delete])
async def test_an_unknown_training_is_not_found(database: Database, call: object) -> None:
    assert callable(call)
    async with database.writing() as session:
        with pytest.raises(TrainingNotFound, match="trn_0"):
            await call(session, "trn_0")
