"""A dataset, a waiting model, a job and its training, as an order of a training leaves them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import select, update

from core.tables.schema import Attribute, Kind, Schema
from core.tables.summary import summarize
from core.tables.table import Table
from service.store import datasets, jobs, models, tables, trainings
from service.store.artifacts import Artifacts
from service.store.datasets import DatasetRecord
from service.store.jobs import Job
from service.store.trainings import TrainingRecord
from service.store.transactions import Database


@dataclass(frozen=True)
class Ordered:
    training_id: str
    job_id: str
    model_id: str
    dataset_id: str


def melons(*densities: float) -> Table:
    """A small table with every kind of column and missing cells."""
    numbers = np.array(densities or (0.697, np.nan, 0.243))
    codes = np.array([0, -1, 2], dtype=np.int32)[np.arange(len(numbers)) % 3]
    schema = Schema(
        (
            Attribute("密度", Kind.NUMERIC),
            Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", "模糊")),
            Attribute("等级", Kind.ORDINAL, ("低", "中", "高")),
            Attribute("🍉", Kind.IGNORE, ("a", "b", "c")),
        )
    )
    return Table(schema, (numbers, codes, codes.copy(), codes.copy()))


async def add_dataset(
    database: Database, artifacts: Artifacts, table: Table | None = None, *, name: str = "melons"
) -> DatasetRecord:
    table = table or melons()
    temporary = artifacts.write_temporary(table)
    async with database.writing() as session:
        return await datasets.add(
            session, artifacts, temporary, name=name, n_rows=table.n_rows, columns=summarize(table)
        )


async def order_training(
    database: Database,
    artifacts: Artifacts,
    *,
    name: str = "melon",
    dataset_id: str | None = None,
    validation: str | None = None,
    configuration: dict[str, Any] | None = None,
    warnings: Sequence[str] = (),
) -> Ordered:
    configuration = configuration or {"target": "等级", "algorithm": {"kind": "c45"}}
    dataset_id = dataset_id or (await add_dataset(database, artifacts)).id
    async with database.writing() as session:
        model = await models.add_waiting(
            session, name=name, configuration=configuration, train=dataset_id, validation=validation
        )
        job_id = await jobs.enqueue(session, warnings=warnings)
        training = await trainings.add(
            session,
            job_id=job_id,
            model_id=model.id,
            name=name,
            version=model.version,
            dataset_id=dataset_id,
            configuration=configuration,
        )
    return Ordered(training.id, job_id, model.id, dataset_id)


async def claim(
    database: Database, *, worker: str = "w", lease_seconds: float = 60.0, max_attempts: int = 3
) -> Job | None:
    async with database.writing() as session:
        return await jobs.claim_next(session, worker, lease_seconds=lease_seconds, max_attempts=max_attempts)


async def finish(database: Database, job: Job, model_id: str, content: bytes = b"{}") -> None:
    packed = models.pack(content)
    async with database.writing() as session:
        await jobs.finish_succeeded(session, job, warnings=["grown"])
        await models.publish(
            session,
            model_id,
            content=packed,
            digest="sha256:00",
            task="classification",
            target="等级",
            format=1,
            facts={"n_leaves": 3},
            evaluation={"parts": {}},
        )


async def make_model(database: Database, artifacts: Artifacts, content: bytes = b"{}", **order: Any) -> Ordered:
    """A ready model."""
    ordered = await order_training(database, artifacts, **order)
    job = await claim(database)
    assert job is not None
    assert job.id == ordered.job_id
    await finish(database, job, ordered.model_id, content)
    return ordered


async def training(database: Database, training_id: str) -> TrainingRecord:
    async with database.reading() as session:
        return await trainings.get(session, training_id)


async def let_lease_run_out(database: Database, job: Job) -> None:
    """As if the time had passed."""
    async with database.writing() as session:
        await session.execute(update(tables.jobs).where(tables.jobs.c.id == job.id).values(lease_until=1.0))


async def model_ids(database: Database) -> set[str]:
    """Every model there is, also those that wait."""
    async with database.reading() as session:
        return set((await session.scalars(select(tables.models.c.id))).all())
