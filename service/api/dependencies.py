"""What routes ask for by type: sessions, files, settings, pages, and conditional answers."""

import base64
import binascii
import json
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any, TypeVar, cast

from fastapi import Depends, Query, Request, Response
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.metrics import Metrics
from service.api.openapi import answers_with
from service.errors import InvalidParameter
from service.serving.loaded_models import LoadedModels
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database

Item = TypeVar("Item")

LONGEST_MARK = 100


def _database(request: Request) -> Database:
    return cast(Database, request.app.state.database)


def _artifacts(request: Request) -> Artifacts:
    return cast(Artifacts, request.app.state.artifacts)


def _settings(request: Request) -> Settings:
    return cast(Settings, request.app.state.settings)


def _models(request: Request) -> LoadedModels:
    return cast(LoadedModels, request.app.state.models)


def _metrics(request: Request) -> Metrics:
    return cast(Metrics, request.app.state.metrics)


AppDatabase = Annotated[Database, Depends(_database)]
AppMetrics = Annotated[Metrics, Depends(_metrics)]
AppSettings = Annotated[Settings, Depends(_settings)]
Files = Annotated[Artifacts, Depends(_artifacts)]
Models = Annotated[LoadedModels, Depends(_models)]


async def _read_session(database: AppDatabase) -> AsyncIterator[AsyncSession]:
    async with database.reading() as session:
        yield session


async def _write_session(database: AppDatabase) -> AsyncIterator[AsyncSession]:
    async with database.writing() as session:
        yield session


# Scope "function": the session ends, and commits, before the answer is sent. A commit that fails is an error answer.
ReadSession = Annotated[AsyncSession, Depends(_read_session, scope="function")]
WriteSession = Annotated[AsyncSession, Depends(_write_session, scope="function")]


class PageRequest:
    """Which part of a list is wanted: `limit` items after `after`, the store's own mark (None: from the start)."""

    def __init__(
        self,
        limit: Annotated[int, Query(ge=1, le=1000, description="How many items at most.")] = 50,
        cursor: Annotated[
            str | None, Query(description="`next_cursor` of the page before; left out for the first page.")
        ] = None,
    ) -> None:
        self.limit = limit
        self.after = None if cursor is None else read_cursor(cursor)


Paging = Annotated[PageRequest, Depends()]


def page_of(items: Sequence[Item], paging: PageRequest) -> tuple[Sequence[Item], str | None]:
    """The part of a list in memory that is wanted, and the cursor of the next one; the mark is a place in the list."""
    if paging.after is not None and not paging.after.isdigit():
        raise InvalidParameter("cursor", "not a cursor of this list")
    start = int(paging.after or 0)
    end = start + paging.limit
    return items[start:end], write_cursor(str(end) if end < len(items) else None)


def write_cursor(mark: str | None) -> str | None:
    """The store's mark as text that clients hand back without looking into it; None on the last page."""
    if mark is None:
        return None
    return base64.urlsafe_b64encode(json.dumps({"after": mark}).encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """The mark inside a cursor, or InvalidParameter when it is none of ours."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        mark = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))["after"]
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidParameter(
            "cursor", "not a cursor of this service", hint="send next_cursor of the page before as it was"
        ) from error
    if not (isinstance(mark, str) and len(mark) <= LONGEST_MARK and mark.isascii() and mark.isprintable()):
        raise InvalidParameter("cursor", "not a cursor of this service")
    return mark


# For `responses=` of routes that answer with an ETag.
WITH_ETAG: dict[int | str, dict[str, Any]] = {
    **answers_with(200, ETag="Names the content; send it as If-None-Match to ask whether it changed."),
    304: {"description": "The copy named in If-None-Match is up to date."},
}


def is_unchanged(request: Request, response: Response, digest: str) -> bool:
    """Set the ETag of what is about to be answered, and tell whether the client has it already.

    If so, the route says `return not_modified(response)`.
    """
    etag = f'"{digest}"'
    response.headers["ETag"] = etag
    sent = ",".join(request.headers.getlist("if-none-match"))
    # A weak comparison, as RFC 9110 asks for: W/"x" and "x" are the same.
    return sent.strip() == "*" or etag in (tag.strip().removeprefix("W/") for tag in sent.split(","))


def not_modified(response: Response) -> Response:
    """304, with the ETag that was set on `response`."""
    return Response(status_code=304, headers={"ETag": response.headers["ETag"]})
