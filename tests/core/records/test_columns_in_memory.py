"""Columns in memory say what `encode_columns` says of the same values, or nothing."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.arrays import FloatArray
from core.compiler.raw_memory import END, address_of
from core.records.columns_in_memory import ColumnsInMemory, NumbersInMemory, TextsInMemory
from core.records.records import encode_columns
from core.tables.schema import Attribute, Kind, Schema

SCHEMA = Schema(
    (
        Attribute("size", Kind.NUMERIC),
        Attribute("纹理", Kind.CATEGORICAL, ("清晰", "稍糊", "", "\\u6e05", "a category of many words, and one more")),
        Attribute("grade", Kind.ORDINAL, ("low", "high")),
    )
)
READER = ColumnsInMemory(SCHEMA)

words = st.sampled_from([*SCHEMA[1].categories, *SCHEMA[2].categories])
sizes = st.floats(allow_nan=False, allow_infinity=False)


class InMemory:
    """Texts, and the arrays that they are in."""

    def __init__(self, texts: list[str], *, skipped: int = 0) -> None:
        encoded = [b"?" * skipped, *(text.encode() for text in texts)]
        self.offsets = np.cumsum([len(text) for text in encoded], dtype=np.int32)
        self.text = np.frombuffer(END + b"".join(encoded) + END, dtype=np.uint8)

    @property
    def column(self) -> TextsInMemory:
        begin = int(address_of(self.text)) + len(END)
        return TextsInMemory(int(address_of(self.offsets)), begin, len(self.text) - 2 * len(END))


def read(numbers: FloatArray, *texts: InMemory) -> list[list[float]] | None:
    """What is found at the addresses that a reader gives."""
    columns = [NumbersInMemory(int(address_of(numbers))), *(one.column for one in texts)]
    found = READER.as_numbers(columns, len(numbers))
    if found is None:
        return None
    assert found.addresses[0] == address_of(numbers)
    assert found.addresses[1:].tolist() == [int(address_of(codes)) for codes in found.codes]
    return [numbers.tolist(), *found.codes.tolist()]


@pytest.mark.slow
@given(st.lists(st.tuples(sizes, words, words), max_size=12), st.integers(0, 5))
def test_known_values_are_read_as_from_json(rows: list[tuple[float, str, str]], skipped: int) -> None:
    numbers, *texts = ([row[position] for row in rows] for position in range(3))
    kept = [InMemory(column, skipped=skipped) for column in texts]
    found = read(np.array(numbers, dtype=np.float64), *kept)
    encoded = encode_columns(
        dict(zip(SCHEMA.names, (numbers, *texts), strict=True)), SCHEMA, ignorable=(), ignore_unknown=False
    )
    if encoded.states is not None and encoded.states.any():
        assert found is None
    else:
        assert found is not None
        assert found == [column.tolist() for column in encoded.table.columns]


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none_are_left_to_others(number: float) -> None:
    kept = InMemory(["清晰"] * 9), InMemory(["low"] * 9)
    numbers = np.arange(9.0)
    assert read(numbers, *kept) is not None
    numbers[7] = number
    assert read(numbers, *kept) is None


@pytest.mark.parametrize("offsets", [[-1, 3, 6], [0, 7, 6], [0, 3, 7], [3, 0, 6], [0, 3, 2**31 - 1]])
def test_offsets_outside_the_text_are_never_followed(offsets: Any) -> None:
    kept = InMemory(["low", "low"])
    kept.offsets[:] = offsets
    assert read(np.zeros(2), InMemory(["清晰"] * 2), kept) is None
