"""A trained forest: all that is needed to predict with it and to inspect each of its trees."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import MissingStrategy
from core.ensembles.forest import Forest
from core.missing.filling import Fills
from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.history import Ledger
from core.tree.model import Model, Range, Trained


@dataclass(frozen=True)
class ForestModel(Trained):
    """A forest in place of one tree and its pruning; the other fields are as in `Model`.

    `prior` is what one would answer without any tree: the share of each class in the training rows, or the mean of each
    target.
    """

    task: Task
    target: str | tuple[str, ...]
    classes: tuple[str, ...]
    attributes: Schema
    ranges: tuple[Range, ...]
    forest: Forest
    prior: FloatArray
    missing: MissingStrategy = MissingStrategy.WEIGHTED
    fills: Fills = ()

    def __len__(self) -> int:
        return len(self.forest)

    @property
    def costs(self) -> FloatArray | None:
        """`[actual, predicted]` of wrong answers; None when all cost the same."""
        return self.forest.costs

    def member(self, number: int) -> Model:
        """One of the trees as an unpruned model of its own, for all functions that take the model of a tree."""
        return Model(
            task=self.task,
            target=self.target,
            classes=self.classes,
            attributes=self.attributes,
            ranges=self.ranges,
            history=Ledger(self.forest.tree(number)).finished(),
            missing=self.missing,
            fills=self.fills,
        )

    @cached_property
    def median_leaf_weight(self) -> float:
        """The median training weight of the leaves of all trees."""
        weights = [self.forest.tree(number) for number in range(len(self))]
        return float(np.median(np.concatenate([tree.weight[tree.size == 1] for tree in weights])))
