"""Eight numbers at once: a formula, written down once, as the code that computes it in eight lanes side by side.

Compilers turn a loop into such code only where the loop is long, and go through its last rounds one by one. Lists of
small nodes are all last rounds. What is written in lanes takes as long for one number as for eight, so whoever reads
beyond the end makes room there, and takes care that what stands there changes nothing.
"""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from itertools import repeat
from typing import Any, NamedTuple

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 8
AHEAD = 12  # rows: so far further on numbers are asked for
FLOAT, DOUBLE, BITS, PLACE = ir.FloatType(), ir.DoubleType(), ir.IntType(64), ir.IntType(32)
FLOATS, DOUBLES, WORDS, PLACES = (ir.VectorType(kind, WIDTH) for kind in (FLOAT, DOUBLE, BITS, PLACE))
KINDS = {types.float32: FLOATS, types.float64: DOUBLES, types.uint64: WORDS}
BYTES = {FLOATS: 4, DOUBLES: 8, WORDS: 8}


class Lanes:
    """Eight float32 or float64, words, or answers of yes and no; each operation does the same to all of them."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __add__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fadd(self.value, other.value))

    def __sub__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fsub(self.value, other.value))

    def __mul__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fmul(self.value, other.value))

    def __truediv__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fdiv(self.value, other.value))

    def __gt__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fcmp_ordered(">", self.value, other.value))

    def __ge__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.fcmp_ordered(">=", self.value, other.value))

    def __and__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.and_(self.value, other.value))

    def __or__(self, other: "Lanes") -> "Lanes":
        return Lanes(self.builder, self.builder.or_(self.value, other.value))

    def part(self, first: int, n_bits: int) -> "Lanes":
        """Some bits of each word, as a number; no more than 31."""
        shifted = self.builder.lshr(self.value, _all(WORDS, first))
        kept = self.builder.and_(shifted, _all(WORDS, (1 << n_bits) - 1))
        return Lanes(self.builder, self.builder.sitofp(self.builder.trunc(kept, PLACES), FLOATS))

    def has_last_bit(self) -> "Lanes":
        """Whether the highest bit of each word is set."""
        return Lanes(self.builder, self.builder.icmp_signed("<", self.value, _all(WORDS, 0)))

    def where(self, said: "Lanes", other: "Lanes | None" = None) -> "Lanes":
        """The numbers where that is said, the others elsewhere, or 0."""
        elsewhere = _all(self.value.type, 0.0) if other is None else other.value
        return Lanes(self.builder, self.builder.select(said.value, self.value, elsewhere))

    def all(self, number: float) -> "Lanes":
        """The same number in every lane."""
        return Lanes(self.builder, _all(self.value.type, number))

    def is_known(self) -> "Lanes":
        """Which numbers are not NaN."""
        return Lanes(self.builder, self.builder.fcmp_ordered("ord", self.value, self.value))

    def size(self) -> "Lanes":
        """The numbers without their signs."""
        zero = self.all(0.0)
        return self.where(self > zero, zero - self)

    def largest(self) -> Any:
        """The largest number; none is negative, so that their bits are in the same order."""
        kind = ir.FunctionType(PLACE, [PLACES])
        reduce = self.builder.module.declare_intrinsic("llvm.vector.reduce.smax.v8i32", fnty=kind)
        most = self.builder.call(reduce, [self.builder.bitcast(self.value, PLACES)])
        return self.builder.bitcast(most, FLOAT)

    def as_bits(self) -> Any:
        """A word whose bit i says what lane i does."""
        return self.builder.zext(self.builder.bitcast(self.value, ir.IntType(WIDTH)), BITS)


class Numbers:
    """An array, of which eight numbers are read or written at a time: `numbers(1)` are those from one further on."""

    def __init__(self, builder: Any, address: Any, at: Any, kind: Any) -> None:
        self.builder, self.address, self.at, self.kind = builder, address, at, kind

    def __call__(self, further: int) -> Lanes:
        return Lanes(self.builder, self.builder.load(self._address(further), align=BYTES[self.kind]))

    def put(self, further: int, lanes: Lanes) -> None:
        """Write eight numbers."""
        self.builder.store(lanes.value, self._address(further), align=BYTES[self.kind])

    def add(self, further: int, lanes: Lanes) -> None:
        """Add to eight numbers."""
        self.put(further, self(further) + lanes)

    def _address(self, further: int) -> Any:
        place = self.builder.add(self.at, self.at.type(further))
        return self.builder.bitcast(self.builder.gep(self.address, [place]), self.kind.as_pointer())


def in_lanes(result: Any) -> Callable[[Callable[..., Any]], Any]:
    """The kernel of a formula. It is called with a place and then with what the formula takes: of an array the formula
    gets the `Numbers` from that place on, a single number stands in every lane. Of several arrays each may have a place
    of its own: then a tuple of them is given.
    """

    def kernel(formula: Callable[..., Any]) -> Any:
        def translate(_: Any, at: Any, *kinds: Any) -> Any:
            def generate(context: Any, builder: Any, types: Any, arguments: Any) -> Any:
                said = formula(*_all_given(context, builder, types.args, arguments))
                if said is None:
                    return context.get_dummy_value()
                return context.make_tuple(builder, types.return_type, said) if isinstance(said, tuple) else said

            return result(at, *kinds), generate

        before = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("context", "at")]
        named = signature(formula)
        translate.__signature__ = named.replace(parameters=[*before, *named.parameters.values()])  # type: ignore[attr-defined]
        translate.__name__, translate.__doc__ = formula.__name__, formula.__doc__
        return intrinsic(translate)

    return kernel


def over_rows(*places: int) -> Callable[[Callable[..., Any]], Any]:
    """The kernel of a formula that says what a row adds to sums, eight columns at once, in the order of the rows.

    The formula takes the row's values, its weight, and `onto` from its place on; the sums come to these places of it.
    The values of row r are `numbers[r * stride + offset:]`; those of rows further on are asked for meanwhile.
    """

    def kernel(formula: Callable[..., Any]) -> Any:
        def translate(
            _: Any, rows: Any, weights: Any, start: Any, end: Any, numbers: Any, stride: Any, offset: Any, onto: Any, at: Any
        ) -> Any:
            def generate(context: Any, builder: Any, types: Any, arguments: Any) -> Any:
                kinds = (types.args[0], types.args[1], types.args[4], types.args[7])
                values = (arguments[0], arguments[1], arguments[4], arguments[7])
                arrays = (
                    context.make_array(k)(context, builder, v).data for k, v in zip(kinds, values, strict=True)
                )
                _add_up(builder, formula, places, _Rows(*arrays, *arguments[2:4], *arguments[5:7], arguments[8]))
                return context.get_dummy_value()

            return types.void(rows, weights, start, end, numbers, stride, offset, onto, at), generate

        translate.__name__, translate.__doc__ = formula.__name__, formula.__doc__
        return intrinsic(translate)

    return kernel


class _Rows(NamedTuple):
    """Where rows, weights, numbers and sums are, from which row to which, and the places of a row's numbers."""

    rows: Any
    weights: Any
    numbers: Any
    onto: Any
    start: Any
    end: Any
    stride: Any
    offset: Any
    at: Any


