"""Answers as flat columns, for formats that are tables.

class           label, probability_<class>…, decided, lowest_<class>…, highest_<class>…
number          mean, spread, count, decided, lowest, highest
many numbers    mean_<target>…, spread_<target>…, count, decided, lowest_<target>…, highest_<target>…
all             bounds_kind, missing, unseen, and paths if requested
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.ensembles.model import ForestModel
from core.prediction.answers import Answers, answers_of_leaves
from core.prediction.bounds import kind_of_bounds
from core.prediction.routing import Ends
from core.records.records import EncodedRecords, State
from core.tables.target import Task
from core.tree.model import Model
from service.api.predicting.tree_json import PredictionWriter
from service.api.schemas.predictions import PredictionField as Part
from service.serving.loaded_models import LoadedModel
from service.usecases.predictions.predict import Answered, Predicted


@dataclass(frozen=True)
class Words:
    """One of some words in each row, by its position; none where that is -1."""

    positions: RowArray
    words: Sequence[str]


@dataclass(frozen=True)
class Numbers:
    """A number in each row."""

    values: FloatArray


@dataclass(frozen=True)
class Counts:
    """A whole number in each row."""

    values: RowArray


@dataclass(frozen=True)
class Flags:
    """True or false in each row."""

    values: BoolArray


@dataclass(frozen=True)
class Lists:
    """Some of the words in each row: those at `places[starts[row] : starts[row + 1]]`."""

    starts: RowArray
    positions: RowArray
    words: Sequence[str]


@dataclass(frozen=True)
class Texts:
    """A text in each row."""

    values: Sequence[str]


@dataclass(frozen=True)
class Leaves:
    """The leaves that answer each row, with their weights."""

    ends: Ends


AnswerColumn = Words | Numbers | Counts | Flags | Lists | Texts | Leaves


def answer_columns(
    loaded: LoadedModel, step: int, answered: Answered, parts: Sequence[Part]
) -> dict[str, AnswerColumn]:
    """The requested parts of answers, by the names of their columns."""
    model, records = loaded.as_of(step), answered.records
    said, at = _said(loaded, step, answered.answers)
    columns: dict[str, AnswerColumn] = {}
    for part in parts:
        match part:
            case Part.LABEL:
                columns["label"] = Words(said.labels[at], model.classes)
            case Part.PROBABILITIES:
                columns |= numbers_by_name("probability", model, said.values, at)
            case Part.MEAN:
                columns |= numbers_by_name("mean", model, said.values, at)
            case Part.SPREAD:
                columns |= numbers_by_name("spread", model, said.spreads, at)
            case Part.COUNT:
                columns["count"] = Numbers(said.counts[at])
            case Part.DECIDED:
                columns["decided"] = Flags(said.is_decided[at])
            case Part.BOUNDS:
                columns |= numbers_by_name("lowest", model, said.bounds[:, :, 0], at)
                columns |= numbers_by_name("highest", model, said.bounds[:, :, 1], at)
                columns["bounds_kind"] = Words(np.zeros(len(answered), dtype=np.int64), (kind_of_bounds(model.tree),))
            case Part.MISSING:
                columns["missing"] = names_in(records, State.MISSING)
            case Part.UNSEEN:
                columns["unseen"] = names_in(records, State.UNSEEN)
            case Part.LEAVES:
                columns["leaves"] = Leaves(answered.answers.ends)
            case Part.EXPLANATION:
                columns["explanation"] = Texts(list(answered.sentences(loaded.sentences(step))))
            case Part.PATHS:
                columns["paths"] = Texts(_in_json(loaded, step, answered, part))
            case _:
                raise AssertionError(part)  # one tree has no such part, so it cannot be requested
    return columns


Positions = slice | RowArray
ALL = slice(None)


def _said(loaded: LoadedModel, step: int, answers: Answers) -> tuple[Answers, Positions]:
    """Answers and the positions of the rows in them; if each is a leaf's own, the cached answers of all nodes.

    Those are used only if there are at least as many rows as nodes.
    """
    leaves = answers.whole
    if len(answers.tree) > len(leaves) or bool((leaves < 0).any()):
        return answers, ALL
    return loaded.once(_answers_of_nodes, step), leaves


def _answers_of_nodes(loaded: LoadedModel, step: int) -> Answers:
    tree = loaded.view(step).tree
    return answers_of_leaves(tree, np.arange(len(tree)))


def numbers_by_name(
    name: str, model: Model | ForestModel, values: FloatArray, at: Positions = ALL
) -> dict[str, AnswerColumn]:
    """A column for each class or target; only one, with the plain name, if there is a single target."""
    names = model.classes if model.task is Task.CLASSIFICATION else model.targets
    is_one = isinstance(model.target, str) and model.task is not Task.CLASSIFICATION
    return {name if is_one else f"{name}_{of}": Numbers(column[at]) for of, column in zip(names, values.T, strict=True)}


def names_in(records: EncodedRecords, state: State) -> Lists:
    """The names of each record's attributes that are in a state."""
    n_rows, names = records.table.n_rows, records.table.schema.names
    if records.states is None:
        return Lists(np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int64), names)
    rows, positions = np.nonzero(records.states == state)
    return Lists(np.append(0, np.cumsum(np.bincount(rows, minlength=n_rows))), positions, names)


def _in_json(loaded: LoadedModel, step: int, answered: Answered, part: Part) -> list[str]:
    """A part that has no flat form, as JSON."""
    n_rows = len(answered)
    writer = loaded.once(PredictionWriter, step, (part,), False)
    objects = writer.predictions(Predicted([-1] * n_rows, [b""] * n_rows, answered))
    before = len(f'{{"{part}":')
    return [one[before:-1].decode() for one in objects]
