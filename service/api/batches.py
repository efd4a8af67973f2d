"""Predictions in any format: what comes in by Content-Type, what goes out by Accept.

A body is read to its end before any of it is answered, so that all its faults are told together and nothing is half
answered. Then the answers go out block by block.
"""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, assert_never

import msgspec
import numpy as np
from anyio import to_thread
from fastapi import Request, Response
from starlette.datastructures import QueryParams
from starlette.responses import StreamingResponse

from core.records import EncodedRecords
from service.api.bodies import parse_json, require_media_type
from service.api.formats import arrow_stream, csv_table, json_lines
from service.api.formats.answer_columns import AnswerColumn, Texts, answer_columns
from service.api.formats.blocks import ROWS_PER_BLOCK, Wanted, checked
from service.api.formats.options import PredictionQuery, read_query, refuse_query
from service.api.metrics import Metrics
from service.api.negotiation import media_weights, preferred
from service.api.schemas.models import ModelStep, task_of
from service.api.schemas.predictions import PredictionRequest, predictions_of
from service.api.validation import validated
from service.errors import InvalidBody, InvalidParameter, NotAcceptable
from service.serving.loaded_models import LoadedModel
from service.usecases.predict import Answered, Order, Predicted, answer, order_of, paths_of

encode_json = msgspec.json.encode


class Format(StrEnum):
    """How records are sent and answers are given."""

    JSON = "application/json"
    JSON_LINES = json_lines.MEDIA_TYPE
    CSV = csv_table.MEDIA_TYPE
    ARROW = arrow_stream.MEDIA_TYPE


def body_format(request: Request) -> Format:
    """The format of the body, or UnsupportedMediaType."""
    return Format(require_media_type(request, *Format))


def answer_format(request: Request, own: Format) -> Format:
    """The format that the client would rather have, its own where it does not mind, or NotAcceptable."""
    accepted = ", ".join(request.headers.getlist("accept"))
    offered = [own, *(one for one in Format if one is not own)]
    best = preferred(offered, media_weights(accepted, offered))
    if best is None:
        raise NotAcceptable(f"none of {accepted} can be answered; this call answers with {', '.join(Format)}")
    return Format(best)


class _Reasons(msgspec.Struct):
    """The part of an answer that has no flat form: as JSON, also in tables."""

    paths: msgspec.Raw


read_reasons = msgspec.json.Decoder(_Reasons).decode


@dataclass(frozen=True)
class Batch:
    """Records in which nothing is wrong, in blocks, and how they are to be answered."""

    order: Order
    explain: bool
    blocks: Iterable[EncodedRecords]
    n_blocks: int
    n_records: int


def read_batch(loaded: LoadedModel, body: bytes, own: Format, query: QueryParams) -> Batch:
    """The whole of a body, or an error with all that is wrong in it."""
    if own is Format.JSON:
        refuse_query(query)
        return _from_json(loaded, validated(PredictionRequest, parse_json(body)))
    return _from_stream(loaded, body, own, read_query(query, has_tokens=own is Format.CSV))


def _from_json(loaded: LoadedModel, asked: PredictionRequest) -> Batch:
    order = order_of(loaded, step=asked.step, policy=asked.missing)
    encoded = asked.to_records().encoded(loaded.model, loaded.record.facts["unused_columns"])
    n_records = encoded.table.n_rows
    starts = range(0, n_records, ROWS_PER_BLOCK) or range(1)
    blocks = (encoded.take(np.arange(start, min(start + ROWS_PER_BLOCK, n_records))) for start in starts)
    return Batch(order, asked.explain, blocks, len(starts), n_records)


def _from_stream(loaded: LoadedModel, body: bytes, own: Format, asked: PredictionQuery) -> Batch:
    order = _order_in_query(loaded, asked)
    attributes = loaded.model.attributes
    wanted = Wanted(attributes, loaded.record.facts["unused_columns"], asked.ignore_unknown)
    match own:
        case Format.JSON_LINES:
            found = checked(partial(json_lines.read_json_lines, body, wanted))
        case Format.CSV:
            found = checked(partial(csv_table.read_csv_records, body, wanted, frozenset(asked.missing_tokens)))
        case _:
            found = checked(partial(arrow_stream.read_arrow_stream, body, wanted))
    blocks = (block.encoded(attributes) for block in found.blocks)
    return Batch(order, asked.explain, blocks, found.n_blocks, found.n_rows)