def _add_up(builder: Any, formula: Callable[..., Any], places: tuple[int, ...], given: _Rows) -> None:
    """Code that adds up what a formula says of each row; sums that no memory holds meanwhile stay in the processor."""
    sums = [cgutils.alloca_once(builder, DOUBLES) for _ in places]
    for each in sums:
        builder.store(_all(DOUBLES, 0.0), each)
    onto = Numbers(builder, given.onto, given.at, DOUBLES)
    with cgutils.for_range_slice(builder, given.start, given.end, given.start.type(1)) as (i, _):
        _ask_ahead(builder, given, i)
        values = Numbers(builder, given.numbers, _place_of(builder, given, i), DOUBLES)(0)
        weight = _in_all_lanes(builder, builder.load(builder.gep(given.weights, [i])), DOUBLES)
        for each, added in zip(sums, formula(values, weight, onto), strict=True):
            builder.store((Lanes(builder, builder.load(each)) + added).value, each)
    for place, each in zip(places, sums, strict=True):
        onto.put(place, Lanes(builder, builder.load(each)))


def _place_of(builder: Any, given: _Rows, i: Any) -> Any:
    """Where the numbers of the row in place i begin."""
    row = builder.load(builder.gep(given.rows, [i]))
    return builder.add(builder.mul(row, given.stride), given.offset)


def _ask_ahead(builder: Any, given: _Rows, i: Any) -> None:
    """Code that asks memory for the numbers of a row further on."""
    last, later = builder.sub(given.end, given.end.type(1)), builder.add(i, i.type(AHEAD))
    later = builder.select(builder.icmp_unsigned("<", later, last), later, last)
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, PLACE, PLACE, PLACE])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    address = builder.bitcast(builder.gep(given.numbers, [_place_of(builder, given, later)]), pointer)
    builder.call(prefetch, [address, PLACE(0), PLACE(3), PLACE(1)])


def _all_given(context: Any, builder: Any, kinds: Any, values: Any) -> Iterator[Any]:
    """What a formula takes: its arrays from their places on, and its numbers."""
    is_several = isinstance(kinds[0], types.BaseTuple)
    places = iter(cgutils.unpack_tuple(builder, values[0])) if is_several else repeat(values[0])
    for kind, value in zip(kinds[1:], values[1:], strict=True):
        if isinstance(kind, types.Array):
            address = context.make_array(kind)(context, builder, value).data
            yield Numbers(builder, address, next(places), KINDS[kind.dtype])
        else:
            yield _in_all_lanes(builder, value, KINDS[kind])


def _in_all_lanes(builder: Any, value: Any, lanes: Any) -> Lanes:
    """A number in every lane."""
    nothing = ir.Constant(lanes, ir.Undefined)
    first = builder.insert_element(nothing, value, PLACE(0))
    return Lanes(builder, builder.shuffle_vector(first, nothing, _all(PLACES, 0)))


def _all(kind: Any, value: Any) -> Any:
    """The same constant in every lane."""
    return ir.Constant(kind, [value] * WIDTH)
