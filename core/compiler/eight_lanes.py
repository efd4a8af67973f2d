"""Eight numbers at once: a formula, written down once, as the code that computes it in eight lanes side by side.

Compilers turn a loop into such code only where the loop is long, and go through its last rounds one by one. Lists of
small nodes are all last rounds. What is written in lanes takes as long for one number as for eight, so whoever reads
beyond the end makes room there, and takes care that what stands there changes nothing.
"""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from itertools import repeat
from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

WIDTH = 8
FLOAT, DOUBLE, BITS, POSITION = ir.FloatType(), ir.DoubleType(), ir.IntType(64), ir.IntType(32)
FLOATS, DOUBLES, WORDS, POSITIONS = (ir.VectorType(kind, WIDTH) for kind in (FLOAT, DOUBLE, BITS, POSITION))
KINDS = {types.float32: FLOATS, types.float64: DOUBLES, types.uint64: WORDS}
FOUR = ir.VectorType(DOUBLE, 4)
BYTES = {FLOATS: 4, DOUBLES: 8, WORDS: 8, FOUR: 8}


class EightType(types.Type):
    """Eight numbers of a kind that a kernel keeps in registers, from one formula to the next."""

    def __init__(self, kind: Any) -> None:
        super().__init__(f"Eight({kind})")
        self.kind = kind


EIGHT = {kind: EightType(kind) for kind in KINDS}
SUMS = EIGHT[types.float64]  # added up side by side, each in its own order


@register_model(EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, KINDS[kind.kind])


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

    def times_plus(self, factor: "Lanes", summand: "Lanes") -> "Lanes":
        """A product and a sum, rounded once where the processor does both at once, else twice: for estimates only."""
        kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
        both = self.builder.module.declare_intrinsic("llvm.fmuladd.v8f32", fnty=kind)
        return Lanes(self.builder, self.builder.call(both, [self.value, factor.value, summand.value]))

    def part(self, first: int, n_bits: int) -> "Lanes":
        """Some bits of each word, as a number; no more than 31."""
        shifted = self.builder.lshr(self.value, same(WORDS, first))
        kept = self.builder.and_(shifted, same(WORDS, (1 << n_bits) - 1))
        return Lanes(self.builder, self.builder.sitofp(self.builder.trunc(kept, POSITIONS), FLOATS))

    def has_last_bit(self) -> "Lanes":
        """Whether the highest bit of each word is set."""
        return Lanes(self.builder, self.builder.icmp_signed("<", self.value, same(WORDS, 0)))

    def where(self, said: "Lanes", other: "Lanes | None" = None) -> "Lanes":
        """The numbers where that is said, the others elsewhere, or 0."""
        elsewhere = same(self.value.type, 0.0) if other is None else other.value
        return Lanes(self.builder, self.builder.select(said.value, self.value, elsewhere))

    def all(self, number: float) -> "Lanes":
        """The same number in every lane."""
        return Lanes(self.builder, same(self.value.type, number))

    def is_known(self) -> "Lanes":
        """Which numbers are not NaN."""
        return Lanes(self.builder, self.builder.fcmp_ordered("ord", self.value, self.value))

    def size(self) -> "Lanes":
        """The numbers without their signs."""
        zero = self.all(0.0)
        return self.where(self > zero, zero - self)

    def exponent(self) -> "Lanes":
        """The exponents of float32 that are not negative: of 0 it is -127."""
        bits = self.builder.lshr(self.builder.bitcast(self.value, POSITIONS), same(POSITIONS, 23))
        return Lanes(self.builder, self.builder.sitofp(self.builder.sub(bits, same(POSITIONS, 127)), FLOATS))

    def mantissa(self) -> "Lanes":
        """The mantissas of float32, from 1 up to 2: of 0 it is 1."""
        bits = self.builder.and_(self.builder.bitcast(self.value, POSITIONS), same(POSITIONS, (1 << 23) - 1))
        return Lanes(self.builder, self.builder.bitcast(self.builder.or_(bits, same(POSITIONS, 127 << 23)), FLOATS))

    def has_tag(self, tag: int) -> "Lanes":
        """Which numbers have these as their last two bits."""
        kind = WORDS if self.value.type == DOUBLES else POSITIONS
        bits = self.builder.and_(self.builder.bitcast(self.value, kind), same(kind, 3))
        return Lanes(self.builder, self.builder.icmp_unsigned("==", bits, same(kind, tag)))

    def running_sums(self) -> "Lanes":
        """Every number and all before it added up, in three steps: of two lanes, of four, of eight."""
        sums = self
        for step in (1, 2, 4):
            sums = sums + sums.moved(step, self.all(0.0))
        return sums

    def moved(self, step: int, before: "Lanes") -> "Lanes":
        """Every number so many lanes further, the last ones of others before them."""
        lanes = ir.Constant(POSITIONS, [2 * WIDTH - step + i if i < step else i - step for i in range(WIDTH)])
        return Lanes(self.builder, self.builder.shuffle_vector(self.value, before.value, lanes))

    def last_everywhere(self) -> "Lanes":
        """The number in the last lane, in every lane."""
        return Lanes(self.builder, self.builder.shuffle_vector(self.value, self.value, same(POSITIONS, WIDTH - 1)))

    def larger(self, other: "Lanes") -> "Lanes":
        """The larger of two numbers, lane by lane; the other where this one is NaN."""
        return self.where(self > other, other)

    def as_numbers(self) -> "Lanes":
        """1 where that is said, 0 elsewhere."""
        return Lanes(self.builder, self.builder.uitofp(self.value, FLOATS))

    def largest(self) -> Any:
        """The largest number; none is negative, so that their bits are in the same order."""
        lanes, name = (WORDS, "v8i64") if self.value.type == DOUBLES else (POSITIONS, "v8i32")
        kind = ir.FunctionType(lanes.element, [lanes])
        reduce = self.builder.module.declare_intrinsic(f"llvm.vector.reduce.smax.{name}", fnty=kind)
        most = self.builder.call(reduce, [self.builder.bitcast(self.value, lanes)])
        return self.builder.bitcast(most, self.value.type.element)

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
        position = self.builder.add(self.at, self.at.type(further))
        return self.builder.bitcast(self.builder.gep(self.address, [position]), self.kind.as_pointer())


