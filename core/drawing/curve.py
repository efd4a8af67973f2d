"""The curve of a pruning history as a picture: tree size against error, with a line for each part of the data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.drawing.axes import Axis, amount_axis, count_axis
from core.drawing.chart import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    chart_svg,
    error_words,
    grid,
    legend,
    line,
    mark,
    names,
    ring,
)
from core.evaluation.curve import CurvePoint
from core.tables.parts import Part
from core.tree.model import Model

TITLE = "Error by size of the tree"


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its name in the legend, its style, and its points as step, leaves, error and spread (0 for none)."""

    words: str
    style: str
    points: tuple[tuple[int, int, float, float], ...]

    def positions(self, across: Axis, up: Axis) -> list[tuple[float, float]]:
        """The positions of the points."""
        return [(across.position(leaves), up.position(error)) for _, leaves, error, _ in self.points]


def curve_svg(model: Model, points: Sequence[CurvePoint], step: int) -> str:
    """The picture, with one step highlighted."""
    series = [one for one in _series(points) if one.points]
    across, up = _axes(series)
    marked = next(point for point in points if point.step == step)
    words = f"step {step}: {marked.leaves} {'leaf' if marked.leaves == 1 else 'leaves'}"
    drawn = [
        grid(across, up),
        *(_band(one, across, up) for one in series),
        mark(across.position(marked.leaves), words),
        *(line(one.style, one.positions(across, up)) for one in series),
        *(_ring(one, step, across, up) for one in series),
        legend((one.words, one.style) for one in series),
        names(TITLE, "leaves", error_words(model.task, model.costs)),
    ]
    return chart_svg(f"{TITLE}, {', '.join(model.targets)}", drawn)


def _series(points: Sequence[CurvePoint]) -> list[Series]:
    def of_part(part: Part) -> Callable[[CurvePoint], float | None]:
        return lambda point: point.errors[part]

    found = [
        *((part.value, part.value, of_part(part)) for part in Part),
        ("cross-validation ± standard error", "left-out", lambda point: point.cross_validation),
    ]
    by_size = sorted(points, key=lambda point: (point.leaves, -point.step))
    return [
        Series(
            words,
            style,
            tuple((p.step, p.leaves, error, p.spread or 0.0) for p in by_size if (error := error_of(p)) is not None),
        )
        for words, style, error_of in found
    ]


def _axes(series: Sequence[Series]) -> tuple[Axis, Axis]:
    leaves = [point[1] for line in series for point in line.points]
    errors = [error for line in series for _, _, error, _ in line.points]
    highest = [error + _spread_of(line, spread) for line in series for _, _, error, spread in line.points]
    return (
        count_axis(min(leaves), max(leaves), LEFT, WIDTH - RIGHT),
        amount_axis(min(errors), max(highest), HEIGHT - BOTTOM, TOP),
    )


def _spread_of(line: Series, spread: float) -> float:
    """The spread of a point of the cross-validation; 0 for the other lines, whose points carry it too."""
    return spread if line.style == "left-out" else 0.0


def _band(line: Series, across: Axis, up: Axis) -> str:
    """The band of one standard error around a cross-validation, not below the chart."""
    if not any(_spread_of(line, spread) for *_, spread in line.points):
        return ""
    above = [(leaves, error + spread) for _, leaves, error, spread in line.points]
    below = [(leaves, max(up.low, error - spread)) for _, leaves, error, spread in reversed(line.points)]
    around = "L".join(f"{across.position(leaves):.1f} {up.position(error):.1f}" for leaves, error in [*above, *below])
    return f'<path class="{line.style} band" d="M{around}Z"/>'


def _ring(line: Series, step: int, across: Axis, up: Axis) -> str:
    positions = zip(line.points, line.positions(across, up), strict=True)
    return "".join(ring(line.style, *place) for (number, *_), place in positions if number == step)
