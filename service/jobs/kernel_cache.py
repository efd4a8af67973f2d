"""Where compiled kernels are kept between processes."""

import hashlib
import sys
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path

import core

_KERNELS, _MARK = "core.growth.grow_kernels", "compiled"


def kernel_cache(data_dir: Path) -> Path | None:
    """A folder for this version of all kernels together; None when nothing can be written there.

    The compiler notices a change of a kernel's own file only, not of the kernels it calls, and tells processors apart
    by itself.
    """
    digest = hashlib.sha256(version("numba").encode())
    for source in sorted(Path(core.__file__).parent.rglob("*_kernels.py")):
        digest.update(source.read_bytes())
    folder = data_dir / "kernels" / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder.resolve()
    except OSError:
        return None


def is_compiled(cache: Path | None) -> bool:
    """Whether kernels need no compiler: this process has them, or an earlier one left them in the cache."""
    return _KERNELS in sys.modules or (cache is not None and (cache / _MARK).exists())


def mark_compiled(cache: Path | None) -> None:
    """Tell later processes that the cache holds the kernels, if this process has used them."""
    if cache is not None and _KERNELS in sys.modules:
        with suppress(OSError):  # then the next process is as slow as this one was
            (cache / _MARK).touch()
