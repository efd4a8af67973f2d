"""Requests as bytes, made once and sent many times."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import cycle
from typing import Any

import pyarrow as pa

from bench.serving.claims import MODEL, batches, columns_of, encoded, records_of
from bench.tables import Data

PREDICT, CONSTANT = f"/v1/models/{MODEL}/predict", f"/v1/models/{MODEL}/constant"
JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"
OUTPUTS = [{"name": "predict"}, {"name": "predict_proba"}]


@dataclass(frozen=True)
class Requests:
    """POSTs of so many records each, sent in turn."""

    path: str
    bodies: tuple[bytes, ...]
    n_records: int
    media_type: str = JSON

    def to(self, path: str) -> "Requests":
        """The same bodies for another path."""
        return replace(self, path=path)

    @cached_property
    def data(self) -> Iterator[bytes]:
        """What goes over the wire, again and again."""
        return cycle([self._head(body) + body for body in self.bodies])

    def _head(self, body: bytes) -> bytes:
        return (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {self.media_type}\r\n"
            f"Accept: {self.media_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        ).encode()


def records(n_records: int, *, path: str = PREDICT, **options: Any) -> Requests:
    """JSON records."""
    bodies = [in_json({"records": records_of(batch), **options}) for batch in batches(n_records)]
    return Requests(path, tuple(bodies), n_records)


def columns(n_records: int) -> Requests:
    """The same records as JSON columns."""
    bodies = [in_json({"columns": columns_of(batch)}) for batch in batches(n_records)]
    return Requests(PREDICT, tuple(bodies), n_records)


def arrow(n_records: int) -> Requests:
    """The same records as Arrow streams."""
    return Requests(PREDICT, tuple(map(in_arrow, batches(n_records))), n_records, ARROW)


def open_inference(n_records: int) -> Requests:
    """Encoded numbers by the Open Inference Protocol; label and probabilities are asked for, as ours answers."""
    bodies = [in_json({"inputs": [tensor(batch)], "outputs": OUTPUTS}) for batch in batches(n_records)]
    return Requests(f"/v2/models/{MODEL}/infer", tuple(bodies), n_records)


def in_json(value: Any) -> bytes:
    """JSON without blanks."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def in_arrow(data: Data) -> bytes:
    """An Arrow stream of one batch."""
    table = pa.table(columns_of(data))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return stream.getvalue().to_pybytes()


def tensor(data: Data) -> dict[str, Any]:
    """Records as one flat list of numbers."""
    numbers = encoded(data)
    return {"name": "records", "shape": list(numbers.shape), "datatype": "FP64", "data": numbers.ravel().tolist()}
