"""The trees of a committee: the arrays of `core.tree.tree`, with the nodes of all trees one after the other.

A forest may have the nodes of a hundred trees, so fields that follow from others are not kept, and the rest is stored
in the narrowest type that holds every value: class weights that are small counts take a byte each. `tree(number)` is
one of the trees as it was grown, bit for bit.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.config.options import CriterionKind
from core.growth.best_split import IMPURITIES
from core.missing.surrogates import Surrogate
from core.splits.split import Cuts, Term
from core.tables.target import Task
from core.tree.tree import Tree, parents_of

AnyArray = NDArray[Any]

# The fields of a tree with an entry, or a row, for each node, and their types there.
NODE_TYPES: Mapping[str, type[np.generic]] = {
    "size": np.int32,
    "column": np.int32,
    "kind": np.int8,
    "threshold": np.float64,
    "share": np.float64,
    "weight": np.float64,
    "impurity": np.float64,
    "gain": np.float64,
    "score": np.float64,
    "values": np.float64,
    "variances": np.float64,
}
NARROW = (np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32)
FIRST = 256  # values checked first: if some value is no integer, one of these usually is not
MEMBERS_KEPT = 4  # the number of complete trees cached


@dataclass(frozen=True)
class Forest:
    """Trees of one task, of one kind or of several that take turns.

    start       by tree: its first node; then how many nodes there are
    member      by tree: of which kind it is; `criteria` and `cuts` are those of the kinds
    columns     by name of a field of `Tree`, for all nodes; what follows from others is not there
    n_codes     by node: how many categories have a branch; `branch_of` are those branches, one after the other
    surrogates  by node, as in a tree, and so are `terms`; both empty where no tree has any
    """

    task: Task
    start: RowArray
    member: AnyArray
    criteria: tuple[CriterionKind, ...]
    columns: Mapping[str, AnyArray]
    n_codes: AnyArray
    branch_of: AnyArray
    cuts: tuple[Cuts, ...]
    costs: FloatArray | None = None
    surrogates: tuple[tuple[Surrogate, ...], ...] = ()
    terms: tuple[tuple[Term, ...], ...] = ()
    tree: Callable[[int], Tree] = field(init=False, repr=False, compare=False)  # a member as it was grown

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", lru_cache(maxsize=MEMBERS_KEPT)(self._read))

    def __len__(self) -> int:
        return len(self.member)

    @property
    def n_nodes(self) -> int:
        """The number of nodes of all trees."""
        return int(self.start[-1])

    @cached_property
    def code_start(self) -> RowArray:
        """By node, where its categories begin in `branch_of`; then how many there are."""
        return np.append(0, np.cumsum(self.n_codes, dtype=np.int64))

    def _read(self, number: int) -> Tree:
        nodes = slice(int(self.start[number]), int(self.start[number + 1]))
        kind = int(self.member[number])
        codes = self.code_start[nodes.start : nodes.stop + 1]
        here = {name: widened(values[nodes], NODE_TYPES[name]) for name, values in self.columns.items()}
        return Tree(
            task=self.task,
            **with_derived_fields(here, self.criteria[kind]),
            branch_start=codes - codes[0],
            branch_of=widened(self.branch_of[codes[0] : codes[-1]], np.int32),
            cuts=self.cuts[kind],
            costs=self.costs,
            surrogates=self.surrogates[nodes],
            terms=self.terms[nodes],
        )


def without_derived_fields(every: dict[str, AnyArray], task: Task, criterion: CriterionKind) -> dict[str, AnyArray]:
    """The fields of a tree's nodes without those that `with_derived_fields` computes again to the last bit."""
    kept = dict(every)
    if is_same(every["score"], every["gain"]):
        del kept["score"]
    if task is Task.CLASSIFICATION:
        if is_same(every["weight"], weights_of(every["values"])):
            del kept["weight"]
        if is_same(every["impurity"], impurity_of(every["values"], criterion)):
            del kept["impurity"]
    if is_same(every["share"], shares_of(every["size"], every["weight"])):
        del kept["share"]
    return kept


def with_derived_fields(here: dict[str, AnyArray], criterion: CriterionKind) -> dict[str, AnyArray]:
    """All fields of a tree's nodes, from those that were kept."""
    found = dict(here)
    found.setdefault("score", found["gain"])
    if "weight" not in found:
        found["weight"] = weights_of(found["values"])
    if "impurity" not in found:
        found["impurity"] = impurity_of(found["values"], criterion)
    if "share" not in found:
        found["share"] = shares_of(found["size"], found["weight"])
    return found


def weights_of(class_weights: FloatArray) -> FloatArray:
    """The weight of each node where it is the sum of its classes' to the last bit, as it is for counts of rows."""
    return class_weights.sum(axis=1)


def impurity_of(class_weights: FloatArray, criterion: CriterionKind) -> FloatArray:
    """The impurity of each node by the criterion; 0 where there are no rows."""
    return np.where(class_weights.any(axis=1), IMPURITIES[criterion](class_weights), 0.0)


def shares_of(size: AnyArray, weight: FloatArray) -> FloatArray:
    """Each node's part of its parent's weight, where all of the parent's rows are known to its test."""
    with np.errstate(invalid="ignore", divide="ignore"):  # 0 / 0, compared by its bits
        return np.append(1.0, weight[1:] / weight[parents_of(size)[1:]])


def is_same(values: FloatArray, others: FloatArray) -> bool:
    """Whether all values are equal to the last bit."""
    return np.array_equal(values.view(np.int64), others.view(np.int64))


def narrowed(values: AnyArray) -> AnyArray:
    """The numbers in the narrowest integer type that holds all of them, if one does."""
    if values.dtype.kind == "f" and not (are_whole(values[:FIRST]) and are_whole(values)):
        return values
    low, high = (values.min(), values.max()) if values.size else (0, 0)
    for narrow in NARROW:
        if np.iinfo(narrow).min <= low and high <= np.iinfo(narrow).max:
            return values.astype(narrow, copy=False)
    return values


def are_whole(values: FloatArray) -> bool:
    """Whether all are integers, without a negative zero."""
    return bool(((values == np.floor(values)) & ~is_negative_zero(values)).all())


def is_negative_zero(values: FloatArray) -> BoolArray:
    """Which numbers are negative zeros, which integers do not have."""
    return (values == 0) & np.signbit(values)


def widened(values: AnyArray, wanted: type[np.generic]) -> AnyArray:
    """The numbers in the type of a tree's field."""
    return values.astype(wanted)
