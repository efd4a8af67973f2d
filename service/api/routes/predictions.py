"""Predictions: records in, answers and reasons out."""

from fastapi import APIRouter, Request, Response

from core.errors import RecordsDoNotFit
from service.api.batches import answer_batch, answer_format, body_format
from service.api.bodies import StrictRoute
from service.api.dependencies import AppMetrics, AppSettings, Models
from service.api.problems import documented
from service.api.routes.models import ModelRef
from service.api.schemas.predictions import (
    Predictions,
)
from service.errors import ModelNotFound, ModelNotReady, StepNotFound
from service.kernel_cache import compiled_code_is_ready

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
    model: ModelRef, request: Request, loaded_models: Models, metrics: AppMetrics, settings: AppSettings
) -> Response:
    """Answer each record; one with missing values goes down every branch with part of its weight."""
    own = body_format(request)
    shown = answer_format(request, own)
    loaded = await loaded_models.get(model)
    kernels = compiled_code_is_ready(settings)
    return await answer_batch(request, loaded, own, shown, kernels=kernels, metrics=metrics)
