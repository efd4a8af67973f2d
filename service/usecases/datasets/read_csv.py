"""Reading CSV files as tables, with the line of every fault.

Files are UTF-8 with or without a byte order mark, with commas, quotes by RFC 4180 (a quote inside a quoted cell is
doubled, and such a cell may contain commas and line ends), and lines ended by LF or CRLF. The first line names the
columns. Blank lines are skipped. Cells are taken as they are; only numbers may have blanks around them. A cell equal
to a missing token is missing, quoted or not.
"""

import csv
import re
import sys
from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from io import TextIOWrapper
from itertools import islice
from typing import IO

from core.tables.errors import EmptyTable, Fault, InvalidTable, raise_any
from core.tables.raw_values import MOST_FAULTS, Declaration, ReadColumn, TextColumn, declaration_faults, name_faults
from core.tables.schema import Kind, Schema
from core.tables.suggestion import quoted
from core.tables.table import Table
from service.errors import InvalidFile

ROWS_PER_BLOCK = 20_000
UTF_16_MARKS = (b"\xff\xfe", b"\xfe\xff")

# A cell may be as large as the file; the only limit is that of the upload.
csv.field_size_limit(sys.maxsize)


def read_csv(file: IO[bytes], declared: Mapping[str, Declaration], tokens: Collection[str]) -> Table:
    """The table in an open file, or InvalidFile, InvalidTable or EmptyTable with every fault that was found."""
    try:
        return _read(file, declared, tokens)
    except UnicodeDecodeError as error:
        raise not_utf8(file) from error


def _read(file: IO[bytes], declared: Mapping[str, Declaration], tokens: Collection[str]) -> Table:
    with CsvRows(file) as rows:
        names = rows.header()
        at_top = [Fault(fault.detail, hint=fault.hint, line=rows.header_line) for fault in name_faults(names)]
        raise_any(InvalidTable, [*at_top, *declaration_faults(declared, names, tokens)])
        columns = [TextColumn(declared.get(name), tokens) for name in names]
        lines = _fill(rows, dict(enumerate(columns)), len(names))
        if not lines:
            raise EmptyTable(
                Fault("the file names its columns but has no rows", hint="add at least one row", line=rows.header_line)
            )
    late = {position: TextColumn(Declaration(Kind.CATEGORICAL), tokens) for position in _misread(columns)}
    if late:
        with CsvRows(file) as rows:
            _fill(rows, late, len(rows.header()))
    read = [late.get(position, column).finished() for position, column in enumerate(columns)]
    raise_any(InvalidTable, _cell_faults(names, read, lines))
    schema = Schema(tuple(column.named(name) for name, column in zip(names, read, strict=True)))
    return Table(schema, tuple(column.cells for column in read))


def _misread(columns: Sequence[TextColumn]) -> list[int]:
    return [position for position, column in enumerate(columns) if column.must_be_reread]


def _fill(rows: "CsvRows", columns: Mapping[int, TextColumn], n_cells: int) -> "array[int]":
    """Add every row's cells to their columns; return the line each row begins on. InvalidTable names ragged rows."""
    starts = array("q")
    ragged: list[Fault] = []
    for block, lines in rows.blocks():
        ragged.extend(ragged_rows(block, lines, n_cells))
        if len(ragged) >= MOST_FAULTS:
            break
        if not ragged:
            starts.extend(lines)
            cells = list(zip(*block, strict=True))
            for position, column in columns.items():
                column.add(cells[position])
    raise_any(InvalidTable, ragged[:MOST_FAULTS])
    return starts


def ragged_rows(block: Sequence[Sequence[str]], lines: Sequence[int], n_cells: int) -> Iterator[Fault]:
    """A fault for each row whose number of cells differs from the header's."""
    if set(map(len, block)) == {n_cells}:
        return
    for row, line in zip(block, lines, strict=True):
        if len(row) != n_cells:
            hint = "put cells that hold commas in quotes" if len(row) > n_cells else None
            found = "1 cell" if len(row) == 1 else f"{len(row)} cells"
            yield Fault(f"{found} where the header has {n_cells}", hint=hint, line=line)


