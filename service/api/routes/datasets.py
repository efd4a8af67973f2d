"""Datasets: send a table, list datasets, show one, delete one."""

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request, Response

from core.tables.errors import EmptyTable, InvalidTable
from service.api.bodies import StrictRoute
from service.api.conditional import WITH_ETAG, is_unchanged, not_modified
from service.api.dependencies import AppDatabase, AppSettings, Files, ReadSession
from service.api.openapi import answers_with
from service.api.paging import Paging, write_cursor
from service.api.problems import documented
from service.api.schemas.datasets import Dataset, DatasetListed, DatasetName, DatasetPage
from service.api.uploads import DOCUMENTED_BODIES, read_table
from service.errors import DatasetInUse, DatasetNotFound, InvalidFile
from service.store import datasets
from service.usecases.datasets import delete_dataset as deletion
from service.usecases.datasets.import_dataset import import_dataset

UNNAMED = "dataset"

DatasetId = Annotated[str, Path(description="The dataset's id.", examples=["ds_01k9x6v0m2b7c4d5e6f7g8h9ja"])]

router = APIRouter(prefix="/v1/datasets", route_class=StrictRoute, tags=["datasets"])


@router.post(
    "",
    status_code=201,
    openapi_extra=DOCUMENTED_BODIES,
    responses=documented(InvalidTable, EmptyTable, InvalidFile) | answers_with(201, Location="URL of the dataset."),
)
async def create_dataset(
    request: Request,
    response: Response,
    database: AppDatabase,
    files: Files,
    settings: AppSettings,
    name: Annotated[
        DatasetName | None,
        Query(description="For a raw CSV body, which has no `options`: the name of the dataset. Default: `dataset`."),
    ] = None,
) -> Dataset:
    """Store a table.

    Send JSON (`columns` or `records`), a raw CSV body, or a form with a CSV `file` and its `options`.

    The kind of a column is inferred unless it is declared in `schema`. In JSON, a column of numbers is numeric, a
    column of strings or of booleans is categorical, and a column of mixed types must be declared. In CSV, a column is
    numeric if all its non-missing cells are finite decimal numbers. CSV is UTF-8 and comma-separated, with RFC 4180
    quoting and the column names in the first line.

    The same table has the same digest, however it was sent.
    """
    given, table = await read_table(request, files.temporary_folder, largest_field=settings.max_body_bytes)
    dataset = await import_dataset(database, files, given or name or UNNAMED, table)
    response.headers["Location"] = f"/v1/datasets/{dataset.id}"
    return Dataset.whole(dataset)


@router.get("")
async def list_datasets(session: ReadSession, paging: Paging) -> DatasetPage:
    """List datasets, newest first."""
    page = await datasets.page(session, paging.limit, paging.after)
    return DatasetPage(items=[DatasetListed.of(one) for one in page.items], next_cursor=write_cursor(page.next_cursor))


@router.get("/{dataset_id}", responses=documented(DatasetNotFound) | WITH_ETAG, response_model=Dataset)
async def get_dataset(
    dataset_id: DatasetId, request: Request, response: Response, session: ReadSession
) -> Dataset | Response:
    """Show a dataset with its columns. A dataset never changes: its ETag is the table's digest."""
    dataset = await datasets.get(session, dataset_id)
    if is_unchanged(request, response, dataset.digest):
        return not_modified(response)
    return Dataset.whole(dataset)


@router.delete("/{dataset_id}", status_code=204, responses=documented(DatasetNotFound, DatasetInUse))
async def delete_dataset(dataset_id: DatasetId, database: AppDatabase, files: Files) -> None:
    """Delete a dataset. It disappears from the list at once; models trained on it keep working."""
    await deletion.delete_dataset(database, files, dataset_id)
