"""Compiles kernels, which run without the interpreter's lock, and caches them on disk if a folder is given.

A kernel that Python calls is compiled as a *whole*, and all kernels that it calls are its *parts*. Plain Numba
optimises every part and turns it into machine code, once alone and again in each kernel that calls it. Here a part
stays unoptimised LLVM code, and only wholes are optimised, turned into machine code and cached: half the work.

Numba notices changes of a kernel's own file only, not of the kernels that it calls. So NUMBA_CACHE_DIR must name
another folder for each version of the code. Without it, every process compiles for itself.
"""

# mypy: disable-error-code="no-untyped-call"
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, update_wrapper
from types import FunctionType
from typing import TYPE_CHECKING, Any, TypeVar

from llvmlite import binding, ir  # type: ignore[import-untyped]
from numba import __version__ as numba_version
from numba import config, njit, types
from numba.core import entrypoints, environment, event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import Environment
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.experimental import structref
from numba.extending import intrinsic, lower_getattr
from numba.np.numpy_support import carray

from core.compiler.permission import refuse_to_compile

Function = TypeVar("Function", bound=Callable[..., Any])  # a kernel has the signature of its Python function

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# An option that is not set for a part is inherited from the kernel that calls it.
WHOLE_OPTIONS: dict[str, Any] = {
    **OPTIONS,
    "nopython": True,
    "no_cfunc_wrapper": True,
    "forceinline": False,
    "_nrt": True,  # count references to arrays
}
IS_KNOWN = numba_version.startswith("0.68.")  # the version whose internals this module knows how to replace


def _rebuilt_environment(module: str, constants: Any, name: str) -> Any:
    """`environment._rebuild_env` without importing modules that are not loaded yet.

    Compiled code from disk has an environment for each of Numba's own functions in it. Only exceptions read the
    constants of these environments, and nothing reads the rest of their modules.
    """
    found = environment.lookup_environment(name)
    if found is None:
        there = sys.modules.get(module)
        found = Environment._memo[name] = Environment({"__name__": module} if there is None else vars(there))
        found.consts[:] = constants
        found.env_name = name
    return found


class _GivenFolder(UserProvidedCacheLocator):
    """The folder of NUMBA_CACHE_DIR, even if it is read-only; Numba's own locator would choose another folder then."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            super().ensure_cache_path()


class _InGivenFolder(CompileResultCacheImpl):
    _locator_classes = [_GivenFolder]


class _KernelCache(FunctionCache):
    """A cache that never fails: unreadable files count as missing, and what cannot be written is not cached."""

    _impl_class = _InGivenFolder

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            if not IS_KNOWN:
                return super().load_overload(sig, target_context)
            # Numba would import the whole compiler here, and half of SciPy; loaded code needs only the memory manager.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # a damaged file may raise anything: start anew
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


class _Guard(event.Listener):
    """Checks before every compilation whether this process may compile."""

    def on_start(self, event: event.Event) -> None:
        refuse_to_compile(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event: event.Event) -> None:
        pass


class _PartLibrary(JITCodeLibrary):
    """The unoptimised code of a part; a whole links it in, together with the parts that it calls."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._final_module.verify()
        self._finalized = True

    def get_pointer_to_function(self, _: str) -> int:
        return 0  # as for every function that Python cannot call

    @property
    def codegen(self) -> Any:
        return _NoEnvironments()


class _NoEnvironments:
    """Replaces the code generator when a part's environment is set: a part has no machine code that reads it.

    Wholes that are loaded from disk have no environments of their parts either.
    """

    def set_env(self, _: str, environment: Any) -> None:
        pass


class _WholeLibrary(JITCodeLibrary):
    """The code of a kernel that Python calls."""

    def add_linking_library(self, library: Any) -> None:
        if library in self._linking_libraries:
            return
        super().add_linking_library(library)
        if isinstance(library, _PartLibrary):
            for part in library._linking_libraries:
                self.add_linking_library(part)

    def serialize_using_object_code(self) -> Any:
        """The content of a cache file: machine code, without the LLVM code that Numba would add for linking.

        Wholes are never linked into another kernel, and reading their LLVM code takes ten times longer than reading
        machine code. But Numba also learns from it which functions there are, so empty functions of the same names
        replace it.
        """
        self._ensure_finalized()
        defined = [function.name for function in self._final_module.functions if not function.is_declaration]
        return self.name, "object", (self._get_compiled_object(), _named(defined))


def _named(functions: list[str]) -> bytes:
    """LLVM bitcode that has functions of these names, which do nothing."""
    module = ir.Module()
    for name in functions:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
        ir.IRBuilder(function.append_basic_block()).ret_void()
    return bytes(binding.parse_assembly(str(module)).as_bitcode())


