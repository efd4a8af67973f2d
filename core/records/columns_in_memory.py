"""Columns of records that lack nothing, read where they lie in memory: numbers stay, text becomes codes.

Importing this module compiles nothing; reading does, unless compiled code is found on disk.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.compiler.raw_memory import address_of
from core.records.vocabulary import Vocabulary
from core.tables.schema import Schema

NUMBER_BYTES = 8


class NumbersInMemory(NamedTuple):
    """Where numbers begin, in 64 bits each, at a multiple of 8."""

    address: int


class TextsInMemory(NamedTuple):
    """Texts one after the other: where the offsets of their ends begin, in 32 bits each, where the text does, its size.

    The first offset is where the first text begins. Eight bytes before the text and behind it can be read.
    """

    offsets: int
    text: int
    size: int


InMemory = NumbersInMemory | TextsInMemory


@dataclass(frozen=True)
class NumbersOfAttributes:
    """Where the column of each attribute is, as numbers, codes too; and the codes, kept as long as they are read."""

    addresses: NDArray[np.uint64]
    codes: FloatArray
    n_rows: int


class ColumnsInMemory:
    """A model's attributes, ready to read columns for."""

    def __init__(self, attributes: Schema) -> None:
        self._vocabulary = Vocabulary(
            (number, code, category.encode())
            for number, attribute in enumerate(attributes)
            for code, category in enumerate(attribute.categories)
        )

    def as_numbers(self, columns: Sequence[InMemory], n_rows: int) -> NumbersOfAttributes | None:
        """The columns of all attributes as numbers; None unless all values are finite numbers or known categories.

        An attribute's column is numbers or text as its values are. Numbers stay where they are: the caller keeps them.
        """
        from core.records.kernels.columns_in_memory import read_columns  # imports Numba

        n_texts = sum(isinstance(column, TextsInMemory) for column in columns)
        codes = np.empty((n_texts, n_rows))
        at = int(address_of(codes))
        positions, addresses = list[tuple[int, int, int]](), list[int]()
        for column in columns:
            if isinstance(column, NumbersInMemory):
                positions.append((0, column.address, 0))
                addresses.append(column.address)
            else:
                positions.append(column)
                addresses.append(at)
                at += NUMBER_BYTES * n_rows
        if not read_columns(self._vocabulary.words, np.array(positions, dtype=np.uint64).reshape(-1, 3), n_rows, codes):
            return None
        return NumbersOfAttributes(np.array(addresses, dtype=np.uint64), codes, n_rows)
