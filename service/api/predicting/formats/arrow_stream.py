"""Arrow's IPC stream: record batches in, record batches out.

Numeric attributes accept columns of numbers; categorical ones text, dictionaries, truth values and numbers, as in JSON.
Null is missing, NaN is refused. What a stream says about itself is not trusted: its buffers are checked before the
offsets in them are followed, and the size that a small body can grow to is bounded.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, assert_never

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from core.arithmetic.arrays import BoolArray, RowArray
from core.records.columns import UNSEEN_CODE, RecordBlock, RecordColumn
from core.records.records import MOST_FAULTS, Wrong, encode_categories, encode_numbers
from core.tables.errors import Fault, RecordsDoNotFit, raise_any
from core.tables.schema import Attribute
from core.tables.suggestion import quoted
from core.tables.table import MISSING_CODE, Column
from service.api.codings import WrittenBytes
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
from service.api.predicting.formats.blocks import ROWS_PER_BLOCK, Wanted
from service.errors import MalformedBody

MEDIA_TYPE = "application/vnd.apache.arrow.stream"
FILE_MAGIC = b"ARROW1"
METADATA_KEY = b"niwaki"
MOST_SHORT = 128  # words whose codes fit into a byte
DICTIONARY_BATCH = 2  # the header type of such a message
NOT_A_STREAM = (pa.ArrowException, OSError, UnicodeDecodeError, struct.error, IndexError)
ROWS_PER_BYTE = 8  # a truth value takes a bit; only columns of nothing but nulls take less


def read_arrow_stream(body: bytes, wanted: Wanted) -> Iterator[RecordBlock]:
    """The records of a body; MalformedBody, or RecordsDoNotFit with the column and row of every fault."""
    try:
        check_messages(body)
        yield from _read(body, wanted)
    except NOT_A_STREAM as error:
        hint = "; this is Arrow's file format, a stream is wanted" if body.startswith(FILE_MAGIC) else ""
        raise MalformedBody(f"the body is not a whole Arrow IPC stream: {error}{hint}") from error


def check_messages(body: bytes) -> None:
    """Refuse what the reader would accept: compressed buffers, which may become any size, and bytes after the end."""
    source = pa.BufferReader(body)
    for message in pa.ipc.MessageReader.open_stream(source):
        if message.type in ("record batch", "dictionary") and _is_compressed(message.metadata.to_pybytes()):
            raise MalformedBody(
                "the stream's buffers are compressed; write it without compression, or compress the whole body and "
                "send Content-Encoding"
            )
    if source.tell() < len(body):
        raise MalformedBody(f"the Arrow stream ends at byte {source.tell()}, but the body goes on")


def _is_compressed(metadata: bytes) -> bool:
    """Whether a message's record batch has the field `compression`, which Arrow shows only in the flatbuffer itself.

    The fields of a message are version, header type, header, body length; of a record batch length, nodes, buffers,
    compression; of a dictionary batch id, record batch, whether it is a delta.
    """
    (root,) = struct.unpack_from("<I", metadata)
    message = _fields(metadata, root)
    header = _fields(metadata, _followed(metadata, message[2]))
    is_dictionary = metadata[message[1]] == DICTIONARY_BATCH
    batch = _fields(metadata, _followed(metadata, header[1])) if is_dictionary else header
    return len(batch) > 3 and batch[3] > 0


def _fields(flatbuffer: bytes, table: int) -> list[int]:
    """The positions of the fields of a flatbuffer's table; 0 for those left out."""
    vtable = table - struct.unpack_from("<i", flatbuffer, table)[0]
    (size,) = struct.unpack_from("<H", flatbuffer, vtable)
    offsets = struct.unpack_from(f"<{size // 2 - 2}H", flatbuffer, vtable + 4)
    return [table + offset if offset else 0 for offset in offsets]


def _followed(flatbuffer: bytes, position: int) -> int:
    return position + int(struct.unpack_from("<I", flatbuffer, position)[0])


def _read(body: bytes, wanted: Wanted) -> Iterator[RecordBlock]:
    reader = pa.ipc.open_stream(body)
    names = reader.schema.names
    repeated = (Fault("stands more than once", (name,)) for name in dict.fromkeys(names) if names.count(name) > 1)
    faults = [fault.below("columns") for fault in chain(repeated, wanted.unknown(names))]
    columns = [_ColumnReader(attribute) for attribute in wanted.attributes if names.count(attribute.name) == 1]
    n_rows = 0
    for batches in _groups(reader, most_rows=ROWS_PER_BYTE * len(body)):
        block, wrong = _block(batches, columns, n_rows)
        faults.extend(wrong)
        if len(faults) >= MOST_FAULTS:
            break
        n_rows += block.n_rows
        if not faults:
            yield block
    raise_any(RecordsDoNotFit, list(dict.fromkeys(faults))[:MOST_FAULTS])


