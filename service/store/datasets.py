"""Datasets in SQL, and the lifetime of their files.

A deleted dataset leaves the listings at once. While a model uses it, its row, marked as deleted, and its file stay.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, exists, insert, select, update
from sqlalchemy import delete as delete_from
from sqlalchemy.ext.asyncio import AsyncSession

from core.tables.summary import ColumnSummary
from service.errors import DatasetInUse, DatasetNotFound
from service.store import tables
from service.store.artifacts import Artifacts, TemporaryFile
from service.store.clock import database_now, moment
from service.store.ids import new_id
from service.store.pages import Page, newest_first
from service.store.transactions import Database, insert_or_update

_datasets, _files, _uses = tables.datasets, tables.files, tables.model_datasets


@dataclass(frozen=True, slots=True)
class DatasetSummary:
    """A dataset as shown in a list: without its columns, which can be large."""

    id: str
    name: str
    digest: str
    n_rows: int
    n_columns: int
    n_missing: int
    size: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class DatasetRecord:
    """A dataset with its columns; the table itself is in the file named by the digest."""

    id: str
    name: str
    digest: str
    n_rows: int
    columns: tuple[ColumnSummary, ...]
    warnings: tuple[str, ...]
    size: int
    created_at: datetime

    @property
    def n_missing(self) -> int:
        """The number of missing cells in the table."""
        return sum(column.n_missing for column in self.columns)


async def add(
    session: AsyncSession,
    artifacts: Artifacts,
    temporary: TemporaryFile,
    *,
    name: str,
    n_rows: int,
    columns: Sequence[ColumnSummary],
    warnings: Sequence[str] = (),
) -> DatasetRecord:
    """Record a dataset and give its file its final name.

    The row in `files` stays locked until the commit, so that a sweep cannot remove the file in between.
    """
    await _lock_file_row(session, temporary.digest, temporary.size)
    await asyncio.to_thread(artifacts.keep, temporary)
    dataset_id = new_id("ds")
    values = {
        "id": dataset_id,
        "name": name,
        "digest": temporary.digest,
        "n_rows": n_rows,
        "n_columns": len(columns),
        "n_missing": sum(column.n_missing for column in columns),
        "columns": [column.to_json() for column in columns],
        "warnings": list(warnings),
        "created_at": database_now(),
    }
    await session.execute(insert(_datasets).values(values))
    return await get(session, dataset_id)


async def get(session: AsyncSession, dataset_id: str) -> DatasetRecord:
    """The dataset with this id; a deleted one is not found."""
    return await _get(session, _one(dataset_id).where(_datasets.c.deleted_at.is_(None)), dataset_id)


async def get_even_if_deleted(session: AsyncSession, dataset_id: str) -> DatasetRecord:
    """The dataset with this id, for models that still use it."""
    return await _get(session, _one(dataset_id), dataset_id)


async def page(session: AsyncSession, limit: int, cursor: str | None) -> Page[DatasetSummary]:
    """Datasets, newest first."""
    names = ("id", "name", "digest", "n_rows", "n_columns", "n_missing", "created_at")
    query = select(*(_datasets.c[column] for column in names), _files.c.size)
    living = query.join(_files, _files.c.digest == _datasets.c.digest).where(_datasets.c.deleted_at.is_(None))
    return await newest_first(session, living, _datasets.c.id, _summary, limit=limit, cursor=cursor)


async def hold(session: AsyncSession, dataset_ids: Iterable[str]) -> None:
    """Keep these datasets from being deleted until this transaction ends; DatasetNotFound if one already is."""
    for dataset_id in sorted(set(dataset_ids)):
        query = select(_datasets.c.id).where(_datasets.c.id == dataset_id, _datasets.c.deleted_at.is_(None))
        if await session.scalar(query.with_for_update(read=True)) is None:
            raise _not_found(dataset_id)


async def delete(session: AsyncSession, dataset_id: str) -> None:
    """Mark a dataset as deleted; DatasetInUse while a queued or running training uses it."""
    query = select(_datasets.c.id).where(_datasets.c.id == dataset_id, _datasets.c.deleted_at.is_(None))
    if await session.scalar(query.with_for_update()) is None:
        raise _not_found(dataset_id)
    users = await _waiting_trainings(session, dataset_id)
    if users:
        raise DatasetInUse(
            f"dataset {dataset_id} is used by {len(users)} training(s) that have not ended: {', '.join(users)}; "
            "wait for them or cancel them, then delete the dataset"
        )
    marked = update(_datasets).where(_datasets.c.id == dataset_id).values(deleted_at=database_now())
    await session.execute(marked)


async def sweep_files(database: Database, artifacts: Artifacts) -> int:
    """Remove the files that no dataset and no model needs any more; return how many.

    Every step may be interrupted: the next sweep finds what is left.
    """
    await asyncio.to_thread(artifacts.remove_abandoned)
    async with database.writing() as session:
        await _adopt_strays(session, await asyncio.to_thread(artifacts.old_files))
        await session.execute(delete_from(_datasets).where(_datasets.c.deleted_at.is_not(None), ~_is_used_by_a_model()))
    async with database.reading() as session:
        unused = (await session.scalars(select(_files.c.digest).where(~_has_a_dataset()))).all()
    removed = 0
    for digest in unused:
        async with database.writing() as session:
            removed += await _remove_if_unused(session, artifacts, digest)
    return removed


async def _remove_if_unused(session: AsyncSession, artifacts: Artifacts, digest: str) -> bool:
    if await session.scalar(select(_files.c.digest).where(_files.c.digest == digest).with_for_update()) is None:
        return False
    # Checked again, in a separate statement: while this one waited for the lock, an upload may have used the file.
    unused = select(_files.c.digest).where(_files.c.digest == digest, ~_has_a_dataset())
    if await session.scalar(unused) is None:
        return False
    await asyncio.to_thread(artifacts.remove, digest)
    await session.execute(delete_from(_files).where(_files.c.digest == digest))
    return True


async def _adopt_strays(session: AsyncSession, found: dict[str, int]) -> None:
    """Add rows for files that have none, left by uploads that ended between rename and commit."""
    known = set((await session.scalars(select(_files.c.digest))).all())
    for digest in sorted(found.keys() - known):
        await _lock_file_row(session, digest, found[digest])


async def _lock_file_row(session: AsyncSession, digest: str, size: int) -> None:
    row = {"digest": digest, "size": size, "created_at": database_now()}
    await session.execute(insert_or_update(session, _files, row, key="digest", changes={"size": size}))


async def _waiting_trainings(session: AsyncSession, dataset_id: str) -> Sequence[str]:
    models, trainings = tables.models, tables.trainings
    query = (
        select(trainings.c.id)
        .join(models, models.c.id == trainings.c.model_id)
        .join(_uses, _uses.c.model_id == models.c.id)
        .where(_uses.c.dataset_id == dataset_id, models.c.state == "waiting")
    )
    return (await session.scalars(query.distinct().order_by(trainings.c.id))).all()


def _is_used_by_a_model() -> Any:
    return exists().where(_uses.c.dataset_id == _datasets.c.id)


def _has_a_dataset() -> Any:
    return exists().where(_datasets.c.digest == _files.c.digest)


def _one(dataset_id: str) -> Select[Any]:
    with_file = select(_datasets, _files.c.size).join(_files, _files.c.digest == _datasets.c.digest)
    return with_file.where(_datasets.c.id == dataset_id)


async def _get(session: AsyncSession, query: Select[Any], dataset_id: str) -> DatasetRecord:
    row = (await session.execute(query)).one_or_none()
    if row is None:
        raise _not_found(dataset_id)
    return DatasetRecord(
        id=row.id,
        name=row.name,
        digest=row.digest,
        n_rows=row.n_rows,
        columns=tuple(map(ColumnSummary.from_json, row.columns)),
        warnings=tuple(row.warnings),
        size=row.size,
        created_at=moment(row.created_at),
    )


def _summary(row: Row[Any]) -> DatasetSummary:
    return DatasetSummary(
        row.id, row.name, row.digest, row.n_rows, row.n_columns, row.n_missing, row.size, moment(row.created_at)
    )


def _not_found(dataset_id: str) -> DatasetNotFound:
    return DatasetNotFound(f"there is no dataset {dataset_id}; GET /v1/datasets lists those there are")
