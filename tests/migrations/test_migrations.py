import asyncio
import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from service.settings import Settings
from service.store import migrate, tables
from service.store.migrate import head_revision, is_current, upgrade
from service.store.transactions import Database, database_url, store_errors
from tests.conftest import run_sql, with_database

pytestmark = pytest.mark.anyio


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    run_sql(postgres_server, "CREATE DATABASE niwaki_nothing_yet")
    yield with_database(postgres_server, "niwaki_nothing_yet")
    run_sql(postgres_server, "DROP DATABASE niwaki_nothing_yet WITH (FORCE)")


@pytest.fixture
def empty_sqlite_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'new' / 'folder' / 'niwaki.db'}"


@pytest.fixture(params=["sqlite", "postgres"])
def unmigrated(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    return Settings(database_url=request.getfixturevalue(f"empty_{request.param}_url"), data_dir=tmp_path)


def test_the_migrated_schema_equals_the_declared_tables(settings: Settings) -> None:
    engine = create_engine(database_url(settings))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        differences = compare_metadata(context, tables.metadata)
    engine.dispose()
    assert differences == []


async def test_a_database_is_current_only_once_it_is_migrated(unmigrated: Settings) -> None:
    database = Database(unmigrated)
    async with database.reading() as session:
        assert not await is_current(session)
    await asyncio.to_thread(upgrade, unmigrated)
    async with database.reading() as session:
        assert await is_current(session)
    await database.close()


def test_migrating_a_current_database_changes_nothing(settings: Settings) -> None:
    upgrade(settings)


def migrate_at_once(url: str, start: "multiprocessing.synchronize.Event") -> None:
    start.wait()
    upgrade(Settings(database_url=url))


def test_replicas_that_start_together_do_not_collide(unmigrated: Settings) -> None:
    spawn = multiprocessing.get_context("spawn")
    start = spawn.Event()
    replicas = [spawn.Process(target=migrate_at_once, args=(unmigrated.store_url, start)) for _ in range(3)]
    for replica in replicas:
        replica.start()
    start.set()
    for replica in replicas:
        replica.join(60)
    assert [replica.exitcode for replica in replicas] == [0, 0, 0]
    assert applied_revision(unmigrated) == head_revision()


def test_a_migration_that_fails_leaves_nothing_behind(unmigrated: Settings) -> None:
    with pytest.raises(ZeroDivisionError):
        create_tables_and_fail(unmigrated)
    engine = create_engine(database_url(unmigrated))
    assert inspect(engine).get_table_names() == []
    engine.dispose()


def create_tables_and_fail(settings: Settings) -> None:
    with migrate.alone(settings) as connection:
        tables.metadata.create_all(connection)
        raise ZeroDivisionError


def applied_revision(settings: Settings) -> str | None:
    engine = create_engine(database_url(settings))
    with store_errors(), engine.connect() as connection:
        revision = MigrationContext.configure(connection).get_current_revision()
    engine.dispose()
    return revision


def test_postgres_is_the_real_one(postgres_server: str) -> None:
    with psycopg.connect(postgres_server) as connection:
        row = connection.execute("SELECT version()").fetchone()
    assert row is not None
    assert row[0].startswith("PostgreSQL")
