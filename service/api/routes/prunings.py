"""Pruning a model again, into its next version."""

from fastapi import APIRouter, Response

from core.tables.errors import InvalidConfig
from service.api.bodies import StrictRoute
from service.api.dependencies import AppDatabase, Models
from service.api.openapi import answers_with
from service.api.problems import documented
from service.api.routes.models import ModelRef
from service.api.routes.trainings import POLL_SECONDS
from service.api.schemas.models import Model
from service.api.schemas.prunings import PruningRequest
from service.api.schemas.trainings import Training
from service.errors import DatasetNotFound, ModelNotFound, ModelNotReady, NotForThisModel, StepNotFound
from service.usecases.trainings.prune_model import select_step, start_pruning

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["models"])

MADE_AT_ONCE = {
    201: {
        "model": Model,
        "description": "The new version, if `step` was sent.",
        "headers": {"Location": {"description": "URL of the new version.", "schema": {"type": "string"}}},
    }
}


@router.post(
    "/{model}/prunings",
    status_code=202,
    responses=documented(ModelNotFound, ModelNotReady, StepNotFound, DatasetNotFound, InvalidConfig, NotForThisModel)
    | MADE_AT_ONCE
    | answers_with(202, Location="URL of the training.", Retry_After="Seconds to wait before polling."),
    response_model=Training,
)
async def prune_model(
    model: ModelRef, body: PruningRequest, database: AppDatabase, loaded_models: Models, response: Response
) -> Training | Response:
    """Create the next version of a model from its full tree; the model itself does not change.

    With `pruning`, this runs in the background as a training: the response is 202, and `Location` is the URL of the
    training. With `step`, the new version is created at once: the response is 201, with the model.
    """
    step = body.chosen_step()
    if step is not None:
        loaded = await loaded_models.tree(model, instead="they are not pruned, and have no other step")
        record = await select_step(database, loaded, loaded.number_in_body(step), body.name)
        made = Model.whole(record).model_dump_json(by_alias=True)
        headers = {"Location": f"/v1/models/{record.id}"}
        return Response(made, status_code=201, headers=headers, media_type="application/json")
    async with database.writing() as session:
        training = await start_pruning(session, model, body.order())
    response.headers["Location"] = f"/v1/trainings/{training.id}"
    response.headers["Retry-After"] = str(POLL_SECONDS)
    return Training.of(training)
