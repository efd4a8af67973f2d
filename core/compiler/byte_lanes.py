"""Operations on 32 bytes at once: compare those at an address with one value, as a bit mask, copy them, count bits.

The lowest bit of a mask belongs to the first byte. All 32 bytes are always read, even past the end of a text, so the
caller must pad its buffer.
"""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

BYTES_AT_ONCE = 32
BYTE, BITS = ir.IntType(8), ir.IntType(64)
BYTES, POSITIONS = ir.VectorType(BYTE, BYTES_AT_ONCE), ir.VectorType(ir.IntType(32), BYTES_AT_ONCE)
PAIRS = ir.VectorType(ir.IntType(16), BYTES_AT_ONCE)  # numbers of two bytes each


def _mask(compare: Callable[[Any, Any, Any], Any], lanes: Any = BYTES, kind: Any = types.uint8) -> Any:
    """The intrinsic that compares each of the 32 values at an address, bytes or pairs of bytes, with a given value."""

    def typed(_: Any, address: Any, byte: Any) -> Any:  # noqa: ARG001  # Numba counts the arguments
        def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
            here = builder.load(builder.inttoptr(arguments[0], lanes.as_pointer()), align=1)
            first = builder.insert_element(ir.Constant(lanes, ir.Undefined), arguments[1], ir.IntType(32)(0))
            other = builder.shuffle_vector(first, ir.Constant(lanes, ir.Undefined), ir.Constant(POSITIONS, None))
            said = builder.bitcast(compare(builder, here, other), ir.IntType(BYTES_AT_ONCE))
            return builder.zext(said, BITS)

        return types.uint64(address, kind), generate

    return intrinsic(typed)


def _are_beyond_ten(builder: Any, here: Any, first: Any) -> Any:
    return builder.icmp_unsigned(">=", builder.sub(here, first), ir.Constant(BYTES, [10] * BYTES_AT_ONCE))


def _are_equal(builder: Any, here: Any, other: Any) -> Any:
    return builder.icmp_unsigned("==", here, other)


def _are_below(builder: Any, here: Any, other: Any) -> Any:
    return builder.icmp_unsigned("<", here, other)


equal_mask: Any = _mask(_are_equal)
below_mask: Any = _mask(_are_below)
# For 32 numbers of two bytes each.
equal_mask_short: Any = _mask(_are_equal, PAIRS, types.uint16)
below_mask_short: Any = _mask(_are_below, PAIRS, types.uint16)
# Which bytes are outside the ten consecutive values that begin with the given one, as the digits begin with "0".
beyond_ten_mask: Any = _mask(_are_beyond_ten)


def _copy(_: Any, source: Any, goal: Any) -> Any:
    """Generate code that copies 32 bytes from one address to another."""

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        source, goal = (builder.inttoptr(address, BYTES.as_pointer()) for address in arguments)
        builder.store(builder.load(source, align=1), goal, align=1)
        return context.get_dummy_value()

    return types.void(source, goal), generate


# Copies the 32 bytes at the first address to the second.
copy_bytes: Any = intrinsic(_copy)


def _count(_: Any, bits: Any) -> Any:
    """Generate code that counts the set bits of a word."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(bits), generate


# The number of set bits of a word.
n_bits: Any = intrinsic(_count)
