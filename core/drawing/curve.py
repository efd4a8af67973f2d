"""The curve of a pruning history as a picture: size of the tree against error, a line for each part of the data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.curve import CurvePoint
from core.division import Part
from core.drawing.axes import Axis, amount_axis, count_axis, number_words
from core.drawing.svg import text_width, xml_text
from core.model import Model
from core.target import Task

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 84, 28, 88, 62
MOST_DOTS = 60  # of a line; more would run together

STYLE = (
    "text{font-family:'Noto Sans','Noto Sans CJK SC','Noto Sans SC',system-ui,sans-serif;font-size:13px;fill:#1f2d1f}"
    ".title{font-size:16px;font-weight:600}.tick,.label{fill:#55604f}.x{text-anchor:middle}.y{text-anchor:end}"
    ".ground{fill:#fff}.grid{stroke:#e3e8df}.axis{stroke:#7b8774;stroke-width:1.2}"
    ".marked{stroke:#55604f;stroke-width:1.4;stroke-dasharray:3 4}"
    ".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.band{fill-opacity:.16}"
    ".ring{fill:#fff;stroke-width:2.4}"
    ".train{stroke:#0072b2}.train.dot{fill:#0072b2}.validation{stroke:#d55e00}.validation.dot{fill:#d55e00}"
    ".test{stroke:#00805c}.test.dot{fill:#00805c}.left-out{stroke:#a3447c}.left-out.dot,.left-out.band{fill:#a3447c}"
    "circle.dot,path.band{stroke:none}.validation.line{stroke-dasharray:9 4}.test.line{stroke-dasharray:2 5}"
    ".left-out.line{stroke-dasharray:10 4 2 4}"
    "@media(prefers-color-scheme:dark){text{fill:#e6ece2}.tick,.label{fill:#a9b5a3}.ground{fill:#161b17}"
    ".grid{stroke:#2b332c}.axis{stroke:#8a9784}.marked{stroke:#a9b5a3}.ring{fill:#161b17}"
    ".train{stroke:#5ab8f0}.train.dot{fill:#5ab8f0}.validation{stroke:#f58b3c}.validation.dot{fill:#f58b3c}"
    ".test{stroke:#3ecf9f}.test.dot{fill:#3ecf9f}"
    ".left-out{stroke:#e59ac6}.left-out.dot,.left-out.band{fill:#e59ac6}}"
)


@dataclass(frozen=True, slots=True)
class Series:
    """A line: its words in the legend, its style, and its points as step, leaves, error and spread (0 for none)."""

    words: str
    style: str
    points: tuple[tuple[int, int, float, float], ...]


def curve_svg(model: Model, points: Sequence[CurvePoint], step: int) -> str:
    """The picture, with a step marked; complete in itself: no script, no font to fetch."""
    series = [line for line in _series(points) if line.points]
    across, up = _axes(series)
    marked = next(point for point in points if point.step == step)
    name = f"Error by size of the tree, {', '.join(model.targets)}"
    drawn = [
        _grid(across, up),
        *(_band(line, across, up) for line in series),
        _mark(marked, across),
        *(_line(line, across, up) for line in series),
        *(_ring(line, step, across, up) for line in series),
        _legend(series),
        _words(error_words(model)),
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img"><title>{xml_text(name)}</title><style>{STYLE}</style>'
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>{"".join(drawn)}</svg>\n'
    )


def error_words(model: Model) -> str:
    """What the error is, in words."""
    if model.task is not Task.CLASSIFICATION:
        return "mean squared error"
    return "share answered wrongly" if model.tree.costs is None else "mean cost"


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
    """Only the cross-validation has one; the other lines share its points."""
    return spread if line.style == "left-out" else 0.0


def _grid(across: Axis, up: Axis) -> str:
    lines = [f'<path class="grid" d="M{LEFT} {up.place(tick):.1f}H{WIDTH - RIGHT}"/>' for tick in up.ticks]
    axes = f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none"/>'
    errors = [
        f'<text class="tick y" x="{LEFT - 10}" y="{up.place(tick) + 4:.1f}">{words}</text>'
        for tick, words in zip(up.ticks, number_words(up.ticks), strict=True)
    ]
    marks = [
        f'<path class="axis" d="M{across.place(tick):.1f} {HEIGHT - BOTTOM}v5"/>'
        f'<text class="tick x" x="{across.place(tick):.1f}" y="{HEIGHT - BOTTOM + 21}">{words}</text>'
        for tick, words in zip(across.ticks, number_words(across.ticks), strict=True)
    ]
    return "".join([*lines, axes, *errors, *marks])


def _line(line: Series, across: Axis, up: Axis) -> str:
    places = [(across.place(leaves), up.place(error)) for _, leaves, error, _ in line.points]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
    dots = "" if len(places) > MOST_DOTS else "".join(_dot(line.style, x, y) for x, y in places)
    return f'<path class="line {line.style}" d="M{path}"/>{dots}'


def _dot(style: str, x: float, y: float) -> str:
    return f'<circle class="{style} dot" cx="{x:.1f}" cy="{y:.1f}" r="2.8"/>'


def _band(line: Series, across: Axis, up: Axis) -> str:
    """One standard error to either side of a cross-validation; not below the chart."""
    if not any(_spread_of(line, spread) for *_, spread in line.points):
        return ""
    above = [(leaves, error + spread) for _, leaves, error, spread in line.points]
    below = [(leaves, max(up.low, error - spread)) for _, leaves, error, spread in reversed(line.points)]
    around = "L".join(f"{across.place(leaves):.1f} {up.place(error):.1f}" for leaves, error in [*above, *below])
    return f'<path class="{line.style} band" d="M{around}Z"/>'


def _mark(point: CurvePoint, across: Axis) -> str:
    """A line at the size of the marked step, and its words on the side with more room."""
    x, words = across.place(point.leaves), f"step {point.step}: {point.leaves} {_leaves(point.leaves)}"
    is_left = x > (LEFT + WIDTH - RIGHT) / 2
    anchor, text_x = ("end", x - 8) if is_left else ("start", x + 8)
    return (
        f'<path class="marked" d="M{x:.1f} {TOP - 20}V{HEIGHT - BOTTOM}"/>'
        f'<text class="label" x="{text_x:.1f}" y="{TOP - 9}" text-anchor="{anchor}">{words}</text>'
    )


def _ring(line: Series, step: int, across: Axis, up: Axis) -> str:
    return "".join(
        f'<circle class="{line.style} ring" cx="{across.place(leaves):.1f}" cy="{up.place(error):.1f}" r="4.6"/>'
        for number, leaves, error, _ in line.points
        if number == step
    )


def _legend(series: Sequence[Series]) -> str:
    drawn, x, y = [], float(LEFT), 58
    for line in series:
        drawn.append(
            f'<path class="line {line.style}" d="M{x:.1f} {y - 4}h34"/>{_dot(line.style, x + 17, y - 4)}'
            f'<text x="{x + 42:.1f}" y="{y}">{line.words}</text>'
        )
        x += 42 + text_width(line.words) + 26
    return "".join(drawn)


def _words(error: str) -> str:
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'<text class="title" x="{LEFT}" y="30">Error by size of the tree</text>'
        f'<text class="label x" x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 16}">leaves</text>'
        f'<text class="label x" transform="translate(22 {middle:.1f}) rotate(-90)">{error}</text>'
    )


def _leaves(n: int) -> str:
    return "leaf" if n == 1 else "leaves"
