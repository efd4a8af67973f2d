"""Pre-pruning against a validation set: a split is made only if validation accuracy strictly rises."""

from dataclasses import dataclass

import numpy as np

from core.criteria.impurity import shares
from core.growth.held_out import HeldOut, origin_of
from core.growth.node import GrowingNode
from core.growth.samples import Samples
from core.missing.fractional_weights import send_down
from core.missing.surrogates import followed
from core.splits.split import Split
from core.table import FloatArray, RowArray
from core.target import Task

Arrivals = tuple[RowArray, FloatArray]


@dataclass(frozen=True)
class Trial:
    """A split that was tried: what the validation rows earned as things stood, and what with the split made."""

    node: GrowingNode
    is_made: bool
    credit_before: float
    credit_after: float


class ValidationGate:
    """Tries splits in the order of growth, judging each by the whole tree with undecided nodes as leaves."""

    def __init__(
        self, validation: Samples, root: GrowingNode, *, has_surrogates: bool = False, costs: FloatArray | None = None
    ) -> None:
        self.has_surrogates = has_surrogates
        weights, answer = np.ones(len(validation)), answer_of(root, root, validation.target.task)
        origin = origin_of(answer, validation.target.task)
        self.held_out = HeldOut(validation, np.outer(weights, answer - origin), origin, costs)
        self.trials: list[Trial] = []
        self._arrived: dict[GrowingNode, Arrivals] = {root: (validation.rows, weights)}

    def lets_pass(self, node: GrowingNode, split: Split) -> bool:
        """Whether the node's split, whose children stand ready, is to be made; the trial is kept either way."""
        rows, weights = self._arrived.pop(node)
        attributes, shares = self.held_out.samples.attributes, np.array([child.share for child in node.children])
        branch = split.branches_of(attributes.columns, rows)
        if self.has_surrogates:
            branch = followed(attributes, rows, branch, node.surrogates, shares)
        arrivals = send_down(rows, weights, branch, shares)
        change = self._change(node, rows, weights, arrivals)
        credit_before, credit_after = self.held_out.credit, self.held_out.credit_after(rows, change)
        is_made = self.held_out.compare(credit_after) > 0
        if is_made:
            self.held_out.accept(rows, change)
            self._arrived.update(zip(node.children, arrivals, strict=True))
        self.trials.append(Trial(node, is_made, credit_before, credit_after))
        return is_made

    def _change(self, node: GrowingNode, rows: RowArray, weights: FloatArray, arrivals: list[Arrivals]) -> FloatArray:
        """How the rows' answers change when the children answer in the node's place."""
        task, origin = self.held_out.samples.target.task, self.held_out.origin
        change = np.zeros_like(self.held_out.answers)
        change[rows] -= np.outer(weights, answer_of(node, node, task) - origin)
        for child, (child_rows, child_weights) in zip(node.children, arrivals, strict=True):
            change[child_rows] += np.outer(child_weights, answer_of(child, node, task) - origin)
        changed: FloatArray = change[rows]
        return changed


def answer_of(node: GrowingNode, parent: GrowingNode, task: Task) -> FloatArray:
    """What a node answers as a leaf; one that received nothing answers as its parent."""
    values = node.values if node.weight > 0 else parent.values
    return shares(values) if task is Task.CLASSIFICATION else values
