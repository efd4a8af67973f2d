"""Predictions in any format: Content-Type says that of the body, Accept that of the answer.

A body is read to its end before any of it is answered, so that all its faults are reported together and no body is
answered in part. Then the answers are sent block by block.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

import numpy as np
from anyio import to_thread
from fastapi import Request, Response
from starlette.datastructures import QueryParams
from starlette.responses import StreamingResponse
from starlette.types import Scope

from core.compiler.permission import KernelNotCompiled
from core.records.json_scan import RecordScanner
from core.records.records import EncodedRecords
from core.tables.errors import Fault
from service.api.bodies import media_type, require_media_type
from service.api.negotiation import media_weights, preferred
from service.api.predicting.bodies import PredictionBody, read_table
from service.api.predicting.formats import arrow_stream, csv_table, json_lines
from service.api.predicting.formats.answer_columns import answer_columns
from service.api.predicting.formats.arrow_quick import answered_quickly
from service.api.predicting.formats.blocks import ROWS_PER_BLOCK, Wanted, checked
from service.api.predicting.formats.options import PredictionQuery, read_query, refuse_query
from service.api.predicting.many_trees_json import writer_for
from service.api.predicting.tree_json import PredictionWriter, parts_asked_for
from service.api.schemas.models import task_of
from service.errors import InvalidBody, InvalidParameter, NotAcceptable
from service.kernel_cache import compiled_code_is_ready
from service.serving.loaded_models import Loaded, LoadedForest, LoadedIsolation, LoadedModel
from service.usecases.predictions.predict import Order, answer, predict_table
from service.usecases.predictions.predict_forest import is_soon_answered
from service.usecases.predictions.predict_many import AnyOrder, answer_by_many, order_for


class Format(StrEnum):
    """The media types of bodies and answers."""

    JSON = "application/json"
    JSON_LINES = json_lines.MEDIA_TYPE
    CSV = csv_table.MEDIA_TYPE
    ARROW = arrow_stream.MEDIA_TYPE


PLAINLY = {(b"content-type", own.encode()): own for own in Format}
OFFERED = {own: (own, *(one for one in Format if one is not own)) for own in Format}
VARIES = {"Vary": "Accept"}

DEFAULTS = PredictionQuery()
FEW_BYTES = 4 * 1024  # of a body that a forest may answer in the event loop
HERE_BYTES = 1024 * 1024  # of a body that compiled code answers in a millisecond; a thread would add a fifth to that


def formats_of(request: Request, body: bytes) -> tuple[Format, Format]:
    """The format of a body, and the format of its answer."""
    plain = plain_format(request.scope)
    if plain is not None:
        return plain, plain
    own = body_format(request, body)
    if own is Format.JSON:
        refuse_query(request.query_params)
    return own, answer_format(request, own)


def plain_format(scope: Scope) -> Format | None:
    """The format of both body and answer, if they are plainly the same and there is no query; else None.

    A quick check, which is enough for most requests.
    """
    headers, wanted = scope["headers"], b""
    if scope["query_string"]:
        return None
    for header in headers:
        if header in PLAINLY:
            wanted = header[1]
            break
    is_taken = all(value in (b"*/*", wanted) for name, value in headers if name == b"accept")
    return PLAINLY[b"content-type", wanted] if wanted and is_taken else None


def body_format(request: Request, body: bytes) -> Format:
    """The format of the body, or UnsupportedMediaType; an empty body is JSON unless it has one of the formats."""
    if not body and media_type(request) not in tuple(Format):
        return Format.JSON
    return Format(require_media_type(request, *Format))


def answer_format(request: Request, own: Format) -> Format:
    """The format that the client prefers, that of the body on a tie, or NotAcceptable."""
    accepted = ", ".join(request.headers.getlist("accept"))
    best = preferred(OFFERED[own], media_weights(accepted, OFFERED[own]))
    if best is None:
        raise NotAcceptable(f"none of {accepted} can be answered; this call answers with {', '.join(Format)}")
    return Format(best)


@dataclass(frozen=True)
class Batch:
    """Records without faults, in blocks, and how to answer them."""

    order: AnyOrder
    fields: tuple[str, ...] | None
    explain: bool
    blocks: Iterable[EncodedRecords]
    n_blocks: int
    n_records: int


Begun = tuple[Batch, bytes | Iterator[bytes]]  # with all answers, or one block after the other


def read_batch(loaded: Loaded, body: bytes, own: Format, query: QueryParams, *, kernels: bool) -> Batch:
    """A whole body, or an error with all its faults."""
    if own is Format.JSON:
        return _from_json(loaded, *read_table(loaded, body, kernels=kernels))
    return _from_stream(loaded, body, own, read_query(query, has_tokens=own is Format.CSV), kernels=kernels)


def _from_json(loaded: Loaded, asked: PredictionBody, records: EncodedRecords) -> Batch:
    order = order_for(loaded, step=asked.step, policy=asked.missing, voting=asked.voting)
    n_records = records.table.n_rows
    starts = range(0, n_records, ROWS_PER_BLOCK) or range(1)
    blocks = (records.take(np.arange(start, min(start + ROWS_PER_BLOCK, n_records))) for start in starts)
    return Batch(order, asked.fields, asked.explain, blocks, len(starts), n_records)


def _from_stream(loaded: Loaded, body: bytes, own: Format, asked: PredictionQuery, *, kernels: bool) -> Batch:
    order = _order_in_query(loaded, asked)
    attributes = loaded.model.attributes
    wanted = Wanted(attributes, loaded.record.facts["unused_columns"], asked.ignore_unknown)
    match own:
        case Format.JSON_LINES:
            found = checked(partial(json_lines.read_json_lines, body, wanted, _scanner_of(loaded, kernels=kernels)))
        case Format.CSV:
            found = checked(partial(csv_table.read_csv_records, body, wanted, frozenset(asked.missing_tokens)))
        case _:
            found = checked(partial(arrow_stream.read_arrow_stream, body, wanted))
    blocks = (block.encoded(attributes) for block in found.blocks)
    return Batch(order, asked.fields, asked.explain, blocks, found.n_blocks, found.n_rows)


def _scanner_of(loaded: Loaded, *, kernels: bool) -> RecordScanner | None:
    with suppress(KernelNotCompiled):
        return loaded.scanner if kernels else None
    return None


def _order_in_query(loaded: Loaded, asked: PredictionQuery) -> AnyOrder:
    try:
        if isinstance(loaded, LoadedModel):
            parts_asked_for(task_of(loaded.model), asked.fields, asked.explain)
        else:
            writer_for(loaded, asked.fields, asked.explain)
        return order_for(loaded, step=asked.step, policy=asked.missing, voting=asked.core_voting())
    except InvalidBody as error:
        fault = error.faults[0]
        inside = [Fault(fault.detail, fault.path[1:], fault.hint)] if fault.path[0] == "voting" else []
        raise InvalidParameter(str(fault.path[0]), fault.detail, hint=fault.hint, faults=inside) from error


def written(loaded: Loaded, batch: Batch, shown: Format, *, kernels: bool) -> Iterator[bytes]:
    """The answers in the format `shown`, piece by piece."""
    if not isinstance(loaded, LoadedModel):
        return _written_by_many(loaded, batch, shown, kernels=kernels)
    order, blocks = batch.order, batch.blocks
    assert isinstance(order, Order)
    writer = loaded.once(PredictionWriter, order.step, batch.fields, batch.explain)
    if shown in (Format.JSON, Format.JSON_LINES):
        predicted = (predict_table(loaded, order, block, kernels=kernels) for block in blocks)
        objects = (writer.predictions(one) for one in predicted)
        if shown is Format.JSON:
            return json_lines.json_pieces(objects, writer.about)
        return json_lines.line_pieces(objects)
    answered = (answer(loaded, order, block, kernels=kernels) for block in blocks)
    columns = (answer_columns(loaded, order.step, one, writer.told) for one in answered)
    return csv_table.csv_pieces(columns) if shown is Format.CSV else arrow_stream.arrow_pieces(columns, writer.about)


def _written_by_many(
    loaded: LoadedForest | LoadedIsolation, batch: Batch, shown: Format, *, kernels: bool
) -> Iterator[bytes]:
    writer = loaded.once(writer_for, batch.fields, batch.explain)
    answered = (answer_by_many(loaded, batch.order, block, kernels=kernels) for block in batch.blocks)
    match shown:
        case Format.JSON:
            return json_lines.json_pieces(map(writer.predictions, answered), writer.about)
        case Format.JSON_LINES:
            return json_lines.line_pieces(map(writer.predictions, answered))
        case Format.CSV:
            return csv_table.csv_pieces(map(writer.columns, answered))
        case Format.ARROW:
            return arrow_stream.arrow_pieces(map(writer.columns, answered), writer.about)


async def answer_batch(request: Request, body: bytes, loaded: Loaded, own: Format, shown: Format) -> Response:
    """Answer a body of any format in any format; what fits into one block is sent at once, more is streamed."""
    app, started = request.app.state, time.perf_counter()
    kernels = compiled_code_is_ready(app.settings)
    if own is shown is Format.ARROW and kernels and isinstance(loaded, LoadedModel):
        quick = await _answered_quickly(loaded, body, request.query_params)
        if quick is not None:
            content, n_records, step = quick
            record = loaded.record
            app.metrics.observe_prediction(record.name, record.version, n_records, time.perf_counter() - started)
            return Response(content, headers={**VARIES, **headers_of(loaded, step)}, media_type=shown)
    begun = _answered_here(loaded, body, own, shown) if kernels else None
    if begun is None:
        begun = await to_thread.run_sync(_begun, loaded, body, own, shown, request.query_params, kernels)
    batch, pieces = begun
    step = batch.order.step if isinstance(batch.order, Order) else 0
    headers = {**VARIES, **headers_of(loaded, step)}
    record = loaded.record
    observe = partial(app.metrics.observe_prediction, record.name, record.version, batch.n_records)
    if isinstance(pieces, bytes):
        observe(time.perf_counter() - started)
        return Response(pieces, headers=headers, media_type=shown)
    return StreamingResponse(_sent(pieces, observe, started), headers=headers, media_type=shown)


async def _answered_quickly(loaded: LoadedModel, body: bytes, query: QueryParams) -> tuple[memoryview, int, int] | None:
    """The answer to a usual Arrow stream, the number of records, and the step; None if other code has to read it."""
    asked = read_query(query, has_tokens=False) if query else DEFAULTS
    order = _order_in_query(loaded, asked)
    assert isinstance(order, Order)
    answer = partial(answered_quickly, loaded, body, order, asked.fields, asked.explain)
    with suppress(KernelNotCompiled):
        found = answer() if len(body) <= HERE_BYTES else await to_thread.run_sync(answer)
        return None if found is None else (*found, order.step)
    return None


def _answered_here(loaded: Loaded, body: bytes, own: Format, shown: Format) -> Begun | None:
    """The answers of a forest to few records, in the event loop; None if other requests would have to wait."""
    if {own, shown} != {Format.JSON} or not isinstance(loaded, LoadedForest) or len(body) > FEW_BYTES:
        return None
    asked, records = read_table(loaded, body, kernels=True)
    writer = loaded.once(writer_for, asked.fields, asked.explain)
    if writer.explains or not is_soon_answered(loaded, records):
        return None
    batch = _from_json(loaded, asked, records)
    return batch, b"".join(written(loaded, batch, shown, kernels=True))


def _begun(loaded: Loaded, body: bytes, own: Format, shown: Format, query: QueryParams, kernels: bool) -> Begun:
    if kernels and isinstance(loaded, LoadedForest) and len(body) <= FEW_BYTES:
        loaded.predictor.prepare()
    batch = read_batch(loaded, body, own, query, kernels=kernels)
    pieces = written(loaded, batch, shown, kernels=kernels)
    return batch, b"".join(pieces) if batch.n_blocks == 1 else pieces


async def _sent(pieces: Iterator[bytes], observe: Callable[[float], None], started: float) -> AsyncIterator[bytes]:
    while (piece := await to_thread.run_sync(next, pieces, None)) is not None:
        yield piece
    observe(time.perf_counter() - started)


def headers_of(loaded: Loaded, step: int) -> dict[str, str]:
    """Headers that name the model that answers, for formats that do not contain it."""
    record = loaded.record
    return {
        "Niwaki-Model": record.id,
        "Niwaki-Version": str(record.version),
        "Niwaki-Step": str(step),
        "Niwaki-Digest": record.digest,
    }
