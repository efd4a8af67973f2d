"""Why a record got its answer: every path it took, every test on it, and with which weight."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.conditions import branch_condition, outcome_text
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
    """A test on the way to a leaf; `weight` is what it multiplies the record's weight by.

    Of a linear test `attribute` is the first one whose value is not known, or simply the first.
    """

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
    """Tells the ways to the nodes of one tree; what each branch says is put in words once."""

    def __init__(self, view: TreeView, attributes: Schema) -> None:
        self._tree, self._attributes = view.tree, attributes
        self._branches: dict[int, tuple[int, tuple[int, ...], str]] = {}

    def path(self, leaf: int, weight: float, policy: MissingPolicy, holes: Mapping[int, Outcome]) -> Path:
        """How a record came to a leaf; `holes` are the outcomes of tests on the columns whose value is not known."""
        tests: list[PathTest] = []
        node = leaf
        while node > 0:
            parent, columns, test = self._branches.get(node) or self._branch(node)
            column = next((column for column in columns if column in holes), columns[0])
            outcome = holes.get(column, Outcome.TRUE)
            is_shared = policy is MissingPolicy.WEIGHTED and outcome is not Outcome.TRUE
            factor = float(self._tree.share[node]) if is_shared else 1.0
            tests.append(PathTest(parent, self._attributes[column].name, test, outcome, factor))
            node = parent
        return Path(leaf, weight, tuple(reversed(tests)))

    def _branch(self, node: int) -> tuple[int, tuple[int, ...], str]:
        """The node above, the columns that it tests, and what leads here."""
        parent = int(self._tree.parent[node])
        split = self._tree.split(parent)
        condition = branch_condition(split, int(self._tree.branch[node]), self._attributes[split.column])
        told = self._branches[node] = (parent, split.columns, outcome_text(condition, self._attributes))
        return told


def holes_of(records: EncodedRecords, row: int) -> dict[int, Outcome]:
    """The columns of a record whose value is missing, or a category that the model never saw."""
    if records.states is None:
        return {}
    states = records.states[row]
    return {column: OUTCOMES[State(states[column])] for column in np.flatnonzero(states).tolist()}
