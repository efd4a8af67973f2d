"""The stored form of a forest, and how the rest is restored to the last bit.

The number of children is stored for every node; tests and their figures for inner nodes; and class weights for leaves,
since a node's are the sum of its leaves' if all are integers. Columns for which this does not hold are stored for every
node: the length of an array tells which case applies.
"""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.config.options import CriterionKind
from core.criteria.gain import impurity_decrease
from core.ensembles.forest import NODE_TYPES, AnyArray, Forest, is_same, narrowed
from core.ensembles.shape import Shape
from core.growth.best_split import IMPURITIES
from core.splits.split import Cuts, SplitKind
from core.tables.schema import Schema
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS

# The fields that leaves do not have, and their value in leaves.
OF_INNER: Mapping[str, float] = {"column": LEAF, "kind": LEAF, "threshold": np.nan, "gain": np.nan, "score": np.nan}
WHOLE_NUMBERS = "iu"


def forest_arrays(forest: Forest) -> dict[str, AnyArray]:
    """The arrays to store."""
    size = forest.columns["size"].astype(np.int64)
    is_leaf = size == 1
    arrays: dict[str, AnyArray] = {
        "start": forest.start.astype(np.int64),
        "member": forest.member,
        "n_children": narrowed(Shape(forest.start, size).n_children),
    }
    for name, values in forest.columns.items():
        if name in OF_INNER:
            if name != "gain" or not follows_from_values(forest, values):
                arrays[name] = without(values, is_leaf, OF_INNER[name])
        elif name == "values":
            arrays[name] = without_sums(values, size)
        elif name != "size":
            arrays[name] = values
    arrays["n_codes"] = without(forest.n_codes, is_leaf, 0)
    arrays["branch_of"] = forest.branch_of
    return arrays


def read_forest(
    arrays: Mapping[str, AnyArray], criteria: tuple[CriterionKind, ...], cuts: tuple[Cuts, ...], schema: Schema
) -> tuple[RowArray, dict[str, AnyArray], AnyArray]:
    """`start`, `columns` and `n_codes` of the stored forest; ValueError if the arrays are invalid."""
    start, n_children = arrays["start"].astype(np.int64), arrays["n_children"].astype(np.int64)
    size = sizes_of(n_children, start)
    is_leaf, columns = size == 1, {"size": narrowed(size)}
    for name in NODE_TYPES:
        if name in OF_INNER and name in arrays:
            columns[name] = narrowed(with_leaves(arrays[name], is_leaf, OF_INNER[name]))
        elif name == "values":
            columns[name] = narrowed(with_sums(arrays[name], size))
        elif name in arrays and name != "size":
            columns[name] = arrays[name]
    n_codes, member = with_leaves(arrays["n_codes"], is_leaf, 0), arrays["member"]
    if len(member) != len(start) - 1 or not ((member >= 0) & (member < len(criteria))).all():
        raise ValueError("some tree is of a kind that there is not")
    if any(len(values) != len(n_children) for values in columns.values()):
        raise ValueError("some figure is not there for every node")
    if n_codes.sum() != len(arrays["branch_of"]) or (arrays["branch_of"] >= np.repeat(n_children, n_codes)).any():
        raise ValueError("some category has a branch that there is not")
    refuse_strange_tests(columns, n_children, n_codes, np.repeat(member, np.diff(start)), cuts, schema)
    if "gain" not in columns:
        columns["gain"] = gains_of(columns["values"], size, member, start, criteria)
    return start, columns, n_codes


def refuse_strange_tests(
    columns: Mapping[str, AnyArray],
    n_children: RowArray,
    n_codes: AnyArray,
    kind_of_tree: AnyArray,
    cuts: tuple[Cuts, ...],
    schema: Schema,
) -> None:
    """ValueError if a test has an unknown column or kind, or some value would take a branch that does not exist."""
    column, kind = columns["column"], columns["kind"]
    if ((column < 0) != (n_children == 0)).any() or ((kind < 0) != (n_children == 0)).any():
        raise ValueError("some node is neither a leaf nor a test")
    if (column >= len(schema)).any() or (kind >= len(SPLIT_KINDS)).any():
        raise ValueError("some node asks for what there is not")
    inner = np.flatnonzero(n_children)
    n_categories = np.array([len(attribute.categories) for attribute in schema])[column[inner]]
    n_cuts = np.array([[len(each or ()) for each in of_kind or (None,) * len(schema)] for of_kind in cuts])
    n_intervals = n_cuts[kind_of_tree[inner], column[inner]] + 1
    for code in np.unique(kind[inner]).tolist():
        found, is_here = SPLIT_KINDS[code], kind[inner] == code
        nodes, n_values = inner[is_here], (n_intervals if found.has_cuts else n_categories)[is_here]
        if found in (SplitKind.THRESHOLD, SplitKind.LINEAR):
            is_strange = (n_children[nodes] != 2) | ~np.isfinite(columns["threshold"][nodes])
        else:
            n_told = n_children[nodes] if found is SplitKind.INTERVALS else n_codes[nodes]
            is_strange = (n_values < 1) | (n_told < n_values)
        if is_strange.any():
            raise ValueError("some value would take a branch that there is not")


