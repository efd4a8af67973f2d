"""Which rows train, which validate, which test."""

import numpy as np

from core.arithmetic.arrays import CodeArray, RowArray
from core.arithmetic.randomness import shuffled, stream
from core.config.options import RandomDivision
from core.tables.parts import PARTS, Part


def divide_at_random(
    division: RandomDivision, n_rows: int, classes: CodeArray | None, seed: int
) -> dict[Part, RowArray]:
    """Rows by part, ascending; class by class when `classes` are given, so that each part has every class's share.

    A class too small to give every part that has a share at least one row stays in train whole.
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
    """Whole numbers of rows nearest to the shares: the rows that rounding down leaves go to the largest remainders."""
    exact = n_rows * shares
    counts = np.floor(exact + 1e-9).astype(np.int64)
    remainders = exact - counts
    for index in np.argsort(-remainders, kind="stable")[: n_rows - counts.sum()]:
        counts[index] += 1
    return counts
