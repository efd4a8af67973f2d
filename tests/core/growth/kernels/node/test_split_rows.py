"""The rows of a node, divided between two children: who goes where, with which weight, and what that adds up to."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.kernels.impurity import GINI, SQUARED
from core.growth.kernels.lists.scratch import ways_of_rows
from core.growth.kernels.node.split_list import BOTH, LEFT, RIGHT
from core.growth.kernels.node.split_rows import branch_figures, split_rows, store_copies, take_sides
from core.missing.fractional_weights import send_down
from tests.core.growth.kernels.lists_of_rows import Rows, rows_of_a_node
from tests.core.growth.kernels.node.test_sums import added
from tests.examples import examples

pytestmark = pytest.mark.bounds


class Problem(NamedTuple):
    weights: Any
    classes: Any
    numbers: Any
    shift: int
    has_missing: bool


class Rules(NamedTuple):
    criterion: int
    n_classes: int


class Work(NamedTuple):
    side: Any
    branch: Any
    unknown: Any
    parts: Any
    known_ways: Any
    ways: Any
    shares: Any
    spare: Any


def work_for(n: int, shares: Any) -> Work:
    return Work(
        np.zeros(n, dtype=np.uint8),
        np.zeros(n, dtype=np.int32),
        np.zeros(n + 1, dtype=np.uint32),
        np.zeros((2, 4)),
        ways_of_rows(),
        ways_of_rows(),
        shares,
        np.zeros(n + 1, dtype=np.uint32),
    )


def branches_of(node: Rows, position: int) -> Any:
    """The branch of each row for a cut before a place of its list; -1 where the value is missing."""
    branch = np.full(node.n, -1)
    branch[node.known[:position]], branch[node.known[position:]] = 0, 1
    return branch


@given(node=rows_of_a_node(), data=st.data())
@examples(25)
def test_a_cut_tells_each_row_its_side(node: Rows, data: st.DataObject) -> None:
    position, entries = data.draw(st.integers(0, len(node.known))), node.entries
    problem = Problem(node.weights, node.classes, node.numbers, node.row_bits, True)
    side, counts = np.zeros(node.n, dtype=np.uint8), np.zeros(node.n_classes, dtype=np.int64)
    rows, is_counted = np.arange(node.n, dtype=np.uint32), data.draw(st.booleans())
    take_sides(problem, entries, 0, position, len(entries), rows, 0, node.n, side, counts, is_counted)
    expected = np.array([BOTH, LEFT, RIGHT])[branches_of(node, position) + 1]
    assert side.tolist() == expected.tolist()
    if is_counted:
        assert counts.tolist() == np.bincount(node.classes[node.known[:position]], minlength=node.n_classes).tolist()


@pytest.mark.parametrize("criterion", [GINI, SQUARED])
@given(node=rows_of_a_node(), data=st.data())
@examples(25)
def test_both_branches_are_added_up_in_row_order(node: Rows, data: st.DataObject, criterion: int) -> None:
    branch = branches_of(node, data.draw(st.integers(0, len(node.known))))
    numbers = node.numbers if criterion == SQUARED else np.empty((node.n, 0))
    problem = Problem(node.weights, node.classes, numbers, node.row_bits, True)
    work, rows = work_for(node.n, np.array([0.5, 0.5])), np.arange(node.n, dtype=np.uint32)
    work.side[:] = np.array([BOTH, LEFT, RIGHT])[branch + 1]
    figures, at = np.array([0.0, float(node.numbers.mean())]), 3
    width = 3 if criterion == SQUARED else node.n_classes
    out = np.full(at + 2 * (1 + width), np.nan)
    rules = Rules(criterion, node.n_classes)
    n_unknown = branch_figures(problem, rules, work, rows, 0, node.n, 2, figures, out, at)
    assert work.unknown[:n_unknown].tolist() == np.flatnonzero(branch < 0).tolist()
    for b in range(2):
        here, sums = branch == b, out[at + 2 + b * width :][:width]
        assert out[at + b] == added(node.weights[here])
        if criterion == SQUARED:
            off, weights = numbers[here, 0] - figures[1], node.weights[here]
            assert sums.tolist() == [added(weights), added(off * weights), added(off * off * weights)]
        else:
            assert sums.tolist() == [added(node.weights[here & (node.classes == k)]) for k in range(width)]


@pytest.mark.parametrize("keeper", [0, 1])
@given(node=rows_of_a_node(), data=st.data())
@examples(25)
def test_rows_come_to_both_children_as_the_definition_sends_them(node: Rows, data: st.DataObject, keeper: int) -> None:
    position = data.draw(st.integers(0, len(node.known)))
    branch, shares = branches_of(node, position), np.array(data.draw(st.sampled_from([(0.5, 0.5), (0.25, 0.75)])))
    work, rows = work_for(node.n, shares), np.append([9, 9], np.arange(node.n)).astype(np.uint32)
    memory = np.append(rows, np.zeros(node.n, dtype=np.uint32))
    work.side[:] = np.array([BOTH, LEFT, RIGHT])[branch + 1]
    problem = Problem(node.weights, node.classes, np.empty((node.n, 0)), node.row_bits, True)
    figures = np.full((2, 1 + node.n_classes), np.nan)
    kept, moved = split_rows(problem, work, memory, 2, node.n, keeper, figures[0], figures[1])
    wanted = send_down(np.arange(node.n), node.weights, branch, shares)
    pieces = {keeper: memory[2 : 2 + kept], 1 - keeper: memory[2 + kept : 2 + kept + moved]}
    for child, found in zip((keeper, 1 - keeper), figures, strict=True):
        child_rows, child_weights = wanted[child]
        assert pieces[child].tolist() == child_rows.tolist()
        assert found[0] == added(child_weights)
        by_class = [added(child_weights[node.classes[child_rows] == k]) for k in range(node.n_classes)]
        assert found[1:].tolist() == by_class
    assert memory[:2].tolist() == [9, 9]


def test_copies_without_weight_are_not_kept() -> None:
    problem = Problem(np.array([1.0, 2.0, 1e-320]), np.zeros(3, np.int32), np.empty((3, 0)), 2, True)
    rows, weights = np.zeros(5, dtype=np.uint32), np.zeros(5)
    assert store_copies(problem, np.array([0, 1, 2], dtype=np.uint32), 3, 1e-9, rows, weights, 1) == 2
    assert rows.tolist() == [0, 0, 1, 0, 0]
    assert weights[1:3].tolist() == [1e-9, 2e-9]
