"""Why a record got its answer: every path it took, every test on it, and with which weight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.conditions import branch_condition, says
from core.prediction import MissingPolicy
from core.records import EncodedRecords, State
from core.schema import Schema
from core.tree import TreeView


class Outcome(StrEnum):
    """Whether a test could be decided."""

    TRUE = "true"
    MISSING = "missing"
    UNSEEN = "unseen"


OUTCOMES = {State.KNOWN: Outcome.TRUE, State.MISSING: Outcome.MISSING, State.UNSEEN: Outcome.UNSEEN}


@dataclass(frozen=True, slots=True)
class PathTest:
    """A test on the way to a leaf; `weight` is what it multiplies the record's weight by."""

    node: int
    attribute: str
    test: str
    outcome: Outcome
    weight: float


@dataclass(frozen=True, slots=True)
class Path:
    """The way to a node that answers, with the weight that arrives there: the product of its tests' weights."""

    leaf: int
    weight: float
    tests: tuple[PathTest, ...]


class Explainer:
    """Tells the ways to the nodes of one tree; each test is put in words once."""

    def __init__(self, view: TreeView, attributes: Schema) -> None:
        self._tree, self._attributes = view.tree, attributes
        self._known: dict[int, tuple[int, PathTest]] = {}  # by the node it leads to: the column, and the test passed
        self._open: dict[tuple[int, bool, bool], PathTest] = {}  # tests that could not be decided

    def path(self, leaf: int, weight: float, policy: MissingPolicy, holes: Mapping[int, Outcome]) -> Path:
        """How a record came to a leaf; `holes` are the outcomes of tests on the columns whose value is not known."""
        tests: list[PathTest] = []
        is_weighted, node = policy is MissingPolicy.WEIGHTED, leaf
        while node > 0:
            column, test = self._known.get(node) or self._passed(node)
            if column in holes:
                is_unseen = holes[column] is Outcome.UNSEEN
                test = self._open.get((node, is_unseen, is_weighted)) or self._undecided(node, is_unseen, is_weighted)
            tests.append(test)
            node = test.node
        return Path(leaf, weight, tuple(reversed(tests)))

    def _passed(self, node: int) -> tuple[int, PathTest]:
        """The test that leads to a node, of a value that is known."""
        parent = int(self._tree.parent[node])
        split = self._tree.split(parent)
        attribute = self._attributes[split.column]
        told = says(branch_condition(split, int(self._tree.branch[node]), attribute), attribute)
        self._known[node] = split.column, PathTest(parent, attribute.name, told, Outcome.TRUE, 1.0)
        return self._known[node]

    def _undecided(self, node: int, is_unseen: bool, is_weighted: bool) -> PathTest:
        """The same of a value that is not: each branch gets its share, or one of them gets everything.

        So it is too where a missing value has a branch of its own.
        """
        outcome, passed = Outcome.UNSEEN if is_unseen else Outcome.MISSING, self._known[node][1]
        is_shared = is_weighted and self._tree.missing_branch[passed.node] < 0
        test = replace(passed, outcome=outcome, weight=float(self._tree.share[node]) if is_shared else 1.0)
        self._open[node, is_unseen, is_weighted] = test
        return test


def holes_of(records: EncodedRecords, row: int) -> dict[int, Outcome]:
    """The columns of a record whose value is missing, or a category that the model never saw."""
    if records.states is None:
        return {}
    states = records.states[row]
    return {column: OUTCOMES[State(states[column])] for column in np.flatnonzero(states).tolist()}
