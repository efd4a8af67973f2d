"""Prune a model again: by other options or rows in the background, or at once by choosing another step."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from core.config.as_json import from_json, to_json
from core.config.checks import check, schema_of
from core.config.columns import has_validation
from core.config.options import DatasetsDivision, TrainingConfig
from core.config.presets import pruning_for
from core.tables.errors import Fault, InvalidConfig
from core.tables.parts import Part
from service.errors import DatasetNotFound, NotForThisModel
from service.serving.loaded_models import LoadedModel
from service.store import datasets, jobs, models, trainings
from service.store.datasets import DatasetRecord
from service.store.jobs import Kind
from service.store.models import ModelRecord, Parent
from service.store.trainings import TrainingRecord
from service.store.transactions import Database
from service.usecases.trainings.run_training import Outcome, finished, publish_outcome

FULL = 0


@dataclass(frozen=True, slots=True)
class PruningOrder:
    """A client's order: how to prune (JSON without what is left out), and optionally a dataset to validate on."""

    pruning: Mapping[str, Any]
    validation_dataset_id: str | None
    name: str | None


async def start_pruning(session: AsyncSession, ref: str, order: PruningOrder) -> TrainingRecord:
    """Record the next version of a model and queue the pruning of its full tree; both happen or neither."""
    origin = await models.get(session, ref)
    if from_json(origin.configuration).ensemble is not None:
        n_trees = origin.facts["n_trees"]
        raise NotForThisModel(f"{origin.name} has {n_trees} trees, which are not pruned; train it again with stopping")
    dataset = await datasets.get_even_if_deleted(session, origin.dataset_id)
    other = await _validation_dataset(session, order.validation_dataset_id)
    configuration = to_json(_checked(origin, order, dataset, other))
    parent = Parent(origin.id, origin.name, origin.version, FULL)
    waiting = await models.add_descendant(
        session,
        parent,
        name=order.name or origin.name,
        configuration=configuration,
        validation=order.validation_dataset_id,
    )
    return await trainings.add(
        session,
        job_id=await jobs.enqueue(session, kind=Kind.PRUNING),
        model_id=waiting.id,
        name=waiting.name,
        version=waiting.version,
        dataset_id=dataset.id,
        configuration=configuration,
        parent=parent,
        validation_dataset_id=order.validation_dataset_id or origin.validation_dataset_id,
    )


async def select_step(database: Database, loaded: LoadedModel, step: int, name: str | None) -> ModelRecord:
    """Make the next version of a model: with the same tree and decisions, but another step is served."""
    origin = loaded.record
    outcome = await asyncio.to_thread(_with_selected, loaded, step)
    async with database.writing() as session:
        waiting = await models.add_descendant(
            session,
            Parent(origin.id, origin.name, origin.version, step),
            name=name or origin.name,
            configuration=origin.configuration,
            validation=None,
        )
        await publish_outcome(session, waiting.id, outcome)
        return await models.get(session, waiting.id)


def _with_selected(loaded: LoadedModel, step: int) -> Outcome:
    """The model with another step selected; unknown measures of the step are computed when first requested."""
    model, record = loaded.model, loaded.record
    chosen = replace(model, history=model.history.with_selected(step))
    return finished(chosen, record.facts["unused_columns"], {**record.evaluation, "parts": loaded.parts(step)})


def _checked(
    origin: ModelRecord, order: PruningOrder, dataset: DatasetRecord, other: DatasetRecord | None
) -> TrainingConfig:
    """The model's configuration with the ordered pruning; InvalidConfig with paths in the order."""
    config, schema = from_json(origin.configuration), schema_of(dataset.columns)
    validation_id = order.validation_dataset_id or origin.validation_dataset_id
    validates = validation_id is not None or has_validation(config.division, schema)
    pruning = pruning_for(config.algorithm, order.pruning, has_validation=validates)
    config = replace(config, pruning=pruning, importance=None)  # an existing tree is pruned, nothing is retrained
    judged = config
    if validation_id is not None:
        judged = replace(config, division=DatasetsDivision(validation=validation_id, test=None))
    try:
        check(judged, dataset.columns, {} if other is None else {Part.VALIDATION: other.columns})
    except InvalidConfig as error:
        raise InvalidConfig(*map(_in_order, error.faults)) from error
    return config


def _in_order(fault: Fault) -> Fault:
    """A fault with its path in an order to prune, which has no division."""
    if fault.path[:1] != ("division",):
        return fault
    hint = fault.hint if fault.path[1:] else "name a dataset whose rows validate"
    return Fault(fault.detail, ("validation_dataset_id",), hint)


async def _validation_dataset(session: AsyncSession, dataset_id: str | None) -> DatasetRecord | None:
    if dataset_id is None:
        return None
    try:
        return await datasets.get(session, dataset_id)
    except DatasetNotFound as error:
        raise DatasetNotFound(error.detail, Fault(error.detail, ("validation_dataset_id",))) from error