def _cell_faults(names: Sequence[str], read: Sequence[ReadColumn], lines: Sequence[int]) -> list[Fault]:
    found = [
        Fault(f"column {quoted(name)}: {fault.detail}", hint=fault.hint, line=lines[int(fault.path[0])])
        for name, column in zip(names, read, strict=True)
        for fault in column.faults
    ]
    return sorted(found, key=lambda fault: fault.line or 0)[:MOST_FAULTS]


class CsvRows:
    """The rows of an open file, from its beginning; the file stays open afterwards."""

    def __init__(self, file: IO[bytes]) -> None:
        file.seek(0)
        self._text = TextIOWrapper(file, encoding="utf-8-sig", newline="")
        self._reader = csv.reader(_without_nul(self._text), strict=True)
        self.header_line = 1

    def __enter__(self) -> "CsvRows":
        return self

    def __exit__(self, *_: object) -> None:
        self._text.detach()

    def header(self) -> list[str]:
        """The names of the columns: the first line that is not blank."""
        for line, row in self._numbered():
            self.header_line = line
            return row
        raise EmptyTable(
            Fault("the file is empty", hint="the first line names the columns, the others hold the rows", line=1)
        )

    def blocks(self) -> Iterator[tuple[list[list[str]], list[int]]]:
        """Blocks of rows, each with the lines that its rows begin on."""
        rows: list[list[str]] = []
        lines: list[int] = []
        for line, row in self._numbered():
            rows.append(row)
            lines.append(line)
            if len(rows) == ROWS_PER_BLOCK:
                yield rows, lines
                rows, lines = [], []
        if rows:
            yield rows, lines

    def _numbered(self) -> Iterator[tuple[int, list[str]]]:
        reader = self._reader
        begins = reader.line_num + 1
        try:
            for row in reader:
                if row:
                    yield begins, row
                begins = reader.line_num + 1
        except csv.Error as error:
            if "unexpected end of data" in str(error):
                raise self._never_closed(begins) from error
            hint = 'write a quote inside a quoted cell as two: ""'
            raise _invalid(reader.line_num, "a quoted cell goes on after its closing quote", hint) from error

    def _never_closed(self, begins: int) -> InvalidFile:
        """A fault at the quote that is never closed, found by reading the last row again."""
        self._text.seek(0)
        opened, is_inside = begins, False
        for number, line in islice(enumerate(self._text, start=1), begins - 1, None):
            for quotes in re.findall('"+', line):
                if len(quotes) % 2:  # a doubled quote stands for itself
                    is_inside = not is_inside
                    opened = number if is_inside else opened
        return _invalid(opened, "a quote that opens here is never closed", None)


def _without_nul(lines: Iterable[str]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        if "\0" in line:
            raise _invalid(
                number, "the line holds the character NUL, which no text has", "send the file as plain UTF-8 text"
            )
        yield line


def not_utf8(file: IO[bytes]) -> InvalidFile:
    """A fault at the line that is not UTF-8, found by reading again: the decoder only knows its own buffer."""
    file.seek(0)
    for number, line in enumerate(file, start=1):
        try:
            line.decode("utf-8")
        except UnicodeDecodeError:
            looks_like_utf_16 = number == 1 and line.startswith(UTF_16_MARKS)
            hint = "it looks like UTF-16; save it as UTF-8" if looks_like_utf_16 else "save the file as UTF-8"
            return _invalid(number, "the line is not UTF-8", hint)
    raise AssertionError("the file could not be decoded, but each of its lines can")


def _invalid(line: int, detail: str, hint: str | None) -> InvalidFile:
    return InvalidFile(f"line {line}: {detail}{f'; {hint}' if hint else ''}", Fault(detail, hint=hint, line=line))
