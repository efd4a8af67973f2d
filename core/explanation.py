"""Why a record got its answer: every path it took, every test on it, and with which weight."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    """Tells the ways to the nodes of one tree; what each branch says is put in words once."""

    def __init__(self, view: TreeView, attributes: Schema) -> None:
        self._tree, self._attributes = view.tree, attributes
        self._branches: dict[int, tuple[int, int, str, str]] = {}

    def path(self, leaf: int, weight: float, policy: MissingPolicy, holes: Mapping[int, Outcome]) -> Path:
        """How a record came to a leaf; `holes` are the outcomes of tests on the columns whose value is not known."""
        tests: list[PathTest] = []
        node = leaf
        while node > 0:
            parent, column, attribute, test = self._branches.get(node) or self._branch(node)
            outcome = holes.get(column, Outcome.TRUE)
            is_whole = outcome is Outcome.TRUE or self._tree.missing_branch[parent] >= 0
            factor = 1.0 if is_whole or policy is not MissingPolicy.WEIGHTED else float(self._tree.share[node])
            tests.append(PathTest(parent, attribute, test, outcome, factor))
            node = parent
        return Path(leaf, weight, tuple(reversed(tests)))

    def _branch(self, node: int) -> tuple[int, int, str, str]:
        """The node above, the column that it tests, the attribute's name, and what leads here."""
        parent = int(self._tree.parent[node])
        split = self._tree.split(parent)
        attribute = self._attributes[split.column]
        condition = branch_condition(split, int(self._tree.branch[node]), attribute)
        told = self._branches[node] = (parent, split.column, attribute.name, says(condition, attribute))
        return told


def holes_of(records: EncodedRecords, row: int) -> dict[int, Outcome]:
    """The columns of a record whose value is missing, or a category that the model never saw."""
    if records.states is None:
        return {}
    states = records.states[row]
    return {column: OUTCOMES[State(states[column])] for column in np.flatnonzero(states).tolist()}
