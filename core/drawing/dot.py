"""A tree in Graphviz's DOT language."""

from core.drawing.labels import branch_text, counts_text, title_text
from core.tree.model import Model


def tree_dot(model: Model, step: int) -> str:
    """A directed graph: boxes for nodes, leaves filled, and the outcomes of tests on the edges."""
    model, view = model.as_of(step), model.view(step)
    lines = ["digraph tree {", '  node [shape=box, style="rounded", fontname="sans-serif"];']
    for node in view.nodes:
        words = _quoted(f"{title_text(model, view, node)}\n{counts_text(model, node)}")
        style = ', style="rounded,filled", fillcolor="#e8f3e8"' if view.is_leaf[node] else ""
        lines.append(f"  {node} [label={words}{style}];")
    edges = (
        f"  {model.tree.parent[node]} -> {node} [label={_quoted(branch_text(model, node))}];" for node in view.nodes[1:]
    )
    return "\n".join([*lines, *edges, "}"]) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
