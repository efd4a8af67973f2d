"""The importance of attributes for a tree: how often they are tested, what they separate, and the loss without them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.randomness import shuffled, stream
from core.evaluation.evaluate import answers_to, as_trained, measure
from core.evaluation.measures import ClassificationMeasures, Measures
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.table import Table
from core.tables.target import Task
from core.tree.model import Model
from core.tree.tree import TreeView


class Measure(StrEnum):
    """The measure whose decrease is computed."""

    ACCURACY = "accuracy"
    MEAN_COST = "mean_cost"  # of answers, if wrong ones have costs; it rises instead
    R2 = "r2"


def measure_of(model: Model) -> Measure:
    """The measure by which a model's answers are judged."""
    if model.task is not Task.CLASSIFICATION:
        return Measure.R2
    return Measure.ACCURACY if model.tree.costs is None else Measure.MEAN_COST


def times_selected(view: TreeView, n_columns: int) -> RowArray:
    """`[column]`: the number of nodes that test the attribute, alone or in a sum."""
    columns, _, _ = _asked(view)
    return np.bincount(columns, minlength=n_columns)


def impurity_decrease(view: TreeView, n_columns: int) -> FloatArray:
    """`[column]`: the attribute's share of the total impurity decrease of the tree.

        N_t H(t) - sum_v N_v H(v)       summed over the nodes t that test the attribute, then scaled to sum to 1

    N is the weight of a node, H its impurity, v its children. Attributes of one sum get equal shares. All are 0 if the
    tree does not decrease impurity. Breiman, Friedman, Olshen and Stone 1984.
    """
    tree, (columns, nodes, parts) = view.tree, _asked(view)
    impurities = tree.weight * tree.impurity
    below = np.flatnonzero(view.is_visible)[1:]
    left_over = np.bincount(tree.parent[below], impurities[below], minlength=len(tree))
    taken = np.maximum(impurities - left_over, 0.0)  # below 0 by rounding only
    by_column: FloatArray = np.bincount(columns, parts * taken[nodes], minlength=n_columns).astype(np.float64)
    total = by_column.sum()
    return by_column / total if total > 0 else by_column


def _asking(view: TreeView) -> RowArray:
    return np.flatnonzero(view.is_visible & ~view.is_leaf)


def _asked(view: TreeView) -> tuple[RowArray, RowArray, FloatArray]:
    """The columns that nodes test, each with its node, and with its share of that node's test."""
    nodes = _asking(view)
    if not view.tree.has_linear_tests:
        return view.tree.column[nodes], nodes, np.ones(len(nodes))
    of_nodes = [view.tree.split(node).columns for node in nodes.tolist()]
    lengths = np.array([len(columns) for columns in of_nodes], dtype=np.int64)
    columns = np.array([column for columns in of_nodes for column in columns], dtype=np.int64)
    return columns, np.repeat(nodes, lengths), 1 / np.repeat(lengths, lengths)


@dataclass(frozen=True, slots=True)
class Fall:
    """By how much a measure falls without the information of an attribute: mean and standard deviation over repeats."""

    mean: float
    spread: float


def falls_when_shuffled(
    model: Model, step: int, samples: Samples, *, repeats: int, seed: int, kernels: bool, watch: Watch = ignore_progress
) -> list[Fall] | None:
    """For each attribute, by how much the measure falls if its values are randomly permuted among the rows.

    The values stay the same, missing ones included; only their order changes, so what the attribute says of a row is
    lost. Breiman 2001. None if there is no measure, because the target of these rows does not vary.
    """
    records, predictor = as_trained(model, samples), Predictor(model.view(step))
    asked = columns_read(predictor.view)
    falls = [Fall(0.0, 0.0)] * len(model.attributes)  # an attribute that is never tested changes nothing

    def measured(table: Table) -> float | None:
        answers = answers_to(predictor, table, kernels=kernels, watch=ignore_progress)
        return worth(measure(model, answers, records))

    whole = measured(records.attributes)
    if whole is None:
        return None
    for column in watched(asked, watch):
        shuffles = (with_shuffled(records.attributes, column, seed, repeat) for repeat in range(repeats))
        falls[column] = fall_from(whole, [measured(table) for table in shuffles])
    return falls


def fall_from(whole: float, after: Sequence[float | None]) -> Fall:
    """The fall from a measure to its values in some repeats."""
    lost = np.array([whole - (left or 0.0) for left in after])
    return Fall(float(lost.mean()), float(lost.std()))


def worth(measures: Measures) -> float | None:
    """The measure as a number of which more is better; None if the target does not vary."""
    if not isinstance(measures, ClassificationMeasures):
        return measures.r2
    return measures.accuracy if measures.mean_cost is None else -measures.mean_cost


def columns_read(view: TreeView) -> list[int]:
    """The columns that can change an answer: those of tests and of surrogates."""
    tree, asking = view.tree, _asking(view)
    columns, _, _ = _asked(view)
    surrogates = {one.split.column for node in asking.tolist() for one in tree.surrogates_of(node)}
    return sorted({*columns.tolist(), *surrogates})


def shuffled_order(n_rows: int, column: int, seed: int, repeat: int) -> RowArray:
    """The row from which each row takes its value of a column; another order for every repeat."""
    return shuffled(np.arange(n_rows), stream(seed, f"permutation {repeat} of column {column}"))


def with_shuffled(table: Table, column: int, seed: int, repeat: int) -> Table:
    """The table with one column in random order."""
    columns = list(table.columns)
    columns[column] = columns[column][shuffled_order(table.n_rows, column, seed, repeat)]
    return Table(table.schema, tuple(columns))
