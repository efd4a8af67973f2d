"""The answers of many trees, as JSON and as columns; `schemas/predictions` defines their form."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.ensembles.insight.explanation import ForestExplanation
from core.ensembles.isolation.explanation import ExplainedLength, ShortWay
from core.ensembles.voting import UNDECIDED
from core.growth.held_out import labels_of
from core.records.records import EncodedRecords
from core.tree.conditions import condition_text
from service.api.predicting.formats.answer_columns import (
    AnswerColumn,
    Counts,
    Flags,
    Numbers,
    Texts,
    Words,
    names_in,
    numbers_by_name,
)
from service.api.predicting.tree_json import STATES, asked_among
from service.api.schemas.models import ModelStep, Task, task_of
from service.api.schemas.predictions import PredictionField as Part
from service.serving.loaded_models import LoadedForest, LoadedIsolation
from service.usecases.predictions.ask_isolation import IsolationAnswered
from service.usecases.predictions.predict_forest import ForestAnswered

encode = msgspec.json.Encoder().encode

EXPLAINING = (Part.EXPLANATION, Part.CONTRIBUTIONS, Part.TYPICAL_PATH, Part.SHORT_WAYS)
OF_ALL = (Part.MISSING, Part.UNSEEN, Part.EXPLANATION, Part.CONTRIBUTIONS)
OF_CLASSES = (Part.LABEL, Part.PROBABILITIES, Part.VOTES, Part.DECIDED, Part.BOUNDS, *OF_ALL, Part.TYPICAL_PATH)
OF_NUMBERS = (Part.MEAN, Part.SPREAD, Part.DECIDED, Part.BOUNDS, *OF_ALL, Part.TYPICAL_PATH)
OF_ISOLATION = (Part.SCORE, Part.PATH_LENGTH, Part.IS_ANOMALY, *OF_ALL, Part.SHORT_WAYS)


class ManyTreesWriter(ABC):
    """Writes answers of many trees: the parts in `fields`, or all; those that explain are null unless requested."""

    every: tuple[Part, ...]

    def __init__(self, loaded: LoadedForest | LoadedIsolation, fields: tuple[str, ...] | None, explain: bool) -> None:
        self.loaded, self.task = loaded, task_of(loaded.model)
        self.parts = asked_among(every_part(self.task), fields, explain, EXPLAINING, self.task)
        asked = {*(fields or ()), *(EXPLAINING if explain else ())}
        self.told = tuple(part for part in self.parts if part not in EXPLAINING or part in asked)  # those not null
        shown = ModelStep.of(loaded, 0).model_dump_json().encode()
        self.about = b'{"model":%b,"task":%b}' % (shown, encode(self.task))

    @property
    def explains(self) -> bool:
        """Whether the answers contain parts that explain them."""
        return any(part in EXPLAINING for part in self.told)

    def predictions(self, answered: Any) -> list[bytes]:
        """The answer to each record, as JSON."""
        nothing = [None] * len(answered)
        columns = {part: self.values(part, answered) if part in self.told else nothing for part in self.parts}
        rows = zip(*columns.values(), strict=True)
        names = [part.value for part in columns]
        return [encode(self.with_kind_of_bounds(dict(zip(names, row, strict=True)))) for row in rows]

    def columns(self, answered: Any) -> dict[str, AnswerColumn]:
        """The answers as columns, for formats that are tables."""
        found: dict[str, AnswerColumn] = {}
        for part in self.told:
            found |= self.column(part, answered)
        return found

    def with_kind_of_bounds(self, answer: dict[str, Any]) -> dict[str, Any]:
        """The answer with the kind of its bounds after them, which is `outer` for many trees."""
        if Part.BOUNDS not in answer:
            return answer
        told = list(answer.items())
        position = [name for name, _ in told].index(Part.BOUNDS) + 1
        return dict([*told[:position], ("bounds_kind", "outer"), *told[position:]])

    @abstractmethod
    def values(self, part: Part, answered: Any) -> Sequence[Any]:
        """A part of all answers, as JSON values."""

    @abstractmethod
    def column(self, part: Part, answered: Any) -> dict[str, AnswerColumn]:
        """A part of all answers, as one column or several."""


class ForestWriter(ManyTreesWriter):
    """Writes the answers of a committee."""

    loaded: LoadedForest

    def values(self, part: Part, answered: ForestAnswered) -> Sequence[Any]:
        model, verdict = self.loaded.model, answered.verdict
        match part:
            case Part.LABEL:
                return [None if k == UNDECIDED else model.classes[k] for k in verdict.labels.tolist()]
            case Part.PROBABILITIES | Part.MEAN:
                return self._shaped(verdict.values)
            case Part.VOTES:
                return self._shaped(answered.votes)
            case Part.SPREAD:
                return self._shaped(answered.spreads)
            case Part.DECIDED:
                return answered.is_decided.tolist()
            case Part.BOUNDS:
                return self._shaped(answered.bounds)
            case Part.MISSING | Part.UNSEEN:
                return lacking(answered.records, part)
            case Part.CONTRIBUTIONS:
                return list(map(self._contributions, answered.explained))
            case Part.TYPICAL_PATH:
                return [self._typical_path(answered, row) for row in range(len(answered))]
            case Part.EXPLANATION:
                return answered.sentences()
            case _:
                raise AssertionError(part)

    def column(self, part: Part, answered: ForestAnswered) -> dict[str, AnswerColumn]:
        model, verdict = self.loaded.model, answered.verdict
        match part:
            case Part.LABEL:
                return {"label": Words(verdict.labels, model.classes)}
            case Part.PROBABILITIES:
                return numbers_by_name("probability", model, verdict.values)
            case Part.MEAN:
                return numbers_by_name("mean", model, verdict.values)
            case Part.VOTES:
                votes = zip(model.classes, answered.votes.T, strict=True)
                return {f"votes_{name}": Counts(of_class) for name, of_class in votes}
            case Part.SPREAD:
                return numbers_by_name("spread", model, answered.spreads)
            case Part.DECIDED:
                return {"decided": Flags(answered.is_decided)}
            case Part.BOUNDS:
                lowest = numbers_by_name("lowest", model, answered.bounds[:, :, 0])
                highest = numbers_by_name("highest", model, answered.bounds[:, :, 1])
                kind = Words(np.zeros(len(answered), dtype=np.int64), ("outer",))
                return {**lowest, **highest, "bounds_kind": kind}
            case Part.MISSING | Part.UNSEEN:
                return {part.value: names_in(answered.records, STATES[part])}
            case _:
                return {part.value: in_json(self.values(part, answered))}

    def _contributions(self, explained: ForestExplanation) -> dict[str, Any]:
        (start,) = self._shaped(explained.base[None])
        parts = self._shaped(explained.contributions)
        return {"start": start, "attributes": dict(zip(self.loaded.attributes.names, parts, strict=True))}

    def _typical_path(self, answered: ForestAnswered, row: int) -> dict[str, Any]:
        number, path, model = answered.explained[row].typical, answered.typical_path(row), self.loaded.model
        said = model.forest.tree(number).answers[path.leaf][None]
        (answer,) = self._shaped(said)
        says = {"mean": answer}
        if model.classes:
            says = {"label": model.classes[labels_of(said, model.costs)[0]], "probabilities": answer}
        return {"tree": number, "leaf": path.leaf, "weight": path.weight, **says, "tests": path.tests}

    def _shaped(self, values: FloatArray | RowArray) -> list[Any]:
        """For each row its values by class or target; a plain number if there is a single target."""
        if self.task is Task.REGRESSION:
            return [of_row[0] for of_row in values.tolist()]
        names = self.loaded.model.classes or self.loaded.model.targets
        return [dict(zip(names, of_row, strict=True)) for of_row in values.tolist()]


class IsolationWriter(ManyTreesWriter):
    """Writes the answers of an isolation forest."""

    loaded: LoadedIsolation

    def values(self, part: Part, answered: IsolationAnswered) -> Sequence[Any]:
        match part:
            case Part.SCORE:
                return answered.scores.tolist()
            case Part.PATH_LENGTH:
                return answered.path_lengths.tolist()
            case Part.IS_ANOMALY:
                return answered.are_anomalies.tolist()
            case Part.MISSING | Part.UNSEEN:
                return lacking(answered.records, part)
            case Part.CONTRIBUTIONS:
                return [self._contributions(one) for one in answered.explained]
            case Part.SHORT_WAYS:
                return [[self._way(way) for way in one.shortest] for one in answered.explained]
            case Part.EXPLANATION:
                return answered.sentences()
            case _:
                raise AssertionError(part)

    def column(self, part: Part, answered: IsolationAnswered) -> dict[str, AnswerColumn]:
        match part:
            case Part.SCORE:
                return {"score": Numbers(answered.scores)}
            case Part.PATH_LENGTH:
                return {"path_length": Numbers(answered.path_lengths)}
            case Part.IS_ANOMALY:
                return {"is_anomaly": Flags(answered.are_anomalies)}
            case Part.MISSING | Part.UNSEEN:
                return {part.value: names_in(answered.records, STATES[part])}
            case _:
                return {part.value: in_json(self.values(part, answered))}

    def _contributions(self, explained: ExplainedLength) -> dict[str, Any]:
        names = self.loaded.attributes.names
        return {"start": float(explained.expected), "attributes": dict(zip(names, explained.by_attribute, strict=True))}

    def _way(self, way: ShortWay) -> dict[str, Any]:
        told = [condition_text(condition, self.loaded.attributes) for condition in way.conditions]
        return {"tree": way.tree, "length": way.length, "conditions": told}


def writer_for(
    loaded: LoadedForest | LoadedIsolation, fields: tuple[str, ...] | None, explain: bool
) -> ForestWriter | IsolationWriter:
    """The writer of a model's answers."""
    return (ForestWriter if isinstance(loaded, LoadedForest) else IsolationWriter)(loaded, fields, explain)


def every_part(task: Task) -> tuple[Part, ...]:
    """The parts that many trees' answers can have for a task, in the order in which they are written."""
    if task is Task.ANOMALY_DETECTION:
        return OF_ISOLATION
    return OF_CLASSES if task is Task.CLASSIFICATION else OF_NUMBERS


def lacking(records: EncodedRecords, part: Part) -> list[list[str]]:
    """The names of each record's attributes that are missing, or unseen."""
    return [records.names(row, STATES[part]) for row in range(records.table.n_rows)]


def in_json(values: Sequence[Any]) -> Texts:
    """A part that has no flat form, as JSON; text as it is."""
    return Texts([value if isinstance(value, str) else encode(value).decode() for value in values])
