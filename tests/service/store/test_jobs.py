import asyncio
from typing import Any

import pytest

from service.errors import ModelNotFound, TrainingAlreadyEnded
from service.settings import Settings
from service.store import jobs, models, trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Job, LeaseLost, Status
from service.store.transactions import Database
from tests.service.store.orders import (
    claim,
    finish,
    let_lease_run_out,
    model_ids,
    order_training,
    training,
)

pytestmark = pytest.mark.anyio

PROBLEM = {"type": "/problems/invalid_config", "title": "t", "status": 422, "detail": "one class only", "errors": []}


async def claimed(database: Database, **options: Any) -> Job:
    job = await claim(database, **options)
    assert job is not None
    return job


async def test_jobs_are_lent_oldest_first(database: Database, artifacts: Artifacts) -> None:
    ordered = [await order_training(database, artifacts) for _ in range(3)]
    lent = [await claimed(database) for _ in range(3)]
    assert [job.id for job in lent] == [order.job_id for order in ordered]
    assert await claim(database) is None


async def test_two_workers_never_get_the_same_job(settings: Settings, database: Database, artifacts: Artifacts) -> None:
    ordered = {(await order_training(database, artifacts)).job_id for _ in range(12)}
    other = Database(settings)

    async def claim_all(of: Database, worker: str) -> list[str]:
        taken = []
        while (job := await claim(of, worker=worker)) is not None:
            taken.append(job.id)
        return taken

    hands = await asyncio.gather(*(claim_all(of, f"w{n}") for n, of in enumerate([database, other] * 3)))
    await other.close()
    taken = [job_id for hand in hands for job_id in hand]
    assert sorted(taken) == sorted(ordered)


async def test_a_running_job_shows_its_stage_and_progress(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts, warnings=["few rows"])
    job = await claimed(database)
    async with database.writing() as session:
        is_cancelled = await jobs.extend_lease(session, job, 60, stage="growing", progress=0.4)
    shown = await training(database, ordered.training_id)
    assert not is_cancelled
    assert (shown.status, shown.stage, shown.progress) == ("running", "growing", 0.4)
    assert shown.started_at is not None
    assert shown.warnings == ("few rows",)


async def test_success_publishes_the_model_and_keeps_warnings(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts, warnings=["few rows"])
    await finish(database, await claimed(database), ordered.model_id)
    shown = await training(database, ordered.training_id)
    assert (shown.status, shown.stage, shown.progress) == ("succeeded", None, 1.0)
    assert shown.model_id == ordered.model_id
    assert shown.warnings == ("few rows", "grown")
    assert shown.finished_at is not None


async def test_a_silent_workers_job_is_taken_over(database: Database, artifacts: Artifacts) -> None:
    await order_training(database, artifacts)
    first = await claimed(database)
    assert await claim(database) is None
    await let_lease_run_out(database, first)
    async with database.reading() as session:
        assert await jobs.is_any_claimable(session)
    assert await claim(database) == Job(first.id, first.attempt + 1)


async def test_a_short_lease_runs_out_by_the_databases_clock(database: Database, artifacts: Artifacts) -> None:
    await order_training(database, artifacts)
    await claimed(database, lease_seconds=0.3)
    assert await claim(database) is None
    await asyncio.sleep(0.4)
    assert await claim(database) is not None


@pytest.mark.parametrize("outcome", ["extend", "succeed", "fail", "cancel", "give back", "crash"])
@pytest.mark.parametrize("lost_by", ["time", "takeover", "end"])
async def test_who_lost_the_lease_can_write_nothing(
    database: Database, artifacts: Artifacts, outcome: str, lost_by: str
) -> None:
    ordered = await order_training(database, artifacts)
    job = await claimed(database)
    await let_lease_run_out(database, job)
    if lost_by != "time":
        successor = await claimed(database)
        if lost_by == "end":
            await finish(database, successor, ordered.model_id)
    before = await training(database, ordered.training_id)
    with pytest.raises(LeaseLost):
        await write_outcome(database, job, ordered.model_id, outcome)
    assert await training(database, ordered.training_id) == before
    assert ordered.model_id in await model_ids(database)


async def write_outcome(database: Database, job: Job, model_id: str, outcome: str) -> None:
    if outcome == "succeed":
        return await finish(database, job, model_id)
    async with database.writing() as session:
        match outcome:
            case "extend":
                await jobs.extend_lease(session, job, 60, stage=None, progress=0.9)
            case "fail":
                await jobs.finish_failed(session, job, PROBLEM)
            case "cancel":
                await jobs.finish_cancelled(session, job)
            case "give back":
                await jobs.give_back(session, job)
            case "crash":
                await jobs.give_back_crashed(session, job, max_attempts=3)
    return None


