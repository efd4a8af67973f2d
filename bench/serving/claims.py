"""The table that servers are asked about: applications for credit, of which some are paid back late.

Six numbers and four categories of 3 to 16 words, no holes; a tree of depth 8 tells the two classes apart.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.random import Generator

from bench.tables import Data, zipf

MODEL = "claims"
N_TRAIN, N_ASKED = 50_000, 10_000
MOST_BATCHES = 100
DEPTH, MIN_LEAF = 8, 20

TARGET, CLASSES = "outcome", ("paid", "late")
NUMBERS = ("amount", "income", "balance", "age", "months", "days_since_contact")
CATEGORIES = {
    "purpose": ("car", "debts", "education", "furniture", "health", "holiday", "house", "machine", "move", "other",
                "repair", "wedding"),
    "employment": ("civil servant", "employed", "retired", "self-employed", "unemployed"),
    "housing": ("owner", "tenant", "with family"),
    "region": tuple(f"region {number:02}" for number in range(1, 17)),
}  # fmt: skip

Record = dict[str, float | str]


def claims(chance: Generator, n_rows: int) -> Data:
    """Applications: sums of money with cents, whole years, months and days, and words of uneven frequency."""
    codes = np.stack([zipf(chance, len(words), n_rows) for words in CATEGORIES.values()], axis=1)
    amount, income = chance.lognormal(9, 0.8, n_rows), chance.lognormal(10.3, 0.5, n_rows)
    balance = chance.normal(1_500, 2_000, n_rows)
    age, months = chance.integers(18, 80, n_rows), chance.choice([6, 12, 24, 36, 48, 60, 84], n_rows)
    days = chance.integers(0, 2_000, n_rows)
    numbers = np.stack([amount.round(2), income.round(2), balance.round(2), age, months, days], axis=1)
    burden = np.log(amount / months) - np.log(income / 24) - balance / 4_000 + np.where(age < 30, 0.4, 0) - days / 4_000
    for column, words in enumerate(CATEGORIES.values()):
        burden += 0.5 * chance.normal(size=len(words))[codes[:, column]]
    late = burden + chance.logistic(0, 0.7, n_rows) > np.quantile(burden, 0.7)
    return Data(numbers, codes, tuple(map(len, CATEGORIES.values())), late.astype(np.int32), len(CLASSES))


@cache
def trained_on() -> Data:
    """What every server's tree is grown from."""
    return claims(np.random.default_rng(0), N_TRAIN)


@cache
def asked() -> Data:
    """Applications that nobody was trained on."""
    return claims(np.random.default_rng(1), N_ASKED)


def batches(n_records: int) -> list[Data]:
    """The same applications, so many at a time, in at most a hundred batches: no server may know an answer by heart."""
    return [asked().rows(start, start + n_records) for start in range(0, N_ASKED, n_records)][:MOST_BATCHES]


def columns_of(data: Data) -> dict[str, list[float] | list[str]]:
    """The attributes by name, as JSON writes them."""
    numbers = {name: column.tolist() for name, column in zip(NUMBERS, data.numbers.T, strict=True)}
    words = {
        name: [words[code] for code in column]
        for (name, words), column in zip(CATEGORIES.items(), data.codes.T, strict=True)
    }
    return numbers | words


def records_of(data: Data) -> list[Record]:
    """The same, one record at a time."""
    columns = columns_of(data)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def answers_of(data: Data) -> Iterator[str]:
    """What became of each application."""
    return (CLASSES[answer] for answer in data.answers)


def encoded(data: Data) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Numbers only, for servers that know no words: the place of a word among its column's stands for it."""
    return np.hstack([data.numbers, data.codes])
