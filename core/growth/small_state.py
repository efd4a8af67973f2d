"""The room that small subtrees are grown in."""

from typing import Any, NamedTuple

import numpy as np

MOST_SMALL = 255  # rows
UNKNOWN = 255  # the place of a row that is not in a list
N_WORDS = 4


class Small(NamedTuple):
    """Room to grow a small subtree in.

    place       `[list, row]`: its place in the list; `value` counts the distinct values before, `by_place` is the row
    lists       by column: its list
    rows        of waiting nodes, one after the other; `weights` are what they weigh there
    classes     by row; also `numbers`, and `origin`, its number in the whole table
    row_weights by row: what it weighs in the node that is searched; `ordered` are its rows in the order of a list
    columns     that were drawn, each with the `gains` of its cut and where that is
    """

    place: Any
    value: Any
    by_place: Any
    lists: Any
    rows: Any
    weights: Any
    others: Any
    other_weights: Any
    classes: Any
    numbers: Any
    origin: Any
    row_weights: Any
    ordered: Any
    scores: Any
    words: Any
    waiting: Any
    totals: Any
    left: Any
    left_counts: Any
    shares: Any
    columns: Any
    gains: Any
    cuts: Any


def room_for_small(n_columns: int, n_rows: int, n_sums: int, *, has_missing: bool) -> Small:
    """Room for subtrees with so many columns.

    With copies too a node has fewer rows than its parent, so that 255 + 254 + ... rows wait at the most.
    """
    n = min(MOST_SMALL, n_rows) + 1
    n_waiting = n * (n + 1) // 2 if has_missing else n
    return Small(
        place=np.empty((n_columns, n), dtype=np.uint8),
        value=np.empty((n_columns, n), dtype=np.uint8),
        by_place=np.empty((n_columns, n), dtype=np.uint8),
        lists=np.zeros(n_columns, dtype=np.int64),
        rows=np.empty(n_waiting, dtype=np.uint8),
        weights=np.empty(n_waiting),
        others=np.empty(n, dtype=np.uint8),
        other_weights=np.empty(n),
        classes=np.empty(n, dtype=np.int64),
        numbers=np.empty(n),
        origin=np.empty(n, dtype=np.int64),
        row_weights=np.empty(n),
        ordered=np.empty(n, dtype=np.uint8),
        scores=np.empty(n),
        words=np.zeros(N_WORDS, dtype=np.uint64),
        waiting=np.empty((n + 1, 4), dtype=np.int64),
        totals=np.zeros(n_sums),
        left=np.zeros(n_sums),
        left_counts=np.zeros(n_sums, dtype=np.int64),
        shares=np.zeros(2),
        columns=np.zeros(n_columns, dtype=np.int64),
        gains=np.zeros(n_columns),
        cuts=np.zeros((n_columns, 4), dtype=np.int64),
    )
