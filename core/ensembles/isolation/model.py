"""A trained isolation forest: all that is needed to score rows and to read each of its trees."""

from dataclasses import dataclass

from core.config.options import MissingStrategy
from core.ensembles.isolation.isolation import IsolationForest
from core.missing.filling import Fills
from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.history import Ledger
from core.tree.model import Model, Range, Trained

PATH_LENGTH = "path_length"  # what each of the trees answers


@dataclass(frozen=True)
class IsolationModel(Trained):
    """An isolation forest and its training; fields are as in `Model`, but no column is predicted."""

    attributes: Schema
    ranges: tuple[Range, ...]
    isolation: IsolationForest

    task = Task.ANOMALY_DETECTION
    target: str | tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    missing: MissingStrategy = MissingStrategy.WEIGHTED
    fills: Fills = ()

    def __len__(self) -> int:
        return len(self.isolation)

    def member(self, number: int) -> Model:
        """One of the trees as a model of its own, which answers with the path length of a record."""
        return Model(
            task=Task.REGRESSION,
            target=PATH_LENGTH,
            classes=(),
            attributes=self.attributes,
            ranges=self.ranges,
            history=Ledger(self.isolation.forest.tree(number)).finished(),
        )
