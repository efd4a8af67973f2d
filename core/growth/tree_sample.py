"""What makes a tree of a forest differ from the others."""

from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray, RowArray
from core.growth.column_draw import ColumnDraw


@dataclass(frozen=True)
class TreeSample:
    """The rows of a tree, ascending, with their weights, its seed, and how its nodes draw columns."""

    rows: RowArray
    weights: FloatArray
    seed: int
    draw: ColumnDraw | None
