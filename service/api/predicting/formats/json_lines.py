"""NDJSON: one record per line, one answer per line; blank lines are skipped. Also answers as one JSON object."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from core.compiler.permission import KernelNotCompiled
from core.records.columns import RecordBlock, RecordColumn
from core.records.json_scan import RecordScanner
from core.records.records import MOST_FAULTS, EncodedRecords, encode_records
from core.tables.errors import Fault, RecordsDoNotFit, raise_any
from service.api.bodies import parse_json
from service.api.predicting.formats.blocks import ROWS_PER_BLOCK, Wanted
from service.errors import MalformedBody

MEDIA_TYPE = "application/x-ndjson"


def read_json_lines(body: bytes, wanted: Wanted, scanner: RecordScanner | None = None) -> Iterator[RecordBlock]:
    """The records of a body; MalformedBody or RecordsDoNotFit with the line of every fault.

    If a scanner is given, compiled code reads the usual lines.
    """
    malformed: list[Fault] = []
    wrong: list[Fault] = []
    for lines in _blocks(body):
        scanned = scan_lines(lines, scanner)
        if scanned is not None:
            yield block_of(scanned)
            continue
        records = list(_records(lines, malformed))
        if not malformed and len(wrong) < MOST_FAULTS:
            try:
                yield block_of(_encoded(records, wanted))
            except RecordsDoNotFit as error:
                wrong.extend(_at_line(fault, lines) for fault in error.faults)
        if len(malformed) >= MOST_FAULTS:
            break
    if malformed:
        raise MalformedBody(f"line {malformed[0].line}: {malformed[0].detail}", *malformed[:MOST_FAULTS])
    raise_any(RecordsDoNotFit, wrong[:MOST_FAULTS])


def scan_lines(lines: Sequence["Line"], scanner: RecordScanner | None) -> EncodedRecords | None:
    """The records of some lines, read by compiled code; None if a decoder has to read them.

    The lines are scanned as one list. A scanner accepts neither an object in a record nor a line end in a text. So if
    each line begins like a record and there are as many records as lines, there is one on each line.
    """
    if scanner is None or not all(line.startswith(b"{") for _, line in lines):
        return None
    text = b"[%b]" % b",\n".join(line for _, line in lines)
    with suppress(KernelNotCompiled):
        scanned = scanner.records(text, 0)
        if scanned is not None and (scanned[0].table.n_rows, scanned[1]) == (len(lines), len(text)):
            return scanned[0]
    return None


Line = tuple[int, bytes]


def _blocks(body: bytes) -> Iterator[list[Line]]:
    lines = ((number, line) for number, line in enumerate(_lines(body), start=1) if not line.isspace() and line)
    while block := list(islice(lines, ROWS_PER_BLOCK)):
        yield block


def _lines(body: bytes) -> Iterator[bytes]:
    """The lines one by one: a list of all of them would be larger than the body."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start)
        end = len(body) if end < 0 else end
        yield body[start:end]
        start = end + 1


def _records(lines: list[Line], malformed: list[Fault]) -> Iterator[dict[str, Any]]:
    for number, line in lines:
        try:
            record = parse_json(line)
        except MalformedBody as error:
            faults = error.faults or (Fault(error.detail.replace("the body", "the line")),)
            malformed.extend(Fault(fault.detail, fault.path, fault.hint, number) for fault in faults)
            continue
        if isinstance(record, dict):
            yield record
        else:
            malformed.append(Fault("a line must hold an object", hint="write each record as {…}", line=number))


def _encoded(records: list[dict[str, Any]], wanted: Wanted) -> EncodedRecords:
    return encode_records(records, wanted.attributes, ignorable=wanted.ignorable, ignore_unknown=wanted.ignore_unknown)


def block_of(encoded: EncodedRecords) -> RecordBlock:
    """Encoded records, which have all attributes, as a block."""
    table, states = encoded.table, encoded.states
    columns = zip(table.schema.names, table.columns, strict=True)
    return RecordBlock(
        table.n_rows,
        {
            name: RecordColumn(cells, None if states is None else states[:, position])
            for position, (name, cells) in enumerate(columns)
        },
    )


def _at_line(fault: Fault, lines: list[Line]) -> Fault:
    """A fault at `#/records/3/x`, moved to `#/x` of the record's line."""
    _, row, *path = fault.path
    return Fault(fault.detail, tuple(path), fault.hint, lines[int(row)][0])


def line_pieces(blocks: Iterable[Sequence[bytes]]) -> Iterator[bytes]:
    """The JSON of an answer on each line."""
    for answers in blocks:
        yield b"".join(answer + b"\n" for answer in answers)


def json_pieces(blocks: Iterable[Sequence[bytes]], about: bytes) -> Iterator[bytes]:
    """All answers in one JSON object: `about` with the additional key `predictions`."""
    yield about.removesuffix(b"}") + b',"predictions":['
    comma = b""
    for answers in blocks:
        yield comma + b",".join(answers)
        comma = b"," if answers or comma else b""
    yield b"]}"
