"""Answers of one tree as JSON, written without making pydantic models of them.

The answer to a record that reaches one leaf depends on the leaf, and on which values of the record are missing or
unseen, but on nothing else. So a leaf's answer to complete records is encoded once, and a batch is a sequence of such
bytes. `schemas/predictions` defines the form of the answers.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import repeat
from typing import Any

import msgspec
import numpy as np

from core.arithmetic.arrays import RowArray
from core.compiler.permission import KernelNotCompiled
from core.explanation.paths import Explainer, Path
from core.prediction.answers import Answers, answers_of_leaves
from core.prediction.bounds import kind_of_bounds
from core.prediction.routing import MissingPolicy
from core.records.joined_texts import TextsSideBySide
from core.records.records import State
from core.tables.errors import Fault
from service.api.schemas.models import ModelStep, Task, task_of
from service.api.schemas.predictions import PredictionField as Part
from service.errors import InvalidBody
from service.serving.loaded_models import LoadedModel
from service.usecases.predictions.predict import Answered, Predicted

encode = msgspec.json.Encoder().encode

OF_CLASSES = (Part.LABEL, Part.PROBABILITIES)
OF_NUMBERS = (Part.MEAN, Part.SPREAD, Part.COUNT)
EXPLAINING = (Part.EXPLANATION, Part.PATHS)
OF_ALL = (Part.DECIDED, Part.BOUNDS, Part.MISSING, Part.UNSEEN, Part.EXPLANATION, Part.LEAVES, Part.PATHS)
STATES = {Part.MISSING: State.MISSING, Part.UNSEEN: State.UNSEEN}  # what depends on the record, not on its answer
MOST_LACKING = 4_096  # combinations of missing and unseen values whose names are cached


class PredictionWriter:
    """Writes the answers of one step: the parts in `fields`, or all but the leaves if that is None.

    Explanations and paths are null unless they are requested by name or by `explain`.
    """

    def __init__(self, loaded: LoadedModel, step: int, fields: tuple[str, ...] | None, explain: bool) -> None:
        self._model = model = loaded.as_of(step)
        self._tree = model.tree
        task = task_of(model)
        self.parts = parts_asked_for(task, fields, explain)
        asked = {*(fields or ()), *(EXPLAINING if explain else ())}
        self._explains, self._says_why = Part.PATHS in asked, Part.EXPLANATION in asked
        self.told = tuple(part for part in self.parts if part not in EXPLAINING or part in asked)  # those not null
        self._sentences = loaded.sentences(step)
        self._bounds_kind = b',"bounds_kind":"%b"' % (kind_of_bounds(self._tree).encode())
        self._explainer = Explainer(loaded.view(step), model.attributes)
        self._complete: dict[int, bytes] = {}  # a leaf's answer to a complete record
        self._many = _ManyLeaves({}, len(self._tree))
        self._around_lacking: dict[int, tuple[bytes, bytes]] = {}  # before and after the names of missing values
        self._lacking: dict[bytes, bytes] = {}
        self._said_by: dict[int, dict[str, Any]] = {}  # a leaf's answer, as in paths
        names = model.classes if task is Task.CLASSIFICATION else model.targets
        self._labels = [encode(name) for name in model.classes]
        self._shaped: Callable[[list[Any]], Any] = lambda values: dict(zip(names, values, strict=True))
        if task is Task.REGRESSION:
            self._shaped = lambda values: values[0]
        shown = ModelStep.of(loaded, step).model_dump_json().encode()
        self.about = b'{"model":%b,"task":%b}' % (shown, encode(task))
        self._opening = self.about[:-1] + b',"predictions":['

    def text(self, predicted: Predicted, *, kernels: bool) -> bytes | memoryview:
        """The whole answer to a body, as JSON."""
        if kernels and predicted.are_all_of_leaves and isinstance(predicted.leaves, np.ndarray):
            with suppress(KernelNotCompiled):
                return self._text_of_many(predicted.leaves)
        written = self.predictions(predicted) or [b""]
        # Added to the first and the last part, so that everything is copied once only.
        written[0] = self._opening + written[0]
        written[-1] += b"]}"
        return b",".join(written)

    def _text_of_many(self, leaves: RowArray) -> memoryview:
        """The whole answer to records that reach these leaves: the leaves' answers, joined by compiled code."""
        if not self._many.has[leaves].all():
            for leaf in np.unique(leaves).tolist():
                if leaf not in self._complete:
                    self._write_leaf(leaf)
            self._many = _ManyLeaves(self._complete, len(self._tree))
        return self._many.text(leaves, self._opening)

    def predictions(self, predicted: Predicted) -> list[bytes]:
        """The answer to each record, as JSON."""
        complete, leaves = self._complete, predicted.leaves
        if isinstance(leaves, np.ndarray):
            leaves = leaves.tolist()
        for leaf in {*leaves}.difference(complete, (-1,)):
            self._write_leaf(leaf)
        if predicted.are_all_of_leaves:
            return [complete[leaf] for leaf in leaves]
        rest = iter(()) if predicted.rest is None else self._in_full(predicted.rest)
        written = []
        for leaf, states in zip(leaves, predicted.states or repeat(b""), strict=False):
            if leaf >= 0 and not states:
                written.append(complete[leaf])
                continue
            before, why, behind = next(rest) if leaf < 0 else self._by_leaf(leaf, states)
            written.append(_object(before, self._lacks(states), why, behind))
        return written

    def _write_leaf(self, leaf: int) -> None:
        answers = answers_of_leaves(self._tree, np.array([leaf]))
        only = [[self._explainer.path(leaf, 1.0, MissingPolicy.WEIGHTED, {})]] if self._explains else None
        ((before, behind),) = self._around(answers, only)
        self._around_lacking[leaf] = before, behind
        self._complete[leaf] = _object(before, self._lacks(b""), self._why_leaf(leaf, b""), behind)

    def _by_leaf(self, leaf: int, states: bytes) -> tuple[bytes, bytes, bytes]:
        before, behind = self._around_lacking[leaf]
        return before, self._why_leaf(leaf, states), behind

    def _in_full(self, answered: Answered) -> Iterator[tuple[bytes, bytes, bytes]]:
        """For each record what comes before the names of its missing values, the explanation, and what comes after."""
        whys = answered.sentences(self._sentences) if self._says_why else [None] * len(answered)
        paths = answered.paths(self._explainer) if self._explains else None
        for (before, behind), why in zip(self._around(answered.answers, paths), whys, strict=True):
            yield before, self._why(why), behind

    def _why_leaf(self, leaf: int, states: bytes) -> bytes:
        """The explanation of a leaf's answer to a record with these states, which all lead to the leaf."""
        holes = [column for column, state in enumerate(states) if state]
        return self._why(self._sentences.of_leaf(leaf, holes) if self._says_why else None)

    def _why(self, sentence: str | None) -> bytes:
        return b'"explanation":' + encode(sentence) if Part.EXPLANATION in self.parts else b""

    def _around(self, answers: Answers, paths: list[list[Path]] | None) -> Iterator[tuple[bytes, bytes]]:
        """For each record the parts before and after the names of its missing values and the explanation."""
        between = (*STATES, Part.EXPLANATION)
        columns = {part: self._column(part, answers, paths) for part in self.parts if part not in between}
        behind = [columns.pop(part) for part in (Part.LEAVES, Part.PATHS) if part in columns]
        nothing = [b""] * len(answers)
        return zip(
            map(b",".join, zip(*columns.values(), strict=True)) if columns else nothing,
            map(b",".join, zip(*behind, strict=True)) if behind else nothing,
            strict=True,
        )

    def _column(self, part: Part, answers: Answers, paths: list[list[Path]] | None) -> list[bytes]:
        """One part of all answers, each with the part's name."""
        values: Iterable[Any]
        match part:
            case Part.LABEL:
                return [b'"label":' + self._labels[label] for label in answers.labels.tolist()]
            case Part.PROBABILITIES | Part.MEAN:
                values = map(self._shaped, answers.values.tolist())
            case Part.SPREAD:
                values = map(self._shaped, answers.spreads.tolist())
            case Part.COUNT:
                values = answers.counts.tolist()
            case Part.DECIDED:
                values = answers.is_decided.tolist()
            case Part.BOUNDS:
                values = map(self._shaped, answers.bounds.tolist())
            case Part.LEAVES:
                values = ([{"leaf": n, "weight": w} for n, w in reached] for reached in answers.ends.by_row())
            case Part.PATHS if paths is not None:
                values = ([self._path(path) for path in of_record] for of_record in paths)
            case _:
                values = [None] * len(answers)
        name, end = b'"%b":' % part.encode(), self._bounds_kind if part is Part.BOUNDS else b""
        return [name + encode(value) + end for value in values]

    def _path(self, path: Path) -> dict[str, Any]:
        says = self._said_by.get(path.leaf) or self._leaf_says(path.leaf)
        return {"leaf": path.leaf, "weight": path.weight, **says, "tests": path.tests}

    def _leaf_says(self, leaf: int) -> dict[str, Any]:
        answer = self._shaped(self._tree.answers[leaf].tolist())
        says: dict[str, Any] = {"mean": answer}
        if self._labels:
            says = {"label": self._model.classes[int(self._tree.labels[leaf])], "probabilities": answer}
        self._said_by[leaf] = says
        return says

    def _lacks(self, states: bytes) -> bytes:
        """The names of the missing and the unseen attributes, given the states of all attributes."""
        names = self._lacking.get(states)
        if names is None:
            names = b",".join(
                b'"%b":%b' % (part.encode(), encode(self._names(states, STATES[part])))
                for part in self.parts
                if part in STATES
            )
            if len(self._lacking) >= MOST_LACKING:
                self._lacking.clear()
            self._lacking[states] = names
        return names

    def _names(self, states: bytes, state: State) -> list[str]:
        return [self._model.attributes[column].name for column, found in enumerate(states) if found == state]


