"""The kernels grow the trees of scikit-learn, up to ties, where both mean the same.

That is on complete numeric columns whose values scikit-learn can tell apart: it reads them as float32, and takes those
that are nearly equal for the same. Where two splits are equally good each library chooses in its own way, so a walk
down both trees ends at such a node.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.config.options import Algorithm, Criterion, CriterionKind, Stopping
from core.criteria.objective import Objective
from core.engine.engine import Engine, grow_with
from core.growth.best_split import node_samples, objective_of
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget
from core.tree.tree import Tree
from tests.core.building import GAIN, GINI, SQUARED_ERROR, cart
from tests.examples import examples

pytestmark = pytest.mark.bounds

STEP = 2.0**-10  # between two values of a column
TIED = 1e-9  # how near two gains are that may change places, as a part of the root's impurity
NAMES = {CriterionKind.GINI: "gini", CriterionKind.INFORMATION_GAIN: "entropy"}


@dataclass(frozen=True)
class Order:
    """A table to grow from, and the rules."""

    matrix: FloatArray
    samples: Samples
    algorithm: Algorithm

    def grown(self) -> Tree:
        tree, _ = grow_with(Engine.KERNELS, self.samples, self.algorithm, validation=None, seed=0)
        return tree

    def grown_by_scikit_learn(self):
        stopping, weights, target = self.algorithm.stopping, self.samples.weights, self.samples.target
        limits = {
            "max_depth": stopping.max_depth,
            # It counts rows there; only the share that a leaf must have of the whole is of weight.
            "min_weight_fraction_leaf": (stopping.min_samples_leaf - 1e-6) / weights.sum(),
            "random_state": 0,
        }
        if isinstance(target, ClassTarget):
            peer = DecisionTreeClassifier(criterion=NAMES[self.algorithm.criterion.kind], **limits)
            return peer.fit(self.matrix, target.codes, sample_weight=weights).tree_
        return DecisionTreeRegressor(**limits).fit(self.matrix, target.numbers, sample_weight=weights).tree_


def order(
    seed: int, n_rows: int, criterion: Criterion, stopping: Stopping, *, n_classes: int, weighted: bool, n_values: int
) -> Order:
    """A few columns, the first two of which tell something about the target."""
    chance = np.random.default_rng(seed)
    matrix = chance.integers(n_values, size=(n_rows, int(chance.integers(2, 7)))) * STEP
    assert (matrix.astype(np.float32) == matrix).all()
    hidden = matrix[:, 0] + 2 * matrix[:, 1] * (matrix[:, 0] > np.median(matrix[:, 0]))
    hidden = hidden / max(hidden.max(), STEP) + chance.normal(0.0, 0.2, n_rows)
    if criterion is SQUARED_ERROR:
        target: ClassTarget | NumberTarget = NumberTarget(hidden.round(3)[:, None])
    else:
        codes = np.clip(hidden * n_classes, 0, n_classes - 1).astype(np.int32)
        target = ClassTarget(tuple(map(str, range(n_classes))), codes)
    attributes = [Attribute(f"x{column}", Kind.NUMERIC) for column in range(matrix.shape[1])]
    table = Table(Schema(tuple(attributes)), tuple(matrix.T.copy()))
    weights = chance.uniform(0.5, 3.0, n_rows) if weighted else np.ones(n_rows)
    algorithm = Algorithm("cart", criterion, cart().categorical, stopping=stopping)
    return Order(matrix, Samples(table, target, weights), algorithm)


@st.composite
def orders(draw: st.DrawFn) -> Order:
    n_rows = draw(st.sampled_from([10, 60, 500, 3_000, 20_000]))
    stopping = Stopping(
        max_depth=draw(st.sampled_from([None, None, 1, 3, 8])),
        min_samples_leaf=min(draw(st.sampled_from([1, 1, 2, 7, 40])), n_rows / 10),
    )
    return order(
        draw(st.integers(0, 2**32)),
        n_rows,
        draw(st.sampled_from([GINI, GAIN, SQUARED_ERROR])),
        stopping,
        n_classes=draw(st.integers(2, 6)),
        weighted=draw(st.booleans()),
        n_values=draw(st.sampled_from([3, 200, 1_000_000])),
    )


@dataclass
class Walk:
    """What became of the nodes met on the way down both trees."""

    n_same: int = 0
    n_tied: int = 0


def walk(order: Order, ours: Tree, theirs) -> Walk:
    """Go down both trees together, and compare what each does with the same rows."""
    found, objective = Walk(), objective_of(order.algorithm, order.samples)
    root = objective.impurity(node_samples(order.samples, order.samples.rows, order.samples.weights).sums.sum(axis=0))
    waiting = [(0, 0, order.samples.rows)]
    while waiting:
        node, peer, rows = waiting.pop()
        left = left_rows(order, rows, ours.column[node], ours.threshold[node])
        their_left = left_rows(order, rows, theirs.feature[peer], theirs.threshold[peer])
        if left is None and their_left is None:
            found.n_same += 1
        elif left is not None and their_left is not None and (left == their_left).all():
            assert ours.column[node] == theirs.feature[peer] or is_tied(order, objective, root, rows, left, their_left)
            found.n_same += 1
            first = node + 1
            waiting.append((first + int(ours.size[first]), int(theirs.children_right[peer]), rows[~left]))
            waiting.append((first, int(theirs.children_left[peer]), rows[left]))
        else:
            assert is_tied(order, objective, root, rows, left, their_left), (node, peer, len(rows))
            found.n_tied += 1
    return found


def left_rows(order: Order, rows: RowArray, column: int, threshold: float) -> BoolArray | None:
    """Which rows of a node go left; None in a leaf."""
    return None if column < 0 else order.matrix[rows, column] <= threshold


def is_tied(
    order: Order, objective: Objective, root: float, rows: RowArray, left: BoolArray | None, other: BoolArray | None
) -> bool:
    """Whether both choices gain the same; a leaf gains nothing."""
    gains = [gain(order.samples, objective, rows, side) for side in (left, other)]
    return abs(gains[0] - gains[1]) <= TIED * root


def gain(samples: Samples, objective: Objective, rows: RowArray, left: BoolArray | None) -> float:
    if left is None:
        return 0.0
    here = node_samples(samples, rows, samples.weights[rows])
    sides = [left, ~left]
    return float(
        objective.decrease(
            np.stack([here.sums[side].sum(axis=0) for side in sides]),
            np.array([here.weights[side].sum() for side in sides]),
        )
    )


@examples(80)
@given(orders())
def test_trees_are_those_of_scikit_learn_up_to_ties(order: Order) -> None:
    walk(order, order.grown(), order.grown_by_scikit_learn())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("criterion", [GINI, GAIN, SQUARED_ERROR], ids=["gini", "entropy", "squared error"])
def test_large_nodes_hardly_ever_tie(criterion: Criterion, weighted: bool) -> None:
    stopping = Stopping(max_depth=10, min_samples_leaf=20)
    large = order(7, 20_000, criterion, stopping, n_classes=4, weighted=weighted, n_values=1_000_000)
    ours = large.grown()
    found = walk(large, ours, large.grown_by_scikit_learn())
    assert found.n_same >= 0.95 * len(ours)
    assert found.n_tied <= 0.02 * len(ours)
