"""Four float64 that a kernel keeps in registers from one iteration of a loop to the next."""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable, Iterator
from inspect import Parameter, signature
from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from core.compiler.eight_lanes import FOUR, Lanes, Numbers, in_all_lanes

FOUR_LANES = 4


class FoursType(types.Type):
    """The compiler's type of four float64."""

    def __init__(self) -> None:
        super().__init__("Fours")


FOURS = FoursType()


@register_model(FoursType)
class _FoursModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, FOUR)


def stepping(formula: Callable[..., Any]) -> Any:
    """Decorator: the kernel of a formula that computes a tuple of fours from its first argument, a tuple of as many.

    The kernel is called with that tuple, an index, and the formula's other arguments. For an array the formula gets its
    `Numbers` from that index on, for a single number `Lanes` with that number in each.
    """

    def translate(_: Any, fours: Any, at: Any, *kinds: Any) -> Any:
        def generate(context: Any, builder: Any, called: Any, arguments: Any) -> Any:
            before = [Lanes(builder, each) for each in cgutils.unpack_tuple(builder, arguments[0])]
            after = formula(before, *_given(context, builder, arguments[1], called.args[2:], arguments[2:]))
            return context.make_tuple(builder, called.return_type, [each.value for each in after])

        return fours(fours, at, *kinds), generate

    named = signature(formula)
    first, *others = named.parameters.values()
    before = [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in ("context", first.name, "at")]
    translate.__signature__ = named.replace(parameters=[*before, *others])  # type: ignore[attr-defined]
    translate.__name__, translate.__doc__ = formula.__name__, formula.__doc__
    return intrinsic(translate)


def _given(context: Any, builder: Any, at: Any, kinds: Any, values: Any) -> Iterator[Any]:
    """The other arguments of a formula."""
    for kind, value in zip(kinds, values, strict=True):
        if isinstance(kind, types.Array):
            yield Numbers(builder, context.make_array(kind)(context, builder, value).data, at, FOUR)
        else:
            yield in_all_lanes(builder, context.cast(builder, value, kind, types.float64), FOUR)


def _same(_: Any, number: Any) -> Any:  # noqa: ARG001  # Numba counts them
    """Generate code that puts a number into all four lanes."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return in_all_lanes(builder, arguments[0], FOUR).value

    return FOURS(types.float64), generate


def _lane(_: Any, fours: Any, lane: Any) -> Any:
    """Generate code that reads one of four lanes."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.extract_element(*arguments)

    return types.float64(fours, lane), generate


four_times: Any = intrinsic(_same)
number_in_lane: Any = intrinsic(_lane)
