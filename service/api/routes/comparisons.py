"""Comparisons: the same records answered by several steps, versions or ways to treat missing values."""

from anyio import to_thread
from fastapi import APIRouter

from core.tables.errors import RecordsDoNotFit
from service.api.bodies import StrictRoute
from service.api.dependencies import AppSettings, Models
from service.api.problems import documented
from service.api.routes.models import ModelRef
from service.api.schemas.comparisons import AnyComparison, Comparison, ComparisonRequest, comparison_of
from service.errors import ModelNotFound, ModelNotReady, NotForThisModel, StepNotFound
from service.kernel_cache import compiled_code_is_ready
from service.usecases.predictions import compare as comparing

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["predictions"])


@router.post(
    "/{model}/compare",
    responses=documented(ModelNotFound, ModelNotReady, NotForThisModel, StepNotFound, RecordsDoNotFit),
    response_model=Comparison,
)
async def compare(
    model: ModelRef, body: ComparisonRequest, loaded_models: Models, settings: AppSettings
) -> AnyComparison:
    """Predict the same records in several ways, side by side, and show where and why the answers differ."""
    wishes = [variant.to_wish() for variant in body.variants]
    variants = await comparing.find_variants(loaded_models, model, wishes)
    kernels = compiled_code_is_ready(settings)

    def answered() -> AnyComparison:
        compared = comparing.compare(
            variants,
            records=body.records,
            columns=body.columns,
            ignore_unknown=body.ignore_unknown,
            kernels=kernels,
        )
        return comparison_of(compared)

    return await to_thread.run_sync(answered)
