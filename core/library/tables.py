"""Tables and records from arrays or lists."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from core.storage.serialization import AnyModel
from core.tables.errors import EmptyTable, Fault, InvalidTable, RecordsDoNotFit, raise_any
from core.tables.from_json import table_from_columns
from core.tables.raw_values import Declaration, declaration_faults, name_faults
from core.tables.schema import Attribute, Kind, Schema
from core.tables.suggestion import did_you_mean, quoted
from core.tables.table import MISSING_CODE, Column, Table
from core.training.preparation import recoded

Cells = Any  # a one-dimensional array, or a list of numbers, texts or booleans with None for missing values
Columns = Mapping[str, Cells]


def named_columns(matrix: Any, names: Sequence[str] | None = None) -> dict[str, Cells]:
    """The columns of a two-dimensional array by name: `x0`, `x1`, … by default."""
    values = np.asarray(matrix)
    if values.ndim != 2:
        raise InvalidTable(Fault(f"the array has {values.ndim} dimension(s), not 2"))
    chosen = [f"x{column}" for column in range(values.shape[1])] if names is None else list(names)
    if len(chosen) != values.shape[1]:
        raise InvalidTable(Fault(f"there are {len(chosen)} names for {values.shape[1]} columns"))
    return {name: values[:, column] for column, name in enumerate(chosen)}


def table(
    columns: Columns,
    *,
    kinds: Mapping[str, str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
) -> Table:
    """A table from its columns by name. NaN and None are missing.

    Numbers make a numeric column, text and booleans a categorical one, unless `kinds` says otherwise: numeric, ordinal,
    categorical or ignore. `categories` lists a column's categories (of an ordinal one, from low to high); by default
    they are those of the data, in order of appearance.
    """
    declared = declarations(kinds or {}, categories or {})
    cells = {name: cells_of(name, values) for name, values in columns.items()}
    raise_any(InvalidTable, [fault.below("columns") for fault in name_faults(list(cells))])
    raise_any(InvalidTable, declaration_faults(declared, list(cells), ()))
    if not any(len(values) for values in cells.values()):
        raise EmptyTable(Fault("a table needs at least one column and at least one row"))
    first = next(iter(cells))
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(name)} has {len(values)} cells, but {quoted(first)} has {len(cells[first])}", (name,))
            for name, values in cells.items()
            if len(values) != len(cells[first])
        ),
    )
    read = {name: read_column(name, values, declared.get(name)) for name, values in cells.items()}
    return Table(Schema(tuple(attribute for attribute, _ in read.values())), tuple(c for _, c in read.values()))


def declarations(kinds: Mapping[str, str], categories: Mapping[str, Sequence[str]]) -> dict[str, Declaration]:
    """The caller's declarations of columns; a list of categories alone makes a column categorical."""
    words = ", ".join(Kind)
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(str(kind))} is no kind of column", ("kinds", name), f"use {words}")
            for name, kind in kinds.items()
            if kind not in tuple(Kind)
        ),
    )
    raise_any(
        InvalidTable,
        (
            Fault(f"{quoted(name)} is ordinal, and nothing says in which order", ("categories", name), "list them")
            for name, kind in kinds.items()
            if kind == Kind.ORDINAL and name not in categories
        ),
    )
    declared = {name: Declaration(Kind(kind)) for name, kind in kinds.items()}
    for name, listed in categories.items():
        kind = declared[name].kind if name in declared else Kind.CATEGORICAL
        declared[name] = Declaration(kind, tuple(listed))
    return declared


def cells_of(name: str, values: Cells) -> Any:
    """A column as an array of numbers, or as a list with None where a value is missing."""
    array = values if isinstance(values, list | tuple) else np.asarray(values)
    if isinstance(array, np.ndarray):
        if array.ndim != 1:
            raise InvalidTable(Fault(f"{quoted(name)} has {array.ndim} dimension(s), not 1", ("columns", name)))
        if array.dtype.kind in "fiu":
            return array.astype(np.float64)
        array = array.tolist()
    return [None if value is None or value != value else plain(value) for value in array]


def plain(value: Any) -> Any:
    """A NumPy scalar as a Python value."""
    return value.item() if isinstance(value, np.generic) else value


def read_column(name: str, cells: Any, declaration: Declaration | None) -> tuple[Attribute, Column]:
    """A column with its attribute; InvalidTable if a cell does not fit the column."""
    is_array = isinstance(cells, np.ndarray)
    if is_array and (declaration is None or declaration.kind is Kind.NUMERIC):
        attribute, column = Attribute(name, Kind.NUMERIC), cells
    else:
        listed = [None if value != value else value for value in cells.tolist()] if is_array else cells
        read = table_from_columns({name: listed}, {} if declaration is None else {name: declaration}, ())
        attribute, column = read.schema[0], read.columns[0]
    if attribute.is_numeric and np.isinf(column).any():
        row = int(np.flatnonzero(np.isinf(column))[0])
        raise InvalidTable(Fault(f"{quoted(name)} is infinite in row {row}", ("columns", name, row), "use None or NaN"))
    return attribute, column


def records_for(model: AnyModel, records: Columns | Table) -> Table:
    """Records coded like the model's training rows; extra columns are errors if attributes are absent.

    They are then probably misspelled.
    """
    names = records.schema.names if isinstance(records, Table) else tuple(records)
    absent = [attribute.name for attribute in model.attributes if attribute.name not in names]
    extra = [name for name in names if name not in model.attributes and name not in model.targets]
    if absent and extra:
        raise RecordsDoNotFit(
            *(
                Fault(f"not an attribute of this model: {quoted(name)}", (name,), did_you_mean(name, absent))
                for name in extra
            )
        )
    given = [attribute for attribute in model.attributes if attribute.name not in absent]
    if not given:
        raise RecordsDoNotFit(
            Fault("no attribute of this model is there", (), "it has " + ", ".join(model.attributes.names))
        )
    if not isinstance(records, Table):
        kinds = {attribute.name: Declaration(attribute.kind) for attribute in given}
        read = [read_column(a.name, cells_of(a.name, records[a.name]), kinds[a.name]) for a in given]
        records = Table(Schema(tuple(attribute for attribute, _ in read)), tuple(column for _, column in read))
    known = recoded(records.select([a.name for a in given]), Schema(tuple(given)))
    unknown = {True: np.full(known.n_rows, np.nan), False: np.full(known.n_rows, MISSING_CODE, dtype=np.int32)}
    columns = [unknown[a.is_numeric] if a.name in absent else known.values(a.name) for a in model.attributes]
    return Table(model.attributes, tuple(columns))
