"""Reads JSON bodies of records or columns into tables with compiled kernels.

A scanner reads usual bodies: names and categories in one of the common JSON spellings, every value of its attribute's
type. It reports no errors. If it returns None, the body must go through a decoder and `records`.

Importing this module compiles nothing; scanning does, unless compiled code is cached on disk.
"""

import json
import math
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.compiler.raw_memory import END, address_of
from core.records.records import EncodedRecords, State, takes_booleans, takes_numbers
from core.records.vocabulary import Vocabulary, Word, Words
from core.tables.schema import Attribute, Schema
from core.tables.table import MISSING_CODE, Table

MOST_LEFT = 1_000  # numbers left for Python to parse; a body with more is not scanned
MOST_CELLS = 1 << 24  # cells that are allocated for a body before any of it is read

NAMES = 0
NUMBERS, TEXT, WHOLE_NUMBERS, TRUTH_VALUES = 1, 2, 4, 8

Scanned = tuple[EncodedRecords, int]  # the records, and where in the body they end


class Found(NamedTuple):
    """The arrays that a scan writes, as addresses, and their sizes.

    cells       `[attribute, row]`: numbers, or codes as integers
    states      `[row, attribute]`
    left        row, attribute, begin and end of each number that Python has to parse; their count is in the first line
    glue        the text before each value of the previous record, up to and including its name and colon: its begin,
                its length, and the attribute it named
    seen        the last row in which each name was found
    takes       by name, the types that its values may have; 0 if it is not used
    """

    cells: np.uint64
    states: np.uint64
    left: np.uint64
    glue: np.uint64
    seen: np.uint64
    takes: np.uint64
    n_rows: np.uint64
    n_attributes: np.uint64
    n_names: np.uint64
    most_left: np.uint64


Scan = Callable[[Words, Found, np.uint64], tuple[int, int]]


class RecordScanner:
    """Scans bodies for a model's attributes; `ignorable` names are columns that the model does not use."""

    def __init__(self, attributes: Schema, ignorable: Collection[str]) -> None:
        self._attributes = attributes
        names = [*attributes.names, *(name for name in ignorable if name not in attributes)]
        takes = [*map(taken_by, attributes), *[0] * (len(names) - len(attributes))]
        self._vocabulary = Vocabulary(spelled_words(attributes, names))
        self._takes = np.array(takes, dtype=np.uint8)

    def records(self, body: bytes, start: int) -> Scanned | None:
        """The list of records that begins at `start` of a UTF-8 body; None if the body is not usual."""
        from core.records.kernels.json_scan import scan_records  # imports Numba

        return self._scanned(scan_records, body, start, len(body), b"{")

    def columns(self, body: bytes, start: int) -> Scanned | None:
        """The object of columns that begins at `start` of a UTF-8 body; None if the body is not usual."""
        from core.records.kernels.json_scan import scan_columns  # imports Numba

        end = body.find(b"]", start)
        return self._scanned(scan_columns, body, start, len(body) if end < 0 else end, b",")

    def _scanned(self, scan: Scan, body: bytes, start: int, end: int, mark: bytes) -> Scanned | None:
        """The result of a scan; there is at most one row more than `mark` occurs between `start` and `end`."""
        from core.records.kernels.json_scan import count_bytes  # imports Numba

        if not _is_utf8(body):
            return None
        text = np.frombuffer(b"".join((END, body, END)), dtype=np.uint8)
        begin = address_of(text) + np.uint64(len(END))
        n_most = int(count_bytes(begin + np.uint64(start), begin + np.uint64(end), np.uint8(ord(mark)))) + 1
        n_attributes = len(self._attributes)
        if n_most * n_attributes > MOST_CELLS:
            return None
        cells = self._nothing(n_most)
        states = np.full((n_most, n_attributes), State.MISSING, dtype=np.uint8)
        left = np.zeros((MOST_LEFT + 1, 4), dtype=np.int64)
        glue, seen = np.zeros((len(self._takes), 3), dtype=np.int64), np.full(len(self._takes), -1)
        found = Found(
            cells=address_of(cells),
            states=address_of(states),
            left=address_of(left),
            glue=address_of(glue),
            seen=address_of(seen),
            takes=address_of(self._takes),
            n_rows=np.uint64(n_most),
            n_attributes=np.uint64(n_attributes),
            n_names=np.uint64(len(self._takes)),
            most_left=np.uint64(MOST_LEFT),
        )
        behind, n_rows = scan(self._vocabulary.words, found, begin + np.uint64(start))
        if behind == 0:
            return None
        for row, attribute, first, last in left[1 : left[0, 0] + 1].tolist():
            value = float(body[first - int(begin) : last - int(begin)])
            if not math.isfinite(value):
                return None
            cells[attribute, row], states[row, attribute] = value, State.KNOWN
        return self._encoded(cells[:, :n_rows], states[:n_rows]), int(behind) - int(begin)

    def _nothing(self, n_rows: int) -> FloatArray:
        """Cells in which every value is missing."""
        cells = np.empty((len(self._attributes), n_rows))
        for attribute, values in zip(self._attributes, cells, strict=True):
            if attribute.is_numeric:
                values[:] = np.nan
            else:
                values.view(np.int64)[:] = MISSING_CODE
        return cells

    def _encoded(self, cells: FloatArray, states: NDArray[np.uint8]) -> EncodedRecords:
        columns = (
            values if attribute.is_numeric else values.view(np.int64).astype(np.int32)
            for attribute, values in zip(self._attributes, cells, strict=True)
        )
        return EncodedRecords(Table(self._attributes, tuple(columns)), states if states.any() else None)


def spelled_words(attributes: Schema, names: Sequence[str]) -> Iterator[Word]:
    """Every spelling of the names, which begin with the attributes', and of their categories.

    Names are in vocabulary NAMES, the categories of attribute i in vocabulary i + 1.
    """
    for code, name in enumerate(names):
        yield from ((NAMES, code, text) for text in spellings(name))
    for number, attribute in enumerate(attributes):
        for code, name in enumerate(attribute.categories):
            yield from ((number + 1, code, text) for text in spellings(name))


def taken_by(attribute: Attribute) -> int:
    """The types that an attribute's values may have."""
    if attribute.is_numeric:
        return NUMBERS
    return TEXT | WHOLE_NUMBERS * takes_numbers(attribute) | TRUTH_VALUES * takes_booleans(attribute)


def spellings(name: str) -> Iterator[bytes]:
    """The common JSON spellings of a text, without the quotes: with all characters as they are, and in ASCII."""
    yield from dict.fromkeys(json.dumps(name, ensure_ascii=ascii)[1:-1].encode() for ascii in (False, True))


def _is_utf8(body: bytes) -> bool:
    try:
        return body.isascii() or bool(body.decode())
    except UnicodeDecodeError:
        return False
