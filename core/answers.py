"""Answers to a table of records, column by column: what a step of a model says, and how sure it is.

A record ends in one leaf, or in several with weights that sum to 1. Its answer is the weighted sum over those ends;
what it could become once the missing values are known is told by the leaves it can then reach.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.bounds import opened
from core.growth.held_out import labels_of
from core.prediction import Ends, MissingPolicy
from core.predictor import Predictor
from core.records import EncodedRecords
from core.schema import Schema
from core.table import BoolArray, FloatArray, RowArray, Table
from core.target import Task


@dataclass(frozen=True)
class Answers:
    """The answers to records, in their order.

    values      `[row, output]`: class probabilities, or the mean of each target
    labels      `[row]`: the class; None for numbers
    spreads     `[row, output]`: the standard deviation of the training targets behind the answer; None for classes
    counts      `[row]`: the training weight behind the answer
    bounds      `[row, output, (lowest, highest)]`: what a value can become once the missing values are known
    is_decided  `[row]`: whether no value that is missing could change the label, or the means
    ends        the leaves reached, with their weights
    """

    values: FloatArray
    labels: RowArray | None
    spreads: FloatArray | None
    counts: FloatArray
    bounds: FloatArray
    is_decided: BoolArray
    ends: Ends

    def __len__(self) -> int:
        return len(self.values)


class Answering:
    """A step of a model, ready to answer tables."""

    def __init__(self, predictor: Predictor, attributes: Schema) -> None:
        self.predictor, self.attributes = predictor, attributes

    def answers(
        self, records: EncodedRecords, policy: MissingPolicy, *, kernels: bool, taken: Table | None = None
    ) -> Answers:
        """The answers to records, and what they could become: told from the records as sent.

        `taken` is the table as the tree takes it, where missing values were filled.
        """
        tree = self.predictor.view.tree
        ends = self.predictor.ends(taken or records.table, policy, kernels=kernels)
        values = ends.total(tree.answers[ends.nodes])
        possible = self.possible_ends(records, kernels=kernels)
        bounds = _ranges(tree.answers[possible.nodes], possible)
        labels, spreads = None, None
        if tree.task is Task.CLASSIFICATION:
            labels = labels_of(values, tree.costs)
            is_other = tree.labels[possible.nodes] != labels[possible.rows]
            is_decided = np.bincount(possible.rows, is_other, minlength=len(possible)) == 0
        else:
            is_decided = (bounds[:, :, 0] == bounds[:, :, 1]).all(axis=1)
            around = (tree.answers[ends.nodes] - values[ends.rows]) ** 2
            spreads = np.sqrt(ends.total(tree.variances[tree.answering[ends.nodes]] + around))
        counts = ends.total(tree.weight[tree.answering[ends.nodes], None])[:, 0]
        return Answers(values, labels, spreads, counts, bounds, is_decided, ends)

    def possible_ends(self, records: EncodedRecords, *, kernels: bool) -> Ends:
        """`bounds.possible_leaves` of every record; a complete one has one, and asks for no tree of its own."""
        predictor = self.predictor if records.are_complete else self._possible
        return predictor.ends(records.table, MissingPolicy.WEIGHTED, kernels=kernels)

    @cached_property
    def _possible(self) -> Predictor:
        return Predictor(opened(self.predictor.view, self.attributes))


def _ranges(amounts: FloatArray, ends: Ends) -> FloatArray:
    """`[row, :, (lowest, highest)]` of the amounts at the ends of each row; every row has one."""
    lowest, highest = (least.reduceat(amounts, ends.starts[:-1]) for least in (np.minimum, np.maximum))
    return np.stack([lowest, highest], axis=2)
