"""Answer records with a model as of a step: labels or numbers, how sure they are, and why."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from core.bounds import bounds, is_decided, possible_leaves
from core.errors import Fault
from core.explanation import Path, path_to
from core.growth.held_out import labels_of
from core.model import Model
from core.prediction import MissingPolicy, policy_as_grown
from core.records import EncodedRecords, Value, encode_columns, encode_records
from core.table import FloatArray
from core.target import Task
from core.tree import TreeView
from service.errors import InvalidBody
from service.serving.loaded_models import LoadedModel

Reached = list[tuple[int, float]]
Explain = Callable[[int, int, float], Path]


@dataclass(frozen=True, slots=True)
class Prediction:
    """An answer: class probabilities, or the mean of each target; `spread` (as many) and `count` are for numbers only.

    `bounds[k]` are the lowest and highest that `answer[k]` can become once the missing values are known.
    """

    answer: FloatArray
    label: str | None
    spread: FloatArray | None
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
    loaded: LoadedModel,
    records: Records,
    *,
    step: str | int,
    policy: MissingPolicy | None,
    explain: bool,
    kernels: bool,
) -> tuple[int, list[Prediction]]:
    """The step that answers, and an answer for each record; without a policy, as the model was trained.

    Large batches go through compiled kernels if there are any.
    """
    model = loaded.model
    number = loaded.number_in_body(step)
    if policy is MissingPolicy.SURROGATE and not model.tree.surrogates:
        detail = "this model has no surrogates"
        hint = 'train it with "missing": "surrogate", or use another policy'
        raise InvalidBody(detail, Fault(detail, ("missing",), hint))
    encoded = records.encoded(model, loaded.record.facts["unused_columns"])
    view, predictor = loaded.view(number), loaded.predictor(number)
    taken = encoded if policy is not None else replace(encoded, table=model.as_trained(encoded.table))
    used = policy or policy_as_grown(model.tree)
    reached = predictor.leaves(taken.table, used, kernels=kernels)
    answers = predictor.batch(taken.table, used, kernels=kernels)
    explainer = explained_by(view, taken, used) if explain else None
    return number, [
        _answer(model, view, encoded, row, leaves, answer, explainer)
        for row, (leaves, answer) in enumerate(zip(reached, answers, strict=True))
    ]


def explained_by(view: TreeView, taken: EncodedRecords, policy: MissingPolicy) -> Explain:
    """How to tell a record's way to a leaf, from the records as they were taken."""
    return lambda row, leaf, weight: path_to(view, taken, row, leaf, weight, policy)


def _answer(
    model: Model,
    view: TreeView,
    records: EncodedRecords,
    row: int,
    reached: Reached,
    answer: FloatArray,
    explain: Explain | None,
) -> Prediction:
    """An answer; what it could become is told from the record as it was sent."""
    tree = view.tree
    is_complete = not (records.missing[row] or records.unseen[row])
    possible = [leaf for leaf, _ in reached] if is_complete else possible_leaves(view, records.table, row)
    is_class = model.task is Task.CLASSIFICATION
    return Prediction(
        answer=answer,
        label=model.classes[int(labels_of(answer[None, :], tree.costs)[0])] if is_class else None,
        spread=None if is_class else _spread(view, reached, answer),
        count=sum(weight * float(tree.weight[tree.answering[leaf]]) for leaf, weight in reached),
        bounds=bounds(view, possible),
        is_decided=is_decided(view, possible, answer),
        missing=records.missing[row],
        unseen=records.unseen[row],
        paths=None if explain is None else tuple(explain(row, leaf, weight) for leaf, weight in reached),
    )


def _spread(view: TreeView, reached: Reached, answer: FloatArray) -> FloatArray:
    """The standard deviation of the training targets behind the answer, leaves weighted as in the answer."""
    tree = view.tree
    around = [w * (tree.variances[tree.answering[leaf]] + (tree.answers[leaf] - answer) ** 2) for leaf, w in reached]
    return np.sqrt(np.sum(around, axis=0))
