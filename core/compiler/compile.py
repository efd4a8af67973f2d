"""How kernels are compiled: without the interpreter's lock, and kept on disk where a folder for that is given.

A kernel that Python calls is compiled as a whole, with all kernels it calls as its parts. Numba by itself optimises
every part and turns it into machine code, once alone and again in each kernel that calls it. Here a part stays as it
was translated, and only wholes are optimised, turned into machine code and kept on disk: half the work.

Numba notices a change of a kernel's own file only, not of the kernels it calls; so whoever sets NUMBA_CACHE_DIR names a
folder for each version of all of them. Without such a folder every process compiles for itself.
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

Function = TypeVar("Function", bound=Callable[..., Any])  # a kernel is called as the function that it is made of

OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
# What is not said of a part, it takes over from the kernel that calls it.
WHOLE_OPTIONS: dict[str, Any] = {
    **OPTIONS,
    "nopython": True,
    "no_cfunc_wrapper": True,
    "forceinline": False,
    "_nrt": True,  # count who has an array
}
IS_KNOWN = numba_version.startswith("0.68.")  # whether what is replaced here is as in the version we know


def _rebuilt_environment(module: str, constants: Any, name: str) -> Any:
    """`environment._rebuild_env` without the import of modules that nobody has asked for.

    Compiled code from disk has an environment for every function of Numba's own that is in it. Only exceptions read
    their constants, and nothing reads what else their module has.
    """
    found = environment.lookup_environment(name)
    if found is None:
        there = sys.modules.get(module)
        found = Environment._memo[name] = Environment({"__name__": module} if there is None else vars(there))
        found.consts[:] = constants
        found.env_name = name
    return found


class _GivenFolder(UserProvidedCacheLocator):
    """The folder of NUMBA_CACHE_DIR, also one that can only be read; Numba's own would look for another folder."""

    def ensure_cache_path(self) -> None:
        with suppress(OSError):
            super().ensure_cache_path()


class _InGivenFolder(CompileResultCacheImpl):
    _locator_classes = [_GivenFolder]


class _KernelCache(FunctionCache):
    """What cannot be read counts as not there, and what cannot be written is compiled for this process alone."""

    _impl_class = _InGivenFolder

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            if not IS_KNOWN:
                return super().load_overload(sig, target_context)
            # Numba imports all that a compiler has to know here, and half of SciPy; code needs the memory's manager.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # a damaged file fails in as many ways as there are to damage it: begin anew
            with suppress(OSError):
                self.flush()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(Exception):
            super().save_overload(sig, data)


class _Guard(event.Listener):
    """Asks before every compilation whether this process may."""

    def on_start(self, event: event.Event) -> None:
        refuse_to_compile(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event: event.Event) -> None:
        pass


class _PartLibrary(JITCodeLibrary):
    """The code of a part, as it was translated; the whole links it in, and with it the parts that it calls."""

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
    """Takes the place of the code generator when a part's environment is set: it has no code that could read it.

    Wholes that come from disk do without the environments of their parts too.
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
        """What is kept on disk: machine code. Numba adds all that another kernel would have to know to link it in.

        Nobody links a whole in, and reading that takes ten times longer than machine code; but from it Numba learns
        which functions are there, so their names take its place.
        """
        self._ensure_finalized()
        defined = [function.name for function in self._final_module.functions if not function.is_declaration]
        return self.name, "object", (self._get_compiled_object(), _named(defined))


def _named(functions: list[str]) -> bytes:
    """Code that has functions of these names, which do nothing."""
    module = ir.Module()
    for name in functions:
        function = ir.Function(module, ir.FunctionType(ir.VoidType(), []), name)
        ir.IRBuilder(function.append_basic_block()).ret_void()
    return bytes(binding.parse_assembly(str(module)).as_bitcode())


class _PartCompiler(Compiler):
    """Compiles a kernel for others to call."""

    def library_of(self, func: Any) -> Any:
        """Where its code goes."""
        return _PartLibrary(self.state.targetctx.codegen(), func.__qualname__)

    def compile_extra(self, func: Any) -> Any:
        self.state.library = self.library_of(func)
        result = super().compile_extra(func)
        _refuse_to_share(func, self.state)
        return result


def _refuse_to_share(function: Any, state: Any) -> None:
    """See that arrays pass only between kernels that both count who has one, or both do not."""
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
    """A kernel as others see it: a part. When Python calls it, it is compiled as a whole of its own."""

    def __init__(self, function: Callable[..., Any], **further: Any) -> None:
        options = {**WHOLE_OPTIONS, "no_cpython_wrapper": True, "_nrt": False, **further}
        super().__init__(function, targetoptions=options, pipeline_class=_PartCompiler)

    @cached_property
    def whole(self) -> Any:
        """The kernel for Python, made when Python first asks: it calls few of all kernels, and each takes a while."""
        # From a copy of the function: the compiler would take a kernel that calls itself for the one it is at.
        function = _copy_of(self.py_func)
        return _cached(CPUDispatcher(function, targetoptions=WHOLE_OPTIONS, pipeline_class=_WholeCompiler))

    def __call__(self, *arguments: Any) -> Any:
        return self.whole(*arguments)

    @property
    def signatures(self) -> list[Any]:
        """Everything it was compiled for."""
        return [*super().signatures, *self.whole.signatures]


def compiled(function: Function) -> Function:
    """The function as a kernel, compiled for each kind of arguments when it is first called with them.

    It makes no arrays and hands none back. So nobody has to count who has one, which takes a locked instruction each
    time an array is taken and given back: a tenth of growing a tree to the last row.
    """
    kernel: Any = _Kernel(function) if IS_KNOWN else _cached(njit(**OPTIONS)(function))
    return kernel


def making_arrays(function: Function) -> Function:
    """The same for a kernel that makes arrays or hands one back."""
    kernel: Any = _Kernel(function, _nrt=True) if IS_KNOWN else _cached(njit(**OPTIONS)(function))
    return kernel


def inlined(function: Function) -> Function:
    """The same for a kernel that others have in themselves: for small parts that are called often and handed much."""
    kernel: Any = (
        _Kernel(function, forceinline=True) if IS_KNOWN else _cached(njit(**OPTIONS, forceinline=True)(function))
    )
    return kernel


def compiled_with(function: Any, *parts: Any) -> Any:
    """The function as a kernel, in which kernels of the same names take the place of the functions that it calls."""
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
    """Code that takes an address for a pointer to values of a kind."""

    def typed(_: Any, address: Any) -> Any:
        signature = types.CPointer(kind)(address)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], context.get_value_type(signature.return_type))

        return signature, generate

    return intrinsic(typed)


_pointer_at, _whole_pointer_at, _short_pointer_at = map(_pointer_to, (types.float64, types.int64, types.uint32))


@making_arrays
def numbers_at(address: Any, n: Any) -> Any:
    """The array of n float64 that begins at an address. The caller in Python keeps the memory alive.

    So a kernel takes any number of columns, where they are: a tuple of arrays would have it compiled for each number.
    """
    return carray(_pointer_at(address), (n,))


def ask(builder: Any, address: Any) -> None:
    """Write code that asks memory for what stands at an address, and goes on without waiting for it."""
    pointer, number = ir.IntType(8).as_pointer(), ir.IntType(32)
    kind = ir.FunctionType(ir.VoidType(), [pointer, number, number, number])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", (pointer,), kind)
    to_read, soon, data = number(0), number(3), number(1)
    builder.call(prefetch, [builder.bitcast(address, pointer), to_read, soon, data])


@making_arrays
def wholes_at(address: Any, n: Any) -> Any:
    """The same for int64. Handing over an address takes a tenth of the time of an array."""
    return carray(_whole_pointer_at(address), (n,))


@making_arrays
def shorts_at(address: Any, n: Any) -> Any:
    """The same for uint32."""
    return carray(_short_pointer_at(address), (n,))


def _ask(_: Any, address: Any) -> Any:
    """The same for an address that is a number."""
    signature = types.void(address)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        ask(builder, builder.inttoptr(arguments[0], ir.IntType(8).as_pointer()))
        return context.get_dummy_value()

    return signature, generate


# Has the processor bring near what will soon be read at an address. Any address will do, also one that is nobody's.
ask_for: Any = intrinsic(_ask)


def _count(_: Any, bits: Any) -> Any:
    """Code that counts the zeros below the lowest bit."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.int64(bits), generate


