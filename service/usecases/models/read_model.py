"""Read a model together with its data: candidates, evaluation, and how steps differ."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from core.config.as_json import from_json
from core.drawing.chart import error_words
from core.drawing.trees_curve import TreesCurve
from core.engine.considered import candidates_by_node
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.model import ForestModel
from core.evaluation.curve import cross_validated, known
from core.evaluation.evaluate import measure_parts
from core.growth.best_split import Candidate
from core.growth.data_thresholds import lowered_candidates
from core.growth.samples import Samples
from core.rules.difference import RuleDifference
from core.tables.parts import Part
from core.training.preparation import Prepared
from core.training.train import training_samples
from service.errors import InvalidParameter, TooBusy
from service.serving.loaded_models import Loaded, LoadedModel, LoadedTrees
from service.store import models
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.trainings.evaluation_json import error_in, parts_json
from service.usecases.trainings.training_data import prepared_data

Result = TypeVar("Result")

# Reading a whole dataset again is expensive. One request does so at a time, so that this never occupies more than one
# core, and the number of requests that wait for it is limited.
MOST_WAITING = 16
_one_at_a_time = asyncio.Semaphore(1)
_waiting: set[object] = set()


class Thresholds(StrEnum):
    """Which number is shown for a threshold."""

    MIDPOINT = "midpoint"
    DATA = "data"


def as_reported(loaded: LoadedModel, thresholds: Thresholds) -> LoadedModel:
    """The model with the thresholds to show; InvalidParameter if it does not have them."""
    if thresholds is Thresholds.MIDPOINT:
        return loaded
    if loaded.model.data_thresholds is None:
        detail = "only models trained in the dialect release8 keep the values of the data below their thresholds"
        raise InvalidParameter("thresholds", detail, hint='use midpoint, or train with "dialect": "release8"')
    return LoadedModel(loaded.record, loaded.model.with_data_thresholds())


async def read_candidates(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int, thresholds: Thresholds
) -> dict[int, list[Candidate]]:
    """The candidates for the split of every inner node, computed from the training rows."""
    config = from_json(loaded.record.configuration)

    def compute(prepared: Prepared) -> dict[int, list[Candidate]]:
        samples = training_samples(prepared, config)
        considered = candidates_by_node(loaded.view(step), samples, config.algorithm, seed=config.seed)
        if thresholds is Thresholds.MIDPOINT:
            return considered
        return lowered_candidates(considered, samples.attributes)

    return await with_data(database, artifacts, loaded, compute)


async def read_evaluation(database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int) -> dict[str, Any]:
    """The evaluation as of a step; all of it is stored with the model, except measures of steps not selected."""
    (parts,) = await read_parts(database, artifacts, loaded, [step])
    stored = loaded.record.evaluation
    curve = stored["curve"]
    if all(point["step"] != step for point in curve):
        curve = sorted([*curve, curve_point(loaded, step, parts)], key=lambda point: point["step"])
    return {**stored, "parts": parts, "curve": curve}


def trees_curve(loaded: LoadedTrees) -> TreesCurve:
    """A committee's error by its number of trees, to be drawn; InvalidParameter if no row is out of bag."""
    stored, model = loaded.record.evaluation, loaded.model
    points = [(p["trees"], p["out_of_bag"]) for p in stored.get("trees", []) if p["out_of_bag"] is not None]
    if isinstance(model, IsolationModel) or not points:
        why = "all trees are grown from all rows" if isinstance(model, ForestModel) else "nothing is predicted here"
        detail = f"the picture is of the error on rows that trees have not seen, and {why}"
        raise InvalidParameter("format", detail, hint="use json")
    test = stored["parts"]["test"]
    return TreesCurve(
        points=points,
        test=None if test is None else error_in(test),
        error=error_words(model.task, model.costs),
        targets=model.targets,
    )


def curve_point(loaded: LoadedModel, step: int, parts: dict[str, Any]) -> dict[str, Any]:
    """The point of a step that was left out of the stored curve, which has a limited number of points."""
    history = loaded.model.history
    (left_out,), (spread,) = cross_validated(history, np.array([step]))
    return {
        "step": step,
        "leaves": int(history.leaves_by_step[step]),
        "alpha": history.steps[step - 1].alpha if step else None,
        **{part.value: None if parts[part] is None else error_in(parts[part]) for part in Part},
        "cross_validation": known(left_out),
        "spread": known(spread),
    }


async def read_parts(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, steps: Sequence[int]
) -> list[dict[str, Any]]:
    """The measures of each part as of some steps; the data is read once for all steps without known measures."""
    found = {step: parts for step in steps if (parts := loaded.parts(step)) is not None}
    unknown = [step for step in dict.fromkeys(steps) if step not in found]

    def compute(prepared: Prepared) -> dict[int, dict[str, Any]]:
        return {step: parts_json(measure_parts(loaded.model, step, prepared.parts)) for step in unknown}

    for step, parts in (await with_data(database, artifacts, loaded, compute) if unknown else {}).items():
        loaded.keep_parts(step, parts)
        found[step] = parts
    return [found[step] for step in steps]


@dataclass(frozen=True)
class Difference:
    """How the trees of two steps differ; `errors` has both errors by part, None if the part has no rows."""

    rules: RuleDifference
    errors: dict[Part, tuple[float, float] | None]


async def read_difference(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, before: int, after: int
) -> Difference:
    """The rules that only one of two steps has, and how the error of each part changes."""
    rules = await asyncio.to_thread(loaded.difference, before, after)
    old, new = await read_parts(database, artifacts, loaded, [before, after])
    errors = {part: (error_in(old[part]), error_in(new[part])) if old[part] is not None else None for part in Part}
    return Difference(rules, errors)


def samples_of_part(prepared: Prepared, part: Part) -> Samples:
    """The rows of a part; InvalidParameter if it has none."""
    samples = prepared.parts[part]
    if samples is None:
        there = " or ".join(part for part, samples in prepared.parts.items() if samples is not None)
        raise InvalidParameter("part", f"the {part} part of this model has no rows", hint=f"use {there}")
    return samples


async def with_data(
    database: Database, artifacts: Artifacts, loaded: Loaded, compute: Callable[[Prepared], Result]
) -> Result:
    """The result of `compute` for the rows of a model, run in a thread; TooBusy if too many requests wait for rows."""
    record = loaded.record
    async with database.reading() as session:
        digests = await models.file_digests(session, record.id)

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
