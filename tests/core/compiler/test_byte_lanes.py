"""Bytes looked at together are what they are one by one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiler.byte_lanes import (
    BYTES_AT_ONCE,
    below_mask,
    below_mask_short,
    beyond_ten_mask,
    copy_bytes,
    equal_mask,
    equal_mask_short,
    n_bits,
)
from core.compiler.compile import compiled
from core.compiler.raw_memory import address_of

pytestmark = pytest.mark.bounds


@compiled
def all_marks(at, byte):  # type: ignore[no-untyped-def]
    return equal_mask(at, byte), below_mask(at, byte), beyond_ten_mask(at, byte), n_bits(equal_mask(at, byte))


@compiled
def all_short_marks(at, number):  # type: ignore[no-untyped-def]
    return equal_mask_short(at, number), below_mask_short(at, number)


@compiled
def copy(source, goal):  # type: ignore[no-untyped-def]
    copy_bytes(source, goal)


def bits(said: list[bool]) -> int:
    return sum(1 << position for position, is_so in enumerate(said) if is_so)


@given(
    st.binary(min_size=BYTES_AT_ONCE, max_size=BYTES_AT_ONCE)
    | st.text("09/:", min_size=32, max_size=32).map(str.encode),
    st.sampled_from([0, 32, 34, 48, 57, 127, 128, 250, 255]),
)
def test_marks_are_bits_of_bytes(text: bytes, byte: int) -> None:
    memory = np.frombuffer(b"?" + text, dtype=np.uint8)  # begins anywhere
    like, below, beyond, n = all_marks(address_of(memory) + np.uint64(1), np.uint8(byte))
    assert like == bits([one == byte for one in text])
    assert below == bits([one < byte for one in text])
    assert beyond == bits([(one - byte) % 256 >= 10 for one in text])
    assert n == text.count(byte)


@given(
    st.lists(st.sampled_from([0, 1, 255, 256, 1023, 0xFFFF]), min_size=BYTES_AT_ONCE, max_size=BYTES_AT_ONCE),
    st.sampled_from([0, 1, 255, 256, 1000, 0xFFFF]),
)
def test_marks_are_bits_of_pairs_of_bytes(numbers: list[int], number: int) -> None:
    memory = np.array(numbers, dtype=np.uint16)
    like, below = all_short_marks(address_of(memory), np.uint16(number))
    assert like == bits([one == number for one in numbers])
    assert below == bits([one < number for one in numbers])


def test_thirty_two_bytes_are_copied_and_no_more() -> None:
    source, goal = np.arange(40, dtype=np.uint8), np.zeros(40, dtype=np.uint8)
    copy(address_of(source) + np.uint64(3), address_of(goal) + np.uint64(1))
    assert goal.tolist() == [0, *range(3, 35), *[0] * 7]
