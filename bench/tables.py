"""The tables that are measured on: drawn from a seed, with signal and noise, so that trees are like those of real data.

Numbers are columns of one C-ordered float64 matrix, NaN where missing; categories are int32 codes, -1 where missing.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int32]

N_HELD_OUT = 50_000  # rows to judge accuracy by
QUICK_SHARE = 20  # --quick divides the rows by this


@dataclass(frozen=True)
class Data:
    """Rows with their answers: `numbers[row, column]`, `codes[row, column]`, and a class or a number each.

    `n_classes` is 0 where numbers are predicted; `n_categories` has one entry for each column of `codes`.
    """

    numbers: FloatArray
    codes: CodeArray
    n_categories: tuple[int, ...]
    answers: CodeArray | FloatArray
    n_classes: int
    weights: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def n_cells(self) -> int:
        return self.numbers.size + self.codes.size

    def rows(self, start: int, end: int) -> "Data":
        """A range of the rows."""
        return replace(
            self,
            numbers=self.numbers[start:end],
            codes=self.codes[start:end],
            answers=self.answers[start:end],
            weights=None if self.weights is None else self.weights[start:end],
        )


@dataclass(frozen=True)
class Division:
    """Rows to learn from, and rows to judge accuracy by."""

    train: Data
    held_out: Data


@dataclass(frozen=True)
class Tables:
    """A kind of table: `draw(chance, n_rows)` gives one; some cells are then lost completely at random."""

    draw: Callable[[Generator, int], Data]
    n_rows: int
    missing: float = 0.0
    weighted: bool = False

    def division(self, seed: int, *, quick: bool = False) -> Division:
        """The table of a seed; the same cells with and without holes."""
        share = QUICK_SHARE if quick else 1
        n_train, n_held_out = self.n_rows // share, N_HELD_OUT // share
        data = self.draw(np.random.default_rng(seed), n_train + n_held_out)
        if self.missing:
            data = with_holes(data, self.missing, np.random.default_rng([seed, 1]))
        if self.weighted:
            data = replace(data, weights=np.random.default_rng([seed, 2]).uniform(0.5, 1.5, len(data)))
        return Division(data.rows(0, n_train), data.rows(n_train, len(data)))


def with_holes(data: Data, share: float, chance: Generator) -> Data:
    """The same rows, with this share of all cells missing."""
    numbers, codes = data.numbers.copy(), data.codes.copy()
    numbers[chance.random(numbers.shape) < share] = np.nan
    codes[chance.random(codes.shape) < share] = -1
    return replace(data, numbers=numbers, codes=codes)


def score(numbers: FloatArray, chance: Generator) -> FloatArray:
    """What the numeric tables are about: six columns count, alone and in pairs, the others are noise.

    Any six: where splits of a few rows tie, the first column is taken, and that must not be the one that counts.
    """
    a, b, c, d, e, f = numbers[:, chance.permutation(numbers.shape[1])[:6]].T
    return a * b + np.sin(2 * c) + d / 2 + np.where(e > 0, f, 0) + 0.7 * chance.normal(size=len(numbers))


def numeric(chance: Generator, n_rows: int, *, n_classes: int = 3) -> Data:
    """20 normal columns, every value distinct, in so many classes."""
    numbers = chance.normal(size=(n_rows, 20))
    return classified(numbers, score(numbers, chance), n_classes=n_classes)


def added_up(chance: Generator, n_rows: int) -> Data:
    """20 normal columns in 3 classes by the sum of eight of them, with some noise: every node has much to ask."""
    numbers = chance.normal(size=(n_rows, 20))
    total = numbers[:, chance.permutation(20)[:8]].sum(axis=1)
    return classified(numbers, total + 0.5 * chance.normal(size=n_rows), n_classes=3)


def slanted(chance: Generator, n_rows: int, *, n_classes: int = 2) -> Data:
    """20 normal columns in classes between planes that are parallel to none of them, with some noise."""
    numbers, across = chance.normal(size=(n_rows, 20)), chance.normal(size=20)
    distance = numbers @ (across / np.linalg.norm(across))
    return classified(numbers, distance + 0.2 * chance.normal(size=n_rows), n_classes=n_classes)


def hundred_values(chance: Generator, n_rows: int) -> Data:
    """As `numeric`, but each column has 100 values, equally frequent."""
    numbers = np.floor(chance.random((n_rows, 20)) * 100)
    return classified(numbers, score((numbers - 49.5) / 29, chance), n_classes=3)


def regression(chance: Generator, n_rows: int) -> Data:
    """20 normal columns, and the score itself to predict."""
    numbers = chance.normal(size=(n_rows, 20))
    return Data(numbers, no_codes(n_rows), (), score(numbers, chance), n_classes=0)


def cover_types(chance: Generator, n_rows: int) -> Data:
    """Like covertype: 10 numbers of 60 to 7,000 values, one of 4 areas and one of 40 soils as 44 columns; 7 classes."""
    n_values = np.geomspace(60, 7_000, 10).round()
    areas, soils = zipf(chance, 4, n_rows), zipf(chance, 40, n_rows)
    hidden, (height, *others) = chance.normal(size=(n_rows, 10)), chance.permutation(10)
    hidden[:, height] += chance.normal(size=40)[soils]  # the ground goes with the height
    numbers = np.floor(np.clip((hidden + 4) / 8, 0, 0.999999) * n_values)
    preferred = chance.permutation(np.linspace(-1.5, 1.5, 7))  # a height for each class
    worth = -12 * np.abs(hidden[:, [height]] - preferred) + np.sin(hidden[:, others[:3]]) @ chance.normal(size=(3, 7))
    worth += 4 * chance.normal(size=(4, 7))[areas] + 4 * chance.normal(size=(40, 7))[soils]
    worth += np.log([0.36, 0.49, 0.06, 0.01, 0.02, 0.03, 0.04])  # some classes are rare
    classes = (worth + chance.gumbel(size=worth.shape)).argmax(axis=1)
    one_hot = [np.eye(4)[areas], np.eye(40)[soils]]
    return Data(np.hstack([numbers, *one_hot]), no_codes(n_rows), (), classes.astype(np.int32), n_classes=7)


MANY_LEVELS, FEW_LEVELS = (2, 3, 5, 10, 20, 50, 120, 200), (2, 3, 4, 5, 8, 10, 15, 20)


def mixed(chance: Generator, n_rows: int, *, n_classes: int, n_categories: tuple[int, ...] = MANY_LEVELS) -> Data:
    """8 categoricals of 2 to 200 levels, some of them rare, and 6 numbers; each level has an effect on each class."""
    codes = np.stack([zipf(chance, n, n_rows) for n in n_categories], axis=1)
    numbers, (one, other, *alone) = chance.normal(size=(n_rows, 6)), chance.permutation(6)
    worth = numbers[:, alone] @ chance.normal(size=(4, n_classes)) / 2 + chance.gumbel(size=(n_rows, n_classes))
    for column, n in enumerate(n_categories):
        worth += 0.7 * chance.normal(size=(n, n_classes))[codes[:, column]]
    worth[:, 0] += np.where(codes[:, 0] == 0, numbers[:, one] * numbers[:, other], 0)
    return Data(numbers, codes, n_categories, worth.argmax(axis=1).astype(np.int32), n_classes)


def classified(numbers: FloatArray, scores: FloatArray, n_classes: int) -> Data:
    """The rows in classes of equal size, by score."""
    bounds = np.quantile(scores, np.arange(1, n_classes) / n_classes)
    classes = np.searchsorted(bounds, scores).astype(np.int32)
    return Data(numbers, no_codes(len(numbers)), (), classes, n_classes)


def zipf(chance: Generator, n_categories: int, n_rows: int) -> CodeArray:
    """Codes whose frequency falls with their rank in a shuffled order, as those of real categories do."""
    frequencies = 1 / np.arange(1, n_categories + 1)
    ranks = chance.choice(n_categories, size=n_rows, p=frequencies / frequencies.sum())
    return chance.permutation(n_categories)[ranks].astype(np.int32)


def no_codes(n_rows: int) -> CodeArray:
    """No categorical columns."""
    return np.empty((n_rows, 0), dtype=np.int32)
