"""A fast path beside `arrow_stream`: one batch of complete records, read and answered by compiled code.

It reads what dataframes usually send, float64 for numbers and plain text for categories, in place in the body. For
anything else it gives up, and `arrow_stream` reads the body. Answers are those of leaves, written into a copy of an
earlier stream of as many rows: its bytes are the same as if it were written anew.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from core.arithmetic.arrays import RowArray
from core.compiler.raw_memory import address_of
from core.prediction.answers import answers_of_leaves
from core.prediction.predictor import FEW_RECORDS
from core.prediction.routing import MissingPolicy
from core.records.columns_in_memory import (
    NUMBER_BYTES,
    ColumnsInMemory,
    InMemory,
    NumbersInMemory,
    NumbersOfAttributes,
    TextsInMemory,
)
from core.records.records import EncodedRecords
from core.tables.table import Table
from service.api.predicting.formats.answer_columns import AnswerColumn, Flags, Lists, Numbers, Words, answer_columns
from service.api.predicting.formats.arrow_stream import NOT_A_STREAM, array_of, arrow_pieces, check_messages
from service.api.predicting.formats.blocks import ROWS_PER_BLOCK
from service.api.predicting.tree_json import PredictionWriter
from service.api.schemas.predictions import PredictionField as Part
from service.serving.loaded_models import LoadedModel
from service.usecases.predictions.predict import Answered, Order

# The parts that are one number or word for each leaf, or the same for every complete record.
FLAT = frozenset(Part) - {Part.EXPLANATION, Part.LEAVES, Part.PATHS}
MARGIN = 8  # bytes before and after a text that compiled code may read

Read = tuple[NumbersOfAttributes, pa.RecordBatch]  # the records, and what keeps their memory alive
Positions = list[int]  # the index in a batch of each attribute's column


class QuickReader:
    """Reads streams for one model."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._attributes = loaded.model.attributes
        self._columns = ColumnsInMemory(self._attributes)
        self._last: tuple[pa.Schema, Positions | None] | None = None

    def read(self, body: bytes) -> Read | None:
        """The records of a body; None if it is not usual, or not complete."""
        try:
            return self._read(body)
        except NOT_A_STREAM:
            return None

    def _read(self, body: bytes) -> Read | None:
        check_messages(body)
        reader = pa.ipc.open_stream(body)
        positions = self._positions(reader.schema)
        batch = None if positions is None else next(iter(reader), None)
        if batch is None or positions is None or not FEW_RECORDS < batch.num_rows <= ROWS_PER_BLOCK:
            return None
        if next(iter(reader), None) is not None:
            return None
        batch.validate()
        begin = int(address_of(np.frombuffer(body, dtype=np.uint8)))
        columns = [
            in_memory(batch.column(position), begin + MARGIN, begin + len(body) - MARGIN) for position in positions
        ]
        known = [column for column in columns if column is not None]
        numbers = self._columns.as_numbers(known, batch.num_rows) if len(known) == len(columns) else None
        return None if numbers is None else (numbers, batch)

    def _positions(self, schema: pa.Schema) -> Positions | None:
        """The indices of the attributes' columns; None if there are others, or unusual types. Cached by schema."""
        last = self._last
        if last is None or not last[0].equals(schema):
            self._last = last = schema, self._found(schema)
        return last[1]

    def _found(self, schema: pa.Schema) -> Positions | None:
        names = schema.names
        if sorted(names) != sorted(self._attributes.names):
            return None
        positions = [names.index(attribute.name) for attribute in self._attributes]
        usual = [pa.float64() if attribute.is_numeric else pa.utf8() for attribute in self._attributes]
        return positions if [schema.types[position] for position in positions] == usual else None


def in_memory(array: "pa.Array[Any]", begin: int, end: int) -> InMemory | None:
    """A column of float64 or text without nulls, the text between two addresses; None if it is anything else."""
    _, first, *others = array.buffers()
    text = others[0] if others else None
    if array.null_count or first is None:
        return None
    if not others:
        address = first.address + NUMBER_BYTES * array.offset
        return NumbersInMemory(address) if address % NUMBER_BYTES == 0 else None
    if text is None or not begin <= text.address <= end - text.size:
        return None
    return TextsInMemory(first.address + 4 * array.offset, text.address, text.size)


