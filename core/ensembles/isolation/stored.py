"""An isolation forest as arrays to store, and back; only what does not follow from the rest is stored.

A node's path length follows from its depth and weight, its kind of test from whether it has categories, and a leaf has
no threshold.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.config.options import CriterionKind
from core.ensembles.forest import AnyArray, Forest, narrowed
from core.ensembles.isolation.isolation import IsolationForest, usual_length
from core.splits.split import SplitKind
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS, times_covered

PREFIX = "isolation."


def isolation_header(isolation: IsolationForest) -> dict[str, Any]:
    """The forest's entries in the header, besides its arrays."""
    return {"n_sampled": isolation.n_sampled, "threshold": isolation.threshold}


def isolation_arrays(isolation: IsolationForest) -> dict[str, AnyArray]:
    """The arrays by name; equal forests give equal bytes."""
    forest = isolation.forest
    kept = {name: forest.columns[name] for name in ("size", "column", "weight", "share") if name in forest.columns}
    arrays = {
        "start": narrowed(forest.start),
        **kept,
        "threshold": forest.columns["threshold"][_has_threshold(forest.columns["column"], forest.n_codes)],
        "n_codes": forest.n_codes,
        "branch_of": forest.branch_of,
    }
    return {PREFIX + name: values for name, values in arrays.items()}


def read_isolation(header: Mapping[str, Any], arrays: Mapping[str, AnyArray]) -> IsolationForest:
    """The forest with this header and these arrays; other arrays among them are ignored."""
    found = {name.removeprefix(PREFIX): values for name, values in arrays.items() if name.startswith(PREFIX)}
    column, n_codes, start = found["column"], found["n_codes"], found["start"].astype(np.int64)
    threshold = np.full(len(column), np.nan)
    has_threshold = _has_threshold(column, n_codes)
    threshold[has_threshold] = found["threshold"]
    kinds = np.where(has_threshold, SPLIT_KINDS.index(SplitKind.THRESHOLD), SPLIT_KINDS.index(SplitKind.GROUPS))
    nothing = np.zeros(len(column), dtype=np.uint8)
    columns = {
        "size": found["size"],
        "column": column,
        "kind": narrowed(np.where(column == LEAF, LEAF, kinds)),
        "threshold": narrowed(threshold),
        "weight": found["weight"],
        "impurity": nothing,
        "gain": narrowed(np.where(column == LEAF, np.nan, 0.0)),
        "values": narrowed(_path_lengths(start, found["size"], found["weight"])[:, None]),
        "variances": nothing[:, None],
    } | ({"share": found["share"]} if "share" in found else {})
    forest = Forest(
        task=Task.REGRESSION,
        start=start,
        member=np.zeros(len(start) - 1, dtype=np.uint8),
        criteria=(CriterionKind.SQUARED_ERROR,),
        columns=columns,
        n_codes=n_codes,
        branch_of=found["branch_of"],
        cuts=((),),
    )
    return IsolationForest(forest, header["n_sampled"], header["threshold"])


def _has_threshold(column: AnyArray, n_codes: AnyArray) -> BoolArray:
    return (column != LEAF) & (n_codes == 0)


def _path_lengths(start: AnyArray, size: AnyArray, weight: AnyArray) -> FloatArray:
    """Depth + c(weight) of every node."""
    trees = np.split(size.astype(np.int32), start[1:-1])
    depths = np.concatenate([times_covered(of_tree, np.arange(len(of_tree))) for of_tree in trees])
    weights, positions = np.unique(weight.astype(np.float64), return_inverse=True)
    return depths + np.array([usual_length(one) for one in weights.tolist()])[positions]
