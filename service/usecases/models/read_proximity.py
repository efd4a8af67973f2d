"""Proximities in a committee: between the rows of a page, and of training rows to a record."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.config.as_json import from_json
from core.ensembles.insight.proximity import MOST_PEERS, neighbours, outliers, pairs
from core.growth.samples import Samples
from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords
from core.tables.errors import Fault
from core.tables.parts import Part
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.training.preparation import Prepared
from service.errors import InvalidBody, InvalidParameter
from service.serving.loaded_models import LoadedForest
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from service.usecases.models.read_model import samples_of_part, with_data

MOST_WORK = 2_000_000_000  # rows times their peers times trees; some seconds of work
OUTLIERS = "outliers"


@dataclass(frozen=True)
class RowsPage:
    """Some of a part's `n_rows` rows: their indices in the dataset, and their proximities to each other.

    `outliers` say how little each row is like the others of its class; None unless requested.
    """

    n_rows: int
    rows: RowArray
    proximities: FloatArray
    outliers: FloatArray | None


@dataclass(frozen=True)
class NearRow:
    """A training row: its index in the dataset, its proximity to a record, its attributes and its target."""

    row: int
    proximity: float
    record: dict[str, Any]
    target: dict[str, str | float]


async def read_rows_page(
    database: Database,
    artifacts: Artifacts,
    loaded: LoadedForest,
    part: Part,
    *,
    start: int,
    limit: int,
    with_outliers: bool,
    kernels: bool,
) -> RowsPage:
    """A page of the rows of a part, with their proximities to each other."""

    def compute(prepared: Prepared) -> RowsPage:
        samples = samples_of_part(prepared, part)
        table, place = loaded.model.as_trained(samples.attributes), slice(start, start + limit)
        apart = None
        if with_outliers:
            refuse_too_much(samples, len(loaded))
            classes = samples.target.codes if isinstance(samples.target, ClassTarget) else np.zeros(len(samples))
            seed = from_json(loaded.record.configuration).seed
            every = outliers(loaded.model.forest, table, classes.astype(np.int64), seed=seed, kernels=kernels)
            apart = every[place]
        page = table.take(np.arange(len(samples))[place])
        return RowsPage(
            n_rows=len(samples),
            rows=prepared.rows[part][place],
            proximities=pairs(loaded.model.forest, page, kernels=kernels),
            outliers=apart,
        )

    return await with_data(database, artifacts, loaded, compute)


async def read_neighbours(
    database: Database,
    artifacts: Artifacts,
    loaded: LoadedForest,
    records: EncodedRecords,
    n: int,
    *,
    policy: MissingPolicy | None,
    kernels: bool,
) -> list[list[NearRow]]:
    """For each record the `n` training rows nearest to it, nearest first."""

    def compute(prepared: Prepared) -> list[list[NearRow]]:
        train, model = prepared.train, loaded.model
        if records.table.n_rows * len(train) * len(model) > MOST_WORK:
            most = MOST_WORK // (len(train) * len(model))
            detail = f"{records.table.n_rows} records are too many to be compared with {len(train)} training rows"
            hint = f"send at most {most} at once" if most else "train a smaller forest, or on fewer rows"
            raise InvalidBody(detail, Fault(detail, ("records",), hint))
        taken = records.table if policy is not None else model.as_trained(records.table)
        rows = model.as_trained(train.attributes)
        found = neighbours(model.forest, taken, rows, n, policy=policy, kernels=kernels)
        return [
            [
                NearRow(
                    row=int(prepared.rows[Part.TRAIN][near.row]),
                    proximity=near.proximity,
                    record=record_of(train.attributes, near.row),
                    target=target_of(train, near.row, model.targets),
                )
                for near in of_record
            ]
            for of_record in found
        ]

    return await with_data(database, artifacts, loaded, compute)


def refuse_too_much(samples: Samples, n_trees: int) -> None:
    """Raise InvalidParameter if there are too many rows and peers to compare within a request."""
    if len(samples) * min(len(samples), MOST_PEERS) * n_trees > MOST_WORK:
        detail = f"{len(samples)} rows and {n_trees} trees are too many to look for outliers"
        raise InvalidParameter(OUTLIERS, detail, hint="use a smaller part, or an isolation_forest")


def record_of(table: Table, row: int) -> dict[str, Any]:
    """A row in the form of a record; None for missing values."""
    return {attribute.name: cell_of(table, column, row) for column, attribute in enumerate(table.schema)}


def cell_of(table: Table, column: int, row: int) -> str | float | None:
    """The value of a cell: a number or the name of a category; None if it is missing."""
    attribute, value = table.schema[column], table.columns[column][row]
    if attribute.is_numeric:
        return None if np.isnan(value) else float(value)
    return None if value < 0 else attribute.categories[int(value)]


def target_of(samples: Samples, row: int, names: tuple[str, ...]) -> dict[str, str | float]:
    """The row's target by name: a class, or the number of each target."""
    target = samples.target
    if isinstance(target, ClassTarget):
        return {names[0]: target.classes[int(target.codes[row])]}
    return dict(zip(names, target.numbers[row].tolist(), strict=True))
