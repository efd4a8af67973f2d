"""The words for what a tree tests and answers."""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.explanation.wording import amount_text, rounded_text, spoken
from core.splits.split import Split
from core.tables.suggestion import shortened
from core.tables.target import Task
from core.tree.conditions import Condition, Linear, branch_condition, merged, path_conditions
from core.tree.model import Model

NODES_KEPT = 4_096


class TreeWords:
    """Texts about the nodes of a tree; `model` is as of the step in question.

    The paths to recently used nodes are cached, since the same leaves are reached again and again.
    """

    def __init__(self, model: Model) -> None:
        self._model, self._tree, self._schema = model, model.tree, model.attributes
        self.way = lru_cache(maxsize=NODES_KEPT)(self._way)
        self.conditions = lru_cache(maxsize=NODES_KEPT)(self._conditions)

    def name(self, column: int) -> str:
        """The name of an attribute."""
        return shortened(self._schema[column].name)

    def class_name(self, label: int) -> str:
        """The name of a class."""
        return shortened(self._model.classes[label])

    def numbers(self, numbers: Iterable[float]) -> str:
        """A number, or one for each target."""
        return self._model.number_words(rounded_text(float(number)) for number in numbers)

    def answer(self, node: int) -> str:
        """The answer of a node: a class, or numbers."""
        if self._model.task is Task.CLASSIFICATION:
            return self.class_name(int(self._tree.labels[node]))
        return self.numbers(self._tree.answers[node])

    def _way(self, node: int) -> tuple[tuple[int, int], ...]:
        """The path to a node: each ancestor with its child on the path, from the root down."""
        steps = []
        while node > 0:
            parent = int(self._tree.parent[node])
            steps.append((parent, node))
            node = parent
        return tuple(reversed(steps))

    def _conditions(self, node: int) -> dict[int | Linear, str]:
        """The conditions on the path to a node in the order of the tests, merged by attribute; keys are columns.

        Linear conditions are their own keys.
        """
        found = merged(path_conditions(self._tree, node, self._schema))
        return {one if isinstance(one, Linear) else one.column: self.condition(one) for one in found}

    def condition(self, condition: Condition) -> str:
        """A condition, with the attribute's name."""
        return spoken(condition, self._schema)

    def linear(self, split: Split, branch: int) -> Linear | None:
        """The condition of a branch of a linear test; None for other tests."""
        condition = branch_condition(split, branch, self._schema[split.column])
        return condition if isinstance(condition, Linear) else None

    def branch(self, split: Split, branch: int) -> str:
        """The condition of a branch."""
        return self.condition(branch_condition(split, branch, self._schema[split.column]))

    def evidence(self, node: int) -> str:
        """The training samples behind a node's answer; those of its parent if it has none."""
        behind = int(self._tree.answering[node])
        total, values = float(self._tree.weight[behind]), self._tree.values[behind]
        samples = f"{amount_text(total)} training {'sample' if total == 1 else 'samples'}"
        samples, prefix = (
            (f"{samples} like this", "")
            if behind == node
            else (samples, "no training sample was like this; before the last test ")
        )
        if self._model.task is not Task.CLASSIFICATION:
            spread = self.numbers(np.sqrt(self._tree.variances[behind]))
            return f"{prefix}the mean of {samples}, with a standard deviation of {spread}"
        label = int(self._tree.labels[node])
        own, name = amount_text(float(values[label])), self.class_name(label)
        return f"{prefix}{own} of {samples} {'is' if own == '1' else 'are'} {name}{self.cheapest(values, label)}"

    def cheapest(self, weights: FloatArray, label: int) -> str:
        """A note if the answered class is not the likeliest, because wrong answers have costs."""
        if self._tree.costs is None or weights[label] == weights.max():
            return ""
        return f", and {self.class_name(label)} has the least expected cost"
