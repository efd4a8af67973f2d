"""Predictions: records in, answers and reasons out."""

import time
from contextlib import suppress
from typing import Any

from anyio import to_thread
from fastapi import APIRouter, Request, Response

from core.compilation import KernelNotCompiled
from core.errors import RecordsDoNotFit
from core.record_reader import ReadRecord
from core.records import EncodedRecords
from service.api.bodies import INLINE_BYTES, StrictRoute, require_media_type
from service.api.prediction_bodies import PredictionBody, read_body, read_usual, scan_body
from service.api.prediction_json import PredictionWriter
from service.api.problems import documented
from service.api.routes.models import MODEL_REF, MODEL_REFS
from service.api.schemas.predictions import Predictions
from service.errors import ModelNotFound, ModelNotReady, StepNotFound
from service.kernel_cache import compiled_code_is_ready
from service.serving.loaded_models import LoadedModel
from service.settings import Settings
from service.usecases.predict import Order, Predicted, encode, order_of, predict_few, predict_table

INLINE_WORK = 10_000  # records that lack something times nodes; more is answered in a thread, so that nobody waits
FEW_BYTES = 4 * 1024  # of a body that plain Python reads faster than NumPy and compiled code

JSON = "application/json"
JSON_HEADER = (b"content-type", JSON.encode())

# For `openapi_extra`: what the route reads by itself, since FastAPI's way takes longer than most predictions.
DOCUMENTED: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {JSON: {"schema": {"$ref": "#/components/schemas/PredictionRequest"}}},
    },
    "parameters": [
        {
            "name": "model",
            "in": "path",
            "required": True,
            "schema": {"type": "string", "description": MODEL_REF, "examples": MODEL_REFS, "title": "Model"},
            "description": MODEL_REF,
        }
    ],
}

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["predictions"])


@router.post(
    "/{model}/predict",
    openapi_extra=DOCUMENTED,
    responses=documented(ModelNotFound, ModelNotReady, StepNotFound, RecordsDoNotFit),
    response_model=Predictions,
)
async def predict(request: Request) -> Response:
    """Answer each record; one with missing values goes down every branch with part of its weight."""
    app = request.app.state
    body = await request.body()
    if body and JSON_HEADER not in request.scope["headers"]:
        require_media_type(request, JSON)
    loaded: LoadedModel = await app.models.get(request.path_params["model"])
    started = time.perf_counter()
    answered = answer_here(loaded, body, app.settings)
    if answered is None:
        kernels = compiled_code_is_ready(app.settings)
        answered = await to_thread.run_sync(answer_any, loaded, body, kernels)
    content, n_records = answered
    record = loaded.record
    app.metrics.observe_prediction(record.name, record.version, n_records, time.perf_counter() - started)
    return Response(content, media_type=JSON)


Written = tuple[bytes, int]  # the answer, and to how many records


def answer_here(loaded: LoadedModel, body: bytes, settings: Settings) -> Written | None:
    """Answer a small and usual body at once; None where others would have to wait, or `answer_any` has to look."""
    if len(body) > INLINE_BYTES:
        return None
    if len(body) <= FEW_BYTES or not compiled_code_is_ready(settings):
        return _answer_few(loaded, body)
    scanned = _scan(loaded, body)
    if scanned is None:
        return _answer_few(loaded, body)
    asked, records = scanned
    n_holes = 0 if records.states is None else int(records.states.any(axis=1).sum())
    return _answer_table(loaded, asked, records, kernels=True) if _is_little(loaded, n_holes) else None


def _answer_few(loaded: LoadedModel, body: bytes) -> Written | None:
    """Answer without NumPy, one record after the other."""
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
    return _written(loaded, order, asked, predict_few(loaded, order, read))


def _is_little(loaded: LoadedModel, n_holes: int) -> bool:
    """Whether so many records that lack something are soon answered: each may come to every node."""
    return n_holes * len(loaded.model.tree) <= INLINE_WORK


def answer_any(loaded: LoadedModel, body: bytes, kernels: bool) -> Written:
    """Answer any body, or say all that is wrong with it."""
    scanned = _scan(loaded, body) if kernels else None
    if scanned is not None:
        return _answer_table(loaded, *scanned, kernels=kernels)
    asked = read_body(body)
    records = encode(loaded, records=asked.records, columns=asked.columns, ignore_unknown=asked.ignore_unknown)
    return _answer_table(loaded, asked, records, kernels=kernels)


def _scan(loaded: LoadedModel, body: bytes) -> tuple[PredictionBody, EncodedRecords] | None:
    with suppress(KernelNotCompiled):
        return scan_body(body, loaded.scanner)
    return None


def _answer_table(loaded: LoadedModel, asked: PredictionBody, records: EncodedRecords, *, kernels: bool) -> Written:
    order = order_of(loaded, step=asked.step, policy=asked.missing)
    return _written(loaded, order, asked, predict_table(loaded, order, records, kernels=kernels))


def _written(loaded: LoadedModel, order: Order, asked: PredictionBody, predicted: Predicted) -> Written:
    writer = loaded.once(PredictionWriter, order.step, asked.fields, asked.explain)
    return writer.text(predicted), len(predicted.leaves)
