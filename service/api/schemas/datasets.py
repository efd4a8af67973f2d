"""Tables as they are sent, and datasets as they are shown."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, FailFast, Field, RootModel, WithJsonSchema, model_validator
from typing_extensions import TypeAliasType

from core.tables.raw_values import Declaration, has_control_characters
from core.tables.schema import Kind
from core.tables.summary import ColumnSummary
from service.api.schemas.common import Answer, Body, Page
from service.store.datasets import DatasetRecord, DatasetSummary

MOST_CATEGORIES_SHOWN = 1_000


def _is_name(text: str) -> str:
    if has_control_characters(text):
        raise ValueError("must not hold control characters")
    return text


DatasetName = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(_is_name)]

# Neither cells nor columns are validated here: there may be millions, and `core` reports those that do not fit.
_CELL = {"oneOf": [{"type": kind} for kind in ("string", "number", "boolean", "null")]}
_CELLS = {"type": "array", "items": {"$ref": "#/components/schemas/Cell"}}
Cell = TypeAliasType("Cell", Annotated[Any, WithJsonSchema(_CELL)])
TableColumns = TypeAliasType("TableColumns", dict[str, Annotated[Any, WithJsonSchema(_CELLS)]])
TableRecord = TypeAliasType("TableRecord", dict[str, Cell])
TableRecords = TypeAliasType("TableRecords", Annotated[list[TableRecord], FailFast()])


class NumericColumn(Body):
    """Numbers."""

    kind: Literal["numeric"]

    def declaration(self) -> Declaration:
        return Declaration(Kind.NUMERIC)


class CategoricalColumn(Body):
    """Categories without an order. Numbers and booleans are read as text."""

    kind: Literal["categorical"]
    categories: Annotated[
        list[str] | None,
        Field(
            min_length=1,
            description="All categories that can occur, in this order. Default: those in the data, in order of "
            "appearance.",
        ),
    ] = None

    def declaration(self) -> Declaration:
        return Declaration(Kind.CATEGORICAL, None if self.categories is None else tuple(self.categories))


class OrdinalColumn(Body):
    """Categories with an order."""

    kind: Literal["ordinal"]
    order: Annotated[list[str], Field(min_length=1, description="All categories that can occur, from low to high.")]

    def declaration(self) -> Declaration:
        return Declaration(Kind.ORDINAL, tuple(self.order))


class IgnoredColumn(Body):
    """Kept with the table, but never learnt from, such as an id or a comment."""

    kind: Literal["ignore"]

    def declaration(self) -> Declaration:
        return Declaration(Kind.IGNORE)


ColumnDeclaration = TypeAliasType(
    "ColumnDeclaration",
    Annotated[NumericColumn | CategoricalColumn | OrdinalColumn | IgnoredColumn, Field(discriminator="kind")],
)
ColumnDeclarations = TypeAliasType("ColumnDeclarations", dict[str, ColumnDeclaration])


class DatasetOptions(Body):
    """How to read a table. All options may be omitted."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"name": "melons", "schema": {"编号": {"kind": "ignore"}}, "missing_tokens": ["-"]}]
        }
    )

    name: Annotated[
        DatasetName | None,
        Field(description="Name of the dataset; it need not be unique. Default: the name of the file, or `dataset`."),
    ] = None
    declared: Annotated[
        ColumnDeclarations,
        Field(alias="schema", description="Kinds of columns, by name. What is not declared is inferred."),
    ] = {}
    missing_tokens: Annotated[
        list[str] | None,
        Field(description='Cells that mean "missing". Default: `["", "?", "NA"]` in files; only `null` in JSON.'),
    ] = None

    def declarations(self) -> dict[str, Declaration]:
        """The declared columns in core's terms."""
        return {name: column.declaration() for name, column in self.declared.items()}


