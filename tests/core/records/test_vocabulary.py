"""A text in memory is found in a vocabulary where it is a word of it, and nowhere else."""

import re

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.compiler.compile import compiled, whole_at
from core.compiler.raw_memory import END, address_of
from core.records.kernels.vocabulary import CODE, GAVE_UP, are_same, string_end, word_of
from core.records.vocabulary import Vocabulary

pytestmark = pytest.mark.bounds

# Beginnings and ends that many words share, and lengths around those of what is looked at together.
texts = st.builds(
    lambda first, middle, last: first + middle + last,
    st.sampled_from([b"", b"a", b"region 0", b"region 1", b"\xff" * 8]),
    st.binary(max_size=2) | st.binary(min_size=7, max_size=18),
    st.sampled_from([b"", b"z", b"01 region", b"\0"]),
)
STRING = re.compile(rb'(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"')


@compiled
def code_of(words, vocabulary, start, length):  # type: ignore[no-untyped-def]
    word = word_of(words, vocabulary, start, length)
    return -1 if word == GAVE_UP else whole_at(word + np.uint64(CODE))


@compiled
def ask_same(one, other, length):  # type: ignore[no-untyped-def]
    return are_same(one, other, length)


@compiled
def ask_end(at):  # type: ignore[no-untyped-def]
    return string_end(at)


def in_memory(text: bytes) -> np.ndarray:
    return np.frombuffer(END + text + END, dtype=np.uint8)


@given(st.lists(texts, unique=True, max_size=30), st.lists(texts, max_size=10), st.integers(1, 3))
@example([b"", b"same begin, one middle, same end", b"same begin, two middle, same end"], [b"same begin, 3"], 2)
def test_words_are_found_by_their_texts(words: list[bytes], others: list[bytes], n_vocabularies: int) -> None:
    every = [(number % n_vocabularies, number, text) for number, text in enumerate(words)]
    vocabulary = Vocabulary(every)
    expected = {(which, text): code for which, code, text in every}
    for text in (*words, *others):
        memory = in_memory(text)
        start = address_of(memory) + np.uint64(len(END))
        for which in range(n_vocabularies):
            found = code_of(vocabulary.words, np.uint64(which), start, np.uint64(len(text)))
            assert found == expected.get((which, text), -1)


@given(texts, texts)
def test_texts_are_the_same_whatever_stands_behind_them(one: bytes, other: bytes) -> None:
    length = min(len(one), len(other))
    memory = in_memory(one), in_memory(other)
    addresses = (address_of(text) + np.uint64(len(END)) for text in memory)
    assert ask_same(*addresses, np.uint64(length)) == (one[:length] == other[:length])


@given(st.text('ab"\\\t é', max_size=70))
def test_a_string_ends_at_its_quote(text: str) -> None:
    body = text.encode() + b'"'
    memory = in_memory(body)
    begin = address_of(memory) + np.uint64(len(END))
    end, has_escapes = ask_end(begin)
    string = STRING.match(body)
    assert (int(end) - int(begin) if end else -1) == (string.end() - 1 if string else -1)
    if string:
        assert has_escapes == (b"\\" in string[0])
