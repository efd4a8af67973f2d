"""CSV: the attributes' names in the first line, then a record on each line; answers likewise.

Cells are read as in a dataset: see `usecases/read_csv`.
"""

from collections.abc import Collection, Iterator, Sequence
from io import BytesIO
from itertools import islice

from core.errors import EmptyTable, Fault, RecordsDoNotFit, raise_any
from core.inference import Codes, decimal_number, decimal_numbers, name_faults
from core.record_columns import RecordBlock, RecordColumn
from core.records import MOST_FAULTS
from core.schema import Attribute
from core.suggestion import quoted
from core.table import MISSING_CODE
from service.api.formats.blocks import Wanted
from service.errors import InvalidFile, MalformedBody
from service.usecases.read_csv import CsvRows, not_utf8, ragged_rows

MEDIA_TYPE = "text/csv"


def read_csv_records(body: bytes, wanted: Wanted, tokens: Collection[str]) -> Iterator[RecordBlock]:
    """The records of a body; MalformedBody or RecordsDoNotFit with the lines of everything that is wrong."""
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
            for place, reader in readers.items():
                columns[reader.attribute.name], wrong = reader.read(cells[place])
                found.extend(_in_cell(reader.attribute, cells[place][row], lines[row]) for row in wrong)
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
        """The column, and the rows whose cells should be numbers but are not; with any, the column means nothing."""
        if not self.attribute.is_numeric:
            return RecordColumn.of_codes(self._codes.encode(cells)), []
        numbers = decimal_numbers(cells, self._tokens)
        if numbers is not None:
            return RecordColumn.of_numbers(numbers), []
        wrong = (r for r, text in enumerate(cells) if text not in self._tokens and decimal_number(text) is None)
        return RecordColumn.of_nothing(self.attribute, len(cells)), list(islice(wrong, MOST_FAULTS))
