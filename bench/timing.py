"""Clocks: CPU time of runs that are to keep to a number of threads, of all threads together, and wall time."""

import ctypes
import gc
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from numba.core import event

Answer = TypeVar("Answer")

SHORT_SECONDS = 0.05  # below this, CPU and wall time are too rough to be compared
IDLE_SHARE = 0.9


class MoreThanOneThread(Exception):
    """A library used more CPU time than the threads it was given can."""


def cpu_seconds(run: Callable[[], Answer], patience: int = 3, *, threads: int = 1) -> tuple[float, Answer]:
    """How long it computes on so many threads, and what it gives; once more if something had to be compiled.

    Also once more, so many times, if it took more CPU time than they can: the threads of another library may still have
    been running. What others left to be cleared away is cleared before.
    """
    clear_away(threads)
    with event.install_recorder("numba:compile") as compilations:
        wall, cpu = time.perf_counter(), time.process_time()
        answer = run()
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    if compilations.buffer:
        return cpu_seconds(run, patience, threads=threads)
    if wall > SHORT_SECONDS and cpu > 1.1 * threads * wall:
        if patience:
            return cpu_seconds(run, patience - 1, threads=threads)
        raise MoreThanOneThread(f"{cpu:.2f} s of CPU time in {wall:.2f} s")
    return cpu, answer


def clear_away(threads: int) -> None:
    """Have objects that nobody has any more freed, and what several threads freed put in order.

    Threads have memory of their own, and `malloc` leaves the many small pieces of a model there to whoever's thread
    gets it next: with YDF's forests of numbers that took a second. Where there is one thread only, memory is left as it
    is: fresh pages take a fifth of what a tree of 200,000 rows does.
    """
    gc.collect()
    if threads > 1:
        ctypes.CDLL(None).malloc_trim(0)


def threads_seconds(run: Callable[[], object]) -> float:
    """How long all threads together compute; once more if something had to be compiled."""
    with event.install_recorder("numba:compile") as compilations:
        start = time.process_time()
        run()
        seconds = time.process_time() - start
    return threads_seconds(run) if compilations.buffer else seconds


def wall_seconds(run: Callable[[], object]) -> float:
    """How long it takes by the wall's clock."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def all_cores_idle(patience: int = 10) -> bool:
    """Whether every core was idle for a second, tried so many times."""
    return any(_idle_share() >= IDLE_SHARE for _ in range(patience))


def _idle_share() -> float:
    before = _ticks()
    time.sleep(1)
    spent = [now - then for now, then in zip(_ticks(), before, strict=True)]
    return spent[3] / max(1, sum(spent))


def _ticks() -> list[int]:
    """All cores together: user, nice, system, idle, …"""
    return [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]


def limit_threads() -> None:
    """Before libraries are imported: those that ask the environment get one thread."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
