"""Trainings: order one, follow its progress, cancel it, delete its record."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from core.tables.errors import InvalidConfig
from service.api.bodies import StrictRoute
from service.api.dependencies import AppDatabase, ReadSession, WriteSession
from service.api.openapi import answers_with
from service.api.paging import Paging, write_cursor
from service.api.problems import documented
from service.api.schemas.trainings import Training, TrainingPage, TrainingRequest
from service.errors import DatasetNotFound, TrainingAlreadyEnded, TrainingNotEnded, TrainingNotFound
from service.store import trainings
from service.usecases.trainings.start_training import start_training
from service.usecases.trainings.watch_training import watch_training

POLL_SECONDS = 1

router = APIRouter(route_class=StrictRoute, prefix="/v1/trainings", tags=["trainings"])

TrainingId = Annotated[str, Path(description="The training's id.", examples=["trn_01k9x6v0m2b7c4d5e6f7g8h9ja"])]


@router.post(
    "",
    status_code=202,
    responses=documented(DatasetNotFound, InvalidConfig)
    | answers_with(202, Location="URL of the training.", Retry_After="Seconds to wait before polling."),
)
async def create_training(body: TrainingRequest, session: WriteSession, response: Response) -> Training:
    """Start a training. It runs in the background; follow it at `Location`."""
    training = await start_training(session, body.order())
    response.headers["Location"] = f"/v1/trainings/{training.id}"
    response.headers["Retry-After"] = str(POLL_SECONDS)
    return Training.of(training)


@router.get("")
async def list_trainings(session: ReadSession, paging: Paging) -> TrainingPage:
    """List trainings, newest first."""
    page = await trainings.page(session, paging.limit, paging.after)
    return TrainingPage(items=[Training.of(item) for item in page.items], next_cursor=write_cursor(page.next_cursor))


@router.get("/{training_id}", responses=documented(TrainingNotFound))
async def get_training(
    training_id: TrainingId,
    database: AppDatabase,
    wait: Annotated[
        float,
        Query(ge=0, le=60, description="Wait up to this many seconds for the training to end. Default: do not wait."),
    ] = 0,
) -> Training:
    """Show the status and progress of a training."""
    return Training.of(await watch_training(database, training_id, wait_seconds=wait))


@router.post("/{training_id}/cancel", responses=documented(TrainingNotFound, TrainingAlreadyEnded))
async def cancel_training(training_id: TrainingId, session: WriteSession) -> Training:
    """Cancel a training: at once if it is queued, within seconds if it is running. No model is created."""
    return Training.of(await trainings.cancel(session, training_id))


@router.delete("/{training_id}", status_code=204, responses=documented(TrainingNotFound, TrainingNotEnded))
async def delete_training(training_id: TrainingId, session: WriteSession) -> None:
    """Delete the record of a training that has ended; its model stays."""
    await trainings.delete(session, training_id)
