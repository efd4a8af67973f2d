"""The queue: one row for each job, leased to one worker at a time.

    queued -> running -> succeeded | failed | cancelled
       ^---------'            given back, or its worker stopped

A worker holds a job by a lease and extends it while it works. When the lease runs out, another worker takes over, and
the attempt's number goes up by one. Every write to a running job checks the attempt, and the lease by the database's
clock: for a worker that has lost the lease no row matches, and LeaseLost is raised.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, func, insert, or_, select, update
from sqlalchemy import delete as delete_from
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import pieces, tables
from service.store.clock import database_now
from service.store.ids import new_id

_jobs = tables.jobs


class Status(StrEnum):
    """The status of a job."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def has_ended(self) -> bool:
        return self not in (Status.QUEUED, Status.RUNNING)


class Stage(StrEnum):
    """What a running training is doing."""

    LOADING = "loading"
    GROWING = "growing"
    PRUNING = "pruning"
    EVALUATING = "evaluating"
    RETRAINING = "retraining"
    STORING = "storing"


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a worker has claimed; `attempt` is the number of the claim."""

    id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Queue:
    """The number of jobs by status, and the seconds that the oldest queued one has waited; None if none is queued."""

    counts: dict[Status, int]
    oldest_queued_seconds: float | None


class LeaseLost(Exception):
    """The job is no longer this worker's: it ended, was cancelled, or its lease ran out."""

    def __init__(self, job: Job) -> None:
        super().__init__(f"attempt {job.attempt} of {job.id} no longer holds the job")
        self.job = job


class Kind(StrEnum):
    """What a job makes a model from: rows, or another model."""

    TRAINING = "training"
    PRUNING = "pruning"


async def enqueue(session: AsyncSession, *, kind: Kind = Kind.TRAINING, warnings: Sequence[str] = ()) -> str:
    """Queue a job and return its id."""
    job_id = new_id("job")
    values = {
        "id": job_id,
        "kind": kind.value,
        "status": Status.QUEUED.value,
        "progress": 0.0,
        "attempt": 0,
        "crashes": 0,
        "cancel_requested": False,
        "warnings": list(warnings),
        "created_at": database_now(),
    }
    await session.execute(insert(_jobs).values(values))
    return job_id


async def is_any_claimable(session: AsyncSession) -> bool:
    """Whether `claim_next` would find something; a cheap query for an idle worker."""
    return await session.scalar(_claimable().limit(1)) is not None


async def claim_next(session: AsyncSession, worker: str, *, lease_seconds: float, max_attempts: int) -> Job | None:
    """Lease the oldest job that is queued, or whose lease has run out; two workers never get the same one.

    None if there is no such job. Jobs to be cancelled, and those that crashed too often, are ended on the way.
    """
    while True:
        # Rows that another worker has locked are skipped: it is claiming them.
        query = _claimable().order_by(_jobs.c.id).limit(1).with_for_update(skip_locked=True)
        row = (await session.execute(query)).one_or_none()
        if row is None:
            return None
        crashes = row.crashes + (row.status == Status.RUNNING.value)
        if row.cancel_requested:
            await _end(session, _jobs.c.id == row.id, Status.CANCELLED)
        elif crashes >= max_attempts:
            await _end(session, _jobs.c.id == row.id, Status.FAILED, problem=stopped_too_often(crashes))
        else:
            return await _lend(session, row, worker, lease_seconds, crashes)


async def extend_lease(
    session: AsyncSession, job: Job, lease_seconds: float, *, stage: str | None, progress: float
) -> bool:
    """Extend a job's lease and store its progress; return whether cancellation was requested."""
    values = {"lease_until": database_now() + lease_seconds, "stage": stage, "progress": progress}
    extended = update(_jobs).where(_held(job)).values(values).returning(_jobs.c.cancel_requested)
    row = (await session.execute(extended)).one_or_none()
    if row is None:
        raise LeaseLost(job)
    return bool(row.cancel_requested)


async def is_cancel_requested(session: AsyncSession, job: Job) -> bool:
    """Whether cancellation of a running job was requested; a cheap query between two extensions."""
    return bool(await session.scalar(select(_jobs.c.cancel_requested).where(_jobs.c.id == job.id)))


async def finish_succeeded(session: AsyncSession, job: Job, *, warnings: Sequence[str] = ()) -> None:
    """End a job as succeeded, adding warnings to those it has; LeaseLost also if it is to be cancelled.

    To be called first in the transaction that publishes the result: after it, no other process can end the job.
    """
    ended = (
        update(_jobs)
        .where(_held(job), _jobs.c.cancel_requested.is_(False))
        .values(status=Status.SUCCEEDED.value, progress=1.0, **_at_rest(), finished_at=database_now())
        .returning(_jobs.c.warnings)
    )
    row = (await session.execute(ended)).one_or_none()
    if row is None:
        raise LeaseLost(job)
    if warnings:
        known = update(_jobs).where(_jobs.c.id == job.id).values(warnings=[*row.warnings, *warnings])
        await session.execute(known)


async def finish_failed(session: AsyncSession, job: Job, problem: Mapping[str, Any]) -> None:
    """End a job as failed, with the problem that its caller will read; its waiting model is removed."""
    if not await _end(session, _held(job), Status.FAILED, problem=problem):
        raise LeaseLost(job)