async def test_a_failed_training_leaves_its_problem_and_no_model(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    job = await claimed(database)
    async with database.writing() as session:
        await jobs.finish_failed(session, job, PROBLEM)
    shown = await training(database, ordered.training_id)
    assert (shown.status, shown.problem, shown.model_id, shown.version) == ("failed", PROBLEM, None, 1)
    async with database.reading() as session:
        with pytest.raises(ModelNotFound):
            await models.get(session, ordered.model_id)


async def test_a_job_given_back_is_queued_again_and_not_blamed(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    for attempt in range(1, 6):
        job = await claimed(database, max_attempts=2)
        assert job.attempt == attempt
        async with database.writing() as session:
            await jobs.give_back(session, job)
    shown = await training(database, ordered.training_id)
    assert (shown.status, shown.started_at, shown.model_id) == ("queued", None, ordered.model_id)


async def test_a_job_that_keeps_crashing_is_given_up(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    became = []
    for _ in range(3):
        job = await claimed(database)
        async with database.writing() as session:
            became.append(await jobs.give_back_crashed(session, job, max_attempts=3))
    assert became == [Status.QUEUED, Status.QUEUED, Status.FAILED]
    shown = await training(database, ordered.training_id)
    assert shown.problem is not None
    assert "the worker stopped 3 time(s) while running this training" in shown.problem["detail"]
    assert await model_ids(database) == set()


async def test_a_job_whose_workers_keep_vanishing_is_given_up(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    for _ in range(2):
        await let_lease_run_out(database, await claimed(database, max_attempts=2))
    assert await claim(database, max_attempts=2) is None
    shown = await training(database, ordered.training_id)
    assert (shown.status, shown.model_id) == ("failed", None)
    assert shown.problem is not None
    assert "the worker stopped 2 time(s)" in shown.problem["detail"]


async def cancel(database: Database, training_id: str) -> str:
    async with database.writing() as session:
        return (await trainings.cancel(session, training_id)).status


async def test_a_queued_training_is_cancelled_at_once(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    assert await cancel(database, ordered.training_id) == "cancelled"
    assert await cancel(database, ordered.training_id) == "cancelled"
    assert await claim(database) is None
    assert (await training(database, ordered.training_id)).model_id is None
    assert await model_ids(database) == set()


async def test_a_running_training_is_asked_to_stop(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    job = await claimed(database)
    assert await cancel(database, ordered.training_id) == "running"
    async with database.reading() as session:
        assert await jobs.is_cancel_requested(session, job)
    async with database.writing() as session:
        assert await jobs.extend_lease(session, job, 60, stage=None, progress=0.0)
    async with database.writing() as session:
        await jobs.finish_cancelled(session, job)
    assert (await training(database, ordered.training_id)).status == "cancelled"
    assert await model_ids(database) == set()


async def test_a_training_asked_to_stop_can_no_longer_succeed(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    job = await claimed(database)
    await cancel(database, ordered.training_id)
    with pytest.raises(LeaseLost):
        await finish(database, job, ordered.model_id)


async def test_a_training_asked_to_stop_ends_even_when_its_worker_is_gone(
    database: Database, artifacts: Artifacts
) -> None:
    ordered = await order_training(database, artifacts)
    job = await claimed(database)
    await cancel(database, ordered.training_id)
    await let_lease_run_out(database, job)
    assert await claim(database) is None
    assert (await training(database, ordered.training_id)).status == "cancelled"


async def test_what_has_ended_cannot_be_cancelled(database: Database, artifacts: Artifacts) -> None:
    ordered = await order_training(database, artifacts)
    await finish(database, await claimed(database), ordered.model_id)
    with pytest.raises(TrainingAlreadyEnded, match="already succeeded"):
        await cancel(database, ordered.training_id)
    failed = await order_training(database, artifacts)
    job = await claimed(database)
    async with database.writing() as session:
        await jobs.finish_failed(session, job, PROBLEM)
    with pytest.raises(TrainingAlreadyEnded, match="already failed"):
        await cancel(database, failed.training_id)


async def test_the_overview_counts_every_status(database: Database, artifacts: Artifacts) -> None:
    async with database.reading() as session:
        nothing = await jobs.overview(session)
    assert nothing.oldest_queued_seconds is None
    await order_training(database, artifacts)
    await order_training(database, artifacts)
    await claimed(database)
    async with database.reading() as session:
        some = await jobs.overview(session)
    assert some.counts == {**dict.fromkeys(Status, 0), Status.QUEUED: 1, Status.RUNNING: 1}
    assert some.oldest_queued_seconds is not None
    assert 0 <= some.oldest_queued_seconds < 30
