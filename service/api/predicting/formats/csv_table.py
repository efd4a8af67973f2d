"""CSV: the attributes' names in the first line, then a record on each line; answers likewise.

Cells are read as in a dataset: see `usecases/datasets/read_csv`.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice, pairwise
from typing import Any, assert_never

import msgspec
import numpy as np

from core.arithmetic.arrays import RowArray
from core.records.columns import RecordBlock, RecordColumn
from core.records.records import MOST_FAULTS
from core.tables.errors import EmptyTable, Fault, RecordsDoNotFit, raise_any
from core.tables.raw_values import Codes, decimal_number, decimal_numbers, name_faults
from core.tables.schema import Attribute
from core.tables.suggestion import quoted
from core.tables.table import MISSING_CODE
from service.api.predicting.formats.answer_columns import (
    AnswerColumn,
    Counts,
    Flags,
    Leaves,
    Lists,
    Numbers,
    Texts,
    Words,
)
from service.api.predicting.formats.blocks import Wanted
from service.errors import InvalidFile, MalformedBody
from service.usecases.datasets.read_csv import CsvRows, not_utf8, ragged_rows

MEDIA_TYPE = "text/csv"
NEEDS_QUOTES = re.compile('[",\r\n]')


def read_csv_records(body: bytes, wanted: Wanted, tokens: Collection[str]) -> Iterator[RecordBlock]:
    """The records of a body; MalformedBody or RecordsDoNotFit with the line of every fault."""
    file = BytesIO(body)
    try:
        with CsvRows(file) as rows:
            yield from _read(rows, wanted, tokens)
    except UnicodeDecodeError as error:
        raise _malformed(not_utf8(file)) from error
    except (InvalidFile, EmptyTable) as error:
        raise _malformed(error) from error


def _malformed(error: InvalidFile | EmptyTable) -> MalformedBody:
    first = error.faults[0]
    return MalformedBody(f"line {first.line}: {first.detail}{f'; {first.hint}' if first.hint else ''}", *error.faults)


def _read(rows: CsvRows, wanted: Wanted, tokens: Collection[str]) -> Iterator[RecordBlock]:
    names = rows.header()
    raise_any(RecordsDoNotFit, (_at(rows.header_line, fault) for fault in name_faults(names)))
    faults = [_at(rows.header_line, fault) for fault in wanted.unknown(names)]
    readers = {names.index(a.name): _CellReader(a, tokens) for a in wanted.attributes if a.name in names}
    for block, lines in rows.blocks():
        found = list(ragged_rows(block, lines, len(names)))
        columns: dict[str, RecordColumn] = {}
        if not found:
            cells = list(zip(*block, strict=True))
            for position, reader in readers.items():
                columns[reader.attribute.name], wrong = reader.read(cells[position])
                found.extend(_in_cell(reader.attribute, cells[position][row], lines[row]) for row in wrong)
        faults.extend(sorted(found, key=lambda fault: fault.line or 0))
        if len(faults) >= MOST_FAULTS:
            break
        if not faults:
            yield RecordBlock(len(block), columns)
    raise_any(RecordsDoNotFit, faults[:MOST_FAULTS])


def _at(line: int, fault: Fault) -> Fault:
    return Fault(fault.detail, hint=fault.hint, line=line)


def _in_cell(attribute: Attribute, text: str, line: int) -> Fault:
    detail = f"column {quoted(attribute.name)}: {quoted(text)} is not a number"
    return Fault(detail, hint="send a number, or leave the cell empty", line=line)


class _CellReader:
    """Reads the cells of one attribute."""

    def __init__(self, attribute: Attribute, tokens: Collection[str]) -> None:
        self.attribute, self._tokens = attribute, tokens
        self._codes = Codes(attribute.categories, ())
        self._codes.update(dict.fromkeys(tokens, MISSING_CODE))

    def read(self, cells: Sequence[str]) -> tuple[RecordColumn, list[int]]:
        """The column, and the rows whose cells should be numbers but are not; if there are any, it has no meaning."""
        if not self.attribute.is_numeric:
            return RecordColumn.of_codes(self._codes.encode(cells)), []
        numbers = decimal_numbers(cells, self._tokens)
        if numbers is not None:
            return RecordColumn.of_numbers(numbers), []
        wrong = (r for r, text in enumerate(cells) if text not in self._tokens and decimal_number(text) is None)
        return RecordColumn.of_nothing(self.attribute, len(cells)), list(islice(wrong, MOST_FAULTS))


def csv_pieces(blocks: Iterable[Mapping[str, AnswerColumn]]) -> Iterator[bytes]:
    """A line with the names of the columns, then a line for each answer."""
    is_first = True
    for columns in blocks:
        if is_first:
            yield _lines([[quoted_cell(name)] for name in columns])
        yield _lines([cells_of(column) for column in columns.values()])
        is_first = False


def _lines(columns: Sequence[Sequence[str]]) -> bytes:
    rows = zip(*columns, strict=True)
    return "".join(f"{','.join(row)}\n" for row in rows).encode()


def cells_of(column: AnswerColumn) -> Sequence[str]:
    """A column's cells: numbers in their shortest form, true and false, lists as JSON."""
    match column:
        case Words(positions, words):
            return _taken([*(quoted_cell(word) for word in words), ""], positions)  # -1 is the last
        case Numbers(values):
            # Leaves give the same few numbers many times, so each is written once.
            bits, positions = np.unique(np.ascontiguousarray(values).view(np.int64), return_inverse=True)
            return _taken([repr(value) for value in bits.view(np.float64).tolist()], positions)
        case Counts(values):
            return [str(value) for value in values.tolist()]
        case Flags(values):
            return _taken(["false", "true"], values.astype(np.int64))
        case Lists(starts, positions, words):
            return _list_cells(starts, positions, words)
        case Texts(texts):
            return [quoted_cell(text) for text in texts]
        case Leaves(ends):
            reached = ([{"leaf": leaf, "weight": weight} for leaf, weight in row] for row in ends.by_row())
            return [_json_cell(leaves) for leaves in reached]
        case other:
            assert_never(other)


def _taken(texts: Sequence[str], positions: RowArray) -> list[str]:
    taken: list[str] = np.array(texts, dtype=object)[positions].tolist()
    return taken


def _list_cells(starts: RowArray, positions: RowArray, words: Sequence[str]) -> list[str]:
    written: dict[tuple[int, ...], str] = {}
    cells = []
    for start, end in pairwise(starts.tolist()):
        key = tuple(positions[start:end].tolist())
        if key not in written:
            written[key] = _json_cell([words[position] for position in key])
        cells.append(written[key])
    return cells


def _json_cell(value: Any) -> str:
    return quoted_cell(msgspec.json.encode(value).decode())


def quoted_cell(text: str) -> str:
    """The text as a cell, in quotes where it needs them."""
    return '"' + text.replace('"', '""') + '"' if not text or NEEDS_QUOTES.search(text) else text
