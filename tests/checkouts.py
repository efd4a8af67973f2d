"""Checkouts of the repository, and services that run from them in processes of their own.

Nothing is imported from the service, and it is spoken to over HTTP. So all of this works with versions whose modules
lie elsewhere.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import httpx

HERE = Path(__file__).parent.parent
LONGEST_WAIT = 60.0
NONE: Mapping[str, str] = MappingProxyType({})
LOOKS, LOOK_SECONDS = 10, 0.05  # a process that sleeps at so many looks has nothing to do


@contextmanager
def worktree(revision: str) -> Iterator[Path]:
    """A checkout of a revision in a temporary folder, which is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="niwaki-checkout-") as temporary:
        folder = Path(temporary) / "checkout"
        git("worktree", "add", "--quiet", "--detach", str(folder), revision)
        try:
            yield folder
        finally:
            git("worktree", "remove", "--force", str(folder))


def git(*arguments: str) -> str:
    """What git answers, asked in this checkout."""
    return subprocess.run(["git", *arguments], cwd=HERE, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def python_for(checkout: Path) -> str:
    """The interpreter to run a checkout with: this one, unless the checkout requires other packages."""
    required = "requirements.txt"
    if (checkout / required).read_bytes() == (HERE / required).read_bytes():
        return sys.executable
    own = checkout / ".venv"
    if not own.exists():
        venv.create(own, with_pip=True)
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--require-hashes", "-r", required]
        subprocess.run([own / "bin/python", *install], cwd=checkout, check=True)
    return str(own / "bin/python")


def environment(settings: Mapping[str, str], variables: Mapping[str, str] = NONE) -> dict[str, str]:
    """This process's environment with these settings and variables; what Numba and Python were told is left out."""
    ours = ("NIWAKI_", "NUMBA_", "PYTHONPATH")
    plain = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**plain, **{f"NIWAKI_{name.upper()}": value for name, value in settings.items()}, **variables}


def run_service(checkout: Path, *arguments: str, settings: Mapping[str, str]) -> str:
    """What a command of the checkout's service prints."""
    command = [python_for(checkout), "-m", "service", *arguments]
    said = environment(settings)
    return subprocess.run(command, cwd=checkout, env=said, check=True, stdout=subprocess.PIPE, text=True).stdout


class Running:
    """The service of a checkout in a process of its own."""

    def __init__(
        self, settings: Mapping[str, str], log: Path, checkout: Path = HERE, variables: Mapping[str, str] = NONE
    ) -> None:
        self._log = log
        command = [python_for(checkout), "-m", "service", "serve"]
        with log.open("wb") as file:
            self._process = subprocess.Popen(
                command,
                cwd=checkout,
                env=environment({"port": "0", **settings}, variables),
                stdin=subprocess.DEVNULL,
                stderr=file,
                start_new_session=True,
            )
        self.client = httpx.Client(base_url=eventually(self._address), timeout=LONGEST_WAIT)
        eventually(lambda: self.client.get("/readyz").status_code == 200)

    def _address(self) -> str | None:
        log = self._log.read_text("utf-8")
        assert self._process.poll() is None, log
        events = [json.loads(line) for line in log.splitlines(keepends=True) if line.endswith("\n")]
        return next((event["address"] for event in events if event["event"] == "serving"), None)

    def call(self, method: str, path: str, **options: Any) -> Any:
        """What it answers to a request that must succeed."""
        answer = self.client.request(method, path, **options)
        assert answer.is_success, (method, path, answer.text)
        return answer.json() if answer.content else None

    def ended(self, training: Any, status: str = "succeeded") -> str:
        """Wait for a training; the id of the model it was to make."""
        ended = self.outcome(training)
        assert ended["status"] == status, ended
        return str(training["model_id"])

    def outcome(self, training: Any, seconds: float = LONGEST_WAIT) -> Any:
        """The training once it has ended."""
        address = f"/v1/trainings/{training['id']}?wait=20"
        return eventually(lambda: self._unless_going_on(address), seconds)

    def _unless_going_on(self, address: str) -> Any:
        training = self.call("GET", address)
        return None if training["status"] in ("queued", "running") else training

    def wait_until_idle(self, seconds: float = LONGEST_WAIT) -> None:
        """Wait until no thread of the process that answers has anything to do: compiled code is loaded then."""
        eventually(lambda: all(self._sleeps() for _ in range(LOOKS)), seconds)

    def _sleeps(self) -> bool:
        time.sleep(LOOK_SECONDS)
        stats = Path(f"/proc/{self._process.pid}/task").glob("*/stat")
        return all(stat.read_text().rpartition(")")[2].split()[0] == "S" for stat in stats)

    def end(self) -> None:
        """End the service, its worker too."""
        self.client.close()
        os.killpg(self._process.pid, signal.SIGTERM)
        assert self._process.wait(LONGEST_WAIT) == 0


@contextmanager
def running(
    settings: Mapping[str, str],
    log: Path,
    checkout: Path = HERE,
    *,
    worker: bool = True,
    variables: Mapping[str, str] = NONE,
) -> Iterator[Running]:
    """A service that runs from a checkout, with a worker or without."""
    service = Running({**settings, "embedded_worker": str(worker)}, log, checkout, variables)
    try:
        yield service
    finally:
        service.end()


def eventually(look: Callable[[], Any], seconds: float = LONGEST_WAIT) -> Any:
    """What a look finds, as soon as it finds something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found
