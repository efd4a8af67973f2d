"""Access to the database: sessions that read, and sessions that write in one transaction."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from sqlite3 import Connection as SqliteConnection
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Table, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from service.errors import StoreUnavailable
from service.settings import Settings

Result = TypeVar("Result")
Values = Mapping[str, Any]

CONNECT_SECONDS = 3
BUSY_SECONDS = 5.0
PAUSE_SECONDS = 0.25  # between two attempts while the database is unreachable

SQLITE = "sqlite"
POSTGRES = "postgresql+psycopg"
POSTGRES_SPELLINGS = ("postgres", "postgresql", POSTGRES)

# With these, libpq notices in about fifteen seconds that the other side of an open connection is gone.
POSTGRES_OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 10_000,
}


class InvalidDatabaseUrl(ValueError):
    """NIWAKI_DATABASE_URL names no database this service can use."""


def database_url(settings: Settings) -> URL:
    """The URL of the database, with a driver that also works without an event loop."""
    try:
        url = make_url(settings.store_url)
    except ArgumentError as error:
        raise InvalidDatabaseUrl("NIWAKI_DATABASE_URL is not a URL such as postgresql://user@host/name") from error
    if url.drivername in POSTGRES_SPELLINGS:
        return url.set(drivername=POSTGRES)
    if url.drivername != SQLITE:
        raise InvalidDatabaseUrl(
            f"NIWAKI_DATABASE_URL begins with {url.drivername}://; use sqlite:///path/to/file or postgresql://user@host/name"
        )
    if url.database in (None, "", ":memory:"):
        raise InvalidDatabaseUrl(
            "NIWAKI_DATABASE_URL names no file; a SQLite database is a file, as in sqlite:///data/niwaki.db"
        )
    return url


def prepare_sqlite_folder(url: URL) -> None:
    """Create the folder of a SQLite file; SQLite creates the file but not the folder."""
    if url.drivername == SQLITE and url.database is not None:
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)


class Database:
    """One pool of connections; use it inside one event loop and close it at the end."""

    def __init__(self, settings: Settings) -> None:
        url = database_url(settings)
        # How long a finished training waits for the database to come back; later its lease has run out anyway.
        self._patience = settings.lease_seconds
        self._engine = _sqlite_engine(url) if url.drivername == SQLITE else _postgres_engine(url)
        reading, writing = self._engine, self._engine
        if url.drivername == SQLITE:
            # In a transaction begun by a plain BEGIN, the first write fails at once if another writer was faster.
            writing = self._engine.execution_options(begin="BEGIN IMMEDIATE")
        else:
            reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._readers = async_sessionmaker(reading, expire_on_commit=False)
        self._writers = async_sessionmaker(writing, expire_on_commit=False)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """A session for queries; each statement sees what is committed when it runs."""
        with store_errors():
            async with self._readers() as session:
                yield session

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        """A session whose changes are committed together at the end, or not at all."""
        with store_errors():
            async with self._writers() as session, session.begin():
                yield session

    async def write_when_back(self, work: Callable[[AsyncSession], Awaitable[Result]]) -> Result:
        """Run `work` in a write transaction; retry while the database is unreachable, for as long as a lease lasts.

        If the reply to a commit is lost, `work` runs again although it was committed before: it must detect that.
        """
        loop = asyncio.get_running_loop()
        deadline = loop.time() + self._patience
        while True:
            try:
                async with self.writing() as session:
                    return await work(session)
            except StoreUnavailable:
                if loop.time() >= deadline:
                    raise
                await asyncio.sleep(PAUSE_SECONDS)

    async def ping(self) -> None:
        """Raise StoreUnavailable if the database does not answer."""
        async with self.reading() as session:
            await session.execute(text("SELECT 1"))

    async def close(self) -> None:
        """Close all connections."""
        await self._engine.dispose()


def is_sqlite(session: AsyncSession) -> bool:
    """Whether the session uses SQLite, where a write transaction already excludes all others."""
    return session.get_bind().dialect.name == SQLITE


def insert_or_update(session: AsyncSession, table: Table, values: Values, *, key: str, changes: Values) -> Any:
    """A statement that inserts a row, or changes the one that has its key; on Postgres it locks the row either way.

    Only the dialect in use is imported: the other one would take a fiftieth of a second of every start.
    """
    if is_sqlite(session):
        from sqlalchemy.dialects import sqlite

        return sqlite.insert(table).values(values).on_conflict_do_update(index_elements=[key], set_=changes)
    from sqlalchemy.dialects import postgresql

    return postgresql.insert(table).values(values).on_conflict_do_update(index_elements=[key], set_=changes)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turn a driver's errors about an unreachable database into StoreUnavailable; other errors pass."""
    try:
        yield
    except (DBAPIError, PoolTimeout) as error:
        if _means_away(error):
            raise StoreUnavailable("the database does not answer; try again in a moment") from error
        raise


def _means_away(error: DBAPIError | PoolTimeout) -> bool:
    if isinstance(error, PoolTimeout) or error.connection_invalidated:
        return True
    # SQLite also raises OperationalError for a statement it cannot parse, which is a bug of the service.
    is_our_mistake = getattr(error.orig, "sqlite_errorname", None) == "SQLITE_ERROR"
    return isinstance(error, OperationalError | InterfaceError) and not is_our_mistake


def _sqlite_engine(url: URL) -> AsyncEngine:
    prepare_sqlite_folder(url)
    engine = create_async_engine(
        url.set(drivername="sqlite+aiosqlite"),
        # The driver begins no transactions by itself; `_begin` does, with the statement it is given.
        connect_args={"isolation_level": None, "timeout": BUSY_SECONDS},
        pool_timeout=CONNECT_SECONDS,
    )
    event.listen(engine.sync_engine, "connect", _set_up_sqlite)
    event.listen(engine.sync_engine, "begin", _begin)
    return engine


def _postgres_engine(url: URL) -> AsyncEngine:
    return create_async_engine(url, connect_args=POSTGRES_OPTIONS, pool_pre_ping=True, pool_timeout=CONNECT_SECONDS)


def _set_up_sqlite(connection: SqliteConnection, record: Any) -> None:  # noqa: ARG001
    cursor = connection.cursor()
    for pragma in ("journal_mode = WAL", "synchronous = NORMAL", "foreign_keys = ON"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


def _begin(connection: Connection) -> None:
    statement = connection.get_execution_options().get("begin")
    if statement is not None:
        connection.exec_driver_sql(statement)
