"""Records stored by column, with some attributes left out: the form in which files and streams are read."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import CodeArray, FloatArray
from core.records.records import EncodedRecords, State
from core.tables.raw_values import UNDECLARED_CODE
from core.tables.schema import Attribute, Schema
from core.tables.table import MISSING_CODE, Column, Table

StateArray = NDArray[np.uint8]

UNSEEN_CODE = UNDECLARED_CODE


@dataclass(frozen=True)
class RecordColumn:
    """An attribute's cells as in a table, and the state of each; None if all are known."""

    cells: Column
    states: StateArray | None

    @classmethod
    def of_numbers(cls, numbers: FloatArray) -> "RecordColumn":
        """A column of numbers; NaN is missing."""
        is_missing = np.isnan(numbers)
        return cls(numbers, is_missing.astype(np.uint8) * State.MISSING if is_missing.any() else None)

    @classmethod
    def of_codes(cls, codes: CodeArray) -> "RecordColumn":
        """A column of category codes; MISSING_CODE is missing, UNSEEN_CODE a category that the model does not know."""
        if not (codes < 0).any():
            return cls(codes, None)
        states = np.select([codes == MISSING_CODE, codes == UNSEEN_CODE], [State.MISSING, State.UNSEEN], State.KNOWN)
        return cls(np.maximum(codes, MISSING_CODE), states.astype(np.uint8))

    @classmethod
    def of_nothing(cls, attribute: Attribute, n_rows: int) -> "RecordColumn":
        """An attribute that is missing in every record."""
        nothing = np.full(n_rows, np.nan) if attribute.is_numeric else np.full(n_rows, MISSING_CODE, dtype=np.int32)
        return cls(nothing, np.full(n_rows, State.MISSING, dtype=np.uint8))


@dataclass(frozen=True)
class RecordBlock:
    """Some records: the columns that were sent, by name. An attribute that was not sent is missing in every record."""

    n_rows: int
    columns: Mapping[str, RecordColumn]

    @property
    def n_bytes(self) -> int:
        """The memory of the cells, in bytes."""
        sent = self.columns.values()
        return sum(one.cells.nbytes + (0 if one.states is None else one.states.nbytes) for one in sent)

    def encoded(self, attributes: Schema) -> EncodedRecords:
        """The records with a column for every attribute."""
        columns = [self.columns.get(a.name) or RecordColumn.of_nothing(a, self.n_rows) for a in attributes]
        table = Table(attributes, tuple(column.cells for column in columns))
        if all(column.states is None for column in columns):
            return EncodedRecords(table, None)
        states = np.zeros((self.n_rows, len(attributes)), dtype=np.uint8)
        for index, column in enumerate(columns):
            if column.states is not None:
                states[:, index] = column.states
        return EncodedRecords(table, states if self.n_rows else None)
