"""The labels of a drawn tree."""

from core.tables.target import Task
from core.tree.conditions import Linear, branch_condition, number_text, outcome_text, rounded, sum_text
from core.tree.model import Model
from core.tree.tree import TreeView


def branch_text(model: Model, node: int) -> str:
    """The condition of the branch to a node, without the attribute's name; empty for the root."""
    parent = int(model.tree.parent[node])
    if parent < 0:
        return ""
    split = model.tree.split(parent)
    condition = branch_condition(split, model.tree.children(parent).index(node), model.attributes[split.column])
    if isinstance(condition, Linear):
        return f"{condition.side} {rounded(condition.threshold, 4)}"
    return outcome_text(condition, model.attributes)


def test_text(model: Model, node: int) -> str:
    """The attribute, or the weighted sum, that an inner node tests."""
    split = model.tree.split(node)
    return sum_text(split.terms, model.attributes) if split.terms else model.attributes[split.column].name


def answer_text(model: Model, node: int) -> str:
    """The answer of a node: its class, or its mean (of each target, if several) to four significant digits."""
    if model.task is Task.CLASSIFICATION:
        return model.classes[int(model.tree.labels[node])]
    return model.number_words(f"{float(mean):.4g}" for mean in model.tree.answers[node])


def counts_text(model: Model, node: int) -> str:
    """The weight at a node: by class, or in all."""
    if model.task is Task.CLASSIFICATION:
        weights = zip(model.classes, model.tree.values[node], strict=True)
        return ", ".join(f"{name} {weight_text(weight)}" for name, weight in weights if weight > 0) or "no sample"
    return f"n {weight_text(model.tree.weight[node])}"


def weight_text(weight: float) -> str:
    """A weight to at most two decimals."""
    return number_text(round(float(weight), 2))


def title_text(model: Model, view: TreeView, node: int) -> str:
    """The main label of a node: its test, or its answer."""
    return answer_text(model, node) if view.is_leaf[node] else f"{test_text(model, node)}?"
