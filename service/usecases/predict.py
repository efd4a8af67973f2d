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
) -> Predicted:
    """The answers to records; without a policy, as the model was trained.

    Large batches go through compiled kernels if there are any.
    """
    model = loaded.model
    number = loaded.number_in_body(step)
    if policy is MissingPolicy.SURROGATE and not model.tree.surrogates:
        detail = "this model has no surrogates"
        hint = 'train it with "missing": "surrogate", or use another policy'
        raise InvalidBody(detail, Fault(detail, ("missing",), hint))
    sent = records.encoded(model, loaded.record.facts["unused_columns"])
    taken = sent if policy is not None else replace(sent, table=model.as_trained(sent.table))
    used = policy or policy_as_grown(model.tree)
    answers = loaded.answering(number).answers(sent, used, kernels=kernels, taken=taken.table)
    paths = paths_of(loaded.view(number), taken, answers.ends, used) if explain else None
    return Predicted(number, sent, answers, paths)


def paths_of(view: TreeView, records: EncodedRecords, ends: Ends, policy: MissingPolicy) -> list[tuple[Path, ...]]:
    """Every record's ways to the leaves that answer it, from the records as they were taken."""
    return [
        tuple(path_to(view, records, row, leaf, weight, policy) for leaf, weight in reached)
        for row, reached in enumerate(ends.by_row())
    ]
