"""Answer records with a model as of a step: labels or numbers, how sure they are, and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from core.answers import Answers
from core.errors import Fault
from core.explanation import Path, path_to
from core.model import Model
from core.prediction import Ends, MissingPolicy, policy_as_grown
from core.records import EncodedRecords, Value, encode_columns, encode_records
from core.tree import TreeView
from service.errors import InvalidBody
from service.serving.loaded_models import LoadedModel


@dataclass(frozen=True)
class Predicted:
    """The step that answered, the records as they were sent, their answers, and their paths if they were asked for."""

    step: int
    records: EncodedRecords
    answers: Answers
    paths: list[tuple[Path, ...]] | None


@dataclass(frozen=True, slots=True)
class Order:
    """How records are to be answered; without a policy, as the model was trained."""

    step: int
    policy: MissingPolicy | None


@dataclass(frozen=True)
class Answered:
    """Records as they were sent, their answers, and as which records the tree took them."""

    records: EncodedRecords
    answers: Answers
    taken: EncodedRecords
    policy: MissingPolicy


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


def order_of(loaded: LoadedModel, *, step: str | int, policy: MissingPolicy | None) -> Order:
    """The order that a client means, or InvalidBody where the model has nothing for it."""
    if policy is MissingPolicy.SURROGATE and not loaded.model.tree.surrogates:
        detail = "this model has no surrogates"
        hint = 'train it with "missing": "surrogate", or use another policy'
        raise InvalidBody(detail, Fault(detail, ("missing",), hint))
    return Order(loaded.number_in_body(step), policy)


def answer(loaded: LoadedModel, order: Order, records: EncodedRecords, *, kernels: bool) -> Answered:
    """Answers in full; large batches go through compiled kernels if there are any."""
    model = loaded.model
    taken = records if order.policy is not None else replace(records, table=model.as_trained(records.table))
    policy = order.policy or policy_as_grown(model.tree)
    answers = loaded.answering(order.step).answers(records, policy, kernels=kernels, taken=taken.table)
    return Answered(records, answers, taken, policy)


def predict_records(
    loaded: LoadedModel,
    records: Records,
    *,
    step: str | int,
    policy: MissingPolicy | None,
    explain: bool,
    kernels: bool,
) -> Predicted:
    """The answers to records; without a policy, as the model was trained."""
    order = order_of(loaded, step=step, policy=policy)
    sent = records.encoded(loaded.model, loaded.record.facts["unused_columns"])
    found = answer(loaded, order, sent, kernels=kernels)
    paths = paths_of(loaded.view(order.step), found.taken, found.answers.ends, found.policy) if explain else None
    return Predicted(order.step, sent, found.answers, paths)


def paths_of(view: TreeView, records: EncodedRecords, ends: Ends, policy: MissingPolicy) -> list[tuple[Path, ...]]:
    """Every record's ways to the leaves that answer it, from the records as they were taken."""
    return [
        tuple(path_to(view, records, row, leaf, weight, policy) for leaf, weight in reached)
        for row, reached in enumerate(ends.by_row())
    ]