# The place of the lowest bit of a word that is set; there is one.
lowest_bit: Any = intrinsic(_count)


def _load(kind: Any) -> Any:
    """Code that reads a value of a kind at an address."""

    def typed(_: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            return builder.load(pointer, align=1)  # it may begin at any byte

        return kind(address), generate

    return intrinsic(typed)


def _store(kind: Any) -> Any:
    """Code that writes a value of a kind to an address."""

    def typed(_: Any, address: Any, value: Any) -> Any:  # noqa: ARG001  # Numba counts the arguments
        def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            builder.store(arguments[1], pointer, align=1)
            return context.get_dummy_value()

        return types.void(address, kind), generate

    return intrinsic(typed)


# Memory by its address, for kernels of many small parts: an array would be counted in and out of each of them. The
# caller in Python keeps the memory alive, and nobody looks whether an address is within it.
byte_at, offset_at, whole_at = map(_load, (types.uint8, types.int32, types.int64))
set_byte, set_whole, set_number = map(_store, (types.uint8, types.int64, types.float64))


_OWNERLESS = (numbers_at, wholes_at, shorts_at)  # their arrays are nobody's to count


class Struct(structref.StructRefProxy):
    """Arrays and numbers that kernels hand on as one pointer; a tuple of them would be copied at every call.

    Made in kernels only: Python would have to compile how. An array that is read from one belongs to the struct alone:
    counting who has it, at every reading, took a tenth of growth. So the struct has to outlive what is read from it.
    """

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class StructType(types.StructRef):
    """What the compiler knows of a `Struct`: the kinds of its fields, whatever their values."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


structure = structref.register


def define(struct: Any, kind: Any, fields: str) -> None:
    """Name the fields of a struct, in the order in which it is made from them."""
    structref.define_proxy(struct, kind, fields.split())
    for name in fields.split() if IS_KNOWN else ():
        lower_getattr(kind, name)(_reading_of(name))


def _reading_of(name: str) -> Any:
    """Code that reads a field."""

    def generate(context: Any, builder: Any, kind: Any, struct: Any) -> Any:
        counting = context.subtarget(enable_nrt=True)  # as Numba wants it of all that deal with structs
        fields = structref._Utils(counting, builder, kind).get_data_struct(struct)
        return _without_owner(context, builder, kind.field_dict[name], getattr(fields, name))

    return generate


def _without_owner(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array, also in a tuple, that nobody is counted to have; other values as they are."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    kinds = getattr(kind, "types", ())  # of a tuple's parts
    if not kinds:
        return value
    parts = [_without_owner(context, builder, each, builder.extract_value(value, i)) for i, each in enumerate(kinds)]
    return context.make_tuple(builder, kind, parts)


if IS_KNOWN:
    environment._rebuild_env = _rebuilt_environment
    entrypoints._already_initialized = True  # no other package adds to what kernels may do, so nobody looks for one
event.register("numba:compile", _Guard())
