"""Answers to a table of records, column by column: the predictions of a model as of a step, and their certainty.

A record ends in one leaf, or in several with weights that sum to 1. Its answer is the weighted sum over those ends; the
leaves it could reach once the missing values are known bound what the answer could become.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.ties import TIE
from core.growth.held_out import labels_of
from core.prediction.bounds import opened
from core.prediction.predictor import Predictor
from core.prediction.routing import Ends, MissingPolicy
from core.records.records import EncodedRecords
from core.tables.schema import Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.tree import Tree


@dataclass(frozen=True)
class Answers:
    """The answers to records, in their order; each column is computed when first used.

    `ends` are the leaves that answer, with their weights, and `possible` those that could once all values are known.
    """

    tree: Tree
    ends: Ends
    possible: Ends

    def __len__(self) -> int:
        return len(self.ends)

    def take(self, rows: RowArray) -> "Answers":
        """The answers to these records, in this order."""
        return Answers(self.tree, self.ends.take(rows), self.possible.take(rows))

    @cached_property
    def whole(self) -> RowArray:
        """`[row]`: the one leaf that answers a record for all values of what is missing; -1 if there are several.

        Everything else in the answer is then that of the leaf.
        """
        if self.ends is self.possible and len(self.ends.nodes) == len(self):
            return self.ends.nodes
        first, only = self.ends.starts[:-1], self.possible.starts[:-1]
        is_whole = (np.diff(self.ends.starts) == 1) & (np.diff(self.possible.starts) == 1)
        leaves = self.ends.nodes[np.where(is_whole, first, 0)]
        is_whole &= (leaves == self.possible.nodes[only]) & (self.ends.weights[np.where(is_whole, first, 0)] == 1.0)
        return np.where(is_whole, leaves, -1)

    @cached_property
    def values(self) -> FloatArray:
        """`[row, output]`: class probabilities, or the mean of each target."""
        return self.ends.total(self.tree.answers[self.ends.nodes])

    @cached_property
    def labels(self) -> RowArray:
        """`[row]`: the class, of answers that have one."""
        return labels_of(self.values, self.tree.costs)

    @cached_property
    def spreads(self) -> FloatArray:
        """`[row, output]`: the standard deviation of the training targets behind the answer."""
        nodes = self.ends.nodes
        around = (self.tree.answers[nodes] - self.values[self.ends.rows]) ** 2
        return np.sqrt(self.ends.total(self.tree.variances[self.tree.answering[nodes]] + around))

    @cached_property
    def counts(self) -> FloatArray:
        """`[row]`: the training weight behind the answer."""
        return self.ends.total(self.tree.weight[self.tree.answering[self.ends.nodes], None])[:, 0]

    @cached_property
    def bounds(self) -> FloatArray:
        """`[row, output, (lowest, highest)]`: what a value can become once the missing values are known."""
        answers, starts = self.tree.answers[self.possible.nodes], self.possible.starts[:-1]
        return np.stack([np.minimum.reduceat(answers, starts), np.maximum.reduceat(answers, starts)], axis=2)

    @cached_property
    def is_decided(self) -> BoolArray:
        """`[row]`: whether every possible leaf gives the label of this answer; for numbers, the answer itself.

        Where a policy answers from an inner node, or from a leaf that no completion reaches, all possible leaves may
        agree on something else.
        """
        if self.tree.task is not Task.CLASSIFICATION:
            lowest, highest = self.bounds[:, :, 0], self.bounds[:, :, 1]
            # A weighted sum of equal numbers is that number up to rounding.
            is_same = np.abs(self.values - lowest) <= TIE * np.abs(lowest)
            return ((lowest == highest) & is_same).all(axis=1)
        rows = self.possible.rows
        is_other = self.tree.labels[self.possible.nodes] != self.labels[rows]
        return np.bincount(rows, is_other, minlength=len(self)) == 0


def answers_of_leaves(tree: Tree, leaves: RowArray) -> Answers:
    """The answer of each of these leaves by itself."""
    ends = Ends(np.arange(len(leaves) + 1), leaves, np.ones(len(leaves)))
    return Answers(tree, ends, ends)


class Answering:
    """Answers tables with a model as of a step."""

    def __init__(self, predictor: Predictor, attributes: Schema) -> None:
        self.predictor, self.attributes = predictor, attributes

    def answers(
        self, records: EncodedRecords, policy: MissingPolicy, *, kernels: bool, taken: Table | None = None
    ) -> Answers:
        """The answers to records, and what they could become, which is found from the records as sent.

        `taken` is the table that the tree predicts from, where missing values were filled.
        """
        ends = self.predictor.ends(taken or records.table, policy, kernels=kernels)
        if records.are_complete:
            return Answers(self.predictor.view.tree, ends, ends)
        possible = self._possible.ends(records.table, MissingPolicy.WEIGHTED, kernels=kernels)
        return Answers(self.predictor.view.tree, ends, possible)

    @cached_property
    def _possible(self) -> Predictor:
        """A predictor whose ends are `bounds.possible_leaves`."""
        return Predictor(opened(self.predictor.view, self.attributes))
