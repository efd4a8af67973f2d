import asyncio
import hashlib
import multiprocessing
import zlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, select, text

from service.settings import Settings
from service.store import migrate, models, tables
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


FIRST, PIECES = "2026_11_16_first_tables", "2026_11_16_pieces_and_parents"


def migrate_to(settings: Settings, revision: str) -> None:
    with migrate.alone(settings) as connection:
        config = migrate._config()
        config.attributes["connection"] = connection
        move = command.upgrade if revision == PIECES else command.downgrade
        move(config, revision)


def add_old_models(settings: Settings, contents: dict[str, bytes]) -> None:
    """Models as the first tables held them: compressed as a whole, in chunks of their own."""
    with migrate.alone(settings) as connection:
        connection.execute(text("INSERT INTO files VALUES ('f', 1, 0)"))
        connection.execute(text("INSERT INTO datasets VALUES ('ds', 'd', 'f', 1, 1, 0, '[]', '[]', 0, NULL)"))
        for version, (model_id, content) in enumerate(contents.items()):
            digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
            add = "INSERT INTO models (id, name, version, state, dataset_id, configuration, created_at, digest, size) "
            values = {"id": model_id, "version": version, "digest": digest, "size": len(content)}
            connection.execute(
                text(add + "VALUES (:id, 'm', :version, 'ready', 'ds', '{}', 0, :digest, :size)"), values
            )
            packed = zlib.compress(content)
            for number, data in enumerate((packed[:5], packed[5:])):
                chunk = {"id": model_id, "number": number, "data": data}
                connection.execute(text("INSERT INTO model_chunks VALUES (:id, :number, :data)"), chunk)


def old_content(settings: Settings, model_id: str) -> bytes:
    with migrate.alone(settings) as connection:
        query = text("SELECT data FROM model_chunks WHERE model_id = :id ORDER BY number")
        return zlib.decompress(b"".join(connection.execute(query, {"id": model_id}).scalars()))


async def test_models_stored_before_there_were_pieces_are_still_there(settings: Settings) -> None:
    contents = {"mdl_a": b"one" * 100, "mdl_b": b"two" * 100, "mdl_c": b"one" * 100}
    await asyncio.to_thread(migrate_to, settings, FIRST)
    await asyncio.to_thread(add_old_models, settings, contents)
    await asyncio.to_thread(migrate_to, settings, PIECES)
    database = Database(settings)
    async with database.reading() as session:
        for model_id, content in contents.items():
            assert await models.read_content(session, model_id) == content
        assert len((await session.scalars(select(tables.pieces.c.digest))).all()) == 2
    await database.close()
    await asyncio.to_thread(migrate_to, settings, FIRST)
    assert {model_id: old_content(settings, model_id) for model_id in contents} == contents


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
