"""Vocabularies of words that compiled code finds in memory by their bytes."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from core.compiler.raw_memory import END, address_of

Word = tuple[int, int, bytes]  # its vocabulary, its code there, and its text


class Words(NamedTuple):
    """A hash table of words; the first three fields are addresses.

    text        all words one after the other
    lines       by word: the start of its text, its length, vocabulary, code, and its first and last bytes
    slots       word numbers by hash, -1 if empty; their number is a power of 2. The slot of a hash is the hash shifted
                right by `slot_shift`
    """

    text: np.uint64
    lines: np.uint64
    slots: np.uint64
    last_slot: np.uint64
    slot_shift: np.uint64


class Vocabulary:
    """Words prepared for lookup; must be kept as long as kernels may use it."""

    def __init__(self, every: Iterable[Word]) -> None:
        from core.records.kernels.vocabulary import fill_slots  # imports Numba

        found = list(every)
        texts = [text for _, _, text in found]
        starts = np.cumsum([len(END), *map(len, texts)])
        n_slot_bits = (2 * len(found) + 1).bit_length()
        self._text = np.frombuffer(b"".join((END, *texts, END)), dtype=np.uint8)
        self._slots = np.full(1 << n_slot_bits, -1)
        lines = [
            (start, len(text), vocabulary, code, 0, 0)
            for start, (vocabulary, code, text) in zip(starts.tolist(), found, strict=False)
        ]
        self._lines = np.array(lines, dtype=np.int64).reshape(-1, 6)
        self.words = Words(
            text=address_of(self._text),
            lines=address_of(self._lines),
            slots=address_of(self._slots),
            last_slot=np.uint64(len(self._slots) - 1),
            slot_shift=np.uint64(64 - n_slot_bits),
        )
        fill_slots(self.words, len(found))
