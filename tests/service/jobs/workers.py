"""Real worker processes for tests, and waiting for what they do."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from service.jobs.processes import environment
from service.settings import Settings

SAMPLE_WORK = ("--work", "tests.service.jobs.sample_work:work")

# For what a worker does with its processes, whichever the database.
one_database = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


@contextmanager
def worker(settings: Settings, *arguments: str) -> Iterator["subprocess.Popen[bytes]"]:
    """`niwaki worker` with the sample work; ended at the end if it still runs."""
    process = start([sys.executable, "-m", "service", "worker", *SAMPLE_WORK, *arguments], settings)
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=15)


def start(command: list[str], settings: Settings) -> "subprocess.Popen[bytes]":
    """A process with these settings."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=environment(settings), stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )


async def eventually(holds: Callable[[], Awaitable[bool]], *, within: float = 20.0) -> float:
    """Wait until something is true; how many seconds that took."""
    started = time.monotonic()
    while not await holds():
        assert time.monotonic() - started < within, "it did not happen in time"
        await anyio.sleep(0.05)
    return time.monotonic() - started


def pids_in(notes: Path) -> list[int]:
    """The child processes that noted themselves."""
    return [int(line) for line in notes.read_text().split()] if notes.exists() else []


def is_running(pid: int) -> bool:
    """Whether a process computes; one that is dead but not yet buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
