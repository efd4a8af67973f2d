"""A tree as indented text."""

from core.drawing.labels import answer_text, branch_text, counts_text, test_text
from core.tree.model import Model


def tree_text(model: Model, step: int) -> str:
    """The tree as text, one line per branch, with the answer at leaves.

    纹理 = 清晰
    |   密度 <= 0.3815: 否 (否 2)
    |   密度 > 0.3815: 是 (是 7)
    """
    model, view = model.as_of(step), model.view(step)
    if view.is_leaf[0]:
        return f"{answer_text(model, 0)} ({counts_text(model, 0)})\n"
    lines = []
    for node in view.nodes[1:]:
        parent = int(model.tree.parent[node])
        line = "|   " * (int(model.tree.depth[node]) - 1) + f"{test_text(model, parent)} {branch_text(model, node)}"
        if view.is_leaf[node]:
            line += f": {answer_text(model, node)} ({counts_text(model, node)})"
        lines.append(line)
    return "\n".join(lines) + "\n"
