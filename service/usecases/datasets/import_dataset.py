"""Store a table as a dataset: its file under its digest, its description in SQL."""

from collections.abc import Iterator, Sequence

from anyio import to_thread

from core.tables.schema import Kind
from core.tables.suggestion import quoted
from core.tables.summary import ColumnSummary, summarize
from core.tables.table import Table
from service.store import datasets
from service.store.artifacts import Artifacts
from service.store.datasets import DatasetRecord
from service.store.transactions import Database

MANY_CATEGORIES = 1_000


async def import_dataset(database: Database, artifacts: Artifacts, name: str, table: Table) -> DatasetRecord:
    """Store the table; its file is written before the transaction begins, so that no other one waits for that."""
    temporary = await to_thread.run_sync(artifacts.write_temporary, table)
    try:
        columns = await to_thread.run_sync(summarize, table)
        async with database.writing() as session:
            return await datasets.add(
                session,
                artifacts,
                temporary,
                name=name,
                n_rows=table.n_rows,
                columns=columns,
                warnings=tuple(oddities(columns)),
            )
    finally:
        artifacts.discard(temporary)


def oddities(columns: Sequence[ColumnSummary]) -> Iterator[str]:
    """Warnings about what is allowed but probably not intended."""
    if len(columns) == 1 and ";" in columns[0].name:
        yield "there is only one column, and its name holds semicolons; columns are separated by commas"
    for column in columns:
        if column.n_values == 0:
            yield f"column {quoted(column.name)} has no known value"
        elif column.kind is Kind.CATEGORICAL and len(column.categories) > MANY_CATEGORIES:
            yield (
                f"column {quoted(column.name)} has {len(column.categories)} categories and looks like an id; "
                "declare its kind as ignore, or as numeric, if it is not meant to be learnt from as it is"
            )
