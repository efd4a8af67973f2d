"""Read a model together with the data behind it: candidates of its nodes, and its evaluation as of a step."""

import asyncio
from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeVar

from core.config import from_json
from core.data_thresholds import lowered_candidates
from core.evaluation import evaluate
from core.growth.best_split import Candidate
from core.growth.considered import candidates_by_node
from core.preparation import Prepared
from core.training import training_samples
from service.errors import InvalidParameter, TooBusy
from service.serving.loaded_models import LoadedModel
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.evaluation_json import evaluation_json
from service.usecases.training_data import digests_of, prepared_data

Result = TypeVar("Result")

# Reading a whole dataset again is work: one at a time, so that it never takes more than one core from the others, and
# few may wait for it.
MOST_WAITING = 16
_one_at_a_time = asyncio.Semaphore(1)
_waiting: set[object] = set()


class Thresholds(StrEnum):
    """Which number is told of a threshold."""

    MIDPOINT = "midpoint"
    DATA = "data"


def as_reported(loaded: LoadedModel, thresholds: Thresholds) -> LoadedModel:
    """The model with the thresholds to be told; refused where it did not keep them."""
    if thresholds is Thresholds.MIDPOINT:
        return loaded
    if loaded.model.data_thresholds is None:
        detail = "only models trained in the dialect release8 keep the values of the data below their thresholds"
        raise InvalidParameter("thresholds", detail, hint='use midpoint, or train with "dialect": "release8"')
    return LoadedModel(loaded.record, loaded.model.with_data_thresholds())


async def read_candidates(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int, thresholds: Thresholds
) -> dict[int, list[Candidate]]:
    """What every inner node could have been split on, from the rows it was trained on."""
    config = from_json(loaded.record.configuration)

    def compute(prepared: Prepared) -> dict[int, list[Candidate]]:
        samples = training_samples(prepared, config)
        considered = candidates_by_node(loaded.view(step), samples, config.algorithm, seed=config.seed)
        if thresholds is Thresholds.MIDPOINT:
            return considered
        return lowered_candidates(considered, samples.attributes)

    return await _with_data(database, artifacts, loaded, compute)


async def read_evaluation(database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int) -> dict[str, Any]:
    """How good the tree as of a step is; that of the selected step was stored with the model."""
    if step == loaded.model.history.selected:
        return loaded.record.evaluation

    def compute(prepared: Prepared) -> dict[str, Any]:
        return evaluation_json(evaluate(loaded.model, step, prepared.parts))

    return await _with_data(database, artifacts, loaded, compute)


async def _with_data(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, compute: Callable[[Prepared], Result]
) -> Result:
    record = loaded.record
    async with database.reading() as session:
        digests = await digests_of(session, record.dataset_id, record.configuration)

    def work() -> Result:
        return compute(prepared_data(artifacts, digests, from_json(record.configuration)))

    if len(_waiting) >= MOST_WAITING:
        raise TooBusy(f"{MOST_WAITING} requests already wait for datasets to be read; try again in a moment")
    _waiting.add(work)
    try:
        async with _one_at_a_time:
            return await asyncio.to_thread(work)
    finally:
        _waiting.discard(work)
