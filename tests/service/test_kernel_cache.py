"""Compiled code on disk, in real processes: complete, empty, read-only, damaged, and made for another processor."""

import ctypes
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import core
from service.jobs.processes import environment
from service.kernel_cache import (
    ABILITIES,
    COMPLETE,
    KernelCache,
    chosen_processor,
    find_cache,
    imported_files,
    kernel_sources,
    kernels_key,
)
from service.settings import Settings
from tests.service.compiled_files import ROOT, imports_of, with_another_constant

BOUNDING_SET_DROP, OVERRIDE_PERMISSIONS = 24, 1  # of prctl(2) and capabilities(7)

USE_CACHE = """
from core.compiler.permission import KernelNotCompiled, forbid_compilation
from service.kernel_cache import find_cache
from service.settings import Settings
cache = find_cache(Settings())
cache.use()
"""
ONE_KERNEL = """
import numpy as np
from core.arithmetic.kernels.sorting import sortable_keys
values, keys = np.array([2.0, np.nan, -1.0]), np.empty(3, dtype=np.uint64)
assert sortable_keys(values, values.view(np.uint64), np.zeros(3, dtype=np.int32), 0, 2, keys) == 2
"""


def run(program: str, settings: Settings, **variables: str) -> "subprocess.CompletedProcess[str]":
    """A program in a process of its own, which may not write what its permissions do not allow, not even as root."""
    return subprocess.run(
        [sys.executable, "-c", program],
        env=environment(settings) | variables,
        preexec_fn=without_override,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def without_override() -> None:
    ctypes.CDLL(None).prctl(BOUNDING_SET_DROP, OVERRIDE_PERMISSIONS, 0, 0, 0)


def succeeds(program: str, settings: Settings, **variables: str) -> None:
    ended = run(program, settings, **variables)
    assert ended.returncode == 0, ended.stderr


def make_read_only(folder: Path) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)


@pytest.fixture
def copied(warm_kernels: KernelCache, tmp_path: Path) -> Settings:
    """Settings with a complete folder of their own, and a data directory that is not there yet."""
    assert warm_kernels.folder is not None
    shutil.copytree(warm_kernels.folder, tmp_path / "kernels" / warm_kernels.folder.name)
    return Settings(kernel_dir=tmp_path / "kernels", data_dir=tmp_path / "data")


@pytest.fixture
def empty(tmp_path: Path) -> Settings:
    return Settings(kernel_dir=tmp_path / "kernels", data_dir=tmp_path / "data")


def test_a_process_with_a_complete_folder_compiles_nothing(warm_kernels: KernelCache) -> None:
    program = USE_CACHE + "from tests.service.kernel_matrix import train_all\nforbid_compilation()\ntrain_all()"
    succeeds(program, Settings())


def test_the_warm_up_calls_every_kernel(warm_kernels: KernelCache) -> None:
    program = (
        USE_CACHE + "from tests.service.kernel_matrix import never_called\nassert not (found := never_called()), found"
    )
    succeeds(program, Settings())


def test_a_complete_folder_that_can_only_be_read_is_used(copied: Settings, tmp_path: Path) -> None:
    make_read_only(tmp_path)
    succeeds(USE_CACHE + f"assert cache.is_complete\nforbid_compilation()\n{ONE_KERNEL}", copied)
    assert not copied.data_dir.exists()


def test_an_incomplete_folder_that_can_only_be_read_is_replaced_by_the_data_folder(copied: Settings) -> None:
    (mark,) = copied.kernel_dirs[0].rglob(COMPLETE)
    mark.unlink()
    make_read_only(copied.kernel_dirs[0])
    program = f"assert cache.folder.parent == Settings().data_dir / 'kernels'\n{ONE_KERNEL}"
    succeeds(USE_CACHE + program, copied)
    assert list(copied.data_dir.rglob("*sortable_keys*.nbc"))


def test_without_a_folder_kernels_are_compiled_and_not_kept(empty: Settings, tmp_path: Path) -> None:
    make_read_only(tmp_path)
    succeeds(USE_CACHE + f"assert cache.folder is None and not cache.is_complete\n{ONE_KERNEL}", empty)
    assert list(tmp_path.iterdir()) == []


def test_warming_up_without_a_folder_fails_plainly(empty: Settings, tmp_path: Path) -> None:
    make_read_only(tmp_path)
    program = "import sys; from service.__main__ import main; sys.exit(main(['warm-up']))"
    ended = run(program, empty)
    assert ended.returncode == 1
    assert ended.stderr.startswith("niwaki: compiled code cannot be kept in any of ")


def test_an_empty_folder_is_filled_as_kernels_are_used(empty: Settings) -> None:
    assert not find_cache(empty).is_complete
    succeeds(USE_CACHE + ONE_KERNEL, empty)
    succeeds(USE_CACHE + f"forbid_compilation()\n{ONE_KERNEL}", empty)
    assert not find_cache(empty).is_complete


def test_a_folder_is_for_one_processor(copied: Settings) -> None:
    native = copied.model_copy(update={"cpu": "native"})
    assert find_cache(copied).is_complete
    assert not find_cache(native).is_complete
    assert find_cache(native).folder != find_cache(copied).folder