async def finish_cancelled(session: AsyncSession, job: Job) -> None:
    """End a job as cancelled; its waiting model is removed."""
    if not await _end(session, _held(job), Status.CANCELLED):
        raise LeaseLost(job)


async def give_back(session: AsyncSession, job: Job) -> None:
    """Queue a job again because its worker was told to stop, which does not count as a crash."""
    await _requeue(session, job, crashes=_jobs.c.crashes)


async def give_back_crashed(
    session: AsyncSession, job: Job, *, max_attempts: int, problem: Mapping[str, Any] | None = None
) -> Status:
    """Queue a job again after its process crashed, or fail it after `max_attempts` crashes; return its status."""
    query = select(_jobs.c.crashes).where(_held(job)).with_for_update()
    crashes = await session.scalar(query)
    if crashes is None:
        raise LeaseLost(job)
    if crashes + 1 < max_attempts:
        await _requeue(session, job, crashes=_jobs.c.crashes + 1)
        return Status.QUEUED
    await finish_failed(session, job, problem or stopped_too_often(crashes + 1))
    return Status.FAILED


async def request_cancel(session: AsyncSession, job_id: str) -> Status:
    """Cancel a queued job at once, ask a running one to stop, leave an ended one; return its status."""
    status = Status((await session.execute(_status(job_id).with_for_update())).scalar_one())
    if status is Status.QUEUED:
        await _end(session, _jobs.c.id == job_id, Status.CANCELLED)
        return Status.CANCELLED
    if status is Status.RUNNING:
        await session.execute(update(_jobs).where(_jobs.c.id == job_id).values(cancel_requested=True))
    return status


async def overview(session: AsyncSession) -> Queue:
    """The figures of the queue; every status has a count, even if it is 0."""
    query = select(_jobs.c.status, func.count().label("n")).group_by(_jobs.c.status)
    counts = dict.fromkeys(Status, 0)
    counts.update({Status(row.status): row.n for row in await session.execute(query)})
    waited = select(database_now() - func.min(_jobs.c.created_at)).where(_jobs.c.status == Status.QUEUED.value)
    seconds = await session.scalar(waited)
    return Queue(counts, None if seconds is None else max(0.0, seconds))


def stopped_too_often(times: int) -> dict[str, Any]:
    """The problem of a job that was given up because its process ended too often."""
    return internal_problem(
        f"the worker stopped {times} time(s) while running this training; it may need more memory than there is"
    )


def internal_problem(detail: str) -> dict[str, Any]:
    """A problem that is not the caller's fault, in the form stored with a failed job."""
    return {
        "type": "/problems/internal_error",
        "title": "Something went wrong on our side",
        "status": 500,
        "detail": detail,
        "errors": [],
    }


def _claimable() -> Select[Any]:
    ran_out = and_(_jobs.c.status == Status.RUNNING.value, _jobs.c.lease_until <= database_now())
    columns = (_jobs.c.id, _jobs.c.status, _jobs.c.attempt, _jobs.c.crashes, _jobs.c.cancel_requested)
    return select(*columns).where(or_(_jobs.c.status == Status.QUEUED.value, ran_out))


def _held(job: Job) -> ColumnElement[bool]:
    """The condition that this attempt holds the job: running, and within its lease by the database's clock."""
    return and_(
        _jobs.c.id == job.id,
        _jobs.c.status == Status.RUNNING.value,
        _jobs.c.attempt == job.attempt,
        _jobs.c.lease_until > database_now(),
    )


async def _lend(session: AsyncSession, row: Row[Any], worker: str, lease_seconds: float, crashes: int) -> Job:
    job = Job(row.id, row.attempt + 1)
    values = {
        "status": Status.RUNNING.value,
        "stage": None,
        "progress": 0.0,
        "attempt": job.attempt,
        "crashes": crashes,
        "worker": worker,
        "lease_until": database_now() + lease_seconds,
        "started_at": database_now(),
    }
    await session.execute(update(_jobs).where(_jobs.c.id == job.id).values(values))
    return job


async def _requeue(session: AsyncSession, job: Job, *, crashes: ColumnElement[int]) -> None:
    values = {"status": Status.QUEUED.value, "progress": 0.0, "crashes": crashes, "started_at": None, **_at_rest()}
    requeued = update(_jobs).where(_held(job)).values(values).returning(_jobs.c.id)
    if await session.scalar(requeued) is None:
        raise LeaseLost(job)


async def _end(
    session: AsyncSession, which: ColumnElement[bool], status: Status, *, problem: Mapping[str, Any] | None = None
) -> bool:
    """End a job without a result and remove its waiting model; return whether there was such a job."""
    values = {"status": status.value, "problem": problem, "finished_at": database_now(), **_at_rest()}
    job_id = await session.scalar(update(_jobs).where(which).values(values).returning(_jobs.c.id))
    if job_id is None:
        return False
    of_job = select(tables.trainings.c.model_id).where(tables.trainings.c.job_id == job_id)
    waiting = delete_from(tables.models).where(tables.models.c.id.in_(of_job), tables.models.c.state == "waiting")
    await session.execute(waiting)
    await pieces.sweep(session)
    return True


def _at_rest() -> dict[str, Any]:
    """The column values of a job that no worker holds."""
    return {"stage": None, "worker": None, "lease_until": None}


def _status(job_id: str) -> Select[Any]:
    return select(_jobs.c.status).where(_jobs.c.id == job_id)
