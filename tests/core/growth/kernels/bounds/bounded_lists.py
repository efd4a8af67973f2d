"""Lists of up to three classes as kernels have them, and what a first look at one of them adds up."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from core.criteria.kernels.impurity import ENTROPY
from core.growth.kernels.bounds import block_sums as blocks
from core.growth.kernels.bounds.bound import doubt_of_floats, doubt_of_units, n_lines_of, score_undivided
from core.splits.kernels.numeric import MOST_LANES

SCALES = st.sampled_from([(1.0, 1.0), (0.2, 1.0), (1e-9, 1.0), (1e-3, 1e3)])  # the lightest and the heaviest row


@st.composite
def lists(draw: st.DrawFn) -> tuple[Any, int, Any, Any]:
    """A list, the bits of its rows, their classes and weights."""
    n, n_classes = draw(st.integers(2, 300)), draw(st.integers(1, MOST_LANES))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    lightest, heaviest = draw(SCALES)
    weights = np.exp(chance.uniform(np.log(lightest), np.log(heaviest), n))
    rows, row_bits = chance.permutation(n).astype(np.uint32), max(1, (n - 1).bit_length())
    lean = np.linspace(0, draw(st.sampled_from([0.0, 0.5, 1.0])), n)  # how much the class follows the place
    classes = np.where(chance.random(n) < lean, 0, chance.integers(0, n_classes, n)).astype(np.int32)
    is_new = chance.random(n) < draw(st.sampled_from([0.1, 1.0]))
    entries = (is_new.astype(np.uint32) << np.uint32(31)) | (classes.astype(np.uint32) << np.uint32(row_bits)) | rows
    entries[0] &= ~np.uint32(1 << 31)
    by_row = np.empty(n, dtype=np.int32)
    by_row[rows] = classes
    return entries, row_bits, by_row, weights


def by_row(row_bits: int) -> tuple[Any, Any]:
    """`growth.kernels.bounds.block_sums.by_row` for Python: an entry's weight is found by its row."""
    return np.uint32(0), np.uint32((1 << row_bits) - 1)


def heaviest_class(classes: Any, weights: Any) -> float:
    """What the heaviest class weighs."""
    return float(np.bincount(classes, weights).max())


class Blocks(NamedTuple):
    """The sums before each block, how many there are, the units, how many a weight of 1 has, and the doubt."""

    lefts: Any
    n_blocks: int
    units: Any
    unit: float
    doubt: float


def blocks_of(entries: Any, row_bits: int, classes: Any, weights: Any | None, criterion: int) -> Blocks:
    """A list's blocks added up, of counts where there are no weights."""
    n = len(entries)
    units, scale, doubt = np.empty(0, dtype=np.uint64), np.array([1.0, 0.0]), 0.0
    if weights is not None:
        units, rows, whole = np.empty(n, dtype=np.uint64), np.arange(n, dtype=np.uint32), weights.sum()
        blocks.fill_units(weights, classes, rows, 0, n, heaviest_class(classes, weights), units, scale)
        doubt = doubt_of_units(scale[1], whole * scale[0], criterion)
    shape = n_lines_of(criterion), blocks.length_of_lefts(blocks.most_blocks(n))
    lefts = np.full(shape, np.nan, dtype=np.float32)
    n_blocks = blocks.fill_lefts(entries, 0, n, row_bits, by_row(row_bits), units, lefts)
    assert n_blocks == blocks.n_blocks_of(n) <= blocks.most_blocks(n)
    _, known = score_undivided(lefts, n_blocks, criterion)
    return Blocks(lefts, n_blocks, units, scale[0], doubt + doubt_of_floats(known, criterion))


def gains(entries: Any, row_bits: int, classes: Any, weights: Any, criterion: int) -> tuple[Any, Any]:
    """What a cut before each entry gains, times the weight, and the weight on its smaller side."""
    rows = entries & np.uint32((1 << row_bits) - 1)
    each = np.eye(MOST_LANES)[classes[rows]] * weights[rows, None]
    left = np.vstack([np.zeros(MOST_LANES), np.cumsum(each, axis=0)])[:-1]
    right = np.vstack([np.cumsum(each[::-1], axis=0)[::-1], np.zeros(MOST_LANES)])[:-1]
    score = score_by_entropy if criterion == ENTROPY else score_by_gini
    return score(left) + score(right) - score(each.sum(axis=0)[None]), np.minimum(left.sum(axis=1), right.sum(axis=1))


def score_by_gini(sums: Any) -> Any:
    """sum_k L_k^2 / L of each line."""
    weight = sums.sum(axis=1)
    return np.divide((sums**2).sum(axis=1), weight, out=np.zeros(len(sums)), where=weight > 0)


def score_by_entropy(sums: Any) -> Any:
    """sum_k L_k log2 (L_k / L) of each line."""
    weight = sums.sum(axis=1, keepdims=True)
    shares = np.divide(sums, weight, out=np.ones(sums.shape), where=sums > 0)
    return (sums * np.log2(shares)).sum(axis=1)
