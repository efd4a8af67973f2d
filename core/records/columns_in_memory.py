"""Reads columns without missing values in place from memory: numbers are left there, text becomes codes.

Importing this module compiles nothing; reading does, unless compiled code is cached on disk.
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
    """The address of float64 numbers, a multiple of 8."""

    address: int


class TextsInMemory(NamedTuple):
    """Texts stored one after the other: addresses of their 32-bit offsets and of the text, and the text's size.

    The first offset is where the first text begins; each further one is where a text ends. Eight bytes before and after
    the text must be readable.
    """

    offsets: int
    text: int
    size: int


InMemory = NumbersInMemory | TextsInMemory


@dataclass(frozen=True)
class NumbersOfAttributes:
    """The addresses of the columns of all attributes as numbers, and the array that holds the codes."""

    addresses: NDArray[np.uint64]
    codes: FloatArray
    n_rows: int


class ColumnsInMemory:
    """Reads columns for a model's attributes."""

    def __init__(self, attributes: Schema) -> None:
        self._vocabulary = Vocabulary(
            (number, code, category.encode())
            for number, attribute in enumerate(attributes)
            for code, category in enumerate(attribute.categories)
        )

    def as_numbers(self, columns: Sequence[InMemory], n_rows: int) -> NumbersOfAttributes | None:
        """The columns of all attributes as numbers; None unless every value is a finite number or a known category.

        A numeric attribute needs a column of numbers, any other a column of texts. Numbers stay where they are, so the
        caller must keep that memory.
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
