"""Niwaki's own engine, called as the service calls it: compiled kernels on one thread unless told otherwise."""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.contestants import Contestant
from bench.tables import CodeArray, Data, FloatArray
from core.config.options import Algorithm
from core.config.presets import resolve
from core.engine.compilable import can_grow_by_gains, can_grow_oblique, can_grow_quest
from core.engine.engine import Engine, grow_with
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.prediction.routing import visits
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Task
from core.tree.tree import Tree, full_view


@dataclass(frozen=True)
class Ours(Contestant):
    """CART with Gini or squared error, or another criterion and way to split categoricals, by their names in JSON."""

    name = "Niwaki"

    criterion: str | None = None
    categorical: str = "two_groups"
    min_category_weight: float = 0.0
    threads: int = 1

    def algorithm(self, task: Task) -> Algorithm:
        """The configuration of the tree."""
        overrides: dict[str, Any] = {
            "categorical": self.categorical,
            "min_category_weight": self.min_category_weight,
            "stopping": {"max_depth": self.depth, "min_samples_leaf": self.min_leaf},
        }
        if self.criterion is not None:
            overrides["criterion"] = {"kind": self.criterion}
        return resolve("cart", overrides, task)

    def why_not(self, prepared: Samples) -> str:
        if not can_grow_by_gains(prepared, self.algorithm(prepared.target.task)):
            return "falls back to the definition"
        if self.threads > 1 and not takes_threads():
            return "cannot be asked for threads"
        return ""

    def prepare(self, data: Data) -> Samples:
        return samples_of(data)

    def fit(self, prepared: Samples) -> Tree:
        options: dict[str, Any] = {"threads": self.threads} if takes_threads() else {}
        algorithm = self.algorithm(prepared.target.task)
        return grow_with(Engine.KERNELS, prepared, algorithm, validation=None, seed=0, **options)[0]

    def n_nodes(self, model: Tree) -> int:
        return len(model)

    def predict(self, model: Tree, data: Data) -> CodeArray | FloatArray:
        answers = Predictor(full_view(model)).batch(table_of(data), kernels=True)
        return answers.argmax(axis=1) if data.n_classes else answers[:, 0]


@dataclass(frozen=True)
class OurQuest(Ours):
    """QUEST with the same limits."""

    def algorithm(self, task: Task) -> Algorithm:
        stopping = {"max_depth": self.depth, "min_samples_split": 2, "min_samples_leaf": self.min_leaf}
        return resolve("quest", {"stopping": stopping}, task)

    def why_not(self, prepared: Samples) -> str:
        is_compiled = can_grow_quest(self.algorithm(prepared.target.task))
        return "" if is_compiled else "falls back to the definition"


@dataclass(frozen=True)
class OurMultivariate(Ours):
    """Tests on weighted sums too, by OC1, with the same limits."""

    def algorithm(self, task: Task) -> Algorithm:
        stopping = {"max_depth": self.depth, "min_samples_leaf": self.min_leaf}
        return resolve("multivariate", {"stopping": stopping}, task)

    def why_not(self, prepared: Samples) -> str:
        is_compiled = can_grow_oblique(prepared, self.algorithm(prepared.target.task))
        return "" if is_compiled else "falls back to the definition"


def takes_threads() -> bool:
    """Whether the engine can be told how many threads to use."""
    return "threads" in inspect.signature(grow_with).parameters


def samples_of(data: Data) -> Samples:
    """The rows to learn from, as the engine takes them."""
    if data.n_classes:
        names = tuple(str(code) for code in range(data.n_classes))
        target: ClassTarget | NumberTarget = ClassTarget(names, data.answers.astype(np.int32))
    else:
        target = NumberTarget(data.answers.astype(np.float64)[:, None])
    return Samples(table_of(data), target, np.ones(len(data)) if data.weights is None else data.weights)


def table_of(data: Data) -> Table:
    """The attributes, column by column."""
    numbers = tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(data.numbers.shape[1]))
    coded = tuple(
        Attribute(f"c{column}", Kind.CATEGORICAL, tuple(str(code) for code in range(n)))
        for column, n in enumerate(data.n_categories)
    )
    columns = [np.ascontiguousarray(values) for values in (*data.numbers.T, *data.codes.T)]
    return Table(Schema(numbers + coded), tuple(columns))


def leaves_reached(tree: Tree, table: Table) -> int:
    """How many leaves all rows together end in; more than one for a row with missing values."""
    return sum(int(visit.ends.sum()) for visit in visits(full_view(tree), table))
