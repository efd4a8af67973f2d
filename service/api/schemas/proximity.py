"""Proximities of rows in a committee."""

from typing import Annotated

from pydantic import ConfigDict, Field

from core.prediction.routing import MissingPolicy
from core.tables.parts import Part
from service.api.schemas.common import Answer, Body, Flag, WholeNumber
from service.api.schemas.models import ModelStep
from service.api.schemas.predictions import Record
from service.serving.loaded_models import LoadedForest
from service.usecases.models.read_proximity import NearRow, RowsPage

MOST_NEIGHBOURS = 100
ROW = "Position of the row in its dataset, counted from 0."


class RowProximities(Answer):
    """A row, and the share of trees in which it ends in the same leaf as each row of the page."""

    row: Annotated[int, Field(description=ROW)]
    proximities: Annotated[list[float], Field(description="Proximities to the rows of this page, in their order.")]
    outlier: Annotated[
        float | None,
        Field(
            description="How little the row resembles the others of its class; values above 10 deserve a look. `null` "
            "if not requested."
        ),
    ]


class ProximityPage(Answer):
    """The rows of a page, with their pairwise proximities."""

    model: ModelStep
    part: Part
    rows: Annotated[int, Field(description="Number of rows in the part.")]
    items: list[RowProximities]
    next_cursor: Annotated[str | None, Field(description="`null` on the last page.")]

    @classmethod
    def of(cls, loaded: LoadedForest, part: Part, page: RowsPage, next_cursor: str | None) -> "ProximityPage":
        apart = [None] * len(page.rows) if page.outliers is None else page.outliers.tolist()
        shown = zip(page.rows.tolist(), page.proximities.tolist(), apart, strict=True)
        return cls(
            model=ModelStep.of(loaded, 0),
            part=part,
            rows=page.n_rows,
            items=[RowProximities(row=row, proximities=near, outlier=outlier) for row, near, outlier in shown],
            next_cursor=next_cursor,
        )


class NeighboursRequest(Body):
    """Records for which to find the nearest training rows."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"records": [{"密度": 0.6}], "n": 3}]})

    records: Annotated[list[Record], Field(min_length=1)]
    n: Annotated[WholeNumber, Field(ge=1, le=MOST_NEIGHBOURS, description="Number of rows for each record.")] = 5
    missing: Annotated[MissingPolicy | None, Field(description="How to treat missing values, as in a prediction.")] = (
        None
    )
    ignore_unknown: Annotated[Flag, Field(description="Ignore attributes that the model does not know.")] = False


class TrainingRow(Answer):
    """A row that the model was trained on."""

    row: Annotated[int, Field(description=ROW)]
    proximity: Annotated[
        float, Field(description="Share of trees in which the row ends in the same leaf as the record.")
    ]
    record: Annotated[Record, Field(description="Attributes of the row; `null` where a value is missing.")]
    target: Annotated[Record, Field(description="Class of the row, or the number of each target, by name.")]


class NearRows(Answer):
    """The training rows nearest to a record, nearest first."""

    rows: list[TrainingRow]


class Neighbours(Answer):
    """The nearest training rows of each record, in the order of the records."""

    model: ModelStep
    items: list[NearRows]

    @classmethod
    def of(cls, loaded: LoadedForest, found: list[list[NearRow]]) -> "Neighbours":
        return cls(
            model=ModelStep.of(loaded, 0),
            items=[
                NearRows(
                    rows=[
                        TrainingRow(row=near.row, proximity=near.proximity, record=near.record, target={**near.target})
                        for near in of_record
                    ]
                )
                for of_record in found
            ],
        )
