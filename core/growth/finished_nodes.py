"""The nodes of a tree of cuts as a forest keeps them, without the tree in between."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.growth.coding import as_numbers
from core.growth.samples import Samples
from core.own_pages import in_pages
from core.splits.split import SplitKind
from core.table import FloatArray
from core.target import ClassTarget, Task
from core.tree import LEAF, SPLIT_KINDS


@dataclass(frozen=True)
class FinishedNodes:
    """The fields of a `Tree`, by name, but for those that follow from the others to the last bit."""

    task: Task
    columns: dict[str, Any]

    def __len__(self) -> int:
        return len(self.columns["size"])


@dataclass(frozen=True)
class NumberColumns:
    """All columns as float64 that kernels read where they are; the arrays have to outlive the addresses."""

    values: list[FloatArray]

    @property
    def addresses(self) -> Any:
        return np.array([each.ctypes.data for each in self.values], dtype=np.uint64)


def number_columns(samples: Samples) -> NumberColumns:
    """The columns of samples, all of which have an order."""
    return NumberColumns([as_numbers(samples, column) for column in range(len(samples.attributes.schema))])


def finished_nodes(samples: Samples, columns: NumberColumns, criterion: int, nodes: Any, apart: Any) -> FinishedNodes:
    """What a forest keeps of the kernels' nodes, and of those that they keep apart."""
    from core.growth import finishing_kernels as kernels

    (links, figures, sums, _), (marks, results), target = nodes, apart, samples.target
    n_classes = len(target.classes) if isinstance(target, ClassTarget) else 1
    n = int(kernels.count_nodes(links))
    whole, numbers = np.empty((n, 2), dtype=np.int32), in_pages((n, n_classes))
    n_errors = n if target.task is Task.REGRESSION else 0
    parts = (in_pages(n), in_pages(n), np.empty(n), np.empty(n), in_pages(n_errors), in_pages(n_errors))
    kernels.finish_nodes(
        links,
        figures,
        sums,
        marks,
        results,
        criterion,
        n_classes,
        columns.addresses,
        len(samples),
        whole,
        parts,
        numbers,
    )
    is_sum, is_part = kernels.what_follows(whole, parts, numbers)
    size, column = whole.T
    threshold, gain, share, weight, impurity, variance = parts
    kept = {"size": size, "column": column, "kind": kind_of(column), "threshold": threshold}
    if not is_part:
        kept["share"] = share
    if target.task is Task.REGRESSION:
        kept |= {"weight": weight, "impurity": impurity}
    elif not is_sum:
        kept["weight"] = weight
    variances = variance[:, None] if target.task is Task.REGRESSION else np.empty((n, 0))
    return FinishedNodes(target.task, kept | {"gain": gain, "values": numbers, "variances": variances})


def kind_of(column: Any) -> Any:
    """The kind of the split of every node: all are cuts."""
    return np.where(column >= 0, SPLIT_KINDS.index(SplitKind.THRESHOLD), LEAF).astype(np.int8)
