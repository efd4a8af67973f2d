"""A chart of a forest's error by its number of trees, on rows that the trees have not seen."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.drawing.axes import amount_axis, whole_axis
from core.drawing.chart import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, chart_svg, grid, legend, line, names, ring

TITLE = "Error by number of trees"
OUT_OF_BAG, TEST = "out-of-bag", "test"


@dataclass(frozen=True, slots=True)
class TreesCurve:
    """The data of the chart: out-of-bag error by number of trees, and the error of all trees on test rows.

    `error` is the name of the error measure.
    """

    points: Sequence[tuple[int, float]]
    test: float | None
    error: str
    targets: Sequence[str]


def trees_curve_svg(curve: TreesCurve) -> str:
    """The picture, with the error of all trees highlighted."""
    (fewest, _), (most, last) = curve.points[0], curve.points[-1]
    errors = [error for _, error in curve.points] + ([] if curve.test is None else [curve.test])
    across = whole_axis(fewest, most, LEFT, WIDTH - RIGHT)
    up = amount_axis(min(errors), max(errors), HEIGHT - BOTTOM, TOP)
    positions = [(across.position(trees), up.position(error)) for trees, error in curve.points]
    drawn, lines = [grid(across, up)], [(f"out of the bag ({last:.4g} with all trees)", OUT_OF_BAG)]
    if curve.test is not None:
        drawn.append(f'<path class="line {TEST}" d="M{LEFT} {up.position(curve.test):.1f}H{WIDTH - RIGHT}"/>')
        lines.append((f"test rows, all trees ({curve.test:.4g})", TEST))
    drawn += [line(OUT_OF_BAG, positions), ring(OUT_OF_BAG, *positions[-1])]
    drawn += [legend(lines), names(TITLE, "trees", curve.error)]
    return chart_svg(f"{TITLE}, {', '.join(curve.targets)}", drawn)
