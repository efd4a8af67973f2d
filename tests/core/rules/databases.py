"""Expressions put to SQLite and to Postgres."""

import sqlite3
from typing import Any

import psycopg

from core.rules.sql import identifier
from core.tables.schema import Schema
from core.tables.table import Table, is_missing


def definition(schema: Schema) -> str:
    columns = (f"{identifier(a.name)} {'DOUBLE PRECISION' if a.is_numeric else 'TEXT'}" for a in schema)
    return f"CREATE TEMPORARY TABLE records (place INTEGER, {', '.join(columns)})"


def rows_of(records: Table) -> list[tuple[Any, ...]]:
    """The records as a database takes them, NULL where they have holes."""
    columns = []
    for attribute, cells in zip(records.schema, records.columns, strict=True):
        read = float if attribute.is_numeric else lambda code, of=attribute: of.categories[code]
        columns.append([None if hole else read(cell) for cell, hole in zip(cells, is_missing(cells), strict=True)])
    return [(position, *row) for position, row in enumerate(zip(*columns, strict=True))]


def in_sqlite(expression: str, records: Table) -> list[tuple[Any, ...]]:
    with sqlite3.connect(":memory:") as connection:
        connection.execute(definition(records.schema))
        marks = ", ".join("?" * (1 + len(records.schema)))
        connection.executemany(f"INSERT INTO records VALUES ({marks})", rows_of(records))
        answers = connection.execute(f"SELECT {expression} FROM records ORDER BY place").fetchall()
    connection.close()
    return answers


def in_postgres(connection: psycopg.Connection[Any], expression: str, records: Table) -> list[tuple[Any, ...]]:
    connection.execute("DROP TABLE IF EXISTS records")
    connection.execute(definition(records.schema).encode())
    marks = ", ".join(["%s"] * (1 + len(records.schema)))
    with connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO records VALUES ({marks})".encode(), rows_of(records))
    return connection.execute(f"SELECT {expression} FROM records ORDER BY place".encode()).fetchall()
