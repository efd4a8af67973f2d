"""Read a model as rules: its paths, or those that are simplified with the rows it was trained on."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.config import from_json
from core.errors import Fault, RecordsDoNotFit
from core.preparation import Prepared
from core.records import EncodedRecords, State, Value
from core.rules.simplification import OrderedRules, simplified_rules
from core.schema import Schema
from core.suggestion import did_you_mean
from core.table import Table
from core.target import Task
from core.training import training_samples
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedModel
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.predict import Order, answer, encode
from service.usecases.read_model import Thresholds, as_reported, with_data

# Leaves times training rows. Some seconds of work; more would keep others from reading their data for too long.
MOST_WORK = 5_000_000


class RulesStyle(StrEnum):
    """Which rules are made of a tree."""

    PATHS = "paths"
    SIMPLIFIED = "simplified"


def refuse_numbers(loaded: LoadedModel) -> None:
    """Refuse to simplify the rules of a model that predicts no classes."""
    if loaded.model.task is not Task.CLASSIFICATION:
        detail = "rules are simplified by how often they get a class wrong, and this model predicts numbers"
        raise InvalidParameter("style", detail, hint="use paths")


async def read_simplified(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int, thresholds: Thresholds
) -> OrderedRules:
    """The simplified rules as of a step, from the rows that the model was trained on; those found out last are kept."""
    kept = loaded.simplified.get((step, thresholds))
    if kept is not None:
        return kept
    config, view = from_json(loaded.record.configuration), as_reported(loaded, thresholds).view(step)

    def compute(prepared: Prepared) -> OrderedRules:
        n_leaves, n_rows = len(view.leaves), len(prepared.train)
        if n_leaves * n_rows > MOST_WORK:
            detail = f"{n_leaves} leaves with {n_rows} training rows are too many to be simplified"
            most = max(MOST_WORK // n_rows, 1)
            raise InvalidParameter("style", detail, hint=f"use paths, or a smaller tree: step=leaves:{most}")
        return simplified_rules(view, training_samples(prepared, config))

    found = await with_data(database, artifacts, loaded, compute)
    loaded.simplified.keep((step, thresholds), found)
    return found


@dataclass(frozen=True)
class RecordToMatch:
    """A record to match rules with: as the tree takes it, which leaves answer it, and what was missing or unseen."""

    table: Table
    reached: Mapping[int, float]
    missing: list[str]
    unseen: list[str]


def read_record(loaded: LoadedModel, step: int, record: Mapping[str, Value]) -> RecordToMatch:
    """The record that stands in the parameter `matching`, routed as the model was trained."""
    answered = answer(loaded, Order(step, policy=None), _encoded(loaded, record), kernels=False)
    (reached,) = answered.answers.ends.by_row()
    missing, unseen = (answered.records.names(0, state) for state in (State.MISSING, State.UNSEEN))
    return RecordToMatch(answered.taken.table, dict(reached), missing, unseen)


def _encoded(loaded: LoadedModel, record: Mapping[str, Value]) -> EncodedRecords:
    try:
        return encode(loaded, records=[record], columns=None, ignore_unknown=False)
    except RecordsDoNotFit as error:
        faults = [_in_parameter(fault, loaded.model.attributes) for fault in error.faults]
        raise InvalidParameter("matching", "the record does not fit this model", faults=faults) from error


def _in_parameter(fault: Fault, attributes: Schema) -> Fault:
    """A fault of the one record, seen from the record itself; a name that is not known cannot be ignored here."""
    _, _, *path = fault.path
    name = str(path[0])
    hint = fault.hint if name in attributes else did_you_mean(name, attributes.names) or "leave it out"
    return Fault(fault.detail, tuple(path), hint)
