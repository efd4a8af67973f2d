"""Answer records with a model as of a step: labels or numbers, how sure they are, and why.

Most records reach one leaf whatever their missing values are, and their answer is that of the leaf. So the answer to
a batch is the leaf of each such record, and full answers for the rest.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import RowArray
from core.ensembles.voting import Voting
from core.explanation.paths import Explainer, Path, holes_of
from core.explanation.sentences import Sentences
from core.prediction.answers import Answers
from core.prediction.predictor import FEW_RECORDS
from core.prediction.record_walk import cells_of
from core.prediction.routing import MissingPolicy, policy_as_grown
from core.records.reader import ReadRecord
from core.records.records import Cells, EncodedRecords, Value, encode_columns, encode_records
from core.tables.errors import Fault
from service.errors import InvalidBody
from service.serving.loaded_models import Loaded, LoadedModel


@dataclass(frozen=True, slots=True)
class Order:
    """How to answer records; `policy` None means that missing values are treated as in the training."""

    step: int
    policy: MissingPolicy | None


@dataclass(frozen=True)
class Answered:
    """Records as sent, their answers, and the records as the tree reads them (`taken`): filled, if the model fills."""

    records: EncodedRecords
    answers: Answers
    taken: EncodedRecords
    policy: MissingPolicy

    def __len__(self) -> int:
        return len(self.answers)

    def take(self, rows: RowArray) -> "Answered":
        """The answers to some of the records."""
        return Answered(self.records.take(rows), self.answers.take(rows), self.taken.take(rows), self.policy)

    def paths(self, explainer: Explainer) -> list[list[Path]]:
        """Every record's paths to the nodes that answer it."""
        return [
            [explainer.path(node, weight, self.policy, holes_of(self.taken, row)) for node, weight in reached]
            for row, reached in enumerate(self.answers.ends.by_row())
        ]

    def sentences(self, sentences: Sentences) -> list[str]:
        """An explanation of every answer, in words."""
        return sentences.all(self.records, self.taken.table, self.answers, self.policy)


@dataclass(frozen=True)
class Predicted:
    """The leaf of each record that reaches one whatever its missing values are, -1 for others; full answers to those.

    `states[row]` are the states of a record's values, empty if all are known; None if all records are complete.
    """

    leaves: Sequence[int] | RowArray
    states: list[bytes] | None
    rest: Answered | None

    @property
    def are_all_of_leaves(self) -> bool:
        """Whether every answer is exactly that of a leaf."""
        return self.states is None and self.rest is None


def order_of(
    loaded: LoadedModel, *, step: str | int, policy: MissingPolicy | None, voting: Voting | None = None
) -> Order:
    """The order for a client's options; InvalidBody for those that the model does not support."""
    if voting is not None:
        detail = "this model has a single tree, and nobody to vote"
        raise InvalidBody(detail, Fault(detail, ("voting",), "leave it out"))
    if policy is MissingPolicy.SURROGATE and not loaded.model.tree.surrogates:
        detail = "this model has no surrogates"
        hint = 'train it with "missing": "surrogate", or use another policy'
        raise InvalidBody(detail, Fault(detail, ("missing",), hint))
    return Order(loaded.number_in_body(step), policy)


def encode(
    loaded: Loaded,
    *,
    records: Sequence[Mapping[str, Value]] | None,
    columns: Mapping[str, Sequence[Value]] | None,
    ignore_unknown: bool,
) -> EncodedRecords:
    """Records, or columns, as a table with the model's attributes; RecordsDoNotFit with all faults."""
    attributes, ignorable = loaded.model.attributes, loaded.record.facts["unused_columns"]
    if records is not None:
        return encode_records(records, attributes, ignorable=ignorable, ignore_unknown=ignore_unknown)
    assert columns is not None
    return encode_columns(columns, attributes, ignorable=ignorable, ignore_unknown=ignore_unknown)


def answer(loaded: LoadedModel, order: Order, records: EncodedRecords, *, kernels: bool) -> Answered:
    """Full answers to records; with `kernels`, large batches are answered by compiled code."""
    model = loaded.model
    policy = order.policy or policy_as_grown(model.tree)
    taken = records
    if order.policy is None and model.missing.fills_records:
        taken = records.known_in(model.as_trained(records.table))
    answers = loaded.answering(order.step).answers(records, policy, kernels=kernels, taken=taken.table)
    return Answered(records, answers, taken, policy)


def predict_table(loaded: LoadedModel, order: Order, records: EncodedRecords, *, kernels: bool) -> Predicted:
    """The leaves of many records, and full answers to those that reach several."""
    if records.table.n_rows <= FEW_RECORDS:
        leaves = _leaves_of(loaded, order, cells_of(records.table))
        rest = np.flatnonzero(np.array(leaves) < 0)
        answered = answer(loaded, order, records.take(rest), kernels=kernels) if len(rest) else None
        return Predicted(leaves, records.states_by_row, answered)
    every = answer(loaded, order, records, kernels=kernels)
    rest = np.flatnonzero(every.answers.whole < 0)
    return Predicted(every.answers.whole, records.states_by_row, every.take(rest) if len(rest) else None)


def predict_few(loaded: LoadedModel, order: Order, records: Sequence[ReadRecord]) -> Predicted:
    """The leaves of records that were read one by one, and full answers to those that reach several."""
    leaves = _leaves_of(loaded, order, [cells for cells, _ in records])
    states = [states for _, states in records]
    rest = [record for record, leaf in zip(records, leaves, strict=True) if leaf < 0]
    answered = answer(loaded, order, loaded.reader.encoded(rest), kernels=False) if rest else None
    return Predicted(leaves, states if any(states) else None, answered)


def _leaves_of(loaded: LoadedModel, order: Order, records: Iterable[Cells]) -> list[int]:
    return list(map(loaded.answering(order.step).predictor.leaf, records))
