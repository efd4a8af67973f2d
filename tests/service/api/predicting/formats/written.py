"""Records as a client would write them, in each format."""

import csv
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

Records = Sequence[Mapping[str, Any]]


def as_lines(records: Records) -> bytes:
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def as_csv(records: Records, names: Sequence[str]) -> bytes:
    text = io.StringIO()
    rows = csv.writer(text, quoting=csv.QUOTE_ALL)
    rows.writerow(names)
    for record in records:
        rows.writerow(cell_text(record.get(name)) for name in names)
    return text.getvalue().encode()


def cell_text(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value) if isinstance(value, bool) else str(value)


def as_arrow(records: Records, types: Mapping[str, pa.DataType], *, rows_per_batch: int = 1_000_000) -> bytes:
    arrays = {name: column_of(records, name, type_) for name, type_ in types.items()}
    return stream_of(pa.table(arrays), rows_per_batch=rows_per_batch)


def column_of(records: Records, name: str, type_: pa.DataType) -> pa.Array:
    plain = type_.value_type if isinstance(type_, pa.DictionaryType) else type_
    values = pa.array([record.get(name) for record in records], plain)
    if plain is type_:
        return values
    return values.cast(type_) if pa.types.is_string(plain) else values.dictionary_encode()


def stream_of(table: pa.Table, *, rows_per_batch: int = 1_000_000, **options: Any) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows_per_batch)
    return sink.getvalue().to_pybytes()
