"""Trainings in SQL: what was ordered, joined with the state of its job."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, insert, select
from sqlalchemy import delete as delete_from
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import TrainingAlreadyEnded, TrainingNotEnded, TrainingNotFound
from service.store import jobs, tables
from service.store.clock import database_now, moment, moment_or_none
from service.store.ids import new_id
from service.store.jobs import Status
from service.store.models import Parent
from service.store.pages import Page, newest_first

_trainings, _jobs = tables.trainings, tables.jobs


@dataclass(frozen=True, slots=True)
class TrainingRecord:
    """A training: its order and its progress; `model_id` is None if the model does not exist any more.

    `parent` is the model that is pruned again instead of growing a tree; None if a tree is grown.
    """

    id: str
    name: str
    status: str
    stage: str | None
    progress: float
    model_id: str | None
    version: int
    dataset_id: str
    validation_dataset_id: str | None
    configuration: dict[str, Any]
    parent: Parent | None
    warnings: tuple[str, ...]
    problem: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def has_ended(self) -> bool:
        return Status(self.status).has_ended


async def add(
    session: AsyncSession,
    *,
    job_id: str,
    model_id: str,
    name: str,
    version: int,
    dataset_id: str,
    configuration: Mapping[str, Any],
    parent: Parent | None = None,
    validation_dataset_id: str | None = None,
) -> TrainingRecord:
    """Record a training; its model and job are recorded in the same transaction."""
    training_id = new_id("trn")
    values = {
        "id": training_id,
        "job_id": job_id,
        "name": name,
        "version": version,
        "model_id": model_id,
        "dataset_id": dataset_id,
        "configuration": configuration,
        "parent": None if parent is None else asdict(parent),
        "validation_dataset_id": validation_dataset_id,
        "created_at": database_now(),
    }
    await session.execute(insert(_trainings).values(values))
    return await get(session, training_id)


async def get(session: AsyncSession, training_id: str) -> TrainingRecord:
    """The training with this id."""
    row = (await session.execute(_joined().where(_trainings.c.id == training_id))).one_or_none()
    if row is None:
        raise _not_found(training_id)
    return _record(row)


async def id_of_job(session: AsyncSession, job_id: str) -> str:
    """The id of the training that a job runs."""
    training_id: str = (
        await session.execute(select(_trainings.c.id).where(_trainings.c.job_id == job_id))
    ).scalar_one()
    return training_id


async def page(session: AsyncSession, limit: int, cursor: str | None) -> Page[TrainingRecord]:
    """Trainings, newest first."""
    return await newest_first(session, _joined(), _trainings.c.id, _record, limit=limit, cursor=cursor)


async def cancel(session: AsyncSession, training_id: str) -> TrainingRecord:
    """Cancel a training: at once when queued, within a second or so when running; a cancelled one stays as it is."""
    status = await jobs.request_cancel(session, await _job_of(session, training_id))
    if status in (Status.SUCCEEDED, Status.FAILED):
        raise TrainingAlreadyEnded(f"training {training_id} has already {status.value}; there is nothing to cancel")
    return await get(session, training_id)


async def delete(session: AsyncSession, training_id: str) -> None:
    """Delete the record of an ended training; the model it made stays."""
    job_id = await _job_of(session, training_id)
    query = select(_jobs.c.status).where(_jobs.c.id == job_id).with_for_update()
    status = Status((await session.execute(query)).scalar_one())
    if not status.has_ended:
        raise TrainingNotEnded(
            f"training {training_id} is {status.value}; cancel it or wait for its end, then delete it"
        )
    await session.execute(delete_from(_trainings).where(_trainings.c.id == training_id))
    await session.execute(delete_from(_jobs).where(_jobs.c.id == job_id))


async def _job_of(session: AsyncSession, training_id: str) -> str:
    job_id: str | None = await session.scalar(select(_trainings.c.job_id).where(_trainings.c.id == training_id))
    if job_id is None:
        raise _not_found(training_id)
    return job_id


def _joined() -> Select[Any]:
    of_job = (
        _jobs.c.status,
        _jobs.c.stage,
        _jobs.c.progress,
        _jobs.c.warnings,
        _jobs.c.problem,
        _jobs.c.started_at,
        _jobs.c.finished_at,
    )
    return select(_trainings, *of_job).join(_jobs, _jobs.c.id == _trainings.c.job_id)


def _record(row: Row[Any]) -> TrainingRecord:
    return TrainingRecord(
        id=row.id,
        name=row.name,
        status=row.status,
        stage=row.stage,
        progress=row.progress,
        model_id=row.model_id,
        version=row.version,
        dataset_id=row.dataset_id,
        validation_dataset_id=row.validation_dataset_id,
        configuration=row.configuration,
        parent=None if row.parent is None else Parent(**row.parent),
        warnings=tuple(row.warnings),
        problem=row.problem,
        created_at=moment(row.created_at),
        started_at=moment_or_none(row.started_at),
        finished_at=moment_or_none(row.finished_at),
    )


def _not_found(training_id: str) -> TrainingNotFound:
    return TrainingNotFound(f"there is no training {training_id}; GET /v1/trainings lists those there are")
