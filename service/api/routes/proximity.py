"""Proximity: in how many of a committee's trees two rows end in the same leaf."""

from functools import partial
from typing import Annotated

from anyio import to_thread
from fastapi import APIRouter, Query, Request, Response

from core.tables.errors import RecordsDoNotFit
from core.tables.parts import Part
from service.api.bodies import StrictRoute
from service.api.conditional import is_unchanged, not_modified
from service.api.dependencies import AppDatabase, AppSettings, Files, Models
from service.api.paging import Paging, write_cursor
from service.api.problems import documented
from service.api.routes.models import READ_DATA, ModelRef, etag_of
from service.api.schemas.proximity import Neighbours, NeighboursRequest, ProximityPage
from service.errors import InvalidParameter, ModelNotFound, ModelNotReady, NotForThisModel, TooBusy
from service.kernel_cache import compiled_code_is_ready
from service.usecases.models.read_proximity import read_neighbours, read_rows_page
from service.usecases.predictions.predict import encode
from service.usecases.predictions.predict_forest import forest_order_of

router = APIRouter(route_class=StrictRoute, prefix="/v1/models", tags=["models"])

LARGEST_PAGE = 200  # rows, each with as many proximities


@router.get("/{model}/proximity", responses=READ_DATA | documented(NotForThisModel), response_model=ProximityPage)
async def get_proximity(
    model: ModelRef,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    settings: AppSettings,
    paging: Paging,
    request: Request,
    response: Response,
    part: Annotated[Part, Query(description="The part whose rows are compared.")] = Part.TRAIN,
    outliers: Annotated[
        bool, Query(description="Also show how little each row resembles the others of its class.")
    ] = False,
) -> ProximityPage | Response:
    """Show the pairwise proximities of the rows of a page, for a committee.

    The proximity of two rows is the share of trees in which they end in the same leaf.
    """
    loaded = await loaded_models.forest(model, what="proximities")
    if paging.limit > LARGEST_PAGE:
        detail = f"every row has a proximity to each, so a page has at most {LARGEST_PAGE} rows"
        raise InvalidParameter("limit", detail, hint=f"use {LARGEST_PAGE} or less")
    if paging.after is not None and not paging.after.isdigit():
        raise InvalidParameter("cursor", "not a cursor of this list")
    if is_unchanged(request, response, etag_of(loaded)):
        return not_modified(response)
    start = int(paging.after or 0)
    page = await read_rows_page(
        database,
        files,
        loaded,
        part,
        start=start,
        limit=paging.limit,
        with_outliers=outliers,
        kernels=compiled_code_is_ready(settings),
    )
    end = start + paging.limit
    next_cursor = write_cursor(str(end) if end < page.n_rows else None)
    return await to_thread.run_sync(ProximityPage.of, loaded, part, page, next_cursor)


@router.post(
    "/{model}/neighbours",
    responses=documented(ModelNotFound, ModelNotReady, NotForThisModel, RecordsDoNotFit, TooBusy),
    response_model=Neighbours,
)
async def find_neighbours(
    model: ModelRef,
    body: NeighboursRequest,
    loaded_models: Models,
    database: AppDatabase,
    files: Files,
    settings: AppSettings,
) -> Neighbours:
    """Show the training rows nearest to each record: those that end in the same leaf in the most trees."""
    loaded = await loaded_models.forest(model, what="neighbours")
    order = forest_order_of(loaded, step="selected", policy=body.missing, voting=None)
    kernels = compiled_code_is_ready(settings)
    encoded = partial(encode, loaded, records=body.records, columns=None, ignore_unknown=body.ignore_unknown)
    records = await to_thread.run_sync(encoded)
    found = await read_neighbours(database, files, loaded, records, body.n, policy=order.policy, kernels=kernels)
    return await to_thread.run_sync(Neighbours.of, loaded, found)
