"""Words that are looked for in memory: by compiled code, as bytes, in one or several vocabularies at once."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from core.compiler.raw_memory import END, address_of

Word = tuple[int, int, bytes]  # its vocabulary, its code there, and its text


class Words(NamedTuple):
    """Where words are in memory, and how they are found; the first three are addresses.

    text        all words one after the other
    lines       of each word where its text begins and how long it is, its vocabulary, its code, and its first and last
                bytes
    slots       words by their hash, -1 where there is none; as many as a power of 2: a hash without its lowest bits,
                as many as `slot_shift`
    """

    text: np.uint64
    lines: np.uint64
    slots: np.uint64
    last_slot: np.uint64
    slot_shift: np.uint64


class Vocabulary:
    """Words, ready to be found; kept as long as kernels may look for them."""

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
