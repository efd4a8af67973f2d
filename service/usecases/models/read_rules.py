"""Read a model as rules: its paths, or rules that are simplified with its training rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from core.config.as_json import from_json
from core.records.records import State, Value
from core.rules.simplification import OrderedRules, simplified_rules
from core.tables.table import Table
from core.tables.target import Task
from core.training.preparation import Prepared
from core.training.train import training_samples
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedModel
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.models.read_model import Thresholds, as_reported, with_data
from service.usecases.models.record_in_parameter import encoded_in_parameter
from service.usecases.predictions.predict import Order, answer

# Leaves times training rows: some seconds of work. More would keep other requests from their data for too long.
MOST_WORK = 5_000_000


class RulesStyle(StrEnum):
    """Which rules are shown: those of a tree, or those that many trees share."""

    PATHS = "paths"
    SIMPLIFIED = "simplified"
    STRONGEST = "strongest"


def refuse_numbers(loaded: LoadedModel) -> None:
    """Raise InvalidParameter if the model predicts no classes, since its rules cannot be simplified."""
    if loaded.model.task is not Task.CLASSIFICATION:
        detail = "rules are simplified by how often they get a class wrong, and this model predicts numbers"
        raise InvalidParameter("style", detail, hint="use paths")


async def read_simplified(
    database: Database, artifacts: Artifacts, loaded: LoadedModel, step: int, thresholds: Thresholds
) -> OrderedRules:
    """The simplified rules as of a step, computed from the training rows; the last results are cached."""
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
    """A record to match with rules: as the tree reads it, the leaves that answer it, and what is missing or unseen."""

    table: Table
    reached: Mapping[int, float]
    missing: list[str]
    unseen: list[str]


def read_record(loaded: LoadedModel, step: int, record: Mapping[str, Value]) -> RecordToMatch:
    """The record in the parameter `matching`, routed as the model was trained."""
    answered = answer(loaded, Order(step, policy=None), encoded_in_parameter(loaded, record, "matching"), kernels=False)
    (reached,) = answered.answers.ends.by_row()
    missing, unseen = (answered.records.names(0, state) for state in (State.MISSING, State.UNSEEN))
    return RecordToMatch(answered.taken.table, dict(reached), missing, unseen)
