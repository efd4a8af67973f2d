"""Bodies of predictions: usual ones are decoded quickly, all others strictly.

msgspec decodes what most clients send. What it refuses, and what it might accept though strict JSON does not, is left
to `bodies.parse_json` and pydantic, which report every fault with its place. So only they decide what is valid, and
msgspec is a fast path for bodies that certainly are.
"""

import re
from contextlib import suppress
from typing import Annotated, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import astuple

from core.compiler.permission import KernelNotCompiled
from core.ensembles.voting import Voting
from core.prediction.routing import MissingPolicy
from core.records.json_scan import RecordScanner
from core.records.records import EncodedRecords, Value
from core.tables.errors import Fault
from service.api.bodies import parse_json
from service.api.schemas.configuring.voting import core_voting
from service.api.schemas.predictions import PredictionField, PredictionRequest
from service.api.validation import validated
from service.errors import InvalidBody
from service.serving.loaded_models import Loaded
from service.usecases.predictions.predict import encode

NUL = rb"\u0000"  # which no database stores
TABLE = re.compile(rb'"(?:(?P<records>records)"\s*:\s*\[|columns"\s*:\s*\{)')
FAR_COLONS = (b" :", b"\t:", b"\n:", b"\r:")
EMPTY = "the body is empty, but this call needs one"

Given = TypeVar("Given")
# Larger whole numbers may be beyond float64, which strict JSON does not allow.
Cell = str | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | float | bool | None
Step = Annotated[int, Meta(ge=0, le=2**63 - 1)] | str


class PredictionBody(msgspec.Struct, frozen=True):
    """A request: either `records` or `columns`, and how to answer them."""

    records: list[dict[str, Value]] | None
    columns: dict[str, list[Value]] | None
    missing: MissingPolicy | None
    step: int | str
    explain: bool
    ignore_unknown: bool
    fields: tuple[str, ...] | None
    voting: Voting | None = None


class _Sent(msgspec.Struct, forbid_unknown_fields=True):
    """A body as it was sent; UNSET for keys that were not."""

    records: list[dict[str, Cell]] | UnsetType | None = UNSET
    columns: dict[str, list[Cell]] | UnsetType | None = UNSET
    missing: MissingPolicy | UnsetType | None = UNSET
    step: Step | UnsetType = UNSET
    explain: bool | UnsetType = UNSET
    ignore_unknown: bool | UnsetType = UNSET
    fields: list[PredictionField] | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_Sent).decode


def read_body(body: bytes) -> PredictionBody:
    """The request in a body, or MalformedBody or InvalidBody with every fault in it."""
    return read_usual(body) or read_strictly(body)


def read_usual(body: bytes) -> PredictionBody | None:
    """The result of `read_strictly`, for a usual body; None for one that `read_strictly` has to judge."""
    try:
        sent = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    asked = PredictionBody(
        records=_or(sent.records, None),
        columns=_or(sent.columns, None),
        missing=_or(sent.missing, None),
        step="selected" if sent.step is UNSET else sent.step,
        explain=_or(sent.explain, False),
        ignore_unknown=_or(sent.ignore_unknown, False),
        fields=tuple(sent.fields) if sent.fields else None,
    )
    n_keys = (
        sum(value is not UNSET for value in astuple(sent))
        + sum(map(len, asked.records or ()))
        + len(asked.columns or ())
    )
    is_usual = (
        (asked.records is None) is not (asked.columns is None)
        and sent.fields != []
        and not _may_repeat_keys(body, n_keys)
        and NUL not in body
    )
    return asked if is_usual else None


def scan_body(body: bytes, scanner: RecordScanner) -> tuple[PredictionBody, EncodedRecords] | None:
    """The result of `read_usual` with the records or columns left empty, and the records, read by compiled code.

    None if a decoder has to read the body: if the records or columns are not found or not usual, or the rest of the
    body is not usual.
    """
    begin = TABLE.search(body)
    if begin is None:
        return None
    start, scan = begin.end() - 1, scanner.records if begin["records"] else scanner.columns
    scanned = scan(body, start)
    if scanned is None:
        return None
    records, end = scanned
    nothing = b"[]" if begin["records"] else b"{}"
    around = read_usual(body[:start] + nothing + body[end:])
    # The key that was found may have belonged to something else.
    is_it = around is not None and (around.records == [] if begin["records"] else around.columns == {})
    return (around, records) if is_it and around is not None else None


def scan_table(loaded: Loaded, body: bytes) -> tuple[PredictionBody, EncodedRecords] | None:
    """`scan_body` by the model's own scanner; None if there is no compiled code for it."""
    with suppress(KernelNotCompiled):
        return scan_body(body, loaded.scanner)
    return None


def read_table(loaded: Loaded, body: bytes, *, kernels: bool) -> tuple[PredictionBody, EncodedRecords]:
    """The request in any body and its records, or an error with all its faults."""
    scanned = scan_table(loaded, body) if kernels else None
    if scanned is not None:
        return scanned
    asked = read_body(body)
    return asked, encode(loaded, records=asked.records, columns=asked.columns, ignore_unknown=asked.ignore_unknown)


def read_strictly(body: bytes) -> PredictionBody:
    """The request in a body, which is fully validated: MalformedBody or InvalidBody have its faults."""
    if not body:
        raise InvalidBody(EMPTY, Fault(EMPTY))
    request: PredictionRequest = validated(PredictionRequest, parse_json(body))
    return PredictionBody(
        records=request.records,
        columns=request.columns,
        missing=request.missing,
        step=request.step,
        explain=request.explain,
        ignore_unknown=request.ignore_unknown,
        fields=None if request.fields is None else tuple(request.fields),
        voting=None if request.voting is None else core_voting(request.voting),
    )


def _or(value: Given | UnsetType, default: Given) -> Given:
    return default if value is UNSET else value


def _may_repeat_keys(body: bytes, n_keys: int) -> bool:
    """Whether an object may have a repeated key, of which the decoder keeps the last only.

    A colon follows every key. If all colons directly follow a quote, and there are as many such positions as keys were
    decoded, no key was lost.
    """
    return body.count(b'":') != n_keys or any(colon in body for colon in FAR_COLONS)
