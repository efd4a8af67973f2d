"""Compiled kernels on disk: where they are kept, whether all are there, and loading them where nothing is compiled.

    <folder of kernels>/<key>/       one for each version of kernels and compiler, and for each processor
        core_…/*.nbi, *.nbc          Numba's cache files
        complete                     exists once a process has run every kernel without compiling any

A worker that finds no complete folder has one made in the background; the container image contains one.
"""

import fcntl
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import core
from core.compiler.permission import forbid_compilation
from service.importing import importing
from service.logs import log_event
from service.settings import Settings

COMPLETE, LOCK = "complete", "lock"
CHECK_SECONDS = 1.0  # between two checks for a complete folder
COMPILERS = ("numba", "llvmlite", "numpy")
COMMENT = re.compile(rb"#[^\n]*")
IMPORT = re.compile(rb"\n(?:from|import) core\.([\w.]+)(?: import (\((?:[^)#]|#[^\n]*)*\)|[^\n]*))?")

# The processor that code is compiled for by default, by architecture, and the features that a host needs to run that
# code. Nearly every server since 2013 (Haswell) or 2017 (Zen) is an x86-64-v3.
BASELINES = {"x86_64": "x86-64-v3", "amd64": "x86-64-v3"}
OTHER_BASELINE = "generic"
ABILITIES = {"x86-64-v3": ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2", "xsave")}


@dataclass(frozen=True, slots=True)
class Processor:
    """The processor that code is compiled for, in the compiler's terms; `features` None: all that the host has."""

    name: str
    features: str | None

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables that make Numba compile for it; with a name alone Numba uses the host's features."""
        return {} if self.features is None else {"NUMBA_CPU_NAME": self.name, "NUMBA_CPU_FEATURES": self.features}


@dataclass(frozen=True, slots=True)
class KernelCache:
    """The folder of this version's kernels for a processor; None if none can be read or written."""

    folder: Path | None
    processor: Processor

    @property
    def is_complete(self) -> bool:
        """Whether all kernels are compiled."""
        return self.folder is not None and (self.folder / COMPLETE).exists()

    def use(self) -> None:
        """Make this process, and those it starts, use the folder; to be called before the first kernel is imported."""
        for name in ("NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
            os.environ.pop(name, None)
        os.environ.update(self.processor.variables)
        if self.folder is not None:
            os.environ["NUMBA_CACHE_DIR"] = str(self.folder)


def find_cache(settings: Settings) -> KernelCache:
    """The first complete folder, else the first that can be written."""
    processor = chosen_processor(settings.cpu)
    key = kernels_key(processor)
    folders = [(folder / key).absolute() for folder in settings.kernel_dirs]
    complete = (folder for folder in folders if (folder / COMPLETE).exists())
    return KernelCache(next(complete, None) or next(filter(_can_be_written, folders), None), processor)


def chosen_processor(cpu: str) -> Processor:
    """The baseline if `cpu` asks for it and this host can run it, else the host's own processor."""
    from llvmlite import binding  # type: ignore[import-untyped]  # detects features of any host; slow to import

    features = binding.get_host_cpu_features()
    if cpu == "baseline":
        name = BASELINES.get(platform.machine().lower(), OTHER_BASELINE)
        if all(features.get(ability, False) for ability in ABILITIES.get(name, ())):
            return Processor(name, "")
    return Processor(f"{binding.get_host_cpu_name()} {features.flatten()}", None)


def kernels_key(processor: Processor) -> str:
    """A key of the kernels' sources, the versions of the programs that compile them, and the processor.

    Numba also distinguishes processors, but it notices changes of a kernel's own file only, not of the files whose
    kernels and constants the kernel uses.
    """
    facts = [
        sys.implementation.cache_tag,
        platform.machine(),
        processor.name,
        os.environ.get("NUMBA_BOUNDSCHECK", ""),
        *map(version, COMPILERS),
    ]
    digest = hashlib.sha256("\n".join(map(str, facts)).encode())
    for _, source in sorted(kernel_sources().items()):
        digest.update(source)
    return digest.hexdigest()[:16]


def kernel_sources() -> dict[str, bytes]:
    """The sources of all kernels, and of the files they import kernels or constants from, by path within `core`.

    Kernels are in folders named `kernels`, and `compiler` says how they are compiled. What they import may be compiled
    into them, so it is included wherever it is. Every start reads some 150 files, so paths are plain strings.
    """
    root = os.path.dirname(core.__file__)  # noqa: PTH120
    modules = {
        f"{folder[len(root) + 1 :]}/{name}"
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".py") and folder != root
    }
    waiting = [name for name in modules if "/kernels/" in name or name.startswith("compiler/")]
    found = dict[str, bytes]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            with open(f"{root}/{name}", "rb") as file:  # noqa: PTH123
                found[name] = file.read()
            waiting.extend(modules & imported_files(found[name]))
    return found


def imported_files(source: bytes) -> set[str]:
    """The files of `core` that a module may import from; some of them may not exist."""
    files = set[str]()
    for module, names in IMPORT.findall(source):
        path = module.decode().replace(".", "/")
        inner = re.findall(rb"\w+", COMMENT.sub(b"", names))
        files |= {f"{path}.py", *(f"{path}/{name.decode()}.py" for name in inner)}
    return files


def _can_be_written(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def warm_up(settings: Settings) -> Path | None:
    """Compile every kernel into the folder unless it is complete; return the folder, or None if it is not complete."""
    cache = find_cache(settings)
    if cache.folder is None or cache.is_complete:
        return cache.folder
    cache.use()
    with _locked(cache.folder):
        if not cache.is_complete:
            from core.warm_up.every_kernel import run_every_kernel

            run_every_kernel()
            # A new process checks what is on disk: if the disk is full, less is stored than was compiled.
            check = [sys.executable, "-c", "from service.kernel_cache import prove; prove()"]
            if subprocess.run(check, check=False).returncode != 0:
                return None
            (cache.folder / COMPLETE).touch()
    return cache.folder


def prove() -> None:
    """Run every kernel with this process's environment variables, and fail if one would have to be compiled."""
    from core.warm_up.every_kernel import run_every_kernel

    forbid_compilation()
    run_every_kernel()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder's lock, so that one process at a time compiles into it."""
    with (folder / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def compiled_code_is_ready(settings: Settings) -> bool:
    """Whether this process has loaded compiled code; if not, start loading it as soon as a folder is complete.

    Cheap enough to call in every request.
    """
    return settings.engine != "definition" and _loader(settings).is_ready()


def _loader(settings: Settings) -> "_Loader":
    """This process's loader for these settings; the same object is recognised first, since comparing takes longer."""
    if not _loaders or (_loaders[-1].settings is not settings and _loaders[-1].settings != settings):
        _loaders[:] = [_Loader(settings)]
    return _loaders[-1]


class _Loader:
    """Loads compiled code in a background thread, so that no request waits for it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._is_loaded = False
        self._thread: threading.Thread | None = None
        self._next_check = 0.0

    def is_ready(self) -> bool:
        now = time.monotonic()
        if not self._is_loaded and now >= self._next_check and (self._thread is None or not self._thread.is_alive()):
            self._next_check = now + CHECK_SECONDS
            self._thread = threading.Thread(target=self._load_once_complete, daemon=True)
            self._thread.start()
        return self._is_loaded

    def _load_once_complete(self) -> None:
        try:
            cache = find_cache(self.settings)
            if cache.is_complete:
                cache.use()
                with importing():
                    from core.warm_up.every_kernel import run_prediction_kernels
                run_prediction_kernels()
                self._is_loaded = True
        except Exception as error:
            self._next_check = float("inf")  # requests are still answered by the definitions
            log_event("compiled_code_not_loaded", level="error", error=error)


_loaders: list[_Loader] = []