def _order_in_query(loaded: LoadedModel, asked: PredictionQuery) -> Order:
    try:
        return order_of(loaded, step=asked.step, policy=asked.missing)
    except InvalidBody as error:
        (fault,) = error.faults
        raise InvalidParameter(str(fault.path[0]), fault.detail, hint=fault.hint) from error


def written(loaded: LoadedModel, batch: Batch, shown: Format, *, kernels: bool) -> Iterator[bytes]:
    """The answers, piece by piece."""
    step = batch.order.step
    answered = (answer(loaded, batch.order, block, kernels=kernels) for block in batch.blocks)
    match shown:
        case Format.JSON:
            about = encode_json(about_answers(loaded, step))
            return json_lines.json_pieces((_objects(loaded, batch, one) for one in answered), about)
        case Format.JSON_LINES:
            return json_lines.line_pieces(_objects(loaded, batch, one) for one in answered)
        case Format.CSV:
            return csv_table.csv_pieces(_columns(loaded, batch, one) for one in answered)
        case Format.ARROW:
            about = encode_json(about_answers(loaded, step))
            return arrow_stream.arrow_pieces((_columns(loaded, batch, one) for one in answered), about)
        case other:
            assert_never(other)


def about_answers(loaded: LoadedModel, step: int) -> dict[str, Any]:
    """Which model answers, as of which step, and what it predicts: what JSON says beside the predictions."""
    return {"model": ModelStep.of(loaded, step).model_dump(), "task": str(task_of(loaded.model))}


def _objects(loaded: LoadedModel, batch: Batch, answered: Answered) -> list[bytes]:
    step = batch.order.step
    paths = None
    if batch.explain:
        paths = paths_of(loaded.view(step), answered.taken, answered.answers.ends, answered.policy)
    predicted = Predicted(step, answered.records, answered.answers, paths)
    return [one.model_dump_json().encode() for one in predictions_of(loaded, predicted).predictions]


def _columns(loaded: LoadedModel, batch: Batch, answered: Answered) -> dict[str, AnswerColumn]:
    columns = answer_columns(loaded.as_of(batch.order.step), answered.records, answered.answers)
    if batch.explain:
        columns["paths"] = Texts([bytes(read_reasons(one).paths).decode() for one in _objects(loaded, batch, answered)])
    return columns


async def answer_batch(
    request: Request, loaded: LoadedModel, own: Format, shown: Format, *, kernels: bool, metrics: Metrics
) -> Response:
    """Answer a body of any format in any other; what fits into one block goes out at once."""
    body = await request.body()
    started = time.perf_counter()
    batch, pieces = await to_thread.run_sync(_begun, loaded, body, own, shown, request.query_params, kernels)
    headers = {**headers_of(loaded, batch.order.step), "Vary": "Accept"}
    record = loaded.record
    observe = partial(metrics.observe_prediction, record.name, record.version, batch.n_records)
    if isinstance(pieces, bytes):
        observe(time.perf_counter() - started)
        return Response(pieces, headers=headers, media_type=shown)
    return StreamingResponse(_sent(pieces, observe, started), headers=headers, media_type=shown)


def _begun(
    loaded: LoadedModel, body: bytes, own: Format, shown: Format, query: QueryParams, kernels: bool
) -> tuple[Batch, bytes | Iterator[bytes]]:
    batch = read_batch(loaded, body, own, query)
    pieces = written(loaded, batch, shown, kernels=kernels)
    return batch, b"".join(pieces) if batch.n_blocks == 1 else pieces


async def _sent(pieces: Iterator[bytes], observe: Callable[[float], None], started: float) -> AsyncIterator[bytes]:
    while (piece := await to_thread.run_sync(next, pieces, None)) is not None:
        yield piece
    observe(time.perf_counter() - started)


def headers_of(loaded: LoadedModel, step: int) -> dict[str, str]:
    """Which model answers, for formats that have no other place to say it."""
    record = loaded.record
    return {
        "Niwaki-Model": record.id,
        "Niwaki-Version": str(record.version),
        "Niwaki-Step": str(step),
        "Niwaki-Digest": record.digest,
    }
