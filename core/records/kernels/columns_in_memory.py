"""`records.encode_columns`, compiled for columns in memory without missing values."""

import numpy as np
from numba import float64, int64, uint64

from core.compiler.compile import compiled, inlined, numbers_at, offset_at, whole_at
from core.records.kernels.vocabulary import CODE, GAVE_UP, word_of

OFFSET = uint64(4)  # bytes of an offset
LARGEST = float(np.finfo(np.float64).max)


@inlined
def are_finite(address, n):
    """Whether the n numbers at an address are finite."""
    numbers, n_finite = numbers_at(address, n), int64(0)
    for i in range(uint64(n)):
        n_finite += int64(abs(numbers[i]) <= LARGEST)
    return n_finite == n


@inlined
def read_codes(words, vocabulary, offsets, text, size, codes):
    """Write the codes of texts as numbers; returns whether all texts lie within `size` and are in the vocabulary."""
    start = int64(offset_at(offsets))
    if start < 0:
        return False
    for row in range(uint64(codes.shape[0])):
        offsets += OFFSET
        end = int64(offset_at(offsets))
        if end < start or uint64(end) > size:
            return False
        word = word_of(words, vocabulary, text + uint64(start), uint64(end - start))
        if word == GAVE_UP:
            return False
        codes[row] = float64(whole_at(word + uint64(CODE)))
        start = end
    return True


@compiled
def read_columns(words, positions, n_rows, codes):
    """Write the codes of text columns; returns whether all categories are known and all numbers finite.

    `positions[attribute]` has the address of offsets (0 for numbers), the address of text or numbers, and the text's
    size.
    """
    n_texts = 0
    for attribute in range(uint64(positions.shape[0])):
        offsets, values, size = positions[attribute, 0], positions[attribute, 1], positions[attribute, 2]
        if offsets == uint64(0):
            if not are_finite(values, n_rows):
                return False
        else:
            if not read_codes(words, attribute, offsets, values, size, codes[n_texts]):
                return False
            n_texts += 1
    return True
