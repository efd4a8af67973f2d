import asyncio
import socket
import sqlite3
import time
from pathlib import Path

import pytest
from sqlalchemy import insert, select, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import StoreUnavailable
from service.settings import Settings
from service.store import tables
from service.store.clock import database_now, moment
from service.store.transactions import Database, InvalidDatabaseUrl, database_url

pytestmark = pytest.mark.anyio


def settings_for(url: str) -> Settings:
    return Settings(database_url=url)


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_postgres_is_taken(scheme: str) -> None:
    url = database_url(settings_for(f"{scheme}://me:secret@db.example:5433/trees"))
    assert url.render_as_string(hide_password=False) == "postgresql+psycopg://me:secret@db.example:5433/trees"


def test_without_a_url_the_database_is_a_file_in_the_data_directory(tmp_path: Path) -> None:
    assert database_url(Settings(data_dir=tmp_path)).database == str(tmp_path / "niwaki.db")


@pytest.mark.parametrize(
    ("url", "says"), [("mysql://host/db", "mysql"), ("nonsense", "not a URL"), ("sqlite://", "names no file")]
)
def test_other_databases_are_refused_plainly(url: str, says: str) -> None:
    with pytest.raises(InvalidDatabaseUrl, match=says):
        Database(settings_for(url))


async def test_a_write_is_kept_and_a_failed_one_is_not(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(insert(tables.model_names).values(name="kept", last_version=1))
    with pytest.raises(ZeroDivisionError):
        await write_and_fail(database)
    async with database.reading() as session:
        assert (await session.scalars(select(tables.model_names.c.name))).all() == ["kept"]


async def write_and_fail(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(insert(tables.model_names).values(name="lost", last_version=1))
        raise ZeroDivisionError


async def test_many_writers_take_turns(settings: Settings, database: Database) -> None:
    """Each reads, then writes: with a plain BEGIN most of them would fail on SQLite."""
    other = Database(settings)
    async with database.writing() as session:
        await session.execute(insert(tables.model_names).values(name="n", last_version=0))

    async def count_up(of: Database) -> None:
        async with of.writing() as session:
            query = select(tables.model_names.c.last_version).with_for_update()
            seen = (await session.execute(query)).scalar_one()
            await asyncio.sleep(0.005)
            await session.execute(tables.model_names.update().values(last_version=seen + 1))

    await asyncio.gather(*(count_up(of) for of in [database, other] * 6))
    async with database.reading() as session:
        assert await session.scalar(select(tables.model_names.c.last_version)) == 12
    await other.close()


async def test_reading_goes_on_while_somebody_writes(database: Database) -> None:
    async with database.writing() as writer:
        await writer.execute(insert(tables.model_names).values(name="n", last_version=0))
        async with database.reading() as session:
            assert (await session.scalars(select(tables.model_names.c.name))).all() == []


async def test_the_databases_clock_is_about_right_and_never_stands_still(database: Database) -> None:
    async with database.writing() as session:
        first = (await session.execute(select(database_now()))).scalar_one()
        await asyncio.sleep(0.05)
        second = (await session.execute(select(database_now()))).scalar_one()
    assert 0.02 < second - first < 5
    assert abs(first - time.time()) < 5
    assert moment(first).utcoffset() is not None


async def test_ping_answers(database: Database) -> None:
    await database.ping()


async def test_an_unplugged_postgres_is_unavailable_at_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    await assert_unavailable(f"postgresql://me@127.0.0.1:{port}/trees", within=1.0)


async def test_a_silent_postgres_is_unavailable_in_a_few_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        await assert_unavailable(f"postgresql://me@127.0.0.1:{port}/trees", within=6.0)


async def test_a_sqlite_file_that_cannot_be_opened_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "folder.db").mkdir()
    await assert_unavailable(f"sqlite:///{tmp_path / 'folder.db'}", within=1.0)


async def assert_unavailable(url: str, *, within: float) -> None:
    database = Database(settings_for(url))
    started = time.monotonic()
    with pytest.raises(StoreUnavailable) as raised:
        await database.ping()
    assert raised.value.__cause__ is not None
    assert time.monotonic() - started < within
    await database.close()
    await asyncio.sleep(0.05)  # aiosqlite's thread still says goodbye to the event loop after it failed to open


async def test_a_locked_sqlite_is_unavailable(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.transactions.BUSY_SECONDS", 0.1)
    database = Database(settings_for(sqlite_url))
    holder = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable):
        await write_one(database)
    holder.execute("ROLLBACK")
    holder.close()
    await write_one(database)
    await database.close()


async def write_one(database: Database) -> None:
    async with database.writing() as session:
        await add_name(session)


async def test_a_cut_connection_is_unavailable_once_and_then_replaced(postgres_url: str) -> None:
    database = Database(settings_for(postgres_url))
    with pytest.raises(StoreUnavailable):
        await cut_itself(database)
    await database.ping()
    await database.close()


async def cut_itself(database: Database) -> None:
    async with database.writing() as session:
        await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))


async def test_a_write_waits_until_a_cut_connection_is_back(postgres_url: str) -> None:
    database = Database(settings_for(postgres_url))
    tries = []

    async def work(session: AsyncSession) -> int:
        tries.append(session)
        if len(tries) < 3:
            await session.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return len(tries)

    assert await database.write_when_back(work) == 3
    await database.close()


async def test_a_write_waits_until_a_lock_is_gone(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.store.transactions.BUSY_SECONDS", 0.1)
    database = Database(Settings(database_url=sqlite_url, lease_seconds=0.5, heartbeat_seconds=0.1))
    holder = sqlite3.connect(sqlite_url.removeprefix("sqlite:///"), isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable):
        await database.write_when_back(add_name)
    write = asyncio.create_task(database.write_when_back(add_name))
    await asyncio.sleep(0.2)
    holder.execute("ROLLBACK")
    holder.close()
    await write
    await database.close()


async def add_name(session: AsyncSession) -> None:
    await session.execute(insert(tables.model_names).values(name="n", last_version=0))


async def test_our_own_mistakes_stay_what_they_are(database: Database) -> None:
    async with database.reading() as session:
        with pytest.raises(DBAPIError):
            await session.execute(text("SELEC nonsense"))
