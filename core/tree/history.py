"""The pruning history: every decision, in order, with its evidence.

A *step* is the tree after a decision; steps count from 1, and step 0 is the full tree. The tree as of a step is a view
of the full tree: the nodes cut until then are leaves, and where a branch was raised, its nodes have new figures.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.tree.tree import RaisedBranch, Tree, TreeView

NEVER = np.iinfo(np.int64).max


class Decision(StrEnum):
    """What was decided about a node."""

    CUT = "cut"
    KEPT = "kept"
    RAISED = "raised"


class Method(StrEnum):
    """Which kind of pruning made the decision."""

    VALIDATE_SPLITS = "validate_splits"
    REDUCED_ERROR = "reduced_error"
    COLLAPSE = "collapse"
    CONFIDENCE = "confidence"
    COST_COMPLEXITY = "cost_complexity"


METHODS, DECISIONS = tuple(Method), tuple(Decision)


@dataclass(frozen=True, slots=True)
class PruningStep:
    """One decision: the measure without (`before`) and with (`after`) the node as a leaf, and its evidence.

    `leaves` and `depth` are those of the tree after the decision.
    """

    number: int
    node: int
    method: Method
    decision: Decision
    before: float
    after: float
    alpha: float | None
    evidence: Mapping[str, float]
    leaves: int
    depth: int


@dataclass(frozen=True, eq=False)
class Steps(Sequence[PruningStep]):
    """Decisions in order, as columns; a `PruningStep` is made when it is read, since there may be very many.

    `method` and `decision` are indices into METHODS and DECISIONS; an absent alpha or piece of evidence is NaN.
    """

    node: NDArray[np.int32]
    method: NDArray[np.int8]
    decision: NDArray[np.int8]
    before: FloatArray
    after: FloatArray
    alpha: FloatArray
    leaves: NDArray[np.int32]
    depth: NDArray[np.int32]
    evidence: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(cls, steps: Iterable[PruningStep]) -> "Steps":
        """Steps as columns; they are numbered by their order."""
        if isinstance(steps, Steps):
            return steps
        made = tuple(steps)
        names = dict.fromkeys(name for step in made for name in step.evidence)
        return cls(
            node=np.array([step.node for step in made], dtype=np.int32),
            method=np.array([METHODS.index(step.method) for step in made], dtype=np.int8),
            decision=np.array([DECISIONS.index(step.decision) for step in made], dtype=np.int8),
            before=np.array([step.before for step in made], dtype=np.float64),
            after=np.array([step.after for step in made], dtype=np.float64),
            alpha=np.array([np.nan if step.alpha is None else step.alpha for step in made], dtype=np.float64),
            leaves=np.array([step.leaves for step in made], dtype=np.int32),
            depth=np.array([step.depth for step in made], dtype=np.int32),
            evidence={n: np.array([s.evidence.get(n, np.nan) for s in made], dtype=np.float64) for n in names},
        )

    def followed_by(self, other: "Steps") -> "Steps":
        """These steps, then the others."""
        if not len(self) or not len(other):
            return self if len(self) else other
        names = dict.fromkeys((*self.evidence, *other.evidence))
        both = {n: np.concatenate([one.evidence_column(n) for one in (self, other)]) for n in names}
        columns = {n: np.concatenate([getattr(self, n), getattr(other, n)]) for n in COLUMNS}
        return Steps(**columns, evidence=both)

    def evidence_column(self, name: str) -> FloatArray:
        """One kind of evidence for every step."""
        return self.evidence[name] if name in self.evidence else np.full(len(self), np.nan)

    def made_by(self, *methods: Method) -> "Steps":
        """The leading steps that were made by these kinds of pruning."""
        n_first = int(np.argmin(np.append(np.isin(self.method, [METHODS.index(m) for m in methods]), False)))
        columns = {name: getattr(self, name)[:n_first] for name in COLUMNS}
        return Steps(**columns, evidence={name: values[:n_first] for name, values in self.evidence.items()})

    @property
    def is_cut(self) -> NDArray[np.bool_]:
        """Which decisions made a node a leaf."""
        return self.decision == DECISIONS.index(Decision.CUT)

    def __len__(self) -> int:
        return len(self.node)

    @overload
    def __getitem__(self, at: int) -> PruningStep: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[PruningStep, ...]: ...

    def __getitem__(self, at: int | slice) -> PruningStep | tuple[PruningStep, ...]:
        if isinstance(at, slice):
            return tuple(self._made(number) for number in range(*at.indices(len(self))))
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self._made(at % len(self))

    def __iter__(self) -> Iterator[PruningStep]:
        return map(self._made, range(len(self)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Steps | tuple):
            return NotImplemented
        return len(self) == len(other) and all(one == another for one, another in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]

    def _made(self, at: int) -> PruningStep:
        alpha = float(self.alpha[at])
        return PruningStep(
            number=at + 1,
            node=int(self.node[at]),
            method=METHODS[self.method[at]],
            decision=DECISIONS[self.decision[at]],
            before=float(self.before[at]),
            after=float(self.after[at]),
            alpha=None if np.isnan(alpha) else alpha,
            evidence={n: float(values[at]) for n, values in self.evidence.items() if not np.isnan(values[at])},
            leaves=int(self.leaves[at]),
            depth=int(self.depth[at]),
        )


COLUMNS = ("node", "method", "decision", "before", "after", "alpha", "leaves", "depth")
NO_STEPS = Steps.of(())


@dataclass(frozen=True)
class CrossValidation:
    """The error of each alpha of the sequence on rows left out: one entry per alpha, from the full tree on.

    `step` is the last one with that alpha, `leaves` what it leaves; the error is the mean loss over all rows left out,
    and its spread the standard error of that mean.
    """

    alpha: FloatArray
    step: RowArray
    leaves: RowArray
    error: FloatArray
    standard_error: FloatArray
    n_folds: int

    def __len__(self) -> int:
        return len(self.alpha)


@dataclass(frozen=True)
class History:
    """All steps of a tree, and which of them is served by default.

    `raises` are the branches that were raised, by the number of their step. `cross_validation` is set
    where alpha was chosen by it.
    """

    tree: Tree
    steps: Steps = field(default_factory=lambda: NO_STEPS)
    selected: int = 0
    raises: Mapping[int, RaisedBranch] = field(default_factory=dict)
    cross_validation: CrossValidation | None = None

    def with_selected(self, step: int) -> "History":
        """The history with another step served."""
        assert 0 <= step <= len(self.steps)
        return replace(self, selected=step)

    @cached_property
    def cut_at(self) -> RowArray:
        """The step that cut each node; NEVER where none did."""
        cut_at = np.full(len(self.tree), NEVER, dtype=np.int64)
        cuts = np.flatnonzero(self.steps.is_cut)
        cut_at[self.steps.node[cuts]] = cuts + 1
        return cut_at

    def tree_as_of(self, step: int) -> Tree:
        """The tree with the branches that were raised until a step; the full tree if none was."""
        done = tuple(number for number in self.raises if number <= step)
        if not done:
            return self.tree
        if done not in self._raised_trees:
            self._raised_trees.clear()  # one at a time: each is as large as the tree
            self._raised_trees[done] = self.tree.with_raised(self.raises[number] for number in done)
        return self._raised_trees[done]

    @cached_property
    def _raised_trees(self) -> dict[tuple[int, ...], Tree]:
        return {}

    def view(self, step: int) -> TreeView:
        """The tree as of a step; where branches were raised, its own `tree` has the figures of that step."""
        return TreeView(self.tree_as_of(step), (self.tree.size == 1) | (self.cut_at <= step))

    def as_of(self, step: int) -> "History":
        """The history whose `tree` is that of a step, so that readers of `tree` see the figures of that step."""
        tree = self.tree_as_of(step)
        return self if tree is self.tree else replace(self, tree=tree, raises={})

    @cached_property
    def tested_columns(self) -> RowArray:
        """The column that the node of each step tested before that step."""
        if not self.raises:
            return self.tree.column[self.steps.node].astype(np.int64)
        tested_by, columns = np.arange(len(self.tree)), np.empty(len(self.steps), dtype=np.int64)
        for at, node in enumerate(self.steps.node):
            columns[at] = self.tree.column[tested_by[node]]
            if at + 1 in self.raises:
                tested_by[node] = tested_by[self.raises[at + 1].child]
        return columns

    @cached_property
    def leaves_by_step(self) -> NDArray[np.int32]:
        """How many leaves the tree has as of steps 0, 1, …"""
        return np.append(np.int32(np.count_nonzero(self.tree.size == 1)), self.steps.leaves)

    def largest_with_leaves(self, n_leaves: int) -> int | None:
        """The first step of the largest tree with at most `n_leaves` leaves; None if all have more."""
        fitting = np.where(self.leaves_by_step <= n_leaves, self.leaves_by_step, 0)
        return int(np.argmax(fitting)) if fitting.any() else None

    @property
    def has_alphas(self) -> bool:
        """Whether some step has an alpha."""
        return bool(np.logical_not(np.isnan(self.steps.alpha)).any())

    def last_with_alpha(self, alpha: float) -> int:
        """The last step whose alpha is at most this; 0 when there is none."""
        return int(np.max(np.flatnonzero(self.steps.alpha <= alpha), initial=-1)) + 1


class Ledger:
    """A history being written; it tracks the remaining leaves and depth."""

    def __init__(self, tree: Tree, steps: Iterable[PruningStep] = ()) -> None:
        self.tree = self._current = tree
        self._earlier, self._new = Steps.of(steps), list[PruningStep]()
        self._raises: dict[int, RaisedBranch] = {}
        self._is_leaf = History(tree, self._earlier).view(len(self._earlier)).is_leaf.copy()
        self._counted: Counter[int] | None = None
        self._answering: BoolArray | None = None

    @property
    def n_steps(self) -> int:
        return len(self._earlier) + len(self._new)

    @property
    def view(self) -> TreeView:
        """The tree as cut so far."""
        return TreeView(self._current, self._is_leaf.copy())

    def record(
        self,
        node: int,
        method: Method,
        decision: Decision,
        *,
        before: float,
        after: float,
        evidence: Mapping[str, float],
        alpha: float | None = None,
        raised: RaisedBranch | None = None,
    ) -> None:
        """Append a decision and carry it out: a cut, or a branch that is raised.

        The leaves below the node are counted unless the evidence has their number.
        """
        number, evidence = self.n_steps + 1, {"branch_leaves": self._leaves_below(node), **evidence}
        if decision is Decision.CUT:
            self._cut(node)
        elif decision is Decision.RAISED:
            assert raised is not None
            self._raises[number] = raised
            self._current = self._current.with_raised([raised])
            self._counted = self._answering = None
        leaves, depth = self._leaves_at_depth.total(), max(self._leaves_at_depth)
        self._new.append(PruningStep(number, node, method, decision, before, after, alpha, evidence, leaves, depth))

    def extend(self, steps: Steps) -> None:
        """Append many cuts at once; they come with their leaves and depths."""
        self._earlier, self._new = self._earlier.followed_by(Steps.of(self._new)).followed_by(steps), []
        self._is_leaf[steps.node[steps.is_cut]] = True
        self._counted = self._answering = None

    def finished(self) -> History:
        """The history; its last step is selected."""
        steps = self._earlier.followed_by(Steps.of(self._new))
        return History(self.tree, steps, len(steps), dict(self._raises))

    @property
    def _leaves_at_depth(self) -> Counter[int]:
        """The number of leaves at each depth; counted on first use, then kept up to date."""
        if self._counted is None:
            self._counted = Counter(self._current.depth[self.view.leaves].tolist())
        return self._counted

    def _leaves_below(self, node: int) -> float:
        """How many leaves the node's subtree has, which is a range of nodes."""
        if self._answering is None:
            self._answering = np.zeros(len(self.tree), dtype=np.bool_)
            self._answering[self.view.leaves] = True
        return float(np.count_nonzero(self._answering[node : node + int(self.tree.size[node])]))

    def _cut(self, node: int) -> None:
        """Make a node a leaf. Each leaf below is visited once in a whole pruning, since it is gone afterwards."""
        leaves_at_depth, waiting = self._leaves_at_depth, [node]
        while waiting:
            below = waiting.pop()
            if not self._is_leaf[below]:
                waiting.extend(self._current.children(below))
            else:
                depth = int(self._current.depth[below])
                leaves_at_depth[depth] -= 1
                if not leaves_at_depth[depth]:
                    del leaves_at_depth[depth]
        self._is_leaf[node] = True
        if self._answering is not None:
            self._answering[node : node + int(self.tree.size[node])] = False
            self._answering[node] = True
        leaves_at_depth[int(self._current.depth[node])] += 1
