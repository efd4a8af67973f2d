"""Columns of records that lack nothing, read where they lie in memory: numbers stay, text becomes codes.

Importing this module compiles nothing; reading does, unless compiled code is found on disk.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from core.raw_memory import address_of
from core.schema import Schema
from core.table import FloatArray
from core.vocabulary import Vocabulary


class TextsInMemory(NamedTuple):
    """Texts one after the other: where the offsets of their ends begin, in 32 bits each, where the text does, its size.

    The first offset is where the first text begins. Eight bytes before the text and behind it can be read.
    """

    offsets: int
    text: int
    size: int


InMemory = FloatArray | TextsInMemory


class ColumnsInMemory:
    """A model's attributes, ready to read columns for."""

    def __init__(self, attributes: Schema) -> None:
        self._attributes = attributes
        self._vocabulary = Vocabulary(
            (number, code, category.encode())
            for number, attribute in enumerate(attributes)
            for code, category in enumerate(attribute.categories)
        )

    def as_numbers(self, columns: Sequence[InMemory], n_rows: int) -> list[FloatArray] | None:
        """The columns of all attributes as numbers, codes too; None unless all are finite numbers or known categories.

        An attribute's column is numbers or text as its values are.
        """
        from core.column_in_memory_kernels import are_finite, read_codes

        read: list[FloatArray] = []
        for number, column in enumerate(columns):
            if isinstance(column, TextsInMemory):
                codes = np.empty(n_rows)
                offsets, text, size = map(np.uint64, column)
                if not read_codes(self._vocabulary.words, np.uint64(number), offsets, text, size, codes):
                    return None
                read.append(codes)
            elif are_finite(address_of(column), n_rows):
                read.append(column)
            else:
                return None
        return read
