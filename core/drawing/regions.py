"""The answers of a tree in a plane of two numbers, exactly: polygons in each of which all records get the same answer.

From the root down, the tests cut the rectangle by half planes. If another tested attribute is missing, a record goes
down every branch with weight r_v: then all branches are followed at once, each cuts the pieces that the others have
left, and a piece's answer is the weighted mean of its leaves.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.sums import sum_of_products
from core.prediction.record_walk import taken_branch, weighted_sum
from core.splits.split import Split, SplitKind
from core.tree.conditions import interval_of
from core.tree.tree import TreeView

MOST_PIECES = 10_000
LEAST_AREA = 1e-12  # relative to the rectangle; smaller pieces come from rounding

Point = tuple[float, float]
Polygon = tuple[Point, ...]
Parts = tuple[tuple[int, float], ...]  # nodes, and the part of a record at each
SQUARE: Polygon = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))


class TooManyPieces(ValueError):
    """The plane falls into more pieces than can be drawn."""


@dataclass(frozen=True, slots=True)
class Plane:
    """The columns that are drawn, the range of each, and the cells of all other columns, NaN if missing.

    Corners of polygons are given relative to these ranges, from 0 to 1.
    """

    columns: tuple[int, int]
    lows: tuple[float, float]
    highs: tuple[float, float]
    cells: Sequence[float]

    @property
    def spans(self) -> tuple[float, float]:
        """The width of each range."""
        return self.highs[0] - self.lows[0], self.highs[1] - self.lows[1]


@dataclass(frozen=True, slots=True)
class Region:
    """A convex polygon and the answer in it: class probabilities, or means."""

    corners: Polygon
    answer: FloatArray


def regions(view: TreeView, plane: Plane) -> list[Region]:
    """The pieces of the plane, depth first; TooManyPieces if there are more than MOST_PIECES."""
    found: list[Region] = []
    waiting: list[tuple[Polygon, Parts]] = [(SQUARE, ((0, 1.0),))]
    while waiting:
        if len(waiting) + len(found) > MOST_PIECES:
            raise TooManyPieces(f"the plane falls into more than {MOST_PIECES:,} pieces")
        corners, parts = waiting.pop()
        position = next((position for position, (node, _) in enumerate(parts) if not view.is_leaf[node]), None)
        if position is None:
            weights, leaves = np.array([weight for _, weight in parts]), [node for node, _ in parts]
            found.append(Region(corners, sum_of_products(weights, view.tree.answers[leaves])))
            continue
        node, weight = parts[position]
        for piece, below in _pieces(view, node, corners, plane):
            moved = tuple((child, weight * share) for child, share in below if weight * share > 0)
            waiting.append((piece, (*parts[:position], *moved, *parts[position + 1 :])))
    return found


def _pieces(view: TreeView, node: int, corners: Polygon, plane: Plane) -> Iterator[tuple[Polygon, Parts]]:
    """The pieces into which a test cuts a polygon, with the children that records in each piece go to."""
    split, children = view.tree.split(node), view.tree.children(node)
    if set(plane.columns).isdisjoint(split.columns) or _lacks_others(split, plane):
        branch = -1 if _lacks_others(split, plane) else taken_branch(split, plane.cells)
        everywhere = tuple(zip(children, view.tree.share[children].tolist(), strict=True))
        yield corners, everywhere if branch < 0 else ((children[branch], 1.0),)
        return
    for branch, child in enumerate(children):
        piece = corners
        for a, b, c in _half_planes(split, branch, plane):
            piece = clipped(piece, a, b, c)
        if area(piece) > LEAST_AREA:
            yield piece, ((child, 1.0),)


def _lacks_others(split: Split, plane: Plane) -> bool:
    """Whether a linear test needs a value that is neither drawn nor known."""
    others = set(split.columns).difference(plane.columns)
    return split.kind is SplitKind.LINEAR and any(math.isnan(plane.cells[column]) for column in others)


def _half_planes(split: Split, branch: int, plane: Plane) -> Iterator[tuple[float, float, float]]:
    """The half planes a u + b v <= c that a branch keeps, with u and v from 0 to 1."""
    if split.kind is SplitKind.LINEAR:
        a, b = (sum(term.weight for term in split.terms if term.column == column) for column in plane.columns)
        others = [term for term in split.terms if term.column not in plane.columns]
        limit = split.threshold - weighted_sum(others, plane.cells) - a * plane.lows[0] - b * plane.lows[1]
        sign = 1.0 if branch == 0 else -1.0
        yield sign * a * plane.spans[0], sign * b * plane.spans[1], sign * limit
        return
    above, at_most = interval_of(split, branch)
    axis = plane.columns.index(split.column)
    for sign, end in ((-1.0, above), (1.0, at_most)):
        if abs(end) < math.inf:
            position = sign * (end - plane.lows[axis]) / plane.spans[axis]
            yield (sign, 0.0, position) if axis == 0 else (0.0, sign, position)
        elif sign * end < 0:  # nothing goes down this branch
            yield 0.0, 0.0, -1.0


def clipped(corners: Polygon, a: float, b: float, c: float) -> Polygon:
    """The part of a convex polygon where a u + b v <= c (Sutherland and Hodgman 1974)."""
    left: list[Point] = []
    over = [a * u + b * v - c for u, v in corners]
    for position, (u, v) in enumerate(corners):
        before = position - 1
        if (over[before] > 0) != (over[position] > 0):
            (u0, v0), part = corners[before], over[before] / (over[before] - over[position])
            left.append((u0 + part * (u - u0), v0 + part * (v - v0)))
        if over[position] <= 0:
            left.append((u, v))
    return tuple(left)


def area(corners: Polygon) -> float:
    """The area of a convex polygon."""
    pairs = zip(corners, (*corners[1:], *corners[:1]), strict=True)
    return abs(sum(u * v1 - u1 * v for (u, v), (u1, v1) in pairs)) / 2
