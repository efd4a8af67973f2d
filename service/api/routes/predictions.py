"""Predictions: records in, answers and reasons out."""

import time
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response
from starlette.routing import Match, Route
from starlette.types import Scope

from core.records.reader import ReadRecord
from core.records.records import EncodedRecords
from core.tables.errors import RecordsDoNotFit
from service.api.bodies import INLINE_BYTES, StrictRoute, refuse_nul
from service.api.openapi import answers_with, schema_named
from service.api.predicting.batches import VARIES, Format, answer_batch, formats_of
from service.api.predicting.bodies import PredictionBody, read_table, read_usual, scan_table
from service.api.predicting.formats.options import query_parameters
from service.api.predicting.tree_json import PredictionWriter
from service.api.problems import documented
from service.api.routes.models import MODEL_REF, MODEL_REFS
from service.api.schemas.predictions import (
    ArrowStream,
    PredictionLines,
    PredictionRequest,
    Predictions,
    PredictionTable,
    RecordLines,
    RecordTable,
)
from service.errors import ModelNotFound, ModelNotReady, NotAcceptable, StepNotFound
from service.kernel_cache import compiled_code_is_ready
from service.serving.loaded_models import Loaded, LoadedModel
from service.usecases.predictions.predict import Order, Predicted, order_of, predict_few, predict_table

INLINE_WORK = 10_000  # incomplete records times nodes; more is answered in a thread, so that no request waits
FEW_BYTES = 4 * 1024  # of a body that plain Python reads faster than NumPy and compiled code do

# For `openapi_extra`: what the route reads by itself, since FastAPI takes longer to read it than most predictions take.
DOCUMENTED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            Format.JSON: schema_named(PredictionRequest),
            Format.JSON_LINES: schema_named(RecordLines),
            Format.CSV: schema_named(RecordTable),
            Format.ARROW: schema_named(ArrowStream),
        },
    },
    "parameters": [
        {
            "name": "model",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "description": MODEL_REF, "examples": MODEL_REFS, "title": "Model"},
            "description": MODEL_REF,
        },
        *query_parameters(),
    ],
}
OTHER_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        **answers_with(
            200,
            Niwaki_Model="Id of the model that answered. Not sent with JSON, where it is in the body.",
            Niwaki_Version="Version of the model.",
            Niwaki_Step="Step of the model's pruning history.",
            Niwaki_Digest="SHA-256 digest of the model's content.",
        )[200],
        "content": {
            Format.JSON_LINES: schema_named(PredictionLines),
            Format.CSV: schema_named(PredictionTable),
            Format.ARROW: schema_named(ArrowStream),
        },
    }
}

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["predictions"])


@router.post(
    "/{model}/predict",
    openapi_extra=DOCUMENTED,
    responses=documented(ModelNotFound, ModelNotReady, StepNotFound, RecordsDoNotFit, NotAcceptable) | OTHER_ANSWERS,
    response_model=Predictions,
)
async def predict(request: Request) -> Response:
    """Predict each record. By default, a record with missing values goes down every branch with part of its weight.

    Send JSON, NDJSON, CSV or an Arrow stream. `Accept` selects one of these formats for the response; by default it is
    that of the request. With JSON, options go in the body; with the other formats, in the query. All errors in a batch
    are reported together, and a batch with errors is not answered in part. Request bodies may be compressed with gzip
    or zstd, and so are responses to clients that accept it.
    """
    app = request.app.state
    body = await request.body()
    own, shown = formats_of(request, body)
    loaded: Loaded = await app.models.get(request.path_params["model"])
    if not own is shown is Format.JSON or not isinstance(loaded, LoadedModel):
        return await answer_batch(request, body, loaded, own, shown)
    started = time.perf_counter()
    kernels = compiled_code_is_ready(app.settings)
    answered = answer_here(loaded, body, kernels)
    if answered is None:
        answered = await to_thread.run_sync(answer_any, loaded, body, kernels)
    content, n_records = answered
    record = loaded.record
    app.metrics.observe_prediction(record.name, record.version, n_records, time.perf_counter() - started)
    return Response(content, headers=VARIES, media_type=Format.JSON)


class QuickRoute(Route):
    """A route that is matched before FastAPI's, since finding and calling one of those takes longer than to predict.

    The OpenAPI document describes the route of the same path in the router.
    """

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, found = super().matches(scope)
        if match is not Match.NONE:
            found["route"] = self  # as FastAPI sets it, for metrics and logs
        return match, found


async def predict_quickly(request: Request) -> Response:
    """`predict`, after the check that its route in the router does first."""
    refuse_nul(request)
    return await predict(request)


QUICK_ROUTE = QuickRoute(f"{router.prefix}/{{model}}/predict", predict_quickly, methods=["POST"])

Written = tuple[bytes | memoryview, int]  # the answer, and the number of records


def answer_here(loaded: LoadedModel, body: bytes, kernels: bool) -> Written | None:
    """Answer a small, usual body in the event loop; None if others would have to wait, or it is for `answer_any`."""
    if len(body) > INLINE_BYTES:
        return None
    scanned = scan_table(loaded, body) if kernels and len(body) > FEW_BYTES else None
    if scanned is None:
        return _answer_few(loaded, body)
    asked, records = scanned
    n_holes = 0 if records.states is None else int(records.states.any(axis=1).sum())
    return _answer_table(loaded, asked, records, kernels=kernels) if _is_little(loaded, n_holes) else None


def _answer_few(loaded: LoadedModel, body: bytes) -> Written | None:
    """Answer without NumPy, one record after the other; None if the body is not usual, or others would have to wait."""
    asked = read_usual(body)
    if asked is None or asked.records is None:
        return None
    read: list[ReadRecord] = []
    for record in asked.records:
        one = loaded.reader.read(record, ignore_unknown=asked.ignore_unknown)
        if one is None:
            return None
        read.append(one)
    if not _is_little(loaded, sum(states != b"" for _, states in read)):
        return None
    order = order_of(loaded, step=asked.step, policy=asked.missing)
    return _written(loaded, order, asked, predict_few(loaded, order, read), kernels=False)


def _is_little(loaded: LoadedModel, n_holes: int) -> bool:
    """Whether `n_holes` incomplete records are answered quickly: each may visit every node."""
    return n_holes * len(loaded.model.tree) <= INLINE_WORK


def answer_any(loaded: LoadedModel, body: bytes, kernels: bool) -> Written:
    """Answer any body, or raise an error with all its faults."""
    return _answer_table(loaded, *read_table(loaded, body, kernels=kernels), kernels=kernels)


def _answer_table(loaded: LoadedModel, asked: PredictionBody, records: EncodedRecords, *, kernels: bool) -> Written:
    order = order_of(loaded, step=asked.step, policy=asked.missing, voting=asked.voting)
    predicted = predict_table(loaded, order, records, kernels=kernels)
    return _written(loaded, order, asked, predicted, kernels=kernels)


def _written(
    loaded: LoadedModel, order: Order, asked: PredictionBody, predicted: Predicted, *, kernels: bool
) -> Written:
    writer = loaded.once(PredictionWriter, order.step, asked.fields, asked.explain)
    return writer.text(predicted, kernels=kernels), len(predicted.leaves)
