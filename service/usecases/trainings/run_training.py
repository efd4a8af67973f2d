"""Run a training that was ordered, in a worker's process, never in the one that answers requests."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from core.config.as_json import from_json
from core.config.options import TrainingConfig
from core.engine.engine import Engine
from core.storage.pieces import pieces
from core.storage.serialization import FORMAT, AnyModel, dump, load_tree
from core.training.train import prune_again
from service.store import datasets, jobs, models, trainings
from service.store.artifacts import Artifacts
from service.store.jobs import Job, Stage
from service.store.models import PackedContent, pack
from service.store.pieces import digest_of
from service.store.transactions import Database
from service.usecases.trainings.training_data import prepared_data
from service.usecases.trainings.training_outcome import evaluated, facts_of, trained, with_importance

Report = Callable[[str, float], None]

# The progress at which each stage begins and ends.
STAGES = {
    Stage.LOADING: (0.0, 0.05),
    Stage.GROWING: (0.05, 0.65),
    Stage.PRUNING: (0.65, 0.80),
    Stage.EVALUATING: (0.80, 0.97),
    Stage.STORING: (0.97, 1.0),
}
STAGES_OF_MANY = {
    Stage.LOADING: (0.0, 0.05),
    Stage.GROWING: (0.05, 0.80),
    Stage.EVALUATING: (0.80, 0.97),
    Stage.STORING: (0.97, 1.0),
}
STAGES_OF_PRUNING = {
    Stage.LOADING: (0.0, 0.1),
    Stage.PRUNING: (0.1, 0.6),
    Stage.EVALUATING: (0.6, 0.97),
    Stage.STORING: (0.97, 1.0),
}
RETRAINING = 0.1  # the progress at which it begins, if it is ordered: it takes as long as many trainings


def stages_of(config: TrainingConfig, *, prunes_again: bool) -> dict[Stage, tuple[float, float]]:
    """The progress at which each stage of a training begins and ends."""
    if prunes_again:
        return STAGES_OF_PRUNING
    stages = STAGES if config.ensemble is None else STAGES_OF_MANY
    if config.importance is None:
        return stages
    before = {stage: (RETRAINING * start, RETRAINING * end) for stage, (start, end) in stages.items()}
    storing = stages[Stage.STORING]
    return before | {Stage.RETRAINING: (RETRAINING, storing[0]), Stage.STORING: storing}


@dataclass(frozen=True)
class Outcome:
    """A trained model, ready to be stored."""

    model: AnyModel
    content: PackedContent
    digest: str
    facts: dict[str, Any]
    evaluation: dict[str, Any]


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
    """Train a model, or prune a stored one again, and publish it; LeaseLost if the job is no longer this worker's."""
    report(Stage.LOADING, STAGES[Stage.LOADING][0])
    async with database.reading() as session:
        training = await trainings.get(session, training_id)
        dataset = await datasets.get_even_if_deleted(session, training.dataset_id)
        model_id = training.model_id
        assert model_id is not None
        digests = await models.file_digests(session, model_id)
        stored = None if training.parent is None else await models.read_content(session, model_id)
    config = from_json(training.configuration)
    stages = stages_of(config, prunes_again=stored is not None)

    def within(stage: str, progress: float) -> None:
        start, end = stages[Stage(stage)]
        report(stage, start + progress * (end - start))

    prepared = prepared_data(artifacts, digests, config)
    options: dict[str, Any] = {"engine": Engine(engine), "threads": threads}
    model: AnyModel
    if stored is None:
        model = trained(prepared, config, within, **options)
    else:
        model = prune_again(load_tree(stored), config, prepared, within, **options)
    evaluation = evaluated(model, prepared, config, watch=partial(within, Stage.EVALUATING), **options)
    evaluation, unknown = with_importance(
        evaluation, prepared, config, watch=partial(within, Stage.RETRAINING), **options
    )
    within(Stage.STORING, 0.0)
    unused = [column.name for column in dataset.columns if column.name not in model.attributes]
    outcome = finished(model, unused, evaluation)

    async def publish(session: AsyncSession) -> None:
        await jobs.finish_succeeded(session, job, warnings=[*prepared.warnings, *unknown])
        await publish_outcome(session, model_id, outcome)

    await database.write_when_back(publish)


def finished(model: AnyModel, unused_columns: list[str], evaluation: dict[str, Any]) -> Outcome:
    """A model with all that is stored with it."""
    content = dump(model)
    return Outcome(
        model=model,
        content=pack(*pieces(content)),
        digest=digest_of(content),
        facts=facts_of(model, unused_columns),
        evaluation=evaluation,
    )


async def publish_outcome(session: AsyncSession, model_id: str, outcome: Outcome) -> None:
    """Publish an outcome as that of a waiting model, which becomes ready."""
    target = outcome.model.target
    await models.publish(
        session,
        model_id,
        content=outcome.content,
        digest=outcome.digest,
        task=outcome.model.task,
        target=target if isinstance(target, str) else list(target) or None,
        format=FORMAT,
        facts=outcome.facts,
        evaluation=outcome.evaluation,
    )
