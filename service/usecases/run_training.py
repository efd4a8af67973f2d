"""Carry out a training that was ordered: in a worker's process, never in the one that answers requests."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from core.config import from_json
from core.content_pieces import pieces
from core.evaluation import evaluate
from core.growth.engine import Engine, prefers_kernels
from core.model import Model
from core.serialization import FORMAT, dump
from core.training import train
from service.store import datasets, jobs, models, trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Job, Stage
from service.store.models import PackedContent, pack
from service.store.transactions import Database
from service.usecases.evaluation_json import evaluation_json
from service.usecases.training_data import digests_of, prepared_data

Report = Callable[[str, float], None]

# Where each stage begins and ends in the whole.
STAGES = {
    Stage.LOADING: (0.0, 0.05),
    Stage.GROWING: (0.05, 0.65),
    Stage.PRUNING: (0.65, 0.80),
    Stage.EVALUATING: (0.80, 0.97),
    Stage.STORING: (0.97, 1.0),
}


@dataclass(frozen=True)
class Outcome:
    """A trained model, ready to be stored."""

    model: Model
    content: PackedContent
    digest: str
    facts: dict[str, object]
    evaluation: dict[str, object]
    warnings: tuple[str, ...]


async def run_training(
    database: Database,
    artifacts: Artifacts,
    *,
    training_id: str,
    job: Job,
    report: Report,
    engine: str = Engine.AUTO,
    threads: int = 1,
) -> None:
    """Train, and publish the model if the job is still this worker's; nothing is stored otherwise."""
    report(Stage.LOADING, STAGES[Stage.LOADING][0])
    async with database.reading() as session:
        training = await trainings.get(session, training_id)
        dataset = await datasets.get_even_if_deleted(session, training.dataset_id)
        digests = await digests_of(session, training.dataset_id, training.configuration)
    config = from_json(training.configuration)

    def within(stage: str, progress: float) -> None:
        start, end = STAGES[Stage(stage)]
        report(stage, start + progress * (end - start))

    def evaluating(done: float) -> None:
        within(Stage.EVALUATING, done)

    prepared = prepared_data(artifacts, digests, config)
    model = train(prepared, config, within, engine=Engine(engine), threads=threads)
    kernels = prefers_kernels(Engine(engine), prepared.train)
    evaluation = evaluate(model, model.history.selected, prepared.parts, kernels=kernels, watch=evaluating)
    within(Stage.STORING, 0.0)
    content = dump(model)
    outcome = Outcome(
        model=model,
        content=pack(*pieces(content)),
        digest=f"sha256:{hashlib.sha256(content).hexdigest()}",
        facts=facts_of(model, [column.name for column in dataset.columns]),
        evaluation=evaluation_json(evaluation),
        warnings=prepared.warnings,
    )
    model_id = training.model_id
    assert model_id is not None

    async def publish(session: AsyncSession) -> None:
        await store_outcome(session, job, model_id, outcome)

    await database.write_when_back(publish)


async def store_outcome(session: AsyncSession, job: Job, model_id: str, outcome: Outcome) -> None:
    """End the job and make its model ready: both in one transaction, and only for who holds the job."""
    target = outcome.model.target
    await jobs.finish_succeeded(session, job, warnings=outcome.warnings)
    await models.publish(
        session,
        model_id,
        content=outcome.content,
        digest=outcome.digest,
        task=outcome.model.task,
        target=target if isinstance(target, str) else list(target),
        format=FORMAT,
        facts=outcome.facts,
        evaluation=outcome.evaluation,
    )


def facts_of(model: Model, columns: list[str]) -> dict[str, object]:
    """What is told of a model without loading it; columns that it does not use may still be in a record."""
    view = model.view(model.history.selected)
    return {
        "classes": list(model.classes),
        "n_attributes": len(model.attributes),
        "unused_columns": [name for name in columns if name not in model.attributes],
        "n_nodes": len(view.nodes),
        "n_leaves": len(view.leaves),
        "depth": view.max_depth,
        "n_steps": len(model.history.steps),
        "selected_step": model.history.selected,
    }
