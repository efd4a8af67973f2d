"""Which columns a node may test, where some columns are drawn at random in every node of a tree."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from core.arithmetic.randomness import FOR_COLUMNS, key_of, splitmix64


@dataclass(frozen=True, slots=True)
class ColumnDraw:
    """The columns that a tree may test, ascending, and how many of them each node draws."""

    columns: tuple[int, ...]
    n_drawn: int


def column_order(node_key: int, n_columns: int) -> list[int]:
    """The columns in the order in which a node draws them; all orders are equally likely (Fisher and Yates)."""
    key, order = key_of(node_key, FOR_COLUMNS), list(range(n_columns))
    for position in range(n_columns - 1):
        # The high half of a product of 64 bits: nearly uniform for so few columns.
        other = position + ((splitmix64(key_of(key, position)) >> 32) * (n_columns - position) >> 32)
        order[position], order[other] = order[other], order[position]
    return order


def searches(
    draw: ColumnDraw | None, node_key: int, n_columns: int, spent: Collection[int]
) -> Iterator[frozenset[int]]:
    """The columns that each search of a node leaves out; a node searches again until it finds a split.

    The first search leaves out all but the drawn columns; columns spent on the path to the node are not drawn. If no
    drawn column has a valid split, each of the others is searched by itself, in the order of the draw (as scikit-learn
    does).
    """
    if draw is None:
        yield frozenset()
        return
    every = frozenset(range(n_columns))
    order = [draw.columns[position] for position in column_order(node_key, len(draw.columns))]
    left = [column for column in order if column not in spent]
    yield every.difference(left[: draw.n_drawn])
    for column in left[draw.n_drawn :]:
        yield every - {column}