class _ManyLeaves:
    """The answers of some leaves, each with a comma before it, ready to be joined."""

    def __init__(self, complete: dict[int, bytes], n_nodes: int) -> None:
        texts = dict(complete)  # other threads may add to it meanwhile
        leaves = np.array([*texts], dtype=np.int64)
        self.has = np.zeros(n_nodes, dtype=np.bool_)
        self.has[leaves] = True
        self._positions = np.zeros(n_nodes, dtype=np.int64)
        self._positions[leaves] = np.arange(len(leaves))
        self._texts = TextsSideBySide([b"," + text for text in texts.values()])

    def text(self, leaves: RowArray, opening: bytes) -> memoryview:
        """The opening of an answer, the answers of these leaves, and its end."""
        before = opening.removesuffix(b"[")
        written = self._texts.of(self._positions[leaves], before, b"]}")
        written[len(before)] = ord("[")  # in place of the first comma
        return written


def parts_asked_for(task: Task, fields: tuple[str, ...] | None, explain: bool) -> tuple[Part, ...]:
    """The requested parts of a tree's answer, in the order in which they are written; else InvalidBody."""
    every = (*(OF_CLASSES if task is Task.CLASSIFICATION else OF_NUMBERS), *OF_ALL)
    return asked_among(every, fields, explain, EXPLAINING, task)


def asked_among(
    every: tuple[Part, ...], fields: tuple[str, ...] | None, explain: bool, explaining: tuple[Part, ...], task: Task
) -> tuple[Part, ...]:
    """The requested ones of all parts, in their order; InvalidBody if a requested part does not exist."""
    if fields is None:
        return tuple(part for part in every if part is not Part.LEAVES)
    called = "an isolation forest" if task is Task.ANOMALY_DETECTION else f"a {task.replace('_', ' ')} model"
    faults = [
        Fault(f"{called} has no {field}", ("fields", position), f"it has {', '.join(every)}")
        for position, field in enumerate(fields)
        if field not in every
    ]
    if faults:
        raise InvalidBody("the body does not fit", *faults)
    return tuple(part for part in every if part in fields or (explain and part in explaining))


def _object(*members: bytes) -> bytes:
    return b"{%b}" % b",".join(filter(None, members))
