"""A trained model: all that is needed to read it, predict with it and say how it was pruned."""

from dataclasses import dataclass

import numpy as np

from core.config import MissingStrategy
from core.missing.filling import Fills, filled
from core.pruning.history import History
from core.schema import Schema
from core.table import Table
from core.target import Task
from core.tree import Tree, TreeView

Range = tuple[float, float] | None


@dataclass(frozen=True)
class Model:
    """`attributes` in the order they were searched; `ranges` are the smallest and largest known training values.

    `fills` are what missing values of records are filled with when the model was trained on filled rows.
    """

    task: Task
    target: str
    classes: tuple[str, ...]
    attributes: Schema
    ranges: tuple[Range, ...]
    history: History
    missing: MissingStrategy = MissingStrategy.WEIGHTED
    fills: Fills = ()

    @property
    def tree(self) -> Tree:
        return self.history.tree

    def as_trained(self, records: Table) -> Table:
        """The records as the tree takes them unless told otherwise: filled, if its training rows were."""
        return filled(records, self.fills) if self.missing.fills_records else records

    def cuts_of(self, column: int) -> tuple[float, ...] | None:
        """Where an attribute was cut before growth, ascending; None when it was not."""
        return self.tree.cuts[column] if self.tree.cuts else None

    def view(self, step: int) -> TreeView:
        """The tree as of a step."""
        return self.history.view(step)


def training_ranges(attributes: Table) -> tuple[Range, ...]:
    """The smallest and largest known value of each numeric attribute; None for others and where none is known."""
    ranges: list[Range] = []
    for attribute, values in zip(attributes.schema, attributes.columns, strict=True):
        is_known = attribute.is_numeric and not np.isnan(values).all()
        ranges.append((float(np.nanmin(values)), float(np.nanmax(values))) if is_known else None)
    return tuple(ranges)
