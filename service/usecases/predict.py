"""Answer records with a model as of a step: labels or numbers, how sure they are, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.bounds import bounds, possible_leaves
from core.explanation import Path, path_to
from core.growth.held_out import labels_of
from core.model import Model
from core.prediction import MissingPolicy, leaves_reached
from core.records import EncodedRecords, Value, encode_columns, encode_records
from core.table import FloatArray
from core.target import Task
from core.tree import TreeView
from service.serving.loaded_models import LoadedModel
from service.usecases.resolve_step import resolve_step

Reached = list[tuple[int, float]]


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer: class probabilities, or one mean in `answer`; `spread` and `count` are for numbers only.

    `bounds[k]` are the lowest and highest that `answer[k]` can become once the missing values are known.
    """

    answer: FloatArray
    label: str | None
    spread: float | None
    count: float
    bounds: FloatArray
    is_decided: bool
    missing: list[str]
    unseen: list[str]
    paths: tuple[Path, ...] | None


@dataclass(frozen=True)
class Records:
    """What a client sent: records, or columns."""

    records: Sequence[Mapping[str, Value]] | None
    columns: Mapping[str, Sequence[Value]] | None
    ignore_unknown: bool

    def encoded(self, model: Model, ignorable: Sequence[str]) -> EncodedRecords:
        if self.records is not None:
            return encode_records(
                self.records, model.attributes, ignorable=ignorable, ignore_unknown=self.ignore_unknown
            )
        assert self.columns is not None
        return encode_columns(self.columns, model.attributes, ignorable=ignorable, ignore_unknown=self.ignore_unknown)


def predict_records(
    loaded: LoadedModel, records: Records, *, step: str, policy: MissingPolicy, explain: bool
) -> tuple[int, list[Prediction]]:
    """The step that answers, and an answer for each record."""
    model = loaded.model
    number = resolve_step(model.history, step)
    encoded = records.encoded(model, loaded.record.facts["unused_columns"])
    view = loaded.view(number)
    reached = leaves_reached(view, encoded.table, policy)
    return number, [_answer(model, view, encoded, row, leaves, policy, explain) for row, leaves in enumerate(reached)]


def _answer(
    model: Model,
    view: TreeView,
    records: EncodedRecords,
    row: int,
    reached: Reached,
    policy: MissingPolicy,
    explain: bool,
) -> Prediction:
    tree = view.tree
    answer = np.zeros(tree.values.shape[1])
    for leaf, weight in reached:
        answer += weight * tree.answers[leaf]
    is_complete = not (records.missing[row] or records.unseen[row])
    possible = [leaf for leaf, _ in reached] if is_complete else possible_leaves(view, records.table, row)
    label = None
    if model.task is Task.CLASSIFICATION:
        place = int(labels_of(answer[None, :])[0])
        label, is_decided = model.classes[place], all(tree.labels[leaf] == place for leaf in possible)
    else:
        is_decided = all(np.array_equal(tree.answers[leaf], tree.answers[possible[0]]) for leaf in possible)
    return Prediction(
        answer=answer,
        label=label,
        spread=_spread(view, reached, answer) if model.task is Task.REGRESSION else None,
        count=sum(weight * float(tree.weight[tree.answering[leaf]]) for leaf, weight in reached),
        bounds=bounds(view, possible),
        is_decided=is_decided,
        missing=records.missing[row],
        unseen=records.unseen[row],
        paths=tuple(path_to(view, records, row, leaf, w, policy) for leaf, w in reached) if explain else None,
    )


def _spread(view: TreeView, reached: Reached, answer: FloatArray) -> float:
    """The standard deviation of the training targets behind the answer, leaves weighted as in the answer."""
    tree = view.tree
    around = [w * (tree.variances[tree.answering[leaf]] + (tree.answers[leaf] - answer) ** 2) for leaf, w in reached]
    return float(np.sqrt(np.sum(around)))
