"""The losses of rows as of every step of a history of cuts, all steps at once.

A node answers from the step that makes it a leaf until the step that cuts one of the nodes above it. So a row that goes
to one leaf is answered by that leaf, then by the node above it that is cut first, and so on: its loss is a step
function with a step for each of them. A row with missing values is answered by a mix, which changes whenever one of the
nodes it reaches starts or stops answering. Steps are not visited one by one: the work depends on the length of paths,
not on the number of steps.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.growth.held_out import labels_of, origin_of
from core.growth.samples import Samples
from core.prediction.block_walk import BlockWalk
from core.prediction.routing import policy_as_grown, visits
from core.tables.progress import Watch, ignore_progress, part_of
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget
from core.tree.layout import Layout
from core.tree.tree import Tree, full_view

ROWS_AT_A_TIME = 30_000  # routed down the tree in a fraction of a second
CHANGES_AT_A_TIME = 200_000  # of mixed answers in memory at once, or those of one row


@dataclass(frozen=True)
class StepLosses:
    """Sums over the rows, as of steps 0, 1, …: of weight times loss, and of weight times squared loss."""

    loss: FloatArray
    squares: FloatArray
    weight: float

    @property
    def mean(self) -> FloatArray:
        """The mean loss as of every step."""
        return self.loss / self.weight


def losses_by_step(
    tree: Tree,
    cut_at: RowArray,
    n_steps: int,
    samples: Samples,
    *,
    kernels: bool = False,
    watch: Watch = ignore_progress,
) -> StepLosses:
    """The losses of these samples: 1 for a wrong class, its cost where wrong answers have costs, or the squared error.

    `cut_at` is the step that cuts each node, larger than `n_steps` where none does; no two nodes have the same.
    """
    spans, judge = Spans(tree, cut_at, n_steps), Judge(tree, samples)
    changes = np.zeros((2, n_steps + 2))  # those after the last step are of no interest
    for start in range(0, len(samples), ROWS_AT_A_TIME):
        rows = samples.rows[start : start + ROWS_AT_A_TIME]
        watch_block = part_of(watch, start / len(samples), (start + len(rows)) / len(samples))
        routed = routes(tree, samples.attributes.take(rows), kernels=kernels, watch=watch_block)
        is_whole = routed.leaf >= 0
        add_whole(changes, spans, judge, rows[is_whole], routed.leaf[is_whole])
        for part in routed.in_parts():
            add_mixed(changes, spans, judge, rows[part.row], part)
    watch(1.0)
    loss, squares = np.maximum(np.cumsum(changes[:, :-1], axis=1), 0.0)
    return StepLosses(loss, squares, float(samples.weights.sum()))


class Spans:
    """The steps at which each node answers: from `start` to before `end`; none if `start` is not before `end`."""

    def __init__(self, tree: Tree, cut_at: RowArray, n_steps: int) -> None:
        never = n_steps + 1
        cut = np.minimum(cut_at, never)
        self.start = np.where(tree.size == 1, 0, cut)
        self.end = np.full(len(tree), never)
        for at_depth in by_depth(tree):  # from the root down
            above = tree.parent[at_depth]
            self.end[at_depth] = np.minimum(self.end[above], cut[above])
        self.never = never
        self.cut_by = np.zeros(never + 1, dtype=np.int64)  # the node that each step cuts
        self.cut_by[cut] = np.arange(len(tree))

    def answers(self, nodes: RowArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which of the nodes answer at some step."""
        return self.start[nodes] < self.end[nodes]


def by_depth(tree: Tree) -> Iterator[RowArray]:
    """The nodes below the root, depth by depth."""
    order = np.argsort(tree.depth, kind="stable")
    borders = np.flatnonzero(np.diff(tree.depth[order])) + 1
    yield from np.split(order, borders)[1:]


class Judge:
    """The losses of answers to rows."""

    def __init__(self, tree: Tree, samples: Samples) -> None:
        self.tree, self._samples = tree, samples
        self.origin = origin_of(tree.answers[0], tree.task)
        self.answers = tree.answers - self.origin  # subtracted from answers, since numbers far from 0 would lose digits

    def of_nodes(self, rows: RowArray, nodes: RowArray) -> FloatArray:
        """The loss of each row if this node answers it."""
        if isinstance(self._samples.target, ClassTarget):
            return self._of_labels(self._samples.target, rows, self.tree.labels[nodes])
        return self._of_numbers(self._samples.target, rows, self.answers[nodes])

    def of_answers(self, rows: RowArray, answers: FloatArray) -> FloatArray:
        """The loss of each row by this answer, given as a difference from the origin."""
        if isinstance(self._samples.target, ClassTarget):
            return self._of_labels(self._samples.target, rows, labels_of(answers, self.tree.costs))
        return self._of_numbers(self._samples.target, rows, answers)

    def weights(self, rows: RowArray) -> FloatArray:
        return self._samples.weights[rows]

    def _of_labels(self, target: ClassTarget, rows: RowArray, labels: RowArray) -> FloatArray:
        actual = target.codes[rows]
        return (labels != actual).astype(np.float64) if self.tree.costs is None else self.tree.costs[actual, labels]

    def _of_numbers(self, target: NumberTarget, rows: RowArray, answers: FloatArray) -> FloatArray:
        return ((answers - (target.numbers[rows] - self.origin)) ** 2).sum(axis=1)


