"""Held-out rows, and how well a changing tree answers them.

A row's answer is the weight-averaged answer of the leaves it reaches. It is right when the class of largest averaged
weight is the row's own; where wrong answers have costs, it loses the cost of its label, and for numbers the squared
error.
"""

from dataclasses import dataclass, field

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.ties import TIE
from core.criteria.misclassification import cheapest_classes
from core.growth.samples import Samples
from core.tables.target import ClassTarget, Task


@dataclass
class HeldOut:
    """Held-out samples with the current answer to each; `credit` is what those answers earn, larger is better.

    Answers are differences from `origin`, which for numbers is near their mean: sums far from 0 lose digits.
    """

    samples: Samples
    answers: FloatArray
    origin: FloatArray
    costs: FloatArray | None = None
    credit: float = field(init=False)
    weight: float = field(init=False)

    def __post_init__(self) -> None:
        self.weight = float(self.samples.weights.sum())
        self.credit = float(self._credits(self.samples.rows, self.answers).sum())

    def credit_after(self, rows: RowArray, change: FloatArray) -> float:
        """What all answers would earn if those of some rows changed by `change`."""
        before = self._credits(rows, self.answers[rows])
        return self.credit + float((self._credits(rows, self.answers[rows] + change) - before).sum())

    def accept(self, rows: RowArray, change: FloatArray) -> None:
        """Change the answers of some rows."""
        self.credit = self.credit_after(rows, change)
        self.answers[rows] += change

    def measure(self, credit: float) -> float:
        """Accuracy, the mean cost where answers have costs, or the mean squared error."""
        per_weight = credit / self.weight
        if self.costs is not None:
            return 0.0 - per_weight
        return per_weight if isinstance(self.samples.target, ClassTarget) else -per_weight

    def compare(self, credit: float) -> int:
        """1 if a credit is strictly better than the current one, -1 if worse, 0 on a tie."""
        scale = self.weight if isinstance(self.samples.target, ClassTarget) else abs(self.credit)
        if self.costs is not None:
            scale *= max(1.0, float(self.costs.max()))
        difference = credit - self.credit
        return 0 if abs(difference) <= TIE * scale else int(np.sign(difference))

    def _credits(self, rows: RowArray, answers: FloatArray) -> FloatArray:
        target, weights = self.samples.target, self.samples.weights[rows]
        if isinstance(target, ClassTarget):
            labels = labels_of(answers, self.costs)
            if self.costs is not None:
                return -weights * self.costs[target.codes[rows], labels]
            return weights * (labels == target.codes[rows])
        return -weights * ((answers - (target.numbers[rows] - self.origin)) ** 2).sum(axis=1)


def origin_of(root_answer: FloatArray, task: Task) -> FloatArray:
    """What answers are relative to: 0 for class shares, the root's mean for numbers."""
    return np.zeros_like(root_answer) if task is Task.CLASSIFICATION else root_answer


def labels_of(answers: FloatArray, costs: FloatArray | None = None) -> RowArray:
    """The class of largest share in each row (with costs, that of least expected cost), ties to the earlier one."""
    if costs is not None:
        return cheapest_classes(answers, costs)
    by_class = np.ascontiguousarray(answers.T)  # class by class: for few classes and many rows far faster than by row
    limit, labels = by_class.max(axis=0) - TIE, np.zeros(len(answers), dtype=np.int64)
    is_later = np.ones(len(answers), dtype=np.bool_)
    for shares in by_class[:-1]:
        is_later &= shares < limit
        labels += is_later
    return labels
