"""Why a record got its answer: every path it took, with every test on it and its weight."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.prediction.routing import MissingPolicy
from core.records.records import EncodedRecords, State
from core.tables.schema import Schema
from core.tree.conditions import branch_condition, outcome_text
from core.tree.tree import TreeView


class Outcome(StrEnum):
    """Whether a test could be decided, and if not, why."""

    TRUE = "true"
    MISSING = "missing"
    UNSEEN = "unseen"


OUTCOMES = {State.KNOWN: Outcome.TRUE, State.MISSING: Outcome.MISSING, State.UNSEEN: Outcome.UNSEEN}


@dataclass(frozen=True, slots=True)
class PathTest:
    """A test on the path to a leaf; `weight` is the factor that it applies to the record's weight.

    For a linear test, `attribute` is the first one whose value is not known, or else the first.
    """

    node: int
    attribute: str
    test: str
    outcome: Outcome
    weight: float


@dataclass(frozen=True, slots=True)
class Path:
    """The path to a node that answers, with the weight that arrives there: the product of its tests' weights."""

    leaf: int
    weight: float
    tests: tuple[PathTest, ...]


class Explainer:
    """Gives the paths to the nodes of one tree; the text of each test is made once."""

    def __init__(self, view: TreeView, attributes: Schema) -> None:
        self._tree, self._attributes = view.tree, attributes
        self._known: dict[int, tuple[tuple[int, ...], PathTest]] = {}  # columns and test, by the node it leads to
        self._open: dict[tuple[int, int, bool, bool], PathTest] = {}  # tests that could not be decided

    def path(self, leaf: int, weight: float, policy: MissingPolicy, holes: Mapping[int, Outcome]) -> Path:
        """How a record came to a leaf; `holes` are the outcomes of tests on columns whose value is not known."""
        tests: list[PathTest] = []
        is_weighted, node = policy is MissingPolicy.WEIGHTED, leaf
        while node > 0:
            columns, test = self._known.get(node) or self._passed(node)
            column = next((column for column in columns if column in holes), -1)
            if column >= 0:
                key = node, column, holes[column] is Outcome.UNSEEN, is_weighted
                test = self._open.get(key) or self._undecided(*key)
            tests.append(test)
            node = test.node
        return Path(leaf, weight, tuple(reversed(tests)))

    def _passed(self, node: int) -> tuple[tuple[int, ...], PathTest]:
        """The test that leads to a node, for known values, with its columns."""
        parent = int(self._tree.parent[node])
        split = self._tree.split(parent)
        attribute = self._attributes[split.column]
        told = outcome_text(branch_condition(split, int(self._tree.branch[node]), attribute), self._attributes)
        self._known[node] = split.columns, PathTest(parent, attribute.name, told, Outcome.TRUE, 1.0)
        return self._known[node]

    def _undecided(self, node: int, column: int, is_unseen: bool, is_weighted: bool) -> PathTest:
        """The test that leads to a node, for a value that is not known.

        Its weight is the branch's share if missing values go down every branch; it is 1 if they take one, also one of
        their own.
        """
        outcome, passed = Outcome.UNSEEN if is_unseen else Outcome.MISSING, self._known[node][1]
        is_shared = is_weighted and self._tree.missing_branch[passed.node] < 0
        name, weight = self._attributes[column].name, float(self._tree.share[node]) if is_shared else 1.0
        test = replace(passed, attribute=name, outcome=outcome, weight=weight)
        self._open[node, column, is_unseen, is_weighted] = test
        return test


def holes_of(records: EncodedRecords, row: int) -> dict[int, Outcome]:
    """The columns of a record whose value is missing or unseen, with the outcome of tests on them."""
    if records.states is None:
        return {}
    states = records.states[row]
    return {column: OUTCOMES[State(states[column])] for column in np.flatnonzero(states).tolist()}