class _PartCompiler(Compiler):
    """Compiles a kernel for other kernels to call."""

    def library_of(self, func: Any) -> Any:
        """The library for the function's code."""
        return _PartLibrary(self.state.targetctx.codegen(), func.__qualname__)

    def compile_extra(self, func: Any) -> Any:
        self.state.library = self.library_of(func)
        result = super().compile_extra(func)
        _refuse_to_share(func, self.state)
        return result


def _refuse_to_share(function: Any, state: Any) -> None:
    """Raise TypeError if a called kernel returns arrays and only one of both kernels counts references to arrays."""
    for call, signature in state.calltypes.items():
        if getattr(call, "op", "") == "call" and _has_arrays(signature.return_type):
            callee: Any = getattr(state.typemap[call.func.name], "dispatcher", None)
            is_kernel = isinstance(callee, _Kernel) and callee not in _OWNERLESS
            if is_kernel and callee.targetoptions["_nrt"] != state.flags.nrt:
                names = f"{function.__qualname__} and {callee.py_func.__name__}"
                raise TypeError(f"an array passes between {names}: mark both with @making_arrays, or none")


def _has_arrays(kind: Any) -> bool:
    return isinstance(kind, types.Array | types.StructRef) or any(map(_has_arrays, getattr(kind, "types", ())))


class _WholeCompiler(_PartCompiler):
    """Compiles a kernel for Python to call."""

    def library_of(self, func: Any) -> Any:
        library = _WholeLibrary(self.state.targetctx.codegen(), func.__qualname__)
        library.enable_object_caching()
        return library


class _Kernel(CPUDispatcher):
    """A kernel: a part when another kernel calls it; when Python calls it, it is compiled again as a whole."""

    def __init__(self, function: Callable[..., Any], **further: Any) -> None:
        options = {**WHOLE_OPTIONS, "no_cpython_wrapper": True, "_nrt": False, **further}
        super().__init__(function, targetoptions=options, pipeline_class=_PartCompiler)

    @cached_property
    def whole(self) -> Any:
        """The kernel for Python, made on first use: Python calls few of the kernels, and each takes a while to make."""
        # From a copy of the function: otherwise Numba takes a recursive kernel's call of its part for the whole.
        function = _copy_of(self.py_func)
        return _cached(CPUDispatcher(function, targetoptions=WHOLE_OPTIONS, pipeline_class=_WholeCompiler))

    def __call__(self, *arguments: Any) -> Any:
        return self.whole(*arguments)

    @property
    def signatures(self) -> list[Any]:
        """The argument types that the kernel was compiled for, as a part or as a whole."""
        return [*super().signatures, *self.whole.signatures]


def compiled(function: Function) -> Function:
    """Decorator: the function as a kernel, compiled for each combination of argument types when first called with it.

    The kernel must neither make arrays nor return one. So references to arrays need no counting, which would take a
    locked instruction each time an array is acquired or released: a tenth of the time to grow a full tree.
    """
    kernel: Any = _Kernel(function) if IS_KNOWN else _cached(njit(**OPTIONS)(function))
    return kernel


def making_arrays(function: Function) -> Function:
    """Decorator: the function as a kernel that may make arrays or return one; references to arrays are counted."""
    kernel: Any = _Kernel(function, _nrt=True) if IS_KNOWN else _cached(njit(**OPTIONS)(function))
    return kernel


def inlined(function: Function) -> Function:
    """Decorator: the function as a kernel that is inlined into its callers.

    It is for small functions that are called often and with many arguments.
    """
    kernel: Any = (
        _Kernel(function, forceinline=True) if IS_KNOWN else _cached(njit(**OPTIONS, forceinline=True)(function))
    )
    return kernel


def compiled_with(function: Any, *parts: Any) -> Any:
    """The function as a kernel in which the given kernels replace the functions of the same names that it calls."""
    kernels = {part.py_func.__name__: part for part in parts}
    return making_arrays(FunctionType(function.__code__, {**function.__globals__, **kernels}, function.__name__))


def _copy_of(function: Any) -> Any:
    copy = FunctionType(function.__code__, function.__globals__, function.__name__, None, function.__closure__)
    return update_wrapper(copy, function)


def _cached(kernel: Any) -> Any:
    if getattr(config, "CACHE_DIR", ""):
        kernel._cache = _KernelCache(kernel.py_func)  # as `cache=True` would, with our cache instead of Numba's
    return kernel


def _pointer_to(kind: Any) -> Any:
    """The intrinsic that converts an address to a pointer to values of a type."""

    def typed(_: Any, address: Any) -> Any:
        signature = types.CPointer(kind)(address)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return signature, generate

    return intrinsic(typed)


