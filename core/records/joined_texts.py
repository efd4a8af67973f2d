"""Texts that are put side by side again and again, many times each: what leaves say, in the order of the records.

Importing this module compiles nothing; putting texts together does, unless compiled code is found on disk.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from core.arithmetic.arrays import RowArray
from core.compiler.raw_memory import END, address_of


def side_by_side(texts: Sequence[bytes], positions: Iterable[int], before: bytes, behind: bytes) -> bytes:
    """The texts at these places one after the other, with something before and behind; the definition."""
    return b"".join((before, *(texts[index] for index in positions), behind))


class TextsSideBySide:
    """Some texts, ready for that."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._lengths = np.array([*map(len, texts)], dtype=np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._all = np.frombuffer(b"".join((*texts, END)), dtype=np.uint8)

    def of(self, positions: RowArray, before: bytes, behind: bytes) -> memoryview:
        """`records.joined_texts` of the texts."""
        from core.records.kernels.joined_texts import write_texts  # imports Numba

        end = len(before) + int(self._lengths[positions].sum())
        written = np.empty(end + max(len(behind), len(END)), dtype=np.uint8)
        written[: len(before)] = np.frombuffer(before, dtype=np.uint8)
        write_texts(address_of(self._all), self._starts, self._lengths, positions, address_of(written[len(before) :]))
        written[end : end + len(behind)] = np.frombuffer(behind, dtype=np.uint8)
        return written.data[: end + len(behind)]
