"""Order a training: check everything against the dataset, then record model and job together."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from core.config.as_json import to_json
from core.config.checks import check, schema_of
from core.config.columns import attribute_names, has_validation, task_of
from core.config.committee_presets import pruning_of, resolve_method
from core.config.options import DatasetsDivision, Division, Retraining, TrainingConfig
from core.tables.errors import Fault, Path
from core.tables.parts import Part
from core.tables.target import Task
from service.errors import DatasetNotFound
from service.store import datasets, jobs, models, trainings
from service.store.datasets import DatasetRecord
from service.store.trainings import TrainingRecord


@dataclass(frozen=True, slots=True)
class TrainingOrder:
    """A client's order; `overrides` are the parts of the preset to replace, `pruning` is JSON if it is given."""

    name: str
    dataset_id: str
    target: str | tuple[str, ...]
    target_kind: str | None
    attributes: tuple[str, ...] | None
    sample_weight: str | None
    class_weights: Mapping[str, float] | None
    misclassification_costs: Mapping[str, Mapping[str, float]] | None
    seed: int
    division: Division
    preset: str
    overrides: Mapping[str, Any]
    pruning: Mapping[str, Any] | None
    importance: Retraining | None


async def start_training(session: AsyncSession, order: TrainingOrder) -> TrainingRecord:
    """Record a model and queue its training; both happen or neither."""
    dataset = await _dataset(session, order.dataset_id, ("dataset_id",))
    others = await _other_datasets(session, order.division)
    config = complete_config(order, dataset)
    tables = {part: other.columns for part, other in others.items()}
    check(config, dataset.columns, tables, members_listed="members" in order.overrides)
    config = replace(config, attributes=attribute_names(schema_of(dataset.columns), config))
    configuration = to_json(config)
    waiting = await models.add_waiting(
        session,
        name=order.name,
        configuration=configuration,
        train=dataset.id,
        **{part.value: other.id for part, other in others.items()},
    )
    return await trainings.add(
        session,
        job_id=await jobs.enqueue(session),
        model_id=waiting.id,
        name=waiting.name,
        version=waiting.version,
        dataset_id=dataset.id,
        configuration=configuration,
    )


def complete_config(order: TrainingOrder, dataset: DatasetRecord) -> TrainingConfig:
    """The order completed by the preset's parts, which depend on the kind of target."""
    schema = schema_of(dataset.columns)
    is_unknown = isinstance(order.target, str) and order.target not in schema  # the checks will report it
    task = Task.CLASSIFICATION if is_unknown else task_of(schema, order.target, order.target_kind)
    algorithm, ensemble = resolve_method(order.preset, order.overrides, task)
    return TrainingConfig(
        target=order.target,
        target_kind=order.target_kind,
        attributes=order.attributes,
        sample_weight=order.sample_weight,
        class_weights=order.class_weights,
        misclassification_costs=order.misclassification_costs,
        seed=order.seed,
        division=order.division,
        algorithm=algorithm,
        ensemble=ensemble,
        pruning=pruning_of(algorithm, ensemble, order.pruning, has_validation=has_validation(order.division, schema)),
        importance=order.importance,
    )


async def _other_datasets(session: AsyncSession, division: Division) -> dict[Part, DatasetRecord]:
    if not isinstance(division, DatasetsDivision):
        return {}
    named = {Part.VALIDATION: division.validation, Part.TEST: division.test}
    return {
        part: await _dataset(session, dataset_id, ("division", part.value))
        for part, dataset_id in named.items()
        if dataset_id is not None
    }


async def _dataset(session: AsyncSession, dataset_id: str, path: Path) -> DatasetRecord:
    try:
        return await datasets.get(session, dataset_id)
    except DatasetNotFound as error:
        raise DatasetNotFound(error.detail, Fault(error.detail, path)) from error
