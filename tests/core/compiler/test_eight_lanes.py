"""A formula in lanes gives what it gives for each number alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import types

from core.compiler.compile import compiled
from core.compiler.eight_lanes import EIGHT, WIDTH, in_lanes, no_sums, plus_products, sum_in_lane

pytestmark = pytest.mark.bounds

WORD = np.iinfo(np.uint64).max


@in_lanes(types.UniTuple(types.float32, 2))
def largest_of(numbers, factor, least):  # type: ignore[no-untyped-def]
    """The largest of some formula, of eight numbers and of those next to them."""
    here, next_to = numbers(0), numbers(1)
    most = (here * factor + next_to / factor).where((here >= least) & (next_to > least))
    return most.largest(), (next_to - here).where((next_to > here) | (here >= next_to)).where(next_to > here).largest()


@in_lanes(types.uint64)
def are_above(numbers, limit):  # type: ignore[no-untyped-def]
    """Which of eight numbers exceed a limit."""
    return (numbers(0) > limit).as_bits()


@in_lanes(types.UniTuple(types.float32, 2))
def largest_part(words):  # type: ignore[no-untyped-def]
    """The largest part of eight words, and of those with their last bit set."""
    part = words(0).part(21, 21)
    return part.largest(), part.where(words(0).has_highest_bit()).largest()


@in_lanes(types.void)
def add_sizes(numbers, sums, factor):  # type: ignore[no-untyped-def]
    """Add the known numbers without their signs, times a factor, and say beyond the sums what they were."""
    here = numbers(0)
    before = sums(0)
    sums.add(0, (here.size() * factor).where(here.is_known(), here.all(1.0)))
    sums.put(WIDTH, before)


@in_lanes(types.void)
def put_halves(numbers, exponents, mantissas):  # type: ignore[no-untyped-def]
    """Take eight numbers apart."""
    exponents.put(0, numbers(0).exponent())
    mantissas.put(0, numbers(0).mantissa())


@compiled
def ask_halves(numbers, exponents, mantissas):  # type: ignore[no-untyped-def]
    put_halves(0, numbers, exponents, mantissas)


@compiled
def ask_sizes(at, onto, numbers, sums, factor):  # type: ignore[no-untyped-def]
    add_sizes((at, onto), numbers, sums, factor)


@compiled
def ask_largest(at, numbers, factor, least):  # type: ignore[no-untyped-def]
    return largest_of(at, numbers, factor, least)


@compiled
def ask_above(at, numbers, limit):  # type: ignore[no-untyped-def]
    return are_above(at, numbers, limit)


@compiled
def ask_part(at, words):  # type: ignore[no-untyped-def]
    return largest_part(at, words)


numbers_in_a_row = st.lists(st.floats(0, 1e6, width=32), min_size=WIDTH + 3, max_size=WIDTH + 3)


@given(numbers_in_a_row, st.integers(0, 2), st.floats(0.5, 4, width=32), st.floats(0, 1e6, width=32))
def test_numbers(given_numbers: Any, at: int, factor: float, least: float) -> None:
    numbers, factor, least = np.array(given_numbers, dtype=np.float32), np.float32(factor), np.float32(least)
    here, next_to = numbers[at : at + WIDTH], numbers[at + 1 : at + 1 + WIDTH]
    expected = np.where((here >= least) & (next_to > least), here * factor + next_to / factor, np.float32(0)).max()
    assert ask_largest(at, numbers, factor, least) == (expected, np.maximum(next_to - here, 0).max())
    assert ask_above(at, numbers, least) == sum(1 << lane for lane in range(WIDTH) if here[lane] > least)


@given(st.lists(st.integers(0, WORD), min_size=WIDTH, max_size=WIDTH))
def test_words(given_words: Any) -> None:
    parts = [word >> 21 & (1 << 21) - 1 for word in given_words]
    marked = [part for part, word in zip(parts, given_words, strict=True) if word >> 63]
    assert ask_part(0, np.array(given_words, dtype=np.uint64)) == (max(parts), max(marked, default=0))


@given(st.lists(st.floats(-1e9, 1e9) | st.just(np.nan), min_size=WIDTH + 3, max_size=WIDTH + 3), st.integers(0, 3))
def test_arrays_have_places_of_their_own_and_can_be_written(given_numbers: Any, at: int) -> None:
    numbers, sums = np.array(given_numbers), np.arange(3.0 * WIDTH)
    ask_sizes(at, 5, numbers, sums, 0.5)
    here, before = numbers[at : at + WIDTH], np.arange(3.0 * WIDTH)
    expected = before[5 : 5 + WIDTH] + np.where(np.isnan(here), 1.0, np.abs(here) * 0.5)
    assert sums[5 : 5 + WIDTH].tolist() == expected.tolist()
    assert sums[5 + WIDTH : 5 + 2 * WIDTH].tolist() == before[5 : 5 + WIDTH].tolist()
    assert sums[:5].tolist() == before[:5].tolist()


@in_lanes(types.void)
def note_parts(words, parts, marks):  # type: ignore[no-untyped-def]
    """Write down a part of eight words, and 1 where their last bit is set."""
    parts.put(0, words(0).part(21, 21))
    marks.put(0, words(0).has_highest_bit().as_numbers())


@compiled
def take_note(at, words, parts, marks):  # type: ignore[no-untyped-def]
    note_parts(at, words, parts, marks)


@given(st.lists(st.integers(0, WORD), min_size=WIDTH, max_size=WIDTH), st.integers(0, 2))
def test_what_is_written(given_words: Any, at: int) -> None:
    words = np.array([0] * at + given_words, dtype=np.uint64)
    parts, marks = np.full((2, at + WIDTH + 1), -1, dtype=np.float32)
    take_note(at, words, parts, marks)
    assert parts.tolist() == [-1] * at + [word >> 21 & (1 << 21) - 1 for word in given_words] + [-1]
    assert marks.tolist() == [-1] * at + [word >> 63 for word in given_words] + [-1]


@compiled
def add_up(positions, factors, numbers, result):  # type: ignore[no-untyped-def]
    sums = no_sums()
    for i in range(numbers.shape[0]):
        sums = plus_products(sums, factors, positions[i], numbers[i])
    for lane in range(WIDTH):
        result[lane] = sum_in_lane(sums, lane)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(1e-9, 1e9)), max_size=30), st.integers(0, 2**32))
def test_eight_sums(terms: Any, seed: int) -> None:
    factors = np.random.default_rng(seed).choice([0.0, 1.0, 0.3], 4 * WIDTH)
    positions = np.array([WIDTH * row for row, _ in terms], dtype=np.int64)
    numbers, result = np.array([number for _, number in terms], dtype=np.float64), np.empty(WIDTH)
    add_up(positions, factors, numbers, result)
    for lane in range(WIDTH):
        expected = 0.0
        for position, number in zip(positions, numbers, strict=True):
            expected += number * factors[position + lane]
        assert result[lane] == expected  # the same additions, one after the other


@given(st.lists(st.floats(2.0**-126, 2.0**100, width=32), min_size=WIDTH, max_size=WIDTH))
def test_a_number_is_its_mantissa_times_a_power_of_two(given_numbers: list[float]) -> None:
    numbers, exponents, mantissas = (np.array(given_numbers, dtype=np.float32) for _ in range(3))
    ask_halves(numbers, exponents, mantissas)
    assert ((mantissas >= 1) & (mantissas < 2)).all()
    assert (np.ldexp(mantissas.astype(np.float64), exponents.astype(int)) == numbers).all()


def _eight(at, numbers, *others):  # type: ignore[no-untyped-def]
    return EIGHT[numbers.dtype](at, numbers, *others)


@in_lanes(_eight)
def run_on(numbers, sums, before):  # type: ignore[no-untyped-def]
    """Write down what comes before each of eight numbers, those tagged 2 only; what they are with the last, kept."""
    here = numbers(0)
    running = before + here.where(here.has_tag(2)).running_sums()
    sums.put(0, running.moved(1, before))
    return running.last_everywhere()


@in_lanes(lambda at, eight: eight.kind(at, eight))
def largest_kept(eight):  # type: ignore[no-untyped-def]
    """The largest of eight numbers that were kept."""
    return eight.largest()


@compiled
def ask_running(at, numbers, sums, before):  # type: ignore[no-untyped-def]
    kept = run_on(at, numbers, sums, before)
    return largest_kept(at, kept)


@given(
    st.lists(st.integers(0, 1000), min_size=WIDTH, max_size=WIDTH),
    st.lists(st.integers(0, 3), min_size=WIDTH, max_size=WIDTH),
    st.integers(0, 1000),
    st.sampled_from([(np.float32, np.uint32), (np.float64, np.uint64)]),
)
def test_tagged_numbers_are_added_up_one_after_the_other(
    numbers: list[int], tags: list[int], before: int, kinds: tuple[Any, Any]
) -> None:
    kind, bits = kinds
    tagged, sums = np.array(numbers, dtype=kind), np.zeros(WIDTH, dtype=kind)
    tagged.view(bits)[:] |= np.array(tags, dtype=bits)
    last = ask_running(0, tagged, sums, kind(before))
    wanted = np.cumsum([before, *(number * (tag == 2) for number, tag in zip(numbers, tags, strict=True))])
    assert np.allclose([*sums, last], wanted, rtol=1e-5, atol=1e-30)
