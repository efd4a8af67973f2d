import struct

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.compiler.raw_memory import END, address_of
from core.records.kernels.decimals import EXACT, LEFT_TO_PYTHON, NO_NUMBER, read_decimal
from tests.examples import examples

pytestmark = pytest.mark.bounds


def read(text: str) -> tuple[int, float, int, bool]:
    body = np.frombuffer(text.encode() + END, dtype=np.uint8)
    begin = address_of(body)
    end, value, settled, is_whole = read_decimal(begin)
    return int(end) - int(begin), value, settled, is_whole


def assert_reads_like_python(text: str) -> int:
    end, value, settled, is_whole = read(text)
    assert end == len(text)
    assert is_whole == text.lstrip("-").isdecimal()
    if settled == EXACT:
        expected = float(int(text)) if is_whole else float(text)
        assert struct.pack("d", value) == struct.pack("d", expected)
    return settled


floats = st.floats(allow_nan=False, allow_infinity=False)
decimals = st.builds(
    lambda sign, whole, fraction, exponent: f"{sign}{whole}{fraction}{exponent}",
    st.sampled_from(["", "-"]),
    st.integers(0, 10**25).map(str),
    st.one_of(st.just(""), st.from_regex(r"\.[0-9]{1,25}", fullmatch=True)),
    st.one_of(
        st.just(""), st.builds(lambda e, n: f"{e}{n}", st.sampled_from(["e", "E", "e+", "e-"]), st.integers(0, 350))
    ),
)


@examples(500)
@given(st.one_of(floats.map(repr), st.integers(-(2**70), 2**70).map(str), decimals))
@example("-0")
@example("-0.0")
@example("9007199254740993")  # just between two float64
@example("1e23")
@example("8.5e22")
@example("2.2250738585072014e-308")
@example("5e-324")
@example("1.7976931348623159e308")
@example("0." + "0" * 400 + "1")
@example("1e-999999999999")
def test_what_is_settled_is_what_python_reads(text):
    assert_reads_like_python(text)


@examples(300)
@given(st.floats(min_value=1e-300, max_value=1e300))
def test_the_shortest_form_of_a_number_is_settled(number):
    assert assert_reads_like_python(repr(number)) == EXACT


@examples(200)
@given(st.integers(2**52, 2**53 - 1), st.integers(0, 9))
def test_a_number_just_between_two_goes_to_the_even_one(mantissa, shift):
    assert_reads_like_python(str((2 * mantissa + 1) << shift))


@pytest.mark.parametrize("text", ["", "-", "01", "-01", "1.", "1.e5", ".5", "1e", "1e+", "+1", "e5"])
def test_what_is_no_number_of_json_is_none(text):
    assert read(text)[2] == NO_NUMBER


def test_more_digits_than_fit_are_left_to_python():
    assert read("1" * 20)[2] == LEFT_TO_PYTHON
    assert read("0." + "0" * 30 + "1" * 19)[2] == EXACT
