"""A trained model: all that is needed to read it, to predict with it, and to trace its pruning."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import MissingStrategy
from core.missing.filling import Fills, filled
from core.tables.schema import Schema
from core.tables.table import Table
from core.tables.target import Task
from core.tree.history import History
from core.tree.tree import Tree, TreeView

Range = tuple[float, float] | None


class Trained:
    """The fields that models of one tree and of many have in common."""

    target: str | tuple[str, ...]
    missing: MissingStrategy
    fills: Fills

    @property
    def targets(self) -> tuple[str, ...]:
        """What is predicted: one name, or those of the list."""
        return (self.target,) if isinstance(self.target, str) else self.target

    def as_trained(self, records: Table) -> Table:
        """The records as trees take them by default: with missing values filled, if those of training rows were."""
        return filled(records, self.fills) if self.missing.fills_records else records

    def number_words(self, numbers: Iterable[str]) -> str:
        """Numbers for the targets, in words: `1.5`, or `height = 1.5, width = 2` where the target is a list."""
        if isinstance(self.target, str):
            return next(iter(numbers))
        return ", ".join(f"{name} = {number}" for name, number in zip(self.target, numbers, strict=True))


@dataclass(frozen=True)
class Model(Trained):
    """`attributes` in the order they were searched; `ranges` are the smallest and largest known training values.

    `target` is a list of names where several numbers are predicted at once. `fills` are what missing values of records
    are filled with when the model was trained on filled rows. `data_thresholds` are each node's threshold as C4.5's
    programs report it, where it was kept.
    """

    task: Task
    target: str | tuple[str, ...]
    classes: tuple[str, ...]
    attributes: Schema
    ranges: tuple[Range, ...]
    history: History
    missing: MissingStrategy = MissingStrategy.WEIGHTED
    fills: Fills = ()
    data_thresholds: FloatArray | None = None

    @property
    def tree(self) -> Tree:
        return self.history.tree

    @property
    def costs(self) -> FloatArray | None:
        """`[actual, predicted]` of wrong answers; None when all cost the same."""
        return self.tree.costs

    def cuts_of(self, column: int) -> tuple[float, ...] | None:
        """Where an attribute was cut before growth, ascending; None when it was not."""
        return self.tree.cuts[column] if self.tree.cuts else None

    def with_data_thresholds(self) -> "Model":
        """The model with thresholds lowered to training values, for reports; prediction still uses midpoints."""
        assert self.data_thresholds is not None
        tree = replace(self.tree, threshold=self.data_thresholds)
        return replace(self, history=replace(self.history, tree=tree))

    def view(self, step: int) -> TreeView:
        """The tree as of a step."""
        return self.history.view(step)

    def as_of(self, step: int) -> "Model":
        """The model whose `tree` has the figures of a step; the model itself unless a branch was raised until then."""
        history = self.history.as_of(step)
        return self if history is self.history else replace(self, history=history)


def training_ranges(attributes: Table) -> tuple[Range, ...]:
    """The smallest and largest known value of each numeric attribute; None for others and where none is known."""
    ranges: list[Range] = []
    for attribute, values in zip(attributes.schema, attributes.columns, strict=True):
        is_known = attribute.is_numeric and not np.isnan(values).all()
        ranges.append((float(np.nanmin(values)), float(np.nanmax(values))) if is_known else None)
    return tuple(ranges)
