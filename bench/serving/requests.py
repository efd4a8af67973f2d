"""Requests as bytes, made once and sent many times."""

import json
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bench.serving.claims import MODEL, asked, columns_of, encoded, records_of

PREDICT, CONSTANT = f"/v1/models/{MODEL}/predict", f"/v1/models/{MODEL}/constant"
JSON, ARROW = "application/json", "application/vnd.apache.arrow.stream"


@dataclass(frozen=True)
class Request:
    """A POST of so many records."""

    path: str
    body: bytes
    n_records: int
    media_type: str = JSON

    def to(self, path: str) -> "Request":
        """The same body for another path."""
        return Request(path, self.body, self.n_records, self.media_type)

    @property
    def data(self) -> bytes:
        """What goes over the wire."""
        head = (
            f"POST {self.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {self.media_type}\r\n"
            f"Accept: {self.media_type}\r\nContent-Length: {len(self.body)}\r\n\r\n"
        )
        return head.encode() + self.body


def in_json(path: str, value: Any, n_records: int) -> Request:
    """A JSON body without blanks."""
    return Request(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(), n_records)


def records(n_records: int, *, path: str = PREDICT, **options: Any) -> Request:
    """JSON records."""
    return in_json(path, {"records": records_of(asked(n_records)), **options}, n_records)


def columns(n_records: int) -> Request:
    """The same records as JSON columns."""
    return in_json(PREDICT, {"columns": columns_of(asked(n_records))}, n_records)


def arrow(n_records: int) -> Request:
    """The same records as an Arrow stream."""
    table = pa.table(columns_of(asked(n_records)))
    stream = pa.BufferOutputStream()
    with pa.ipc.new_stream(stream, table.schema) as writer:
        writer.write_table(table)
    return Request(PREDICT, stream.getvalue().to_pybytes(), n_records, ARROW)


def open_inference(n_records: int) -> Request:
    """Encoded numbers by the Open Inference Protocol; label and probabilities are asked for, as ours answers."""
    numbers = encoded(asked(n_records))
    tensor = {"name": "records", "shape": list(numbers.shape), "datatype": "FP64", "data": numbers.ravel().tolist()}
    outputs = [{"name": "predict"}, {"name": "predict_proba"}]
    return in_json(f"/v2/models/{MODEL}/infer", {"inputs": [tensor], "outputs": outputs}, n_records)