@dataclass(frozen=True)
class Arrived:
    """Rows at nodes with their weights, the arrivals of each row together."""

    row: RowArray
    node: RowArray
    weight: FloatArray


@dataclass(frozen=True)
class Routes:
    """The leaf of each row that goes to one as a whole, -1 for others, and every node that those others reach."""

    leaf: RowArray
    others: Arrived

    def in_parts(self) -> Iterator[Arrived]:
        """The others, some rows at a time."""
        first = np.flatnonzero(np.diff(self.others.row, prepend=-1))  # where each row's arrivals begin
        starts = first[np.flatnonzero(np.diff(first // CHANGES_AT_A_TIME, prepend=-1))].tolist()
        for start, end in pairwise([*starts, len(self.others.row)]):
            here = slice(start, end)
            yield Arrived(self.others.row[here], self.others.node[here], self.others.weight[here])


def routes(tree: Tree, records: Table, *, kernels: bool, watch: Watch = ignore_progress) -> Routes:
    """Where the records go in the full tree."""
    view, policy = full_view(tree), policy_as_grown(tree)
    leaf = np.full(records.n_rows, -1)
    left = np.arange(records.n_rows)
    watch(0.0)
    layout = Layout(tree)
    if kernels and layout.suits_blocks:
        walk = BlockWalk(layout, view)
        leaf = walk.leaves_of_complete(records)
        left = np.flatnonzero(leaf < 0)
        arrivals = list(walk.arrivals(records.take(left), policy))
    else:
        arrivals = []
        for visit in visits(view, records, policy):
            watch(visit.node / len(tree))
            arrivals.append((visit.node, visit.rows, visit.weights))
    node = np.repeat([node for node, _, _ in arrivals], [len(rows) for _, rows, _ in arrivals]).astype(np.int64)
    row = left[np.concatenate([np.empty(0, dtype=np.int64), *(rows for _, rows, _ in arrivals)])]
    weight = np.concatenate([np.empty(0), *(weights for _, _, weights in arrivals)])
    is_end = (tree.size[node] == 1) & (weight == 1)
    leaf[row[is_end]] = node[is_end]
    mixed = np.flatnonzero(leaf[row] < 0)
    mixed = mixed[np.argsort(row[mixed], kind="stable")]
    return Routes(leaf, Arrived(row[mixed], node[mixed], weight[mixed]))


def add_whole(changes: FloatArray, spans: Spans, judge: Judge, rows: RowArray, leaves: RowArray) -> None:
    """Add the changes of the losses of rows that one node answers at a time."""
    nodes = leaves
    while len(rows):
        losses = judge.of_nodes(rows, nodes)
        weighted = judge.weights(rows) * losses
        add_at(changes, spans.start[nodes], weighted, weighted * losses)
        add_at(changes, spans.end[nodes], -weighted, -weighted * losses)
        goes_on = spans.end[nodes] < spans.never
        rows, nodes = rows[goes_on], spans.cut_by[spans.end[nodes[goes_on]]]


def add_mixed(changes: FloatArray, spans: Spans, judge: Judge, rows: RowArray, arrived: Arrived) -> None:
    """Add the changes of the losses of rows that several nodes answer together; `rows[i]` is that of arrival i.

        row     7        7       7       8
        step    0        4       never   0        …        in this order, several changes at one step next to each other
        answer  +w a     -w a    …       +w a
                 +w' a'  +w" a"

    Every answer is taken away at the end, so that the sum is 0 again where the next row begins.
    """
    answering = np.flatnonzero(spans.answers(arrived.node))
    node, weight = arrived.node[answering], arrived.weight[answering]
    row, step = np.tile(rows[answering], 2), np.concatenate([spans.start[node], spans.end[node]])
    change = np.concatenate([weight, -weight])[:, None] * np.tile(judge.answers[node], (2, 1))
    order = np.lexsort((step, row))
    row, step = row[order], step[order]
    answers = np.cumsum(change[order], axis=0)
    is_last = np.append((np.diff(row) != 0) | (np.diff(step) != 0), True)  # of the changes of a row at a step
    row, step, answers = row[is_last], step[is_last], answers[is_last]
    is_first = np.append(True, np.diff(row) != 0)
    before = np.concatenate([np.zeros((1, answers.shape[1])), answers])[np.flatnonzero(is_first)]
    answers -= before[np.cumsum(is_first) - 1]  # what rounding left of the rows before
    losses = judge.of_answers(row, answers)
    weighted = judge.weights(row) * losses
    squares = weighted * losses
    for index, values in enumerate((weighted, squares)):
        earlier = np.where(is_first, 0.0, np.append(0.0, values[:-1]))
        changes[index] += np.bincount(step, values - earlier, minlength=changes.shape[1])


def add_at(changes: FloatArray, steps: RowArray, loss: FloatArray, squares: FloatArray) -> None:
    """Add changes to their steps."""
    for index, values in enumerate((loss, squares)):
        changes[index] += np.bincount(steps, values, minlength=changes.shape[1])
