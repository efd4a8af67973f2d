"""Health checks and metrics, for load balancers, orchestrators and Prometheus."""

from contextlib import suppress

import anyio
from fastapi import APIRouter
from fastapi.responses import PlainTextResponse

from service.api.bodies import StrictRoute
from service.api.dependencies import AppDatabase, AppMetrics
from service.api.problems import documented
from service.api.schemas.health import Health
from service.errors import MigrationsPending, StoreUnavailable
from service.store import jobs, migrate
from service.store.transactions import Database

PATIENCE_SECONDS = 2.0
METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

router = APIRouter(route_class=StrictRoute, tags=["operation"])


@router.get("/livez")
async def get_livez() -> Health:
    """Respond as long as the process is running, whatever the state of the database."""
    return Health(status="alive")


@router.get("/readyz", responses=documented(StoreUnavailable, MigrationsPending))
async def get_readyz(database: AppDatabase) -> Health:
    """Respond with 200 if requests can be served: the database answers and its tables are those of this version."""
    if not await _is_migrated(database):
        raise MigrationsPending(
            "the database answers, but its tables are not those of this version; run niwaki migrate"
        )
    return Health(status="ready")


@router.get("/metrics", response_class=PlainTextResponse)
async def get_metrics(database: AppDatabase, metrics: AppMetrics) -> PlainTextResponse:
    """Show metrics for Prometheus: requests, predictions and the queue of trainings."""
    answers, queue = await _queue(database)
    return PlainTextResponse(metrics.text(queue, database_answers=answers), media_type=METRICS_TYPE)


async def _is_migrated(database: Database) -> bool:
    with anyio.move_on_after(PATIENCE_SECONDS):
        async with database.reading() as session:
            return await migrate.is_current(session)
    raise StoreUnavailable(f"the database did not answer within {PATIENCE_SECONDS:g} seconds")


async def _queue(database: Database) -> tuple[bool, jobs.Queue | None]:
    """Whether the database answers, and the queue if its tables are there."""
    with anyio.move_on_after(PATIENCE_SECONDS), suppress(StoreUnavailable):
        async with database.reading() as session:
            return True, await jobs.overview(session) if await migrate.is_current(session) else None
    return False, None