_pointer_at, _whole_pointer_at, _short_pointer_at = map(_pointer_to, (types.float64, types.int64, types.uint32))


@making_arrays
def numbers_at(address: Any, n: Any) -> Any:
    """The n float64 at an address as an array, without a copy. The caller in Python must keep the memory alive.

    So one kernel takes any number of columns; with a tuple of arrays it would be compiled for each number of columns.
    """
    return carray(_pointer_at(address), (n,))


def ask(builder: Any, address: Any) -> None:
    """Generate a prefetch of the memory at an address, which does not wait for the data."""
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    to_read, soon, data = number(0), number(3), number(1)
    builder.call(prefetch, [builder.bitcast(address, pointer), to_read, soon, data])


@making_arrays
def wholes_at(address: Any, n: Any) -> Any:
    """The n int64 at an address as an array, without a copy. The caller in Python must keep the memory alive.

    Passing an address takes a tenth of the time of passing an array.
    """
    return carray(_whole_pointer_at(address), (n,))


@making_arrays
def shorts_at(address: Any, n: Any) -> Any:
    """The n uint32 at an address as an array, without a copy. The caller in Python must keep the memory alive."""
    return carray(_short_pointer_at(address), (n,))


def _ask(_: Any, address: Any) -> Any:
    """Generate a prefetch of the memory at an address that is given as a number."""
    signature = types.void(address)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        ask(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return signature, generate


# Prefetches what will soon be read at an address. Any address is safe, even one that is not allocated.
prefetch: Any = intrinsic(_ask)


def _count(_: Any, bits: Any) -> Any:
    """Generate code that counts the zeros below the lowest set bit."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(bits), generate


# The position of the lowest set bit of a word that is not 0.
lowest_bit: Any = intrinsic(_count)


def _load(kind: Any) -> Any:
    """The intrinsic that reads a value of a type at an address."""

    def typed(_: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            return builder.load(pointer, align=1)  # the address need not be aligned

        return kind(address), generate

    return intrinsic(typed)


def _store(kind: Any) -> Any:
    """The intrinsic that writes a value of a type to an address."""

    def typed(_: Any, address: Any, value: Any) -> Any:  # noqa: ARG001  # Numba counts the arguments
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            builder.store(arguments[1], pointer, align=1)
            return context.get_dummy_value()

        return types.void(address, kind), generate

    return intrinsic(typed)


# Memory by its address, for kernels of many small parts, each of which would count the references to an array. The
# caller in Python must keep the memory alive; whether an address is within it is not checked.
byte_at, offset_at, whole_at = map(_load, (types.uint8, types.int32, types.int64))
set_byte, set_whole, set_number = map(_store, (types.uint8, types.int64, types.float64))


_OWNERLESS = (numbers_at, wholes_at, shorts_at)  # references to their arrays are not counted


class Struct(structref.StructRefProxy):
    """Arrays and numbers that kernels pass on as one pointer; a tuple of them would be copied at every call.

    A struct is made in kernels only, since making one in Python would need compiled code too. An array read from a
    struct is a borrowed reference, which is not counted: counting at every read took a tenth of the time of growth. So
    a struct must outlive all that is read from it.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class StructType(types.StructRef):
    """The compiler's type of a `Struct`: the types of its fields, which do not depend on their values."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


structure = structref.register


def define(struct: Any, kind: Any, fields: str) -> None:
    """Name the fields of a struct, in the order of the arguments that it is made from."""
    structref.define_proxy(struct, kind, fields.split())
    for name in fields.split() if IS_KNOWN else ():
        lower_getattr(kind, name)(_reading_of(name))


def _reading_of(name: str) -> Any:
    """The generator of code that reads a field as a borrowed reference."""

    def generate(context: Any, builder: Any, kind: Any, struct: Any) -> Any:
        counting = context.subtarget(enable_nrt=True)  # Numba requires it of all code that handles structs
        fields = structref._Utils(counting, builder, kind).get_data_struct(struct)
        return _without_owner(context, builder, kind.field_dict[name], getattr(fields, name))

    return generate


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The value, with references to arrays not counted, also those to arrays in a tuple."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    kinds = getattr(kind, "types", ())  # of a tuple's items
    if not kinds:
        return value
    parts = [_without_owner(context, builder, each, builder.extract_value(value, i)) for i, each in enumerate(kinds)]
    return context.make_tuple(builder, kind, parts)


if IS_KNOWN:
    environment._rebuild_env = _rebuilt_environment
    entrypoints._already_initialized = True  # no other package extends Numba for kernels, so none is searched for
event.register("numba:compile", _Guard())
