"""Sums over rows in lanes: turns a formula for one row into code that adds it up for eight columns side by side."""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable
from itertools import chain
from typing import Any, NamedTuple

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from core.compiler.compile import ask
from core.compiler.eight_lanes import DOUBLES, WIDTH, Lanes, Numbers, in_all_lanes, same

AHEAD = 12  # rows: how far ahead numbers are prefetched


class Rows(NamedTuple):
    """The arguments of a kernel made by `over_rows`.

    They are the entries from `start` to `end` of a list of rows and of the list of their weights; the values of row r
    are `numbers[r * stride + offset:]`. The sums are written to `onto`, from index `at` on.
    """

    rows: Any
    weights: Any
    start: Any
    end: Any
    numbers: Any
    stride: Any
    offset: Any
    onto: Any
    at: Any


def over_rows(*positions: int, blocks: int = 1, apart: int = 0) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: the kernel of a formula that returns what a row adds to sums; rows are added in their order.

    The formula takes a row's eight values, its weight, and the `Numbers` that the sums are written to; `positions` are
    those of the sums there. The sums of several consecutive `blocks` of eight values are made in one pass; those of a
    block are stored `apart` numbers after those of the block before.
    """

    def kernel(formula: Callable[..., Any]) -> Any:
        def translate(
            _: Any,
            rows: Any,
            weights: Any,
            start: Any,
            end: Any,
            numbers: Any,
            stride: Any,
            offset: Any,
            onto: Any,
            at: Any,
        ) -> Any:
            def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
                given = (_address(context, builder, *each) for each in zip(called.args, arguments, strict=True))
                _add_up(builder, formula, positions, Rows(*given), [apart * block for block in range(blocks)])
                return context.get_dummy_value()

            return types.void(rows, weights, start, end, numbers, stride, offset, onto, at), generate

        translate.__name__, translate.__doc__ = formula.__name__, formula.__doc__
        return intrinsic(translate)

    return kernel


def _address(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The address of an array's first number; a number is returned as it is."""
    return context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value


def _add_up(
    builder: Any, formula: Callable[..., Any], positions: tuple[int, ...], given: Rows, blocks: list[int]
) -> None:
    """Generate code that adds up what a formula returns for each row; the sums are local, so they stay in registers."""
    sums = [[cgutils.alloca_once(builder, DOUBLES) for _ in positions] for _ in blocks]
    for each in chain(*sums):
        builder.store(same(DOUBLES, 0.0), each)
    onto = [Numbers(builder, given.onto, builder.add(given.at, given.at.type(further)), DOUBLES) for further in blocks]
    with cgutils.for_range_slice(builder, given.start, given.end, given.start.type(1)) as (i, _):
        _ask_ahead(builder, given, i, len(blocks))
        values = Numbers(builder, given.numbers, _position_of(builder, given, i), DOUBLES)
        weight = in_all_lanes(builder, builder.load(builder.gep(given.weights, [i])), DOUBLES)
        for block, (of_block, those) in enumerate(zip(sums, onto, strict=True)):
            for each, added in zip(of_block, formula(values(WIDTH * block), weight, those), strict=True):
                builder.store((Lanes(builder, builder.load(each)) + added).value, each)
    for of_block, those in zip(sums, onto, strict=True):
        for position, each in zip(positions, of_block, strict=True):
            those.put(position, Lanes(builder, builder.load(each)))


def _position_of(builder: Any, given: Rows, i: Any) -> Any:
    """The index of the first number of the row that is entry i of the list."""
    row = builder.load(builder.gep(given.rows, [i]))
    return builder.add(builder.mul(row, given.stride), given.offset)


def _ask_ahead(builder: Any, given: Rows, i: Any, n_blocks: int) -> None:
    """Generate a prefetch of the numbers of a later row, since a node's rows are far apart in memory."""
    last, later = builder.sub(given.end, given.end.type(1)), builder.add(i, i.type(AHEAD))
    later = builder.select(builder.icmp_unsigned("<", later, last), later, last)
    position = _position_of(builder, given, later)
    for block in range(n_blocks):
        ask(builder, builder.gep(given.numbers, [builder.add(position, position.type(WIDTH * block))]))