def _block(
    batches: list[pa.RecordBatch], columns: list["_ColumnReader"], first_row: int
) -> tuple[RecordBlock, list[Fault]]:
    """Some batches as a block, and the faults in them; if there are any, the block has no meaning."""
    starts = np.cumsum([first_row, *(batch.num_rows for batch in batches)]).tolist()
    read: dict[str, RecordColumn] = {}
    faults: list[Fault] = []
    for column in columns:
        cells = []
        for batch, start in zip(batches, starts[:-1], strict=True):
            of_batch, wrong = column.read(batch.column(column.name))
            cells.append(of_batch)
            faults.extend(column.at(fault, start) for fault in wrong)
        read[column.name] = column.of_cells(cells[0] if len(cells) == 1 else np.concatenate(cells))
    return RecordBlock(starts[-1] - first_row, read), faults


def _groups(reader: pa.RecordBatchReader, most_rows: int) -> Iterator[list[pa.RecordBatch]]:
    """The batches of a stream, small ones together and large ones cut, for blocks of rows."""
    waiting: list[pa.RecordBatch] = []
    n_waiting = n_rows = 0
    for batch in reader:
        batch.validate()
        n_rows += batch.num_rows
        if n_rows > most_rows:
            raise MalformedBody("the Arrow stream says that it has more rows than its bytes can hold")
        for start in range(0, batch.num_rows, ROWS_PER_BLOCK):
            waiting.append(batch.slice(start, ROWS_PER_BLOCK))
            n_waiting += waiting[-1].num_rows
            if n_waiting >= ROWS_PER_BLOCK:
                yield waiting
                waiting, n_waiting = [], 0
    if waiting:
        yield waiting


