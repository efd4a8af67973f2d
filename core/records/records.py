"""Encodes the records of a prediction as a table with the model's attributes.

A value is known, missing (left out or null) or unseen: a category that the model has no branch for, which is routed
like a missing value and reported. Anything else is a fault, and all faults are reported together.
"""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray
from core.tables.errors import Fault, Path, RecordsDoNotFit
from core.tables.raw_values import category_text
from core.tables.schema import Attribute, Schema
from core.tables.suggestion import did_you_mean, quoted
from core.tables.table import MISSING_CODE, Column, Table, is_missing

Cells = Sequence[float]  # of one record, by column: numbers, and categories as codes

Value = str | float | int | bool | None
MOST_FAULTS = 100


class State(IntEnum):
    """Whether a record's value is known."""

    KNOWN = 0
    MISSING = 1
    UNSEEN = 2  # a category that the model has no branch for


@dataclass(frozen=True)
class EncodedRecords:
    """A table of records, and `states[row, attribute]`; None if every value is known."""

    table: Table
    states: NDArray[np.uint8] | None

    @property
    def are_complete(self) -> bool:
        """Whether no value is missing or unseen."""
        return self.states is None

    @property
    def states_by_row(self) -> list[bytes] | None:
        """The states of each record, empty if all its values are known; None if those of all records are."""
        if self.states is None:
            return None
        by_row = [b""] * len(self.states)
        for row in np.flatnonzero(self.states.any(axis=1)).tolist():
            by_row[row] = self.states[row].tobytes()
        return by_row

    def take(self, rows: RowArray) -> "EncodedRecords":
        """The records of these rows, in this order."""
        states = None if self.states is None else self.states[rows]
        return EncodedRecords(self.table.take(rows), states)

    def known_in(self, table: Table) -> "EncodedRecords":
        """The records with the cells of another table, in which missing values may have become known."""
        if self.states is None:
            return self
        is_hole = np.stack([is_missing(values) for values in table.columns], axis=1)
        return EncodedRecords(table, np.where(is_hole, self.states, np.uint8(State.KNOWN)))

    def names(self, row: int, state: State) -> list[str]:
        """The attributes of a record that are in this state, which is not `KNOWN`."""
        if self.states is None:
            return []
        return [self.table.schema[column].name for column in np.flatnonzero(self.states[row] == state).tolist()]


def encode_records(
    records: Sequence[Mapping[str, Value]], attributes: Schema, *, ignorable: Collection[str], ignore_unknown: bool
) -> EncodedRecords:
    """Encode records; `ignorable` names are columns of the training dataset that the model does not use."""
    faults = _Faults()
    if not ignore_unknown:
        allowed = {*attributes.names, *ignorable}
        for row, record in enumerate(records):
            if not record.keys() <= allowed:
                faults.add(*unknown_names(record, allowed, attributes, ("records", row)))
    columns = {name: [record.get(name) for record in records] for name in attributes.names}
    return _encode(columns, len(records), attributes, faults, lambda name, row: ("records", row, name))


def encode_columns(
    columns: Mapping[str, Sequence[Value]], attributes: Schema, *, ignorable: Collection[str], ignore_unknown: bool
) -> EncodedRecords:
    """Encode records that arrive column by column, all of the same length."""
    faults = _Faults()
    if not ignore_unknown:
        faults.add(*unknown_names(columns, {*attributes.names, *ignorable}, attributes, ("columns",)))
    lengths = {name: len(values) for name, values in columns.items()}
    n_rows = next(iter(lengths.values()), 0)
    for name, length in lengths.items():
        if length != n_rows:
            faults.add(Fault(f"has {length} values where the first column has {n_rows}", ("columns", name)))
    faults.raise_any()
    cells = {name: columns.get(name, [None] * n_rows) for name in attributes.names}
    return _encode(cells, n_rows, attributes, faults, lambda name, row: ("columns", name, row))


