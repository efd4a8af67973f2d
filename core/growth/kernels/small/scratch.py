"""Scratch buffers for growing small subtrees."""

from typing import Any

import numpy as np

from core.compiler.cache_lines import in_lines
from core.compiler.eight_lanes import WIDTH
from core.growth.kernels.node.kept import FIGURES

MOST_SMALL = 1023  # rows of a small subtree
UNKNOWN = MOST_SMALL  # the position of a row that is not in a list
NOBODY = 0xFFFF  # the content of a free position
FEW = 64  # rows: up to here they are sorted by counting
EVERY, HERE = 0, 1  # lines of `is_new`: all values are new, or those of the column at hand


def small_buffers(n_columns: int, n_rows: int, n_sums: int) -> tuple[Any, ...]:
    """Scratch buffers for subtrees of few rows: the fields of the kernels' `Work` from `position` to `heavy_positions`.

    A node has fewer rows than its parent, so that at most n + (n - 1) + ... rows wait, each with an index of its own.
    """
    n = min(MOST_SMALL, n_rows) + 1
    n_waiting = n * (n + 1) // 2
    weights, tagged, rough = np.empty(n_waiting), in_lines(n), in_lines(n, np.float32)
    return (
        np.empty((n_columns, n), dtype=np.uint16),
        np.empty((n_columns, n), dtype=np.uint16),
        np.empty((n_columns, n), dtype=np.uint16),
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(n_columns, dtype=np.int64),
        np.empty(n_waiting, dtype=np.uint16),
        weights,
        weights.view(np.uint64),
        np.empty(n, dtype=np.int64),
        np.empty(n),
        np.empty(n, dtype=np.int32),
        np.empty(n),
        np.empty(n, dtype=np.uint16),
        np.zeros((UNKNOWN >> 6) + 1, dtype=np.uint64),
        np.empty((n + 2, 4), dtype=np.int64),
        np.empty((n + 2, FIGURES + 5 * n_sums)),
        np.zeros(2 + 5 * n_sums),
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(n_columns),
        np.zeros((n_columns, 4), dtype=np.int64),
        tagged,
        tagged.view(np.uint64),
        in_lines(n + WIDTH),
        in_lines(UNKNOWN + 1 + 64, np.uint16, NOBODY),
        in_lines((3, n + WIDTH)),
        in_lines((2, n + WIDTH), fill=1),
        in_lines(n + WIDTH),
        np.empty(n, dtype=np.uint16),
        np.zeros((2, 4)),
        np.zeros(5),
        rough,
        rough.view(np.uint32),
        in_lines(n + WIDTH, np.float32),
        in_lines((3, n + WIDTH), np.float32),
        in_lines((2, n + WIDTH), np.float32, 1),
        in_lines(n + WIDTH, np.float32),
        np.zeros(5, dtype=np.float32),
        np.zeros(n_columns),
        np.zeros(n_columns, dtype=np.bool_),
        np.zeros(WIDTH + 1, dtype=np.uint16),
        in_lines(WIDTH + 1, np.float32),
        in_lines(WIDTH, np.float32),
    )
