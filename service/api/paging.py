"""Lists in parts: which part is requested, and the cursor that leads to the next one."""

import base64
import binascii
import json
from collections.abc import Sequence
from typing import Annotated, TypeVar

from fastapi import Depends, Query

from service.errors import InvalidParameter

Item = TypeVar("Item")

LONGEST_POSITION = 100


class PageRequest:
    """The requested part of a list: `limit` items after `after`, a position given by the store (None: the start)."""

    def __init__(
        self,
        limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of items.")] = 50,
        cursor: Annotated[
            str | None, Query(description="`next_cursor` of the previous page. Omit it for the first page.")
        ] = None,
    ) -> None:
        self.limit = limit
        self.after = None if cursor is None else read_cursor(cursor)


Paging = Annotated[PageRequest, Depends()]


def page_of(items: Sequence[Item], paging: PageRequest) -> tuple[Sequence[Item], str | None]:
    """The requested part of a list in memory, and the cursor of the next part, which contains an index of the list."""
    if paging.after is not None and not paging.after.isdigit():
        raise InvalidParameter("cursor", "not a cursor of this list")
    start = int(paging.after or 0)
    end = start + paging.limit
    return items[start:end], write_cursor(str(end) if end < len(items) else None)


def write_cursor(position: str | None) -> str | None:
    """An opaque cursor with the store's position `mark`, which clients send back; None on the last page."""
    if position is None:
        return None
    return base64.urlsafe_b64encode(json.dumps({"after": position}).encode()).decode().rstrip("=")


def read_cursor(cursor: str) -> str:
    """The position inside a cursor, or InvalidParameter if the service has not written it."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        position = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))["after"]
    except (binascii.Error, ValueError, KeyError, TypeError, RecursionError) as error:
        raise InvalidParameter(
            "cursor", "not a cursor of this service", hint="send next_cursor of the page before as it was"
        ) from error
    if not (
        isinstance(position, str)
        and len(position) <= LONGEST_POSITION
        and position.isascii()
        and position.isprintable()
    ):
        raise InvalidParameter("cursor", "not a cursor of this service")
    return position