class QuickWriter:
    """Writes the answers of one step to records that reach one leaf each, with the options of `PredictionWriter`."""

    def __init__(self, loaded: LoadedModel, step: int, fields: tuple[str, ...] | None, explain: bool) -> None:
        writer = loaded.once(PredictionWriter, step, fields, explain)
        self._about = writer.about
        self._columns: dict[str, AnswerColumn] | None = None
        if all(part in FLAT for part in writer.told):
            of_nodes = answer_columns(loaded, step, _of_nodes(loaded, step), writer.told)
            flags = [column.values for column in of_nodes.values() if isinstance(column, Flags)]
            if all(values[loaded.view(step).leaves].all() for values in flags):
                self._columns = of_nodes
        self._last: _WrittenStream | None = None

    def stream(self, leaves: RowArray) -> memoryview | None:
        """The stream of the leaves' answers; None if these have more than numbers and words."""
        if self._columns is None:
            return None
        last = self._last
        if last is None or last.n_rows != len(leaves):
            self._last = last = _WrittenStream(self._columns, self._about, leaves)
        return last.of(leaves)


def _of_nodes(loaded: LoadedModel, step: int) -> Answered:
    """What each node would answer as a leaf to a complete record, whose values do not matter."""
    tree, attributes = loaded.view(step).tree, loaded.model.attributes
    nothing = tuple(np.broadcast_to(np.float64(0.0), len(tree)) for _ in attributes)
    records = EncodedRecords(Table(attributes, nothing), None)
    answers = answers_of_leaves(tree, np.arange(len(tree)))
    return Answered(records, answers, records, MissingPolicy.WEIGHTED)


class _WrittenStream:
    """A stream of `n_rows` answers, and the positions in it of what differs between leaves."""

    def __init__(self, of_nodes: Mapping[str, AnswerColumn], about: bytes, leaves: RowArray) -> None:
        self.n_rows = len(leaves)
        taken = {name: _taken(column, leaves) for name, column in of_nodes.items()}
        self._bytes = np.frombuffer(b"".join(arrow_pieces([taken], about)), dtype=np.uint8)
        self._gathered: list[tuple[int, NDArray[Any]]] = []
        batch = pa.ipc.open_stream(pa.py_buffer(self._bytes.data)).read_next_batch()
        for column, array in zip(of_nodes.values(), batch.columns, strict=True):
            values = _gathered(column)
            if values is not None:
                data = (array.indices if isinstance(array, pa.DictionaryArray) else array).buffers()[1]
                assert data is not None
                self._gathered.append((data.address - int(address_of(self._bytes)), values))

    def of(self, leaves: RowArray) -> memoryview:
        """The stream of these leaves' answers."""
        written = self._bytes.copy()
        for start, values in self._gathered:
            goal = written[start : start + self.n_rows * values.itemsize].view(values.dtype)
            np.take(values, leaves, out=goal, mode="clip")
        return written.data


def _taken(column: AnswerColumn, leaves: RowArray) -> AnswerColumn:
    """The leaves' answers of a column, given those of all nodes; only for the kinds of columns of `FLAT` parts."""
    match column:
        case Words(positions, words):
            return Words(positions[leaves], words)
        case Numbers(values):
            return Numbers(values[leaves])
        case Flags():
            return Flags(np.ones(len(leaves), dtype=np.bool_))
        case Lists(starts, positions, words):
            return Lists(np.zeros(len(leaves) + 1, dtype=starts.dtype), positions, words)
        case _:
            raise AssertionError(f"{type(column).__name__} is not flat")


def _gathered(column: AnswerColumn) -> NDArray[Any] | None:
    """All nodes' answers of a column, in the type that the stream stores; None if all are the same."""
    match column:
        case Words(_, words) if len(words) > 1:
            array = array_of(column)
            assert isinstance(array, pa.DictionaryArray)
            return np.asarray(array.indices.to_numpy())
        case Numbers(values):
            return np.ascontiguousarray(values)
        case _:
            return None


def answered_quickly(
    loaded: LoadedModel, body: bytes, order: Order, fields: tuple[str, ...] | None, explain: bool
) -> tuple[memoryview, int] | None:
    """The stream that answers a usual body, and the number of records; None if other code has to read the body."""
    read = loaded.once(QuickReader).read(body)
    if read is None or len(loaded.view(order.step).tree) > read[0].n_rows:
        return None
    leaves = loaded.answering(order.step).predictor.leaves_of_numbers(read[0])
    stream = None if leaves is None else loaded.once(QuickWriter, order.step, fields, explain).stream(leaves)
    return None if stream is None else (stream, read[0].n_rows)