class _Faults:
    """The first hundred faults."""

    def __init__(self) -> None:
        self.found: list[Fault] = []

    def add(self, *faults: Fault) -> None:
        self.found.extend(faults[: MOST_FAULTS - len(self.found)])

    def raise_any(self) -> None:
        if self.found:
            raise RecordsDoNotFit(*self.found)


def unknown_names(names: Collection[str], allowed: Collection[str], attributes: Schema, path: Path) -> Iterator[Fault]:
    """A fault for every name that the model does not know."""
    for name in names:
        if name not in allowed:
            hint = did_you_mean(name, attributes.names) or "ignore_unknown drops what the model does not know"
            yield Fault(f"not an attribute of this model: {quoted(name)}", (*path, name), hint)


def _encode(
    columns: Mapping[str, Sequence[Value]],
    n_rows: int,
    attributes: Schema,
    faults: _Faults,
    path: Callable[[str, int], Path],
) -> EncodedRecords:
    encoded: list[Column] = []
    states = np.zeros((n_rows, len(attributes)), dtype=np.uint8)
    for column, attribute in enumerate(attributes):
        values = columns[attribute.name]
        encode = encode_numbers if attribute.is_numeric else encode_categories
        cells, wrong = encode(values, attribute)
        faults.add(*(Fault(detail, path(attribute.name, row), hint) for row, detail, hint in wrong))
        encoded.append(cells)
        for row in map(int, np.flatnonzero(is_missing(cells))):
            states[row, column] = State.MISSING if values[row] is None else State.UNSEEN
    faults.raise_any()
    return EncodedRecords(Table(attributes, tuple(encoded)), states if states.any() else None)


Wrong = tuple[int, str, str | None]


def encode_numbers(values: Sequence[Value], attribute: Attribute) -> tuple[FloatArray, list[Wrong]]:
    """Encode a numeric column; text and booleans are faults."""
    cells, wrong = np.full(len(values), np.nan), list[Wrong]()
    for row, value in enumerate(values):
        if value is None:
            continue
        if _is_number(value):
            cells[row] = value
        else:
            detail = f"{_shown(value)} is not a number, and {attribute.name} is numeric"
            wrong.append((row, detail, "send a number or null"))
    return cells, wrong


def encode_categories(values: Sequence[Value], attribute: Attribute) -> tuple[CodeArray, list[Wrong]]:
    """Encode a categorical column; numbers and booleans are accepted if a category reads as one, or none is known."""
    names = attribute.categories
    numbers, booleans = takes_numbers(attribute), takes_booleans(attribute)
    codes = {name: code for code, name in enumerate(names)}
    cells, wrong = np.full(len(values), MISSING_CODE, dtype=np.int32), list[Wrong]()
    for row, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, str) or (isinstance(value, bool) and booleans) or (_is_number(value) and numbers):
            cells[row] = codes.get(category_text(value), MISSING_CODE)
        else:
            detail = f"{_shown(value)} is not text, and {attribute.name} takes text"
            wrong.append((row, detail, f"send text such as {quoted(names[0])}" if names else "send text or null"))
    return cells, wrong


def takes_numbers(attribute: Attribute) -> bool:
    """Whether numbers are accepted as categories: some category reads as a number, or none is known."""
    return not attribute.categories or any(map(reads_as_number, attribute.categories))


def takes_booleans(attribute: Attribute) -> bool:
    """Whether booleans are accepted as categories: "true" or "false" is one, or none is known."""
    return not attribute.categories or not {"true", "false"}.isdisjoint(attribute.categories)


def reads_as_number(text: str) -> bool:
    """Whether a category is the text of a number."""
    try:
        return category_text(float(text)) == text
    except (ValueError, OverflowError):
        return False


def _is_number(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond float64
        return False


def _shown(value: object) -> str:
    """A value of the wrong type in a few words; JSON may contain lists and objects too."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, bool) or _is_number(value):
        return category_text(value)  # type: ignore[arg-type]
    return "a number beyond float64" if isinstance(value, int | float) else f"a {type(value).__name__}"
