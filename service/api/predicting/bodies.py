"""Bodies of predictions: decoded quickly where they are usual, strictly where they are not.

msgspec decodes what most clients send. What it refuses, and what it might take though strict JSON does not, is judged
by `bodies.parse_json` and pydantic, which name every fault with its place: so there is one judge of bodies, and a quick
way past it.
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
# Larger whole numbers may be beyond float64, which strict JSON is not.
Cell = str | Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)] | float | bool | None
Step = Annotated[int, Meta(ge=0, le=2**63 - 1)] | str


class PredictionBody(msgspec.Struct, frozen=True):
    """What a client asks: either `records` or `columns`, and how to answer."""

    records: list[dict[str, Value]] | None
    columns: dict[str, list[Value]] | None
    missing: MissingPolicy | None
    step: int | str
    explain: bool
    ignore_unknown: bool
    fields: tuple[str, ...] | None
    voting: Voting | None = None


class _Sent(msgspec.Struct, forbid_unknown_fields=True):
    """A body as it stands, to see which keys were sent."""

    records: list[dict[str, Cell]] | UnsetType | None = UNSET
    columns: dict[str, list[Cell]] | UnsetType | None = UNSET
    missing: MissingPolicy | UnsetType | None = UNSET
    step: Step | UnsetType = UNSET
    explain: bool | UnsetType = UNSET
    ignore_unknown: bool | UnsetType = UNSET
    fields: list[PredictionField] | UnsetType | None = UNSET


_decode = msgspec.json.Decoder(_Sent).decode


def read_body(body: bytes) -> PredictionBody:
    """What a body asks for, or MalformedBody or InvalidBody with every fault in it."""
    return read_usual(body) or read_strictly(body)


def read_usual(body: bytes) -> PredictionBody | None:
    """What `read_strictly` makes of a body, where that is plain; None where it has to be asked."""
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
    """What `read_usual` makes of a body, and its records: read by compiled code, with nothing left of them in between.

    None where a decoder has to look: where records or columns are not found, or are not usual, or where what stands
    around them is not.
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
    # What was found may have been a key of something else.
    is_it = around is not None and (around.records == [] if begin["records"] else around.columns == {})
    return (around, records) if is_it and around is not None else None


def scan_table(loaded: Loaded, body: bytes) -> tuple[PredictionBody, EncodedRecords] | None:
    """`scan_body` by the model's own scanner, where there is compiled code for it."""
    with suppress(KernelNotCompiled):
        return scan_body(body, loaded.scanner)
    return None


def read_table(loaded: Loaded, body: bytes, *, kernels: bool) -> tuple[PredictionBody, EncodedRecords]:
    """What any body asks for and its records, or an error with all that is wrong with it."""
    scanned = scan_table(loaded, body) if kernels else None
    if scanned is not None:
        return scanned
    asked = read_body(body)
    return asked, encode(loaded, records=asked.records, columns=asked.columns, ignore_unknown=asked.ignore_unknown)


def read_strictly(body: bytes) -> PredictionBody:
    """What a body asks for, judged in full: MalformedBody or InvalidBody say what is wrong with it."""
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
    """Whether a key may stand twice in one object, of which the decoder keeps the last.

    Behind every key stands a colon. If all of them stand right behind a quote, and there are as many such places as
    keys were found, no key was lost.
    """
    return body.count(b'":') != n_keys or any(colon in body for colon in FAR_COLONS)
