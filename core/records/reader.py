"""Reads records one by one into cells in plain Python, which is the fastest way for a few of them.

Equals `records.encode_records` for usual records: numbers for numeric attributes, text for others. A record with
anything else is left to `encode_records`.
"""

from collections.abc import Collection, Mapping, Sequence
from math import nan

import numpy as np

from core.records.records import Cells, EncodedRecords, State, Value
from core.tables.schema import Schema
from core.tables.table import MISSING_CODE, Table

LEFT_OUT = object()
KNOWN, MISSING, UNSEEN = map(int, State)  # as plain integers, because looking up members of an enumeration is slow

# The cells of a record, and the state of each attribute; no states if all are known.
ReadRecord = tuple[Cells, bytes]


class RecordReader:
    """Reads records for a model's attributes; `ignorable` names are columns that the model does not use."""

    def __init__(self, attributes: Schema, ignorable: Collection[str]) -> None:
        self.attributes = attributes
        self._allowed = {*attributes.names, *ignorable}
        self._columns = [
            (a.name, None if a.is_numeric else {name: float(code) for code, name in enumerate(a.categories)})
            for a in attributes
        ]

    def read(self, record: Mapping[str, Value], *, ignore_unknown: bool) -> ReadRecord | None:
        """The record's cells; None if it must be left to `encode_records`."""
        cells: list[float] = []
        states: list[int] = []
        n_left_out = 0
        for name, codes in self._columns:
            value = record.get(name, LEFT_OUT)
            kind, state = type(value), KNOWN
            if kind is str and codes is not None:
                cell = codes.get(value, nan)  # type: ignore[call-overload]
                if cell != cell:
                    state = UNSEEN
            elif (kind is float or kind is int) and codes is None:
                try:
                    cell = float(value)  # type: ignore[arg-type]
                except OverflowError:
                    return None
            elif value is None or value is LEFT_OUT:
                cell, state = nan, MISSING
                n_left_out += value is LEFT_OUT
            else:
                return None
            cells.append(cell)
            states.append(state)
        if len(cells) - n_left_out != len(record) and not ignore_unknown and not record.keys() <= self._allowed:
            return None
        return cells, bytes(states) if any(states) else b""

    def encoded(self, records: Sequence[ReadRecord]) -> EncodedRecords:
        """The table of records that `read` returned."""
        cells = np.array([cells for cells, _ in records]).reshape(len(records), len(self.attributes))
        columns = (
            values.copy() if attribute.is_numeric else np.where(np.isnan(values), MISSING_CODE, values).astype(np.int32)
            for attribute, values in zip(self.attributes, cells.T, strict=True)
        )
        nothing = bytes(len(self.attributes))
        states = np.frombuffer(b"".join(states or nothing for _, states in records), dtype=np.uint8)
        in_rows = states.reshape(len(records), len(self.attributes))
        return EncodedRecords(Table(self.attributes, tuple(columns)), in_rows if in_rows.any() else None)
