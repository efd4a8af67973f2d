"""Kernels of `routing.routed`: which branch a row goes down if its value for the split is missing.

Such rows are in `unknown`, in row order, and their `side` is `BOTH`. If a strategy sends a row down one branch, that is
stored in `side`, and in `branch` if there are more than two. Rows that still go down every branch stay in `unknown`.
"""

import numpy as np
from numba import int64, uint64

from core.arithmetic.kernels.randomness import key_of, uniform
from core.arithmetic.randomness import FOR_ROWS
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.growth.kernels.lists.surrogates import NOWHERE
from core.growth.kernels.node.split_list import LEFT, RIGHT
from core.growth.kernels.node.state import original_row

COPIED, DRAWN, FOLLOWING = 0, 1, 2  # what happens to such rows: a `MissingStrategy`, as far as growth depends on it


@compiled
def settle_copies(problem, rules, unknown, n, side, branch, shares, n_branches):
    """`fractional_weights.without_light_copies`: rows whose copies would be too light go down the heavier branch only.

    With two branches, a row also goes one way if the weight of a copy rounds to 0. Returns how many rows are still
    copied.
    """
    smallest, heavier = 1.0, heavier_branch(shares, n_branches)
    for b in range(n_branches):
        if shares[b] > 0.0:
            smallest = min(smallest, shares[b])
    n_left = 0
    for i in range(n):
        row = unknown[i]
        weight, to = problem.weights[row], int64(-1)
        if rules.min_copy > 0.0 and weight * smallest < rules.min_copy - TIE:
            to = heavier
        elif n_branches == 2 and min(weight * shares[0], weight * shares[1]) <= 0.0:
            to = int64(0) if shares[0] > shares[1] else int64(1)
            problem.weights[row] = weight * shares[to]
        if to < 0:
            unknown[n_left] = row
            n_left += 1
        else:
            send(row, to, side, branch, n_branches)
    return n_left


@compiled
def draw_branches(problem, unknown, n, side, branch, shares, n_branches, key):
    """`distribution.drawn_branches`: each row goes whole down a randomly drawn branch; `key` is the node's."""
    last = n_branches - 1
    while shares[last] <= 0.0:
        last -= 1
    for_rows = key_of(key, FOR_ROWS)
    for i in range(n):
        row = unknown[i]
        chance, to, end = uniform(key_of(for_rows, uint64(original_row(problem, row)))), int64(0), shares[0]
        while to < last and end <= chance:
            to += 1
            end += shares[to]
        send(row, to, side, branch, n_branches)


@compiled
def follow_surrogates(problem, rules, work, n_ranked, n):
    """`surrogates.followed`: each row goes where its first known surrogate says, else down the heavier branch."""
    n_lists, heavier, two = problem.lengths.shape[0], heavier_branch(work.shares, 2), int64(2)
    for i in range(n):
        row, to = work.unknown[i], int64(-1)
        for position in range(n_ranked):
            at = work.ranked[position]
            if at < n_lists:
                value = problem.values[at, row]
                if not np.isnan(value):
                    to = int64((value > work.surrogate_thresholds[at]) != work.is_reversed[at])
            else:
                a = problem.coded[at - n_lists]
                level = problem.codes[row, at - n_lists]
                if level < rules.coded_starts[a] + rules.coded_levels[a]:
                    told = work.surrogate_branches[level]
                    to = int64(-1) if told == NOWHERE else int64(told)
            if to >= 0:
                break
        send(row, heavier if to < 0 else to, work.side, work.branch, two)


@compiled
def heavier_branch(shares, n_branches):
    """The first branch whose share is within a tie of the largest."""
    largest, heavier = 0.0, int64(0)
    for b in range(n_branches):
        largest = max(largest, shares[b])
    while shares[heavier] < largest - TIE:
        heavier += 1
    return heavier


@compiled
def send(row, to, side, branch, n_branches):
    """Record that a row goes down the branch `to`."""
    side[row] = LEFT if to == 0 else RIGHT
    if n_branches > 2:
        branch[row] = to
