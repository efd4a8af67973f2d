"""`joined_texts.side_by_side`, compiled: copies 32 bytes at a time; the next text overwrites the excess."""

from numba import uint64

from core.compiler.byte_lanes import BYTES_AT_ONCE, copy_bytes
from core.compiler.compile import compiled


@compiled
def write_texts(texts, starts, lengths, positions, at):
    """Write the texts at these positions one after the other, from an address on; 32 more bytes must be writable."""
    width = uint64(BYTES_AT_ONCE)
    for index in positions:
        text, length = texts + uint64(starts[index]), uint64(lengths[index])
        for done in range(uint64(0), length, width):
            copy_bytes(text + done, at + done)
        at += length
