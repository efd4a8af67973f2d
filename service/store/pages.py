"""Lists in pages, newest first."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sqlalchemy import ColumnElement, Row, Select
from sqlalchemy.ext.asyncio import AsyncSession

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """Some items, and the cursor of the next page; None on the last page."""

    items: tuple[Item, ...]
    next_cursor: str | None


async def newest_first(
    session: AsyncSession,
    query: Select[Any],
    id_column: ColumnElement[str],
    make: Callable[[Row[Any]], Item],
    *,
    limit: int,
    cursor: str | None,
) -> Page[Item]:
    """The page after `cursor`, which is the id of the last item seen; ids sort by time."""
    if cursor is not None:
        query = query.where(id_column < cursor)
    # One row more than the limit shows whether there is another page.
    rows: Sequence[Row[Any]] = (await session.execute(query.order_by(id_column.desc()).limit(limit + 1))).all()
    shown = rows[:limit]
    return Page(tuple(map(make, shown)), shown[-1].id if len(rows) > limit else None)
