"""The compiled twin of `records.encode_columns` for columns as they lie in memory, of records that lack nothing."""

import numpy as np
from numba import float64, int64, uint64

from core.compiled_kernels import compiled, numbers_at, offset_at, whole_at
from core.word_kernels import CODE, GAVE_UP, word_of

OFFSET = uint64(4)  # the bytes of one
LARGEST = float(np.finfo(np.float64).max)


@compiled
def are_finite(address, n):
    """Whether n numbers are, from an address on."""
    numbers, n_finite = numbers_at(address, n), int64(0)
    for i in range(uint64(n)):
        n_finite += int64(abs(numbers[i]) <= LARGEST)
    return n_finite == n


@compiled
def read_codes(words, vocabulary, offsets, text, size, codes):
    """Write the codes of texts as numbers; whether all of them are within the text and words of the vocabulary."""
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
