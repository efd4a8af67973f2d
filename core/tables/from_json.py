"""Tables from JSON: columns of cells, or one record for each row."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from core.tables.errors import EmptyTable, Fault, InvalidTable, raise_any
from core.tables.errors import Path as FaultPath
from core.tables.raw_values import MOST_FAULTS, Declaration, column_of_values, declaration_faults, name_faults
from core.tables.schema import Schema
from core.tables.suggestion import quoted
from core.tables.table import Table

Place = Callable[[str, int], FaultPath]
NOTHING = "a table needs at least one column and at least one row"


def table_from_columns(
    columns: Mapping[str, Any], declared: Mapping[str, Declaration], tokens: Collection[str]
) -> Table:
    """A table from its columns by name; each is a list of cells, and all have the same length."""
    _refuse(
        Fault("must be a list of cells", ("columns", name))
        for name, cells in columns.items()
        if type(cells) is not list
    )
    if not any(map(len, columns.values())):
        raise EmptyTable(Fault(NOTHING, ("columns",)))
    first, cells = next(iter(columns.items()))
    _refuse(
        Fault(f"has {len(other)} cells, but {quoted(first)} has {len(cells)}", ("columns", name))
        for name, other in columns.items()
        if len(other) != len(cells)
    )
    return _table(columns, declared, tokens, lambda name, row: ("columns", name, row))


def table_from_records(
    records: Sequence[Mapping[str, Any]], declared: Mapping[str, Declaration], tokens: Collection[str]
) -> Table:
    """A table from its rows; columns are in the order their names first appear, and a key left out is missing."""
    names = dict.fromkeys(chain.from_iterable(records))
    if not names:
        raise EmptyTable(Fault(NOTHING, ("records",)))
    columns = {name: [record.get(name) for record in records] for name in names}
    return _table(columns, declared, tokens, lambda name, row: ("records", row, name))


def _table(
    columns: Mapping[str, Sequence[Any]], declared: Mapping[str, Declaration], tokens: Collection[str], place: Place
) -> Table:
    names = list(columns)
    # A name has no path of its own in records, so the fault points at the list.
    unnamed = [Fault(fault.detail, place("", 0)[:1], fault.hint) for fault in name_faults(names)]
    _refuse([*unnamed, *declaration_faults(declared, names, tokens)])
    read = {name: column_of_values(values, declared.get(name), tokens) for name, values in columns.items()}
    _refuse(
        Fault(f"column {quoted(name)}: {fault.detail}", place(name, _row(fault)), fault.hint)
        for name, column in read.items()
        for fault in column.faults
    )
    attributes = tuple(column.named(name) for name, column in read.items())
    return Table(Schema(attributes), tuple(column.cells for column in read.values()))


def _refuse(faults: Iterable[Fault]) -> None:
    raise_any(InvalidTable, islice(faults, MOST_FAULTS))


def _row(fault: Fault) -> int:
    row = fault.path[0]
    assert isinstance(row, int)
    return row