def test_code_for_another_processor_is_not_run(copied: Settings) -> None:
    program = f"""
import os
os.environ["NUMBA_CPU_NAME"] = "generic"
forbid_compilation()
try:
    {ONE_KERNEL.replace(chr(10), chr(10) + "    ")}
except KernelNotCompiled as error:
    assert "sortable_keys" in str(error)
else:
    raise AssertionError("code for another processor was run")
"""
    succeeds(USE_CACHE + program, copied)


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
def test_damaged_files_are_compiled_anew(copied: Settings, suffix: str) -> None:
    damaged = list(copied.kernel_dirs[0].rglob(f"*sortable_keys*{suffix}"))
    assert damaged
    for path in damaged:
        path.write_bytes(path.read_bytes()[:-7] if suffix == ".nbc" else b"")
    succeeds(USE_CACHE + ONE_KERNEL, copied)
    succeeds(USE_CACHE + f"forbid_compilation()\n{ONE_KERNEL}", copied)


def test_a_process_that_must_not_compile_does_not(empty: Settings) -> None:
    ended = run(USE_CACHE + f"forbid_compilation()\n{ONE_KERNEL}", empty)
    assert ended.returncode == 1
    assert "KernelNotCompiled: sortable_keys is not compiled yet" in ended.stderr


LOADING = """
import sys, time
from core.compiler.permission import forbid_compilation
from service.kernel_cache import compiled_code_is_ready
from service.settings import Settings
forbid_compilation()
deadline = time.monotonic() + float(sys.argv[1])
while not (is_ready := compiled_code_is_ready(Settings())) and time.monotonic() < deadline:
    time.sleep(0.05)
print(is_ready, "numba" in sys.modules)
"""


def loading(settings: Settings, seconds: float) -> str:
    program = LOADING.replace("sys.argv[1]", str(seconds))
    return run(program, settings).stdout.strip()


def test_a_process_that_answers_requests_loads_compiled_code_once_it_is_complete(copied: Settings) -> None:
    assert loading(copied, 60).startswith("True")


@pytest.mark.parametrize("engine", ["definition", "auto"])
def test_until_then_it_does_without(empty: Settings, engine: str) -> None:
    assert loading(empty.model_copy(update={"engine": engine}), 2.5) == "False False"


def test_a_baseline_that_this_host_cannot_run_becomes_native(monkeypatch: pytest.MonkeyPatch) -> None:
    baseline, native = chosen_processor("baseline"), chosen_processor("native")
    assert baseline.variables == {"NUMBA_CPU_NAME": baseline.name, "NUMBA_CPU_FEATURES": ""}
    assert native.variables == {}
    monkeypatch.setitem(ABILITIES, baseline.name, ("an ability of tomorrow",))
    assert chosen_processor("baseline") == native


def test_an_architecture_we_do_not_know_has_a_baseline_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert chosen_processor("baseline").variables == {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def test_the_key_depends_on_every_file_whose_code_is_compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copy, processor = tmp_path / "core", chosen_processor("baseline")
    shutil.copytree(Path(core.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(core, "__file__", str(copy / "__init__.py"))
    before, files = kernels_key(processor), files_of_compiled_code()
    assert {"splits/kernels/numeric.py", "splits/candidates.py", "arithmetic/ties.py", "compiler/compile.py"} <= files
    for name in files:
        source = (copy / name).read_text()
        (copy / name).write_text(with_another_constant(source))
        assert kernels_key(processor) != before, name
        (copy / name).write_text(source)
    assert kernels_key(processor) == before


def files_of_compiled_code() -> set[str]:
    program = "from tests.service.compiled_files import compiled_files\nprint(*compiled_files(), sep='\\n')"
    return set(
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    )


def test_no_import_of_compiled_code_is_overlooked() -> None:
    for name, source in kernel_sources().items():
        assert imports_of(ROOT / name) <= imported_files(source), name


@pytest.mark.parametrize(
    "statement",
    [
        "from core.splits import candidates",
        "from core.splits import numeric as other, candidates as cuts",
        "from core.splits import (\n    numeric,\n    candidates,  # (where to cut)\n)",
        "from core.splits.candidates import midpoint",
        "from core.splits.candidates import (\n    midpoint,\n)",
        "import core.splits.candidates",
        "import core.splits.candidates as cuts",
    ],
)
def test_an_import_is_read_however_it_is_written(statement: str) -> None:
    assert "splits/candidates.py" in imported_files(f'"""A file."""\n\n{statement}\n'.encode())


def test_code_with_checked_bounds_is_kept_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NUMBA_BOUNDSCHECK", raising=False)
    before = kernels_key(chosen_processor("baseline"))
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert kernels_key(chosen_processor("baseline")) != before


def test_using_a_folder_says_so_to_the_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("NUMBA_CACHE_DIR", "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"):
        monkeypatch.setenv(name, "inherited")
    KernelCache(tmp_path, chosen_processor("native")).use()
    assert os.environ["NUMBA_CACHE_DIR"] == str(tmp_path)
    assert "NUMBA_CPU_NAME" not in os.environ
    KernelCache(None, chosen_processor("baseline")).use()
    assert "NUMBA_CACHE_DIR" not in os.environ
    assert os.environ["NUMBA_CPU_FEATURES"] == ""
