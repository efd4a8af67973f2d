"""The compiled twin of `records.joined_texts`: a text is copied 32 bytes at a time, and the next one over what was too
much.
"""

from numba import uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, copy_bytes
from core.compiler.compile import compiled


@compiled
def write_texts(texts, starts, lengths, positions, at):
    """Write the texts at some places one after the other, from an address on; there is room for 32 bytes more."""
    width = uint64(BYTES_AT_ONCE)
    for index in positions:
        text, length = texts + uint64(starts[index]), uint64(lengths[index])
        for done in range(uint64(0), length, width):
            copy_bytes(text + done, at + done)
        at += length