def in_lanes(result: Any) -> Callable[[Callable[..., Any]], Any]:
    """The kernel of a formula. It is called with a place and then with what the formula takes: of an array the formula
    gets the `Numbers` from that place on, a single number stands in every lane. Of several arrays each may have a place
    of its own: then a tuple of them is given. Lanes that a formula hands back are kept as eight numbers for another.
    """

    def kernel(formula: Callable[..., Any]) -> Any:
        def translate(_: Any, at: Any, *kinds: Any) -> Any:
            def generate(context: Any, builder: Any, types: Any, arguments: Any) -> Any:
                said = formula(*_all_given(context, builder, types.args, arguments))
                if said is None:
                    return context.get_dummy_value()
                if isinstance(said, tuple):
                    return context.make_tuple(builder, types.return_type, map(_as_value, said))
                return _as_value(said)

            return result(at, *kinds), generate

        before = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("context", "at")]
        named = signature(formula)
        translate.__signature__ = named.replace(parameters=[*before, *named.parameters.values()])  # type: ignore[attr-defined]
        translate.__name__, translate.__doc__ = formula.__name__, formula.__doc__
        return intrinsic(translate)

    return kernel


def _all_given(context: Any, builder: Any, kinds: Any, values: Any) -> Iterator[Any]:
    """What a formula takes: its arrays from their places on, and its numbers."""
    is_several = isinstance(kinds[0], types.BaseTuple)
    positions = iter(cgutils.unpack_tuple(builder, values[0])) if is_several else repeat(values[0])
    for kind, value in zip(kinds[1:], values[1:], strict=True):
        if isinstance(kind, types.Array):
            address = context.make_array(kind)(context, builder, value).data
            yield Numbers(builder, address, next(positions), KINDS[kind.dtype])
        elif isinstance(kind, EightType):
            yield Lanes(builder, value)
        else:
            yield in_all_lanes(builder, value, KINDS[kind])


def _as_value(said: Any) -> Any:
    return said.value if isinstance(said, Lanes) else said


def in_all_lanes(builder: Any, value: Any, lanes: Any) -> Lanes:
    """A number in every lane."""
    nothing = ir.Constant(lanes, ir.Undefined)
    first = builder.insert_element(nothing, value, POSITION(0))
    return Lanes(builder, builder.shuffle_vector(first, nothing, same(ir.VectorType(POSITION, lanes.count), 0)))


def same(kind: Any, value: Any) -> Any:
    """The same constant in every lane."""
    return ir.Constant(kind, [value] * kind.count)


@in_lanes(lambda at, number: EIGHT[number](at, number))
def eight_times(number: Lanes) -> Lanes:
    """The same number in eight lanes, for a formula to go on with."""
    return number


@in_lanes(lambda at, numbers: numbers.kind(at, numbers))
def largest_of(numbers: Lanes) -> Any:
    """The largest of eight numbers that are not negative."""
    return numbers.largest()


def _nothing(_: Any) -> Any:
    """Code that makes eight sums of nothing."""
    return SUMS(), lambda _, __, ___, ____: ir.Constant(DOUBLES, None)


def _plus(_: Any, sums: Any, factors: Any, at: Any, number: Any) -> Any:  # noqa: ARG001  # Numba counts them
    """Code that adds a number to each sum, times a factor of its own: those from a place of an array on."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        given, table, position, value = arguments
        read = Numbers(builder, context.make_array(kinds.args[1])(context, builder, table).data, position, DOUBLES)(0)
        return builder.fadd(given, builder.fmul(in_all_lanes(builder, value, DOUBLES).value, read.value))

    return SUMS(sums, factors, at, types.float64), generate


def _sum(_: Any, sums: Any, lane: Any) -> Any:
    """Code that reads one sum."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return types.float64(sums, lane), generate


no_sums: Any = intrinsic(_nothing)
plus_products: Any = intrinsic(_plus)
sum_in_lane: Any = intrinsic(_sum)


def _add(_: Any, at: Any, sums: Any, weight: Any, part: Any) -> Any:  # noqa: ARG001  # Numba counts them
    """Code that adds to four sums of an array, from a place on: a weight, a part above 0, one below, and nothing."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        position, array, weight, part = arguments
        address = builder.gep(context.make_array(kinds.args[1])(context, builder, array).data, [position])
        address = builder.bitcast(address, FOUR.as_pointer())
        is_above, nothing, given = builder.fcmp_ordered(">", part, DOUBLE(0.0)), DOUBLE(0.0), ir.Constant(FOUR, None)
        above, below = builder.select(is_above, part, nothing), builder.select(is_above, nothing, part)
        for lane, number in enumerate((weight, above, below)):
            given = builder.insert_element(given, number, POSITION(lane))
        builder.store(builder.fadd(builder.load(address, align=8), given), address, align=8)
        return context.get_dummy_value()

    return types.void(at, sums, types.float64, types.float64), generate


# A weight and a part of a sum, added to what four lanes of an array hold of both, the parts above 0 and below apart.
add_parts: Any = intrinsic(_add)
