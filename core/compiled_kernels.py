"""How kernels are compiled: without the interpreter's lock, and kept on disk where a folder for that is given.

Numba notices a change of a kernel's own file only, not of the kernels it calls; so whoever sets NUMBA_CACHE_DIR names a
folder for each version of all of them. Without such a folder every process compiles for itself.
"""

# mypy: disable-error-code="no-untyped-call"
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba import config, njit, types
from numba.core import event
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.experimental import structref

from core.compilation import refuse_to_compile


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
            return super().load_overload(sig, target_context)
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


def compiled(function: Callable[..., Any]) -> Any:
    """The function as a kernel, compiled for each kind of arguments when it is first called with them."""
    kernel: Any = njit(nogil=True, error_model="numpy")(function)
    if getattr(config, "CACHE_DIR", ""):
        kernel._cache = _KernelCache(function)  # as `cache=True` would, with our cache instead of Numba's
    return kernel


class Struct(structref.StructRefProxy):
    """Arrays and numbers that kernels hand on as one pointer; a tuple of them would be copied at every call.

    Made in kernels only: Python would have to compile how.
    """


class StructType(types.StructRef):
    """What the compiler knows of a `Struct`: the kinds of its fields, whatever their values."""

    def preprocess_fields(self, fields: Any) -> Any:
        return tuple((name, types.unliteral(kind)) for name, kind in fields)


structure = structref.register


def define(struct: Any, kind: Any, fields: str) -> None:
    """Name the fields of a struct, in the order in which it is made from them."""
    structref.define_proxy(struct, kind, fields.split())


event.register("numba:compile", _Guard())
