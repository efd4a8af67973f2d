"""The database's clock, which is the same for all processes that share the tables."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Double
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class DatabaseNow(FunctionElement[float]):
    """Seconds since 1970 at the moment the statement runs."""

    type = Double()
    inherit_cache = True


@compiles(DatabaseNow, "sqlite")
def _in_sqlite(element: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001
    return "((julianday('now') - 2440587.5) * 86400.0)"


@compiles(DatabaseNow, "postgresql")
def _in_postgres(element: DatabaseNow, compiler: SQLCompiler, **options: Any) -> str:  # noqa: ARG001
    # Not now(), which is constant within a transaction.
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


def database_now() -> DatabaseNow:
    """The database's current time, for use inside a statement."""
    return DatabaseNow()


def moment(seconds: float) -> datetime:
    """A stored time as an aware datetime in UTC."""
    return datetime.fromtimestamp(seconds, UTC)


def moment_or_none(seconds: float | None) -> datetime | None:
    """`moment`, for a time that may be None."""
    return None if seconds is None else moment(seconds)
