"""Predictions: records in, answers and reasons out."""

import time

from anyio import to_thread
from fastapi import APIRouter

from core.errors import RecordsDoNotFit
from service.api.bodies import StrictRoute
from service.api.dependencies import AppMetrics, AppSettings, Models
from service.api.problems import documented
from service.api.routes.models import ModelRef
from service.api.schemas.predictions import (
    AnyPredictions,
    PredictionRequest,
    Predictions,
    predictions_of,
)
from service.errors import ModelNotFound, ModelNotReady, StepNotFound
from service.kernel_cache import compiled_code_is_ready
from service.serving.loaded_models import LoadedModel
from service.usecases.predict import predict_records

# Records times nodes; more than this is answered in a thread, so that nobody waits for it. A record with holes may
# come to every node.
INLINE_WORK = 10_000

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["predictions"])


@router.post(
    "/{model}/predict",
    responses=documented(ModelNotFound, ModelNotReady, StepNotFound, RecordsDoNotFit),
    response_model=Predictions,
)
async def predict(
    model: ModelRef, body: PredictionRequest, loaded_models: Models, metrics: AppMetrics, settings: AppSettings
) -> AnyPredictions:
    """Answer each record; one with missing values goes down every branch with part of its weight."""
    loaded = await loaded_models.get(model)
    started, kernels = time.perf_counter(), compiled_code_is_ready(settings)
    if body.records is not None and len(body.records) * len(loaded.model.tree) <= INLINE_WORK:
        answered = _answer(loaded, body, kernels)
    else:
        answered = await to_thread.run_sync(_answer, loaded, body, kernels)
    record = loaded.record
    metrics.observe_prediction(record.name, record.version, len(answered.predictions), time.perf_counter() - started)
    return answered


def _answer(loaded: LoadedModel, body: PredictionRequest, kernels: bool) -> AnyPredictions:
    predicted = predict_records(
        loaded, body.to_records(), step=body.step, policy=body.missing, explain=body.explain, kernels=kernels
    )
    return predictions_of(loaded, predicted)
