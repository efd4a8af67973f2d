"""A picture of a tree's answers in the plane of two numeric attributes, with training samples on it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.drawing.axes import Axis, number_words, range_axis
from core.drawing.regions import Plane, Region, regions
from core.drawing.svg import text_width, xml_text
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.tables.table import is_missing
from core.tables.target import ClassTarget, Task
from core.tree.conditions import rounded
from core.tree.model import Model

WIDTH, HEIGHT = 720, 620
LEFT, RIGHT, TOP, BOTTOM = 84, 28, 92, 62
MOST_POINTS = 1_000  # evenly spaced among the training rows
PADDING = 0.04  # around the training values
LARGEST = 1e300  # beyond this, the width of a range overflows
MOST_NAMES = 8  # of classes in the legend

COLOURS = ("#0072b2", "#d55e00", "#00805c", "#a3447c", "#b8860b", "#56606a", "#3b7dd8", "#8c564b")
LOW, HIGH = (247, 236, 196), (0, 77, 107)  # colours of the smallest and the largest number

STYLE = (
    "text{font-family:'Noto Sans','Noto Sans CJK SC','Noto Sans SC',system-ui,sans-serif;font-size:13px;fill:#1f2d1f}"
    ".title{font-size:16px;font-weight:600}.tick,.label{fill:#55604f}.x{text-anchor:middle}.y{text-anchor:end}"
    ".ground{fill:#fff}.frame{fill:none;stroke:#7b8774;stroke-width:1.2}.point{stroke:#1f2d1f;stroke-width:.8}"
    ".region{stroke-width:.6;stroke-linejoin:round}"
)


def boundary_svg(model: Model, step: int, plane: Plane, samples: Samples) -> str:
    """The picture as of a step, as a self-contained SVG: without scripts or external fonts."""
    model = model.as_of(step)
    found = regions(model.view(step), plane)
    across = range_axis(plane.lows[0], plane.highs[0], LEFT, WIDTH - RIGHT)
    up = range_axis(plane.lows[1], plane.highs[1], HEIGHT - BOTTOM, TOP)
    paint = _paint(model, found, samples)
    names = [model.attributes[column].name for column in plane.columns]
    title = f"{model.targets[0]} by {names[0]} and {names[1]}"
    drawn = [
        *(_polygon(region, paint, across, up) for region in found),
        *_points(samples, plane, paint, across, up),
        _frame(across, up),
        paint.legend(),
        f'<text class="title" x="{LEFT}" y="30">{xml_text(title)}</text>',
        f'<text class="label x" x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 16}">{xml_text(names[0])}</text>',
        f'<text class="label x" transform="translate(22 {(TOP + HEIGHT - BOTTOM) / 2:.1f}) rotate(-90)">'
        f"{xml_text(names[1])}</text>",
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img"><title>{xml_text(title)}</title><style>{STYLE}</style>'
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>{"".join(drawn)}</svg>\n'
    )


def drawn_range(known: tuple[float, float]) -> tuple[float, float]:
    """The range in which an attribute is drawn: that of the training rows, with some padding."""
    low, high = max(known[0], -LARGEST), min(known[1], LARGEST)
    padding = PADDING * (high - low) or 0.5 * max(abs(high), 1.0)
    return low - padding, high + padding


@dataclass(frozen=True)
class ClassPaint:
    """A colour for each class, stronger for surer answers."""

    classes: tuple[str, ...]
    costs: FloatArray | None
    codes: RowArray

    def region(self, answer: FloatArray) -> tuple[str, float]:
        """Colour and opacity of an answer."""
        label = int(labels_of(answer[None, :], self.costs)[0])
        return _colour(label), 0.08 + 0.52 * float(answer[label])

    def point(self, row: int) -> str:
        """The colour of a training sample."""
        return _colour(int(self.codes[row]))

    def legend(self) -> str:
        """The names of the classes; of many, the first few."""
        drawn, x = [], float(LEFT)
        for label, name in enumerate(self.classes[:MOST_NAMES]):
            short = name if len(name) <= 16 else name[:15] + "…"
            drawn.append(
                f'<rect x="{x:.1f}" y="54" width="14" height="14" rx="3" fill="{_colour(label)}"/>'
                f'<text x="{x + 20:.1f}" y="66">{xml_text(short)}</text>'
            )
            x += 20 + text_width(short) + 22
        more = len(self.classes) - MOST_NAMES
        return "".join(drawn) + (f'<text class="label" x="{x:.1f}" y="66">and {more} more</text>' if more > 0 else "")


@dataclass(frozen=True)
class NumberPaint:
    """A colour scale from the smallest to the largest number; of several targets, the first is painted."""

    low: float
    high: float
    numbers: FloatArray

    def region(self, answer: FloatArray) -> tuple[str, float]:
        """Colour and opacity of an answer."""
        return self._shade(float(answer[0])), 0.85

    def point(self, row: int) -> str:
        """The colour of a training sample."""
        return self._shade(float(self.numbers[row, 0]))

    def _shade(self, number: float) -> str:
        part = (number - self.low) / (self.high - self.low) if self.high > self.low else 0.5
        mixed = (round(a + min(max(part, 0.0), 1.0) * (b - a)) for a, b in zip(LOW, HIGH, strict=True))
        return "#" + "".join(f"{shade:02x}" for shade in mixed)

    def legend(self) -> str:
        """The colour scale with its ends."""
        shades = [self._shade(self.low + part / 20 * (self.high - self.low)) for part in range(21)]
        bar = "".join(
            f'<rect x="{LEFT + 80 + 8 * place}" y="54" width="8.5" height="14" fill="{shade}"/>'
            for place, shade in enumerate(shades)
        )
        low, high = rounded(self.low, 4), rounded(self.high, 4)
        return (
            f'<text class="y" x="{LEFT + 74}" y="66">{low}</text>{bar}'
            f'<text x="{LEFT + 80 + 8 * len(shades) + 8}" y="66">{high}</text>'
        )


Paint = ClassPaint | NumberPaint


def _paint(model: Model, found: Sequence[Region], samples: Samples) -> Paint:
    if model.task is Task.CLASSIFICATION:
        assert isinstance(samples.target, ClassTarget)
        return ClassPaint(model.classes, model.tree.costs, samples.target.codes)
    assert not isinstance(samples.target, ClassTarget)
    means = [float(region.answer[0]) for region in found]
    return NumberPaint(min(means), max(means), samples.target.numbers)


def _colour(label: int) -> str:
    return COLOURS[label % len(COLOURS)]


def _polygon(region: Region, paint: Paint, across: Axis, up: Axis) -> str:
    corners = " ".join(
        f"{across.start + u * (across.end - across.start):.2f},{up.start + v * (up.end - up.start):.2f}"
        for u, v in region.corners
    )
    colour, strength = paint.region(region.answer)
    ink = f'fill="{colour}" fill-opacity="{strength:.3f}" stroke="{colour}" stroke-opacity="{strength:.3f}"'
    return f'<polygon class="region" points="{corners}" {ink}/>'


def _points(samples: Samples, plane: Plane, paint: Paint, across: Axis, up: Axis) -> list[str]:
    first, second = (samples.attributes.columns[column] for column in plane.columns)
    known = np.flatnonzero(~is_missing(first) & ~is_missing(second))
    if len(known) > MOST_POINTS:
        known = known[np.linspace(0, len(known) - 1, MOST_POINTS).astype(np.int64)]
    return [
        f'<circle class="point" cx="{across.position(float(first[row])):.1f}" '
        f'cy="{up.position(float(second[row])):.1f}" '
        f'r="4" fill="{paint.point(int(row))}"/>'
        for row in known
    ]


def _frame(across: Axis, up: Axis) -> str:
    bottom, width, height = HEIGHT - BOTTOM, WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
    below = (
        f'<path class="frame" d="M{across.position(tick):.1f} {bottom}v5"/>'
        f'<text class="tick x" x="{across.position(tick):.1f}" y="{bottom + 20}">{words}</text>'
        for tick, words in zip(across.ticks, number_words(across.ticks), strict=True)
    )
    beside = (
        f'<path class="frame" d="M{LEFT} {up.position(tick):.1f}h-5"/>'
        f'<text class="tick y" x="{LEFT - 9}" y="{up.position(tick) + 4:.1f}">{words}</text>'
        for tick, words in zip(up.ticks, number_words(up.ticks), strict=True)
    )
    frame = f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{width}" height="{height}"/>'
    return frame + "".join(below) + "".join(beside)
