"""The trees of a committee: the arrays of `core.tree`, with the nodes of all trees one after the other.

A forest has as many nodes as a hundred trees, so of each tree only that is kept which does not follow from the rest, in
the narrowest type that holds every value: class weights that are counts of a few rows take a byte each. `tree(number)`
is one of them as it was grown, bit for bit.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.config import CriterionKind
from core.growth.best_split import IMPURITIES
from core.growth.finished_nodes import FinishedNodes
from core.missing.surrogates import Surrogate
from core.own_pages import ask_for_pages, in_pages, moved_to_pages
from core.splits.split import Cuts, Term
from core.table import BoolArray, FloatArray, RowArray
from core.target import Task
from core.tree import Tree, parents_of

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
FIRST = 256  # numbers of many: one that is not whole is mostly among them
MEMBERS_KEPT = 4  # trees in full: those asked for last


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
        """Of all trees."""
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
            **with_what_follows(here, self.criteria[kind]),
            branch_start=codes - codes[0],
            branch_of=widened(self.branch_of[codes[0] : codes[-1]], np.int32),
            cuts=self.cuts[kind],
            costs=self.costs,
            surrogates=self.surrogates[nodes],
            terms=self.terms[nodes],
        )


@dataclass
class MemberPart:
    """A tree as a forest keeps it: the fields of its nodes, without those that follow, each in its narrowest type."""

    task: Task
    columns: dict[str, AnyArray]
    n_codes: AnyArray
    branch_of: AnyArray
    costs: FloatArray | None
    surrogates: tuple[tuple[Surrogate, ...], ...]
    terms: tuple[tuple[Term, ...], ...]

    def __len__(self) -> int:
        return len(self.n_codes)

    def take_codes(self) -> AnyArray:
        """`n_codes`, which are used up."""
        taken, self.n_codes = self.n_codes, self.n_codes[:0].copy()
        return taken

    def column(self, name: str, criterion: CriterionKind) -> AnyArray:
        """A field of all nodes, also one that follows from the others."""
        if name in self.columns:
            return self.columns[name]
        here = {each: widened(values, NODE_TYPES[each]) for each, values in self.columns.items()}
        return with_what_follows(here, criterion)[name]


def part_of_forest(tree: Tree, criterion: CriterionKind) -> MemberPart:
    """What a forest keeps of a tree."""
    kept = without_what_follows({name: getattr(tree, name) for name in NODE_TYPES}, tree.task, criterion)
    return MemberPart(
        task=tree.task,
        columns={name: moved_to_pages(narrowed(values)) for name, values in kept.items()},
        n_codes=moved_to_pages(narrowed(np.diff(tree.branch_start))),
        branch_of=narrowed(tree.branch_of),
        costs=tree.costs,
        surrogates=tree.surrogates,
        terms=tree.terms,
    )


def part_of_nodes(nodes: FinishedNodes) -> MemberPart:
    """What a forest keeps of nodes from which all that follows was left out already; all their splits are cuts."""
    columns = {name: moved_to_pages(narrowed(values)) for name, values in nodes.columns.items()}
    n_codes, branch_of = in_pages(len(nodes), np.uint8), np.empty(0, dtype=np.uint8)
    return MemberPart(nodes.task, columns, n_codes, branch_of, None, (), ())


def forest_of(
    trees: Sequence[Tree], members: Sequence[int], criteria: Sequence[CriterionKind], cuts: Sequence[Cuts]
) -> Forest:
    """These trees side by side; `members` says of which kind each is."""
    parts = [part_of_forest(tree, criteria[member]) for tree, member in zip(trees, members, strict=True)]
    return forest_of_parts(parts, members, criteria, cuts)


def forest_of_parts(
    parts: Sequence[MemberPart], members: Sequence[int], criteria: Sequence[CriterionKind], cuts: Sequence[Cuts]
) -> Forest:
    """The same from what is kept of each tree, which is used up; a field is left out where it follows in all of them.

    Fields that only some trees lack are found again first. Then each is taken out of the trees once it is in the
    forest, so that both together take little more memory than one.
    """
    names, n_nodes = [name for name in NODE_TYPES if any(name in part.columns for part in parts)], list(map(len, parts))
    for part, member in zip(parts, members, strict=True):
        part.columns |= {name: part.column(name, criteria[member]) for name in names if name not in part.columns}
    return Forest(
        task=parts[0].task,
        start=np.cumsum([0, *n_nodes]),
        member=narrowed(np.array(members)),
        criteria=tuple(criteria),
        columns={name: joined([part.columns.pop(name) for part in parts]) for name in names},
        n_codes=joined([part.take_codes() for part in parts]),
        branch_of=joined([part.branch_of for part in parts]),
        cuts=tuple(cuts),
        costs=parts[0].costs,
        surrogates=_of_nodes([part.surrogates for part in parts], n_nodes),
        terms=_of_nodes([part.terms for part in parts], n_nodes),
    )


def without_what_follows(every: dict[str, AnyArray], task: Task, criterion: CriterionKind) -> dict[str, AnyArray]:
    """The fields of a tree's nodes but for those that `with_what_follows` finds again to the last bit."""
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


def with_what_follows(here: dict[str, AnyArray], criterion: CriterionKind) -> dict[str, AnyArray]:
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
    with np.errstate(invalid="ignore", divide="ignore"):  # nothing comes from nothing, and is told apart by its bits
        return np.append(1.0, weight[1:] / weight[parents_of(size)[1:]])


def is_same(values: FloatArray, others: FloatArray) -> bool:
    """Whether all are the same to the last bit."""
    return np.array_equal(values.view(np.int64), others.view(np.int64))


def joined(parts: list[AnyArray]) -> AnyArray:
    """Narrowed numbers one after the other, narrowed: where some are not whole, there is nothing more to narrow.

    The parts are used up one by one, and the memory of each is given back before the next is copied.
    """
    kind, end = np.result_type(*parts), sum(map(len, parts))
    every = in_pages((end, *parts[0].shape[1:]), kind)
    while parts:
        part = parts.pop()
        ask_for_pages(every, end - len(part), end)
        every[end - len(part) : end] = part
        end -= len(part)
    return every if kind.kind == "f" else narrowed(every)


def narrowed(values: AnyArray) -> AnyArray:
    """The same numbers in the narrowest type of whole numbers that holds all of them, if one does."""
    if values.dtype.kind == "f" and not (are_whole(values[:FIRST]) and are_whole(values)):
        return values
    low, high = (values.min(), values.max()) if values.size else (0, 0)
    for narrow in NARROW:
        if np.iinfo(narrow).min <= low and high <= np.iinfo(narrow).max:
            return values.astype(narrow, copy=False)
    return values


def are_whole(values: FloatArray) -> bool:
    """Whether all are whole numbers, without a sign where they are 0."""
    return bool(((values == np.floor(values)) & ~is_negative_zero(values)).all())


def is_negative_zero(values: FloatArray) -> BoolArray:
    """Which numbers are 0 with a sign, which whole numbers do not have."""
    return (values == 0) & np.signbit(values)


def widened(values: AnyArray, wanted: type[np.generic]) -> AnyArray:
    """The same numbers in the type of a tree's field."""
    return values.astype(wanted)


def _of_nodes(of_trees: list[tuple[Any, ...]], n_nodes: list[int]) -> tuple[Any, ...]:
    """What each node of all trees has; empty where no tree has any."""
    if not any(of_trees):
        return ()
    return tuple(one for of_tree, n in zip(of_trees, n_nodes, strict=True) for one in (of_tree or ((),) * n))
