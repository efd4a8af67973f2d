"""Whether this process may compile kernels.

A process that answers requests may not: its clients would wait for the compiler. It runs the kernels that other
processes have compiled to disk, and the definitions where there are none.
"""

_is_forbidden = False


class KernelNotCompiled(Exception):
    """A kernel is not on disk, and this process may not compile it; the definition gives the same answer."""


def forbid_compilation() -> None:
    """From now on, until the process ends, a kernel that would have to be compiled raises KernelNotCompiled."""
    global _is_forbidden
    _is_forbidden = True


def refuse_to_compile(kernel: str) -> None:
    """Raise if compiling is forbidden; called before every compilation of a kernel."""
    if _is_forbidden:
        raise KernelNotCompiled(f"{kernel} is not compiled yet, and this process must not wait for a compiler")
