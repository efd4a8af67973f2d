"""A forest being grown: what is kept of each tree is appended to the forest's arrays, tree by tree.

A tree that is finished before earlier ones waits for its turn, so the forest does not depend on the order in which
threads finish.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from threading import Lock
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.compiler.mapped_arrays import GrowingArray, moved_to_pages
from core.config.options import CriterionKind
from core.ensembles.forest import (
    NODE_TYPES,
    AnyArray,
    Forest,
    narrowed,
    widened,
    with_derived_fields,
    without_derived_fields,
)
from core.missing.surrogates import Surrogate
from core.splits.split import Cuts, Term
from core.tables.target import Task
from core.tree.finished_nodes import FinishedNodes
from core.tree.tree import Tree


@dataclass(frozen=True)
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

    def in_pages(self) -> "MemberPart":
        """A copy in memory of its own, which the operating system takes back when it is freed."""
        return replace(self, columns={name: moved_to_pages(values) for name, values in self.columns.items()})


def part_of_forest(tree: Tree, criterion: CriterionKind) -> MemberPart:
    """What a forest keeps of a tree."""
    kept = without_derived_fields({name: getattr(tree, name) for name in NODE_TYPES}, tree.task, criterion)
    return MemberPart(
        task=tree.task,
        columns={name: narrowed(values) for name, values in kept.items()},
        n_codes=narrowed(np.diff(tree.branch_start)),
        branch_of=narrowed(tree.branch_of),
        costs=tree.costs,
        surrogates=tree.surrogates,
        terms=tree.terms,
    )


def part_of_nodes(nodes: FinishedNodes) -> MemberPart:
    """What a forest keeps of nodes that come without derived fields; all their splits are thresholds."""
    columns = {name: narrowed(values) for name, values in nodes.columns.items()}
    n_codes, branch_of = np.zeros(len(nodes), dtype=np.uint8), np.empty(0, dtype=np.uint8)
    return MemberPart(nodes.task, columns, n_codes, branch_of, None, (), ())


def forest_of(
    trees: Sequence[Tree], members: Sequence[int], criteria: Sequence[CriterionKind], cuts: Sequence[Cuts]
) -> Forest:
    """A forest of these trees; `members` is the kind of each."""
    growing = GrowingForest(members, criteria)
    for number, (tree, member) in enumerate(zip(trees, members, strict=True)):
        growing.add(number, part_of_forest(tree, criteria[member]))
    return growing.finished(cuts)


class GrowingForest:
    """The trees grown so far; `members` is the kind of each tree, `criteria` are those of the kinds.

    A field is left out if it follows from others in all trees. If only some trees lack it, it is computed for them.
    """

    def __init__(self, members: Sequence[int], criteria: Sequence[CriterionKind]) -> None:
        self._members, self._criteria, self._start = members, criteria, [0]
        self._columns, self._n_codes, self._branch_of = dict[str, GrowingArray](), GrowingArray(), GrowingArray()
        self._surrogates, self._terms = list[tuple[Any, ...]](), list[tuple[Any, ...]]()  # of the nodes of each tree
        self._costs: FloatArray | None = None
        self._task = Task.CLASSIFICATION
        self._waiting, self._lock = dict[int, MemberPart](), Lock()

    def __len__(self) -> int:
        return len(self._start) - 1

    def add(self, number: int, part: MemberPart) -> None:
        """Take a tree, in any order and from any thread; its arrays may be reused afterwards."""
        with self._lock:
            self._waiting[number] = part if number == len(self) else part.in_pages()
            while len(self) in self._waiting:
                self._put(self._waiting.pop(len(self)))

    def finished(self, cuts: Sequence[Cuts]) -> Forest:
        """The forest, when all trees have been added; `cuts` are those of the kinds."""
        assert len(self) == len(self._members)
        return Forest(
            task=self._task,
            start=np.array(self._start),
            member=narrowed(np.array(self._members)),
            criteria=tuple(self._criteria),
            columns={name: _whole(self._columns[name]) for name in NODE_TYPES if name in self._columns},
            n_codes=_whole(self._n_codes),
            branch_of=_whole(self._branch_of),
            cuts=tuple(cuts),
            costs=self._costs,
            surrogates=self._of_nodes(self._surrogates),
            terms=self._of_nodes(self._terms),
        )

    def _put(self, part: MemberPart) -> None:
        """Append the next tree."""
        for name in part.columns:
            if name not in self._columns:
                self._columns[name] = self._found(name)
        criterion = self._criteria[self._members[len(self)]]
        for name, so_far in self._columns.items():
            so_far.add(part.columns[name] if name in part.columns else _field(name, part.columns, criterion))
        self._n_codes.add(part.n_codes)
        self._branch_of.add(part.branch_of)
        self._surrogates.append(part.surrogates)
        self._terms.append(part.terms)
        self._task, self._costs = part.task, part.costs
        self._start.append(self._start[-1] + len(part))

    def _of_nodes(self, of_trees: list[tuple[Any, ...]]) -> tuple[Any, ...]:
        """The entry of each node of all trees; empty if no tree has any."""
        if not any(of_trees):
            return ()
        sizes = np.diff(self._start).tolist()
        return tuple(one for of_tree, n in zip(of_trees, sizes, strict=True) for one in (of_tree or ((),) * n))

    def _found(self, name: str) -> GrowingArray:
        """A field of the trees so far, computed because none of them has it."""
        found = GrowingArray()
        for number, (begin, end) in enumerate(pairwise(self._start)):
            here = {each: values.part(begin, end) for each, values in self._columns.items()}
            found.add(_field(name, here, self._criteria[self._members[number]]))
        return found


def _field(name: str, columns: Mapping[str, AnyArray], criterion: CriterionKind) -> AnyArray:
    """A field of a tree's nodes, computed from those that are kept."""
    here = {each: widened(values, NODE_TYPES[each]) for each, values in columns.items()}
    return narrowed(with_derived_fields(here, criterion)[name])


def _whole(column: GrowingArray) -> AnyArray:
    """A field of all trees, narrowed unless some numbers are no integers."""
    every = column.whole()
    return every if every.dtype.kind == "f" else narrowed(every)
