"""The nodes of a tree of cuts, assembled by a kernel: as a `Tree`, or as a forest keeps them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.compiler.mapped_arrays import in_pages
from core.criteria.objective import Objective
from core.growth.kernels.inputs.coding import NumberColumns
from core.growth.kernels.node import finish as kernels
from core.growth.kernels.node.finish import what_follows
from core.growth.kernels.node.kept import node_buffers
from core.growth.samples import Samples
from core.splits.split import SplitKind
from core.tables.target import ClassTarget, Task
from core.tree.finished_nodes import FinishedNodes
from core.tree.tree import LEAF, SPLIT_KINDS, Tree


def finished_nodes(samples: Samples, columns: NumberColumns, criterion: int, nodes: Any, apart: Any) -> FinishedNodes:
    """What a forest keeps of the kernels' nodes; `apart` holds those of small subtrees."""
    whole, parts, numbers = finished_by_kernels(samples, columns, criterion, nodes, apart, kept_in=in_pages)
    is_sum, is_part = what_follows(whole, parts, numbers)
    size, column = whole.T
    threshold, gain, share, weight, impurity, variance = parts
    task, kept = samples.target.task, {"size": size, "column": column, "kind": kind_of(column), "threshold": threshold}
    if not is_part:
        kept["share"] = share
    if task is Task.REGRESSION:
        kept |= {"weight": weight, "impurity": impurity}
    elif not is_sum:
        kept["weight"] = weight
    variances = variance[:, None] if task is Task.REGRESSION else np.empty((len(size), 0))
    return FinishedNodes(task, kept | {"gain": gain, "values": numbers, "variances": variances})


def finished_tree(samples: Samples, columns: NumberColumns, objective: Objective, criterion: int, nodes: Any) -> Tree:
    """The tree of the kernels' nodes, where none are stored apart."""
    apart = node_buffers(0, nodes[1].shape[1])
    whole, parts, numbers = finished_by_kernels(samples, columns, criterion, nodes, apart)
    threshold, gain, share, weight, impurity, variance = parts
    size, column = np.ascontiguousarray(whole.T)
    is_regression = objective.task is Task.REGRESSION
    return Tree(
        task=objective.task,
        size=size,
        column=column,
        kind=kind_of(column),
        threshold=threshold,
        branch_start=np.zeros(len(size) + 1, dtype=np.int64),
        branch_of=np.empty(0, dtype=np.int32),
        share=share,
        weight=weight,
        impurity=impurity if is_regression else np.where(weight > 0, objective.impurity(numbers), 0.0),
        gain=gain,
        score=gain.copy(),
        values=numbers,
        variances=variance[:, None] if is_regression else np.empty((len(size), 0)),
        cuts=samples.cuts,
    )


def finished_by_kernels(
    samples: Samples,
    columns: NumberColumns,
    criterion: int,
    nodes: Any,
    apart: Any,
    *,
    kept_in: Callable[[Any], FloatArray] = np.empty,
) -> Any:
    """The nodes depth first: `whole`, `parts` and `numbers` of `growth.kernels.node.finish.finish_nodes`.

    `kept_in` allocates the arrays that a forest keeps of every tree.
    """
    (links, figures, sums, _), (splits, results), target = nodes, apart, samples.target
    n_classes = len(target.classes) if isinstance(target, ClassTarget) else 1
    n = int(kernels.count_nodes(links))
    n_errors = n if target.task is Task.REGRESSION else 0
    whole, numbers = np.empty((n, 2), dtype=np.int32), kept_in((n, n_classes))
    parts = (kept_in(n), kept_in(n), np.empty(n), np.empty(n), kept_in(n_errors), kept_in(n_errors))
    kernels.finish_nodes(
        links,
        figures,
        sums,
        splits,
        results,
        criterion,
        n_classes,
        columns.addresses,
        len(samples),
        whole,
        parts,
        numbers,
    )
    return whole, parts, numbers


def kind_of(column: Any) -> Any:
    """The kind of every node's split: a threshold, or `LEAF` in a leaf."""
    return np.where(column >= 0, SPLIT_KINDS.index(SplitKind.THRESHOLD), LEAF).astype(np.int8)