class DatasetUpload(DatasetOptions):
    """A table as JSON: either `columns` or `records`."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "melons",
                    "columns": {
                        "纹理": ["清晰", None, "模糊"],
                        "密度": [0.697, 0.774, 0.243],
                        "好瓜": ["是", "是", "否"],
                    },
                    "schema": {"纹理": {"kind": "categorical", "categories": ["清晰", "稍糊", "模糊"]}},
                },
                {"records": [{"纹理": "清晰", "密度": 0.697}, {"纹理": None, "密度": 0.774}]},
            ]
        }
    )

    columns: Annotated[
        TableColumns | None, Field(description="Cells of each column; all columns have the same length.")
    ] = None
    records: Annotated[
        TableRecords | None,
        Field(description="One object per row. An omitted key means missing, like `null`."),
    ] = None

    @model_validator(mode="after")
    def _has_one_table(self) -> "DatasetUpload":
        if (self.columns is None) == (self.records is None):
            raise ValueError("send either columns or records")
        return self


class CsvText(RootModel[str]):
    """A CSV file: UTF-8, comma-separated, RFC 4180 quoting, column names in the first line."""

    model_config = ConfigDict(json_schema_extra={"examples": ["纹理,密度,好瓜\n清晰,0.697,是\n模糊,0.243,否\n"]})


class DatasetForm(Body):
    """A table as a file in a multipart form."""

    file: Annotated[Any, WithJsonSchema({"type": "string", "format": "binary", "description": "CSV in UTF-8."})]
    options: DatasetOptions = DatasetOptions()


class DatasetColumn(Answer):
    """A column of a dataset."""

    name: Annotated[str, Field(examples=["纹理"])]
    kind: Annotated[Kind, Field(examples=["categorical"])]
    categories: Annotated[
        list[str] | None,
        Field(
            description="The first 1,000 categories, in order; `null` for numbers.", examples=[["清晰", "稍糊", "模糊"]]
        ),
    ]
    n_categories: Annotated[int | None, Field(description="Number of categories; `null` for numbers.", examples=[3])]
    n_missing: Annotated[int, Field(examples=[0])]
    minimum: Annotated[
        float | None, Field(description="Smallest known number; `null` for other kinds.", examples=[None])
    ]
    maximum: Annotated[
        float | None, Field(description="Largest known number; `null` for other kinds.", examples=[None])
    ]

    @classmethod
    def of(cls, column: ColumnSummary) -> "DatasetColumn":
        has_categories = column.kind is not Kind.NUMERIC
        return cls(
            name=column.name,
            kind=column.kind,
            categories=list(column.categories[:MOST_CATEGORIES_SHOWN]) if has_categories else None,
            n_categories=len(column.categories) if has_categories else None,
            n_missing=column.n_missing,
            minimum=column.minimum,
            maximum=column.maximum,
        )


class DatasetListed(Answer):
    """A dataset in a list, without its columns."""

    id: Annotated[str, Field(examples=["ds_01k9x6v0m2b7c4d5e6f7g8h9ja"])]
    name: Annotated[str, Field(examples=["melons"])]
    digest: Annotated[str, Field(description="SHA-256 digest of the table's content.", examples=["sha256:9f2c…"])]
    n_rows: Annotated[int, Field(examples=[17])]
    n_columns: Annotated[int, Field(examples=[8])]
    n_missing: Annotated[int, Field(description="Number of missing cells in the whole table.", examples=[11])]
    created_at: Annotated[datetime, Field(examples=["2026-11-16T09:30:00Z"])]

    @classmethod
    def of(cls, dataset: DatasetSummary) -> "DatasetListed":
        return cls(
            id=dataset.id,
            name=dataset.name,
            digest=dataset.digest,
            n_rows=dataset.n_rows,
            n_columns=dataset.n_columns,
            n_missing=dataset.n_missing,
            created_at=dataset.created_at,
        )


class DatasetPage(Page[DatasetListed]):
    """Datasets, newest first."""


class Dataset(DatasetListed):
    """A dataset with its columns."""

    columns_: Annotated[list[DatasetColumn], Field(alias="schema", description="The columns, in the table's order.")]
    warnings: Annotated[list[str], Field(description="Warnings about what is allowed but probably not intended.")]

    @classmethod
    def whole(cls, dataset: DatasetRecord) -> "Dataset":
        return cls(
            id=dataset.id,
            name=dataset.name,
            digest=dataset.digest,
            n_rows=dataset.n_rows,
            n_columns=len(dataset.columns),
            n_missing=dataset.n_missing,
            created_at=dataset.created_at,
            columns_=[DatasetColumn.of(column) for column in dataset.columns],
            warnings=list(dataset.warnings),
        )
