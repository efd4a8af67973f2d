"""Random divisions of a dataset into training, validation and test rows."""

import numpy as np

from core.arithmetic.arrays import CodeArray, RowArray
from core.arithmetic.randomness import shuffled, stream
from core.config.options import RandomDivision
from core.tables.parts import PARTS, Part


def divide_at_random(
    division: RandomDivision, n_rows: int, classes: CodeArray | None, seed: int
) -> dict[Part, RowArray]:
    """Rows by part, ascending; stratified if `classes` are given, so that each part has every class's share.

    A class too small to give at least one row to every part with a share stays in train entirely.
    """
    bits = stream(seed, "division")
    part_of = np.zeros(n_rows, dtype=np.int64)
    shares = np.array([division.train, division.validation, division.test])
    groups = (
        [np.arange(n_rows)] if classes is None else [np.flatnonzero(classes == code) for code in np.unique(classes)]
    )
    for group in groups:
        counts = part_sizes(len(group), shares)
        if ((counts == 0) & (shares > 0)).any():
            continue
        part_of[shuffled(group, bits)] = np.repeat(np.arange(len(PARTS)), counts)
    return {part: np.flatnonzero(part_of == index) for index, part in enumerate(PARTS)}


def part_sizes(n_rows: int, shares: np.ndarray[tuple[int], np.dtype[np.float64]]) -> RowArray:
    """The integer numbers of rows nearest to the shares; rows left by rounding down go to the largest remainders."""
    exact = n_rows * shares
    counts = np.floor(exact + 1e-9).astype(np.int64)
    remainders = exact - counts
    for index in np.argsort(-remainders, kind="stable")[: n_rows - counts.sum()]:
        counts[index] += 1
    return counts
