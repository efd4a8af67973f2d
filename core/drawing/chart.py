"""A chart of errors, as a self-contained SVG: its frame, lines and legend."""

from collections.abc import Iterable, Sequence

from core.arithmetic.arrays import FloatArray
from core.drawing.axes import Axis, number_words
from core.drawing.svg import text_width, xml_text
from core.tables.target import Task

WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 84, 28, 88, 62
MOST_DOTS = 60  # of a line; more would overlap

STYLE = (
    "text{font-family:'Noto Sans','Noto Sans CJK SC','Noto Sans SC',system-ui,sans-serif;font-size:13px;fill:#1f2d1f}"
    ".title{font-size:16px;font-weight:600}.tick,.label{fill:#55604f}.x{text-anchor:middle}.y{text-anchor:end}"
    ".ground{fill:#fff}.grid{stroke:#e3e8df}.axis{stroke:#7b8774;stroke-width:1.2}"
    ".marked{stroke:#55604f;stroke-width:1.4;stroke-dasharray:3 4}"
    ".line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}.band{fill-opacity:.16}"
    ".ring{fill:#fff;stroke-width:2.4}"
    ".train,.out-of-bag{stroke:#0072b2}.train.dot,.out-of-bag.dot{fill:#0072b2}"
    ".validation{stroke:#d55e00}.validation.dot{fill:#d55e00}"
    ".test{stroke:#00805c}.test.dot{fill:#00805c}.left-out{stroke:#a3447c}.left-out.dot,.left-out.band{fill:#a3447c}"
    "circle.dot,path.band{stroke:none}.validation.line{stroke-dasharray:9 4}.test.line{stroke-dasharray:2 5}"
    ".left-out.line{stroke-dasharray:10 4 2 4}"
    "@media(prefers-color-scheme:dark){text{fill:#e6ece2}.tick,.label{fill:#a9b5a3}.ground{fill:#161b17}"
    ".grid{stroke:#2b332c}.axis{stroke:#8a9784}.marked{stroke:#a9b5a3}.ring{fill:#161b17}"
    ".train,.out-of-bag{stroke:#5ab8f0}.train.dot,.out-of-bag.dot{fill:#5ab8f0}"
    ".validation{stroke:#f58b3c}.validation.dot{fill:#f58b3c}"
    ".test{stroke:#3ecf9f}.test.dot{fill:#3ecf9f}"
    ".left-out{stroke:#e59ac6}.left-out.dot,.left-out.band{fill:#e59ac6}}"
)


def chart_svg(title: str, drawn: Iterable[str]) -> str:
    """The drawn elements as an SVG with a title, without scripts or external fonts."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        f'role="img"><title>{xml_text(title)}</title><style>{STYLE}</style>'
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>{"".join(drawn)}</svg>\n'
    )


def error_words(task: Task, costs: FloatArray | None) -> str:
    """The name of the error measure."""
    if task is not Task.CLASSIFICATION:
        return "mean squared error"
    return "share answered wrongly" if costs is None else "mean cost"


def grid(across: Axis, up: Axis) -> str:
    """Grid lines, axes and tick labels."""
    lines = [f'<path class="grid" d="M{LEFT} {up.position(tick):.1f}H{WIDTH - RIGHT}"/>' for tick in up.ticks]
    axes = f'<path class="axis" d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none"/>'
    errors = [
        f'<text class="tick y" x="{LEFT - 10}" y="{up.position(tick) + 4:.1f}">{words}</text>'
        for tick, words in zip(up.ticks, number_words(up.ticks), strict=True)
    ]
    marks = [
        f'<path class="axis" d="M{across.position(tick):.1f} {HEIGHT - BOTTOM}v5"/>'
        f'<text class="tick x" x="{across.position(tick):.1f}" y="{HEIGHT - BOTTOM + 21}">{words}</text>'
        for tick, words in zip(across.ticks, number_words(across.ticks), strict=True)
    ]
    return "".join([*lines, axes, *errors, *marks])


def line(style: str, positions: Sequence[tuple[float, float]]) -> str:
    """A line through these positions, with a dot at each unless they are many."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in positions)
    dots = "" if len(positions) > MOST_DOTS else "".join(dot(style, x, y) for x, y in positions)
    return f'<path class="line {style}" d="M{path}"/>{dots}'


def dot(style: str, x: float, y: float) -> str:
    """A point on a line."""
    return f'<circle class="{style} dot" cx="{x:.1f}" cy="{y:.1f}" r="2.8"/>'


def ring(style: str, x: float, y: float) -> str:
    """A ring that highlights a point of a line."""
    return f'<circle class="{style} ring" cx="{x:.1f}" cy="{y:.1f}" r="4.6"/>'


def mark(x: float, words: str) -> str:
    """A vertical line, with its label on the side with more space."""
    is_left = x > (LEFT + WIDTH - RIGHT) / 2
    anchor, text_x = ("end", x - 8) if is_left else ("start", x + 8)
    return (
        f'<path class="marked" d="M{x:.1f} {TOP - 20}V{HEIGHT - BOTTOM}"/>'
        f'<text class="label" x="{text_x:.1f}" y="{TOP - 9}" text-anchor="{anchor}">{words}</text>'
    )


def legend(lines: Iterable[tuple[str, str]]) -> str:
    """The name and the style of each line, side by side."""
    drawn, x, y = [], float(LEFT), 58
    for words, style in lines:
        drawn.append(
            f'<path class="line {style}" d="M{x:.1f} {y - 4}h34"/>{dot(style, x + 17, y - 4)}'
            f'<text x="{x + 42:.1f}" y="{y}">{words}</text>'
        )
        x += 42 + text_width(words) + 26
    return "".join(drawn)


def names(title: str, across: str, up: str) -> str:
    """The title of the chart and of its axes."""
    middle = (TOP + HEIGHT - BOTTOM) / 2
    return (
        f'<text class="title" x="{LEFT}" y="30">{title}</text>'
        f'<text class="label x" x="{(LEFT + WIDTH - RIGHT) / 2:.1f}" y="{HEIGHT - 16}">{across}</text>'
        f'<text class="label x" transform="translate(22 {middle:.1f}) rotate(-90)">{up}</text>'
    )
