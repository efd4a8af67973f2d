"""Joins texts that repeat many times: what leaves answer, in the order of the records.

Importing this module compiles nothing; joining texts does, unless compiled code is cached on disk.
"""

from collections.abc import Iterable, Sequence

import numpy as np

from core.arithmetic.arrays import RowArray
from core.compiler.raw_memory import END, address_of


def side_by_side(texts: Sequence[bytes], positions: Iterable[int], before: bytes, behind: bytes) -> bytes:
    """The texts at these positions joined, with `before` in front and `behind` at the end; the definition."""
    return b"".join((before, *(texts[index] for index in positions), behind))


class TextsSideBySide:
    """Texts prepared for joining by a kernel."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self._lengths = np.array([*map(len, texts)], dtype=np.int64)
        self._starts = np.cumsum(self._lengths) - self._lengths
        self._all = np.frombuffer(b"".join((*texts, END)), dtype=np.uint8)

    def of(self, positions: RowArray, before: bytes, behind: bytes) -> memoryview:
        """`side_by_side` of the texts."""
        from core.records.kernels.joined_texts import write_texts  # imports Numba

        end = len(before) + int(self._lengths[positions].sum())
        written = np.empty(end + max(len(behind), len(END)), dtype=np.uint8)
        written[: len(before)] = np.frombuffer(before, dtype=np.uint8)
        write_texts(address_of(self._all), self._starts, self._lengths, positions, address_of(written[len(before) :]))
        written[end : end + len(behind)] = np.frombuffer(behind, dtype=np.uint8)
        return written.data[: end + len(behind)]
