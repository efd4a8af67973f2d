"""Eight numbers at once: turns a formula, written once, into vector instructions that compute it in eight lanes.

Compilers vectorise only long loops, and run their last iterations one by one; the lists of small nodes consist of last
iterations only. Code in lanes takes as long for one number as for eight. A caller that reads past the end of its
numbers must pad its buffer, with values that do not change the result.
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
    """The type of eight numbers that a kernel keeps in registers, from one formula to the next."""

    def __init__(self, kind: Any) -> None:
        super().__init__(f"Eight({kind})")
        self.kind = kind


EIGHT = {kind: EightType(kind) for kind in KINDS}
SUMS = EIGHT[types.float64]  # eight sums, each added up in its own lane


@register_model(EightType)
class _EightModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, KINDS[kind.kind])


class Lanes:
    """Eight float32, float64, words or booleans; each operation applies to all of them."""

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
        """self * factor + summand, rounded once where the processor can fuse both, else twice: for estimates only."""
        kind = ir.FunctionType(FLOATS, [FLOATS] * 3)
        both = self.builder.module.declare_intrinsic("llvm.fmuladd.v8f32", fnty=kind)
        return Lanes(self.builder, self.builder.call(both, [self.value, factor.value, summand.value]))

    def part(self, first: int, n_bits: int) -> "Lanes":
        """`n_bits` bits of each word, from bit `first` on, as a number; at most 31."""
        shifted = self.builder.lshr(self.value, same(WORDS, first))
        kept = self.builder.and_(shifted, same(WORDS, (1 << n_bits) - 1))
        return Lanes(self.builder, self.builder.sitofp(self.builder.trunc(kept, POSITIONS), FLOATS))

    def has_highest_bit(self) -> "Lanes":
        """Whether the highest bit of each word is set."""
        return Lanes(self.builder, self.builder.icmp_signed("<", self.value, same(WORDS, 0)))

    def where(self, said: "Lanes", other: "Lanes | None" = None) -> "Lanes":
        """The numbers where `said` is true, elsewhere those of `other`, or 0."""
        elsewhere = same(self.value.type, 0.0) if other is None else other.value
        return Lanes(self.builder, self.builder.select(said.value, self.value, elsewhere))

    def all(self, number: float) -> "Lanes":
        """A number in every lane."""
        return Lanes(self.builder, same(self.value.type, number))

    def is_known(self) -> "Lanes":
        """Which numbers are not NaN."""
        return Lanes(self.builder, self.builder.fcmp_ordered("ord", self.value, self.value))

    def size(self) -> "Lanes":
        """The absolute values."""
        zero = self.all(0.0)
        return self.where(self > zero, zero - self)

    def exponent(self) -> "Lanes":
        """The exponents of float32 that are not negative; -127 for 0."""
        bits = self.builder.lshr(self.builder.bitcast(self.value, POSITIONS), same(POSITIONS, 23))
        return Lanes(self.builder, self.builder.sitofp(self.builder.sub(bits, same(POSITIONS, 127)), FLOATS))

    def mantissa(self) -> "Lanes":
        """The mantissas of float32, at least 1 and below 2; 1 for 0."""
        bits = self.builder.and_(self.builder.bitcast(self.value, POSITIONS), same(POSITIONS, (1 << 23) - 1))
        return Lanes(self.builder, self.builder.bitcast(self.builder.or_(bits, same(POSITIONS, 127 << 23)), FLOATS))

    def has_tag(self, tag: int) -> "Lanes":
        """Which numbers have `tag` as their lowest two bits."""
        kind = WORDS if self.value.type == DOUBLES else POSITIONS
        bits = self.builder.and_(self.builder.bitcast(self.value, kind), same(kind, 3))
        return Lanes(self.builder, self.builder.icmp_unsigned("==", bits, same(kind, tag)))

    def running_sums(self) -> "Lanes":
        """The sum of each number and all before it, in three steps: of two lanes, of four, of eight."""
        sums = self
        for step in (1, 2, 4):
            sums = sums + sums.moved(step, self.all(0.0))
        return sums

    def moved(self, step: int, before: "Lanes") -> "Lanes":
        """The numbers shifted up by `step` lanes, with the last `step` numbers of `before` in the lanes below."""
        lanes = ir.Constant(POSITIONS, [2 * WIDTH - step + i if i < step else i - step for i in range(WIDTH)])
        return Lanes(self.builder, self.builder.shuffle_vector(self.value, before.value, lanes))

    def last_everywhere(self) -> "Lanes":
        """The number of the last lane, in every lane."""
        return Lanes(self.builder, self.builder.shuffle_vector(self.value, self.value, same(POSITIONS, WIDTH - 1)))

    def larger(self, other: "Lanes") -> "Lanes":
        """The larger of two numbers in each lane; the other one where this one is NaN."""
        return self.where(self > other, other)

    def as_numbers(self) -> "Lanes":
        """1 in lanes that are true, 0 in the others."""
        return Lanes(self.builder, self.builder.uitofp(self.value, FLOATS))

    def largest(self) -> Any:
        """The largest number; none may be negative, so that their bits compare like the numbers."""
        lanes, name = (WORDS, "v8i64") if self.value.type == DOUBLES else (POSITIONS, "v8i32")
        kind = ir.FunctionType(lanes.element, [lanes])
        reduce = self.builder.module.declare_intrinsic(f"llvm.vector.reduce.smax.{name}", fnty=kind)
        most = self.builder.call(reduce, [self.builder.bitcast(self.value, lanes)])
        return self.builder.bitcast(most, self.value.type.element)

    def as_bits(self) -> Any:
        """A word whose bit i is the boolean of lane i."""
        return self.builder.zext(self.builder.bitcast(self.value, ir.IntType(WIDTH)), BITS)


class Numbers:
    """An array that is read or written all lanes at a time, from an index on; `numbers(i)` reads from i further on."""

    def __init__(self, builder: Any, address: Any, at: Any, kind: Any) -> None:
        self.builder, self.address, self.at, self.kind = builder, address, at, kind

    def __call__(self, further: int) -> Lanes:
        return Lanes(self.builder, self.builder.load(self._address(further), align=BYTES[self.kind]))

    def put(self, further: int, lanes: Lanes) -> None:
        """Write all lanes, from `further` numbers on."""
        self.builder.store(lanes.value, self._address(further), align=BYTES[self.kind])

    def add(self, further: int, lanes: Lanes) -> None:
        """Add to the numbers in all lanes, from `further` numbers on."""
        self.put(further, self(further) + lanes)

    def _address(self, further: int) -> Any:
        position = self.builder.add(self.at, self.at.type(further))
        return self.builder.bitcast(self.builder.gep(self.address, [position]), self.kind.as_pointer())


def in_lanes(result: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorator: the kernel of a formula that computes with `Lanes`; `result` makes its signature from argument types.

    The kernel is called with an index and then the formula's arguments. For an array the formula gets its `Numbers`
    from that index on, for a single number `Lanes` with that number in each. A tuple of indices gives each array its
    own. Lanes that a formula returns are kept as eight numbers, which can be passed to another formula.
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
    """The arguments of a formula: its arrays from their indices on, and its numbers in all lanes."""
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
    """A constant with this value in every lane."""
    return ir.Constant(kind, [value] * kind.count)


@in_lanes(lambda at, number: EIGHT[number](at, number))
def eight_times(number: Lanes) -> Lanes:
    """A number in eight lanes, to be passed to another formula."""
    return number


@in_lanes(lambda at, numbers: numbers.kind(at, numbers))
def largest_of(numbers: Lanes) -> Any:
    """The largest of eight numbers that are not negative."""
    return numbers.largest()


def _nothing(_: Any) -> Any:
    """Generate eight sums of 0."""
    return SUMS(), lambda _, __, ___, ____: ir.Constant(DOUBLES, None)


def _plus(_: Any, sums: Any, factors: Any, at: Any, number: Any) -> Any:  # noqa: ARG001  # Numba counts them
    """Generate code that adds number * factor to each of eight sums; the factors are read from an array at an index."""

    def generate(context: Any, builder: Any, kinds: Any, arguments: Any) -> Any:
        given, table, position, value = arguments
        read = Numbers(builder, context.make_array(kinds.args[1])(context, builder, table).data, position, DOUBLES)(0)
        return builder.fadd(given, builder.fmul(in_all_lanes(builder, value, DOUBLES).value, read.value))

    return SUMS(sums, factors, at, types.float64), generate


def _sum(_: Any, sums: Any, lane: Any) -> Any:
    """Generate code that reads one of eight sums."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return types.float64(sums, lane), generate


no_sums: Any = intrinsic(_nothing)
plus_products: Any = intrinsic(_plus)
sum_in_lane: Any = intrinsic(_sum)


def _add(_: Any, at: Any, sums: Any, weight: Any, part: Any) -> Any:  # noqa: ARG001  # Numba counts them
    """Generate code that adds (weight, max(part, 0), min(part, 0), 0) to four sums in an array, from an index on."""

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


# Adds a weight and a part to four sums in an array; parts above 0 and parts below 0 have a sum each.
add_parts: Any = intrinsic(_add)
