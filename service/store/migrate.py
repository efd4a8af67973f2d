"""Migrating the database's schema to the one that this version of the code declares."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import OperationalError, ProgrammingError
from sqlalchemy.ext.asyncio import AsyncSession

from service.settings import Settings
from service.store.transactions import POSTGRES_OPTIONS, SQLITE, database_url, prepare_sqlite_folder, store_errors

# The number of the lock, which nothing else on this Postgres database may use: "niwaki" in ASCII.
LOCK_NUMBER = int.from_bytes(b"niwaki")
LOCK_SECONDS = 60.0


def upgrade(settings: Settings) -> None:
    """Apply all missing migrations, or none if one fails; replicas that start together take turns."""
    with store_errors(), alone(settings) as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


async def is_current(session: AsyncSession) -> bool:
    """Whether the schema is the one this code declares; `session` is from `Database.reading`."""
    try:
        applied = (await session.scalars(text("SELECT version_num FROM alembic_version"))).all()
    except (ProgrammingError, OperationalError) as error:
        if _says_no_such_table(error):
            return False
        raise
    return list(applied) == [head_revision()]


@cache
def head_revision() -> str:
    """The newest migration this code knows."""
    head = ScriptDirectory.from_config(_config()).get_current_head()
    assert head is not None
    return head


@contextmanager
def alone(settings: Settings) -> Iterator[Connection]:
    """An exclusive transaction: no other process can have one at the same time. Committed at the end."""
    engine = _engine(settings)
    try:
        with engine.begin() as connection:
            if engine.dialect.name != SQLITE:
                connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": LOCK_NUMBER})
            yield connection
    finally:
        engine.dispose()


def _engine(settings: Settings) -> Engine:
    url = database_url(settings)
    if url.drivername != SQLITE:
        return create_engine(url, connect_args=POSTGRES_OPTIONS)
    prepare_sqlite_folder(url)
    # Foreign keys stay off, SQLite's default: copying a table must not delete the rows that refer to it.
    engine = create_engine(url, connect_args={"isolation_level": None, "timeout": LOCK_SECONDS})
    event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN EXCLUSIVE"))
    return engine


def _config() -> Config:
    # The `migrations` folder is next to the `service` folder, in the repository and in an installation.
    folder = Path(__file__).parents[2] / "migrations"
    config = Config()
    # Alembic reads % as the start of a variable.
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    return config


def _says_no_such_table(error: ProgrammingError | OperationalError) -> bool:
    undefined_table = getattr(error.orig, "sqlstate", None) == "42P01"
    return undefined_table or "no such table" in str(error.orig)
