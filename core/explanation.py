"""Why a record got its answer: every path it took, every test on it, and with which weight."""

from dataclasses import dataclass
from enum import StrEnum

from core.conditions import branch_condition, says
from core.prediction import MissingPolicy
from core.records import EncodedRecords
from core.table import is_missing
from core.tree import TreeView


class Outcome(StrEnum):
    """Whether a test could be decided."""

    TRUE = "true"
    MISSING = "missing"
    UNSEEN = "unseen"


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


def path_to(view: TreeView, records: EncodedRecords, row: int, leaf: int, weight: float, policy: MissingPolicy) -> Path:
    """How the record came to the leaf."""
    tree, schema = view.tree, records.table.schema
    tests: list[PathTest] = []
    node = leaf
    while node > 0:
        parent = int(tree.parent[node])
        split = tree.split(parent)
        attribute = schema[split.column]
        condition = branch_condition(split, int(tree.branch[node]), attribute)
        outcome = outcome_of(records, row, split.column)
        is_whole = outcome is Outcome.TRUE or split.missing_branch >= 0 or policy is not MissingPolicy.WEIGHTED
        factor = 1.0 if is_whole else float(tree.share[node])
        tests.append(PathTest(parent, attribute.name, says(condition, attribute), outcome, factor))
        node = parent
    return Path(leaf, weight, tuple(reversed(tests)))


def outcome_of(records: EncodedRecords, row: int, column: int) -> Outcome:
    """Whether the record's value was known, missing, or a category the model never saw."""
    if not is_missing(records.table.columns[column][row : row + 1])[0]:
        return Outcome.TRUE
    return Outcome.UNSEEN if records.table.schema[column].name in records.unseen[row] else Outcome.MISSING
