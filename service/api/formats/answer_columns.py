"""Answers as flat columns, for formats that are tables.

class           label, probability_<class>…, decided, lowest_<class>…, highest_<class>…
number          mean, spread, count, decided, lowest, highest
many numbers    mean_<target>…, spread_<target>…, count, decided, lowest_<target>…, highest_<target>…
all             bounds_kind, missing, unseen, and paths where they are asked for
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.answers import Answers
from core.model import Model
from core.records import EncodedRecords, State
from core.table import BoolArray, FloatArray, RowArray
from core.target import Task


@dataclass(frozen=True)
class Words:
    """One of some words in each row."""

    places: RowArray
    words: Sequence[str]


@dataclass(frozen=True)
class Numbers:
    """A number in each row."""

    values: FloatArray


@dataclass(frozen=True)
class Flags:
    """True or false in each row."""

    values: BoolArray


@dataclass(frozen=True)
class Lists:
    """Some of the words in each row: those at `places[starts[row] : starts[row + 1]]`."""

    starts: RowArray
    places: RowArray
    words: Sequence[str]


@dataclass(frozen=True)
class Texts:
    """A text in each row."""

    values: Sequence[str]


AnswerColumn = Words | Numbers | Flags | Lists | Texts


def answer_columns(model: Model, records: EncodedRecords, answers: Answers) -> dict[str, AnswerColumn]:
    """What is said of each record, by the names of the columns."""
    return dict(_columns(model, records, answers))


def _columns(model: Model, records: EncodedRecords, answers: Answers) -> Iterator[tuple[str, AnswerColumn]]:
    suffixes = _suffixes(model)
    if model.task is Task.CLASSIFICATION:
        yield "label", Words(answers.labels, model.classes)
        yield from _numbers("probability", suffixes, answers.values)
    else:
        yield from _numbers("mean", suffixes, answers.values)
        yield from _numbers("spread", suffixes, answers.spreads)
        yield "count", Numbers(answers.counts)
    yield "decided", Flags(answers.is_decided)
    yield from _numbers("lowest", suffixes, answers.bounds[:, :, 0])
    yield from _numbers("highest", suffixes, answers.bounds[:, :, 1])
    yield "bounds_kind", Words(np.zeros(len(answers), dtype=np.int64), ("exact",))
    yield "missing", _names_in(records, State.MISSING)
    yield "unseen", _names_in(records, State.UNSEEN)


def _suffixes(model: Model) -> list[str]:
    """What tells the columns of several classes or targets apart."""
    if model.task is Task.CLASSIFICATION:
        return [f"_{name}" for name in model.classes]
    return [f"_{name}" for name in model.target] if isinstance(model.target, tuple) else [""]


def _numbers(name: str, suffixes: Sequence[str], values: FloatArray) -> Iterator[tuple[str, AnswerColumn]]:
    for suffix, column in zip(suffixes, values.T, strict=True):
        yield name + suffix, Numbers(column)


def _names_in(records: EncodedRecords, state: State) -> Lists:
    """The attributes of each record that are in a state."""
    n_rows, names = records.table.n_rows, records.table.schema.names
    if records.states is None:
        return Lists(np.zeros(n_rows + 1, dtype=np.int64), np.empty(0, dtype=np.int64), names)
    rows, places = np.nonzero(records.states == state)
    return Lists(np.append(0, np.cumsum(np.bincount(rows, minlength=n_rows))), places, names)