class _ColumnReader:
    """Reads the arrays of one attribute. `Wrong` is that of `core.records.records`, with row -1 for a wrong type."""

    def __init__(self, attribute: Attribute) -> None:
        self.name, self._attribute = attribute.name, attribute
        self.of_cells: Any = RecordColumn.of_numbers if attribute.is_numeric else RecordColumn.of_codes
        self._dictionary: pa.Array[Any] | None = None
        self._meaning: Meaning = (np.empty(0), [])

    def at(self, wrong: Wrong, first_row: int) -> Fault:
        """The fault of something wrong, with its path as in JSON's columns."""
        row, detail, hint = wrong
        return Fault(detail, ("columns", self.name) if row < 0 else ("columns", self.name, first_row + row), hint)

    def read(self, array: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        """The cells of an array, UNSEEN_CODE for unseen categories; if anything is wrong, they have no meaning."""
        if array.null_count == len(array):
            return RecordColumn.of_nothing(self._attribute, len(array)).cells, []
        if not _takes(self._attribute, array.type):
            return self._of_another_type(array)
        if isinstance(array, pa.DictionaryArray):
            return self._by_value(array.dictionary, array.indices)
        if self._attribute.is_numeric:
            return self._numbers(array)
        if _is_text(array.type):
            return self._texts(array)
        array.validate(full=True)
        coded = array.dictionary_encode()
        return self._by_value(coded.dictionary, coded.indices)

    def _of_another_type(self, array: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        kinds = "numbers" if self._attribute.is_numeric else "text, truth values or numbers"
        detail = f"{array.type} is not a type of {kinds}, and {self.name} is {self._attribute.kind}"
        nothing = RecordColumn.of_nothing(self._attribute, len(array))
        return nothing.cells, [(-1, detail, f"cast the column to {kinds}")]

    def _numbers(self, array: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        array.validate(full=True)
        numbers = np.asarray(array.to_numpy(zero_copy_only=False), dtype=np.float64)
        is_wrong = ~np.isfinite(numbers)
        if not is_wrong.any():
            return numbers, []
        if array.null_count:
            is_wrong &= ~_is_null(array)
        detail, hint = "a number must be finite", "null stands for a missing one"
        return numbers, [(row, detail, hint) for row in np.flatnonzero(is_wrong)[:MOST_FAULTS].tolist()]

    def _texts(self, array: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        """Codes of text, which is compared with the categories in place; validated only if some cell is no category."""
        _require_rising_offsets(array)
        positions = pc.index_in(array, value_set=pa.array(self._attribute.categories, array.type))
        if not positions.null_count:
            return positions.to_numpy(), []
        array.validate(full=True)
        codes = positions.fill_null(UNSEEN_CODE).to_numpy().copy()
        if array.null_count:
            codes[_is_null(array)] = MISSING_CODE
        return codes, []

    def _by_value(self, values: "pa.Array[Any]", indices: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        """The cells of a dictionary's rows; each of its values is read once, and rows refer to values by index."""
        indices.validate(full=True)
        cells, wrong = self._meaning_of(values)
        positions = indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        if indices.null_count:
            positions[_is_null(indices)] = len(values)
        if len(positions) and not (positions.min() >= 0 and positions.max() <= len(values)):
            raise pa.ArrowInvalid(f"column {quoted(self.name)}: an index points outside its dictionary")
        rows = (
            (row, detail, hint)
            for position, detail, hint in wrong
            for row in np.flatnonzero(positions == position).tolist()
        )
        return cells[positions], sorted(islice(rows, MOST_FAULTS))

    def _meaning_of(self, values: "pa.Array[Any]") -> "Meaning":
        """The cell of each value, then a missing one, and the values that do not fit; cached for the next batch."""
        if self._dictionary is None or not _is_same(self._dictionary, values):
            cells, wrong = self._texts(values) if _is_text(values.type) else self._one_by_one(values)
            nothing = RecordColumn.of_nothing(self._attribute, 1).cells
            self._dictionary, self._meaning = values, (np.concatenate([cells, nothing]), wrong)
        return self._meaning

    def _one_by_one(self, values: "pa.Array[Any]") -> tuple[Column, list[Wrong]]:
        """The cells of values, which are read as if they came in JSON."""
        values.validate(full=True)
        said = values.to_pylist()
        if self._attribute.is_numeric:
            return encode_numbers(said, self._attribute)
        codes, wrong = encode_categories(said, self._attribute)
        codes[[value is not None for value in said] & (codes == MISSING_CODE)] = UNSEEN_CODE
        return codes, wrong


Meaning = tuple[Column, list[Wrong]]


def _takes(attribute: Attribute, type_: pa.DataType) -> bool:
    """Whether the attribute accepts values of an Arrow type."""
    inner = type_.value_type if isinstance(type_, pa.DictionaryType) else type_
    if pa.types.is_integer(inner) or pa.types.is_floating(inner) or pa.types.is_null(inner):
        return True
    others = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_boolean)
    return not attribute.is_numeric and any(is_of(inner) for is_of in others)


def _is_text(type_: pa.DataType) -> bool:
    """Whether the type is text that is stored contiguously, with offsets."""
    return pa.types.is_string(type_) or pa.types.is_large_string(type_)


def _require_rising_offsets(texts: "pa.Array[Any]") -> None:
    """Raise ArrowInvalid if an offset is smaller than the one before.

    Otherwise all offsets are within the data if the first and the last are.
    """
    kept = texts.buffers()[1]
    if kept is not None:
        dtype: type[np.signedinteger[Any]] = np.int32 if pa.types.is_string(texts.type) else np.int64
        used = np.frombuffer(memoryview(kept), dtype, count=texts.offset + len(texts) + 1)[texts.offset :]
        if (used[1:] < used[:-1]).any():
            raise pa.ArrowInvalid("offsets of text go back")


def _is_same(one: "pa.Array[Any]", other: "pa.Array[Any]") -> bool:
    """Whether two arrays are the same memory: a stream sends a dictionary once for many batches."""
    positions = [[None if b is None else (b.address, b.size) for b in array.buffers()] for array in (one, other)]
    return len(one) == len(other) and one.offset == other.offset and positions[0] == positions[1]


def _is_null(array: "pa.Array[Any]") -> BoolArray:
    return np.asarray(array.is_null().to_numpy(zero_copy_only=False), dtype=np.bool_)


def arrow_pieces(blocks: Iterable[Mapping[str, AnswerColumn]], about: bytes) -> Iterator[bytes]:
    """A stream with a record batch for each block of answers; `about` goes into its schema's metadata."""
    sink, writer = WrittenBytes(), None
    for columns in blocks:
        batch = pa.RecordBatch.from_pydict({name: array_of(column) for name, column in columns.items()})
        if writer is None:
            writer = pa.ipc.new_stream(pa.PythonFile(sink, "w"), batch.schema.with_metadata({METADATA_KEY: about}))
        else:
            yield sink.taken()
        writer.write_batch(batch)
    assert writer is not None
    writer.close()
    yield sink.taken()


def array_of(column: AnswerColumn) -> "pa.Array[Any]":
    """A column of answers as an array: words as a dictionary, the others as they are."""
    match column:
        case Words(positions, words):
            short: type[np.signedinteger[Any]] = np.int8 if len(words) <= MOST_SHORT else np.int32
            taken: pa.Array[Any] = pa.array(positions.astype(short), mask=positions < 0)
            return pa.DictionaryArray.from_arrays(taken, pa.array(words, pa.utf8()), safe=False)
        case Numbers(values) | Counts(values) | Flags(values):
            return pa.array(values)
        case Lists(starts, positions, words):
            return _list_array(starts, pa.array(words, pa.utf8()).take(positions))
        case Texts(texts):
            return pa.array(texts, pa.utf8())
        case Leaves(ends):
            parts: list[pa.Array[Any]] = [pa.array(ends.nodes.astype(np.int32)), pa.array(ends.weights)]
            return _list_array(ends.starts, pa.StructArray.from_arrays(parts, names=["leaf", "weight"]))
        case other:
            assert_never(other)


def _list_array(starts: RowArray, values: "pa.Array[Any]") -> "pa.Array[Any]":
    offsets: Any = pa.array(starts.astype(np.int32))
    return pa.ListArray.from_arrays(offsets, values)
