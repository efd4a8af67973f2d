"""A tree as a picture.

Subtrees are side by side, each in a strip as wide as its labels need. A node is in the middle of its strip, with one
row per depth.
"""

import re
import unicodedata
from dataclasses import dataclass
from xml.sax.saxutils import escape

from core.drawing.labels import branch_text, counts_text, title_text
from core.tree.model import Model
from core.tree.tree import TreeView

FONT_SIZE = 13
LINE, PADDING, GAP, ROW = 17, 10, 18, 104
BOX_HEIGHT = 2 * LINE + PADDING
MARGIN = 16
LONGEST = 40
NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

STYLE = (
    "text{font-family:'Noto Sans','Noto Sans CJK SC','Noto Sans SC',system-ui,sans-serif;font-size:13px;fill:#1f2d1f;"
    "text-anchor:middle}.title{font-weight:600}.counts,.branch{font-size:11px;fill:#55604f}"
    ".inner{fill:#fff;stroke:#6b7d5f}.leaf{fill:#e5f1e0;stroke:#4d7a3f}.edge{fill:none;stroke:#9aa892;stroke-width:1.4}"
    ".back{fill:#fff;fill-opacity:.9}"
)


@dataclass(slots=True)
class Box:
    """A drawn node: its labels, its width, and the position of its middle and top."""

    title: str
    counts: str
    branch: str
    width: float
    x: float = 0.0
    y: float = 0.0


def tree_svg(model: Model, step: int) -> str:
    """The tree as of a step, as a self-contained SVG: without scripts or external fonts."""
    model, view = model.as_of(step), model.view(step)
    boxes = {node: _box(model, view, node) for node in view.nodes}
    width = _lay_out(view, boxes) + MARGIN
    height = max(box.y for box in boxes.values()) + BOX_HEIGHT + MARGIN
    parent = model.tree.parent
    edges = [_edge(boxes[int(parent[node])], boxes[node]) for node in view.nodes[1:]]
    shapes = [_shape(box, is_leaf=bool(view.is_leaf[node])) for node, box in boxes.items()]
    words = [_branch(boxes[node]) for node in view.nodes[1:]]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img"><title>Decision tree for {xml_text(", ".join(model.targets))}</title>'
        f"<style>{STYLE}</style>{''.join(edges)}{''.join(words)}{''.join(shapes)}</svg>\n"
    )


def _box(model: Model, view: TreeView, node: int) -> Box:
    title, counts = _short(title_text(model, view, node)), _short(counts_text(model, node))
    branch = _short(branch_text(model, node))
    widest = max(text_width(title), 0.88 * text_width(counts), 0.88 * text_width(branch))
    return Box(title, counts, branch, widest + 2 * PADDING)


def _lay_out(view: TreeView, boxes: dict[int, Box]) -> float:
    """Position every box; returns the right edge of the picture.

    Every subtree has a strip of its own, as wide as its root's box or its children's strips, whichever is wider.
    """
    strips: dict[int, float] = {}
    for node in reversed(view.nodes):  # children come after their parent
        below = [] if view.is_leaf[node] else [strips[child] for child in view.tree.children(node)]
        strips[node] = max(boxes[node].width, sum(below) + GAP * (len(below) - 1))
    left = {0: float(MARGIN)}
    for node in view.nodes:
        boxes[node].x = left[node] + strips[node] / 2
        boxes[node].y = MARGIN + ROW * float(view.tree.depth[node])
        if not view.is_leaf[node]:
            children = view.tree.children(node)
            taken = sum(strips[child] for child in children) + GAP * (len(children) - 1)
            start = left[node] + (strips[node] - taken) / 2
            for child in children:
                left[child] = start
                start += strips[child] + GAP
    return left[0] + strips[0]


def _edge(above: Box, below: Box) -> str:
    start, end = above.y + BOX_HEIGHT, below.y
    middle = (start + end) / 2
    bend = f"C{above.x:.1f} {middle:.1f} {below.x:.1f} {middle:.1f} {below.x:.1f} {end:.1f}"
    return f'<path class="edge" d="M{above.x:.1f} {start:.1f} {bend}"/>'


def _branch(below: Box) -> str:
    """The outcome that leads to a node, on a light background just above the node's box."""
    width, y = 0.88 * text_width(below.branch) + 6, below.y - 12
    ground = f'<rect class="back" x="{below.x - width / 2:.1f}" y="{y - 11:.1f}" width="{width:.1f}" height="15"/>'
    return f'{ground}<text class="branch" x="{below.x:.1f}" y="{y:.1f}">{xml_text(below.branch)}</text>'


def _shape(box: Box, *, is_leaf: bool) -> str:
    left = box.x - box.width / 2
    return (
        f'<rect class="{"leaf" if is_leaf else "inner"}" x="{left:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{BOX_HEIGHT}" rx="7"/>'
        f'<text class="title" x="{box.x:.1f}" y="{box.y + LINE + 1:.1f}">{xml_text(box.title)}</text>'
        f'<text class="counts" x="{box.x:.1f}" y="{box.y + 2 * LINE:.1f}">{xml_text(box.counts)}</text>'
    )


def text_width(text: str) -> float:
    """The approximate width of a text: full-width characters take 1 em, others 0.58."""
    ems = sum(1.0 if unicodedata.east_asian_width(character) in "WF" else 0.58 for character in text)
    return ems * FONT_SIZE


def xml_text(text: str) -> str:
    """A text escaped for XML; control characters, which XML cannot contain, are replaced."""
    return escape(NOT_IN_XML.sub("\ufffd", text))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