def sizes_of(n_children: AnyArray, start: RowArray) -> RowArray:
    """The number of nodes of each subtree, its root included; ValueError if the trees are not complete."""
    if len(start) < 2 or start[0] != 0 or start[-1] != len(n_children) or (np.diff(start) < 1).any():
        raise ValueError("some tree has no nodes")
    if (n_children < 0).any():
        raise ValueError("some node has fewer children than none")
    return np.concatenate([sizes_of_tree(n_children[first:end]) for first, end in pairwise(start.tolist())])


def sizes_of_tree(n_children: AnyArray) -> RowArray:
    """The number of nodes of each subtree of one tree; ValueError if the tree is not complete.

    Nodes are stored depth first. Each node fills one open slot and opens one for each child, and a subtree ends where
    there is one open slot fewer than before it began. That number falls by 1 at most, so the end is the next node that
    has exactly this number after it.
    """
    nodes, n_open = np.arange(len(n_children)), np.cumsum(n_children - 1) + 1
    if n_open[-1] != 0 or (n_open[:-1] < 1).any():
        raise ValueError("some tree is not whole")
    order = np.argsort(n_open, kind="stable")  # by that number, then by node
    keys, before = n_open[order] * len(nodes) + order, n_open - n_children + 1
    ends = order[np.searchsorted(keys, (before - 1) * len(nodes) + nodes)]
    return ends + 1 - nodes


def without(values: AnyArray, is_leaf: BoolArray, in_leaves: float) -> AnyArray:
    """The values of inner nodes, if all leaves have the value `in_leaves`; else all values."""
    of_leaves = values[is_leaf]
    if not is_same_everywhere(of_leaves, in_leaves):
        return values
    return narrowed(values[~is_leaf])


def with_leaves(stored: AnyArray, is_leaf: BoolArray, in_leaves: float) -> AnyArray:
    """The values of all nodes, from those of inner nodes."""
    if len(stored) == len(is_leaf):
        return stored
    kind = np.float64 if stored.dtype.kind == "f" or in_leaves != in_leaves else np.int64
    values = np.full(len(is_leaf), in_leaves, dtype=kind)
    values[~is_leaf] = stored
    return values


def is_same_everywhere(values: AnyArray, number: float) -> bool:
    """Whether all values are this number, to the last bit."""
    if values.dtype.kind != "f":
        return bool((values == number).all())
    return is_same(values.astype(np.float64), np.full(len(values), number))


def without_sums(values: AnyArray, size: RowArray) -> AnyArray:
    """The values of leaves, if all are integers and those of other nodes are the sums of their leaves'; else all."""
    if values.dtype.kind not in WHOLE_NUMBERS:
        return values
    of_leaves = values[size == 1]
    return narrowed(of_leaves) if np.array_equal(with_sums(of_leaves, size), values) else values


def with_sums(stored: AnyArray, size: RowArray) -> AnyArray:
    """The values of all nodes, from those of leaves."""
    if len(stored) == len(size) or stored.dtype.kind not in WHOLE_NUMBERS:
        return stored
    n_before = np.append(0, np.cumsum(size == 1))  # leaves before each node
    so_far = np.concatenate([np.zeros((1, stored.shape[1]), dtype=np.int64), np.cumsum(stored, axis=0, dtype=np.int64)])
    return so_far[n_before[np.arange(len(size)) + size]] - so_far[n_before[:-1]]


def follows_from_values(forest: Forest, gain: AnyArray) -> bool:
    """Whether `gains_of` restores the gains to the last bit."""
    values, size = forest.columns["values"], forest.columns["size"].astype(np.int64)
    if forest.task is not Task.CLASSIFICATION or gain.dtype.kind != "f":
        return False
    if (Shape(forest.start, size).n_children[size > 1] != 2).any():
        return False
    return is_same(gains_of(values, size, forest.member, forest.start, forest.criteria), gain)


def gains_of(
    values: AnyArray, size: RowArray, member: AnyArray, start: RowArray, criteria: tuple[CriterionKind, ...]
) -> FloatArray:
    """The gain of each test, if all have two branches and know all rows; NaN in leaves."""
    inner = np.flatnonzero(size > 1)
    first = inner + 1
    branches = np.stack([values[first], values[first + size[first]]], axis=1).astype(np.float64)
    weights, kinds = branches.sum(axis=2), np.repeat(member, np.diff(start))[inner]
    gains = np.full(len(size), np.nan)
    for kind, criterion in enumerate(criteria):
        of_kind = kinds == kind
        gains[inner[of_kind]] = impurity_decrease(IMPURITIES[criterion], branches[of_kind], weights[of_kind])
    return gains
