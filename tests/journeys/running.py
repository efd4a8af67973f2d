"""A real service in processes of its own, and a client that speaks to it."""

import asyncio
import csv
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import numpy as np

from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from service.jobs.processes import environment
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from tests.service.jobs.workers import is_running
from tests.service.store.orders import add_dataset

GOLDEN = Path(__file__).parent.parent / "golden"
LONGEST_START = 30.0
NIWAKI = (sys.executable, "-m", "service")
# Short, so that tests do not wait long for a takeover; long enough for a machine that is busy with other tests.
QUICK_LEASE: dict[str, Any] = {"lease_seconds": 2.0, "heartbeat_seconds": 0.3}

# Every journey runs on both databases and by both engines. Neither knows of the other, so two runs are enough.
ENGINE_ON = {"sqlite": "kernels", "postgres": "definition"}

# Rows and columns of noise whose full tree keeps each engine busy for some seconds, and longer than any test looks on.
Size = tuple[int, int]
SOME_SECONDS: dict[str, Size] = {"definition": (5_000, 8), "kernels": (250_000, 24)}
FAR_TOO_LONG: dict[str, Size] = {"definition": (100_000, 8), "kernels": (2_000_000, 16)}

Columns = Mapping[str, Any]


class Service:
    """A running service: its process, its settings and a client."""

    def __init__(
        self, settings: Settings, log: Path, *, niwaki: Sequence[str] = NIWAKI, cwd: Path | None = None
    ) -> None:
        self.settings, self.log = settings, log
        self._niwaki, self._cwd = niwaki, cwd
        self._known: dict[str, str] = {}
        self.client = httpx.Client()
        self.start()

    def start(self) -> None:
        """Start `niwaki serve` and wait until it is ready; its log is added to the file."""
        already = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*self._niwaki, "serve"],
                env=environment(self.settings),
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.address = eventually(lambda: self._address(already), within=LONGEST_START)
        self.client.close()
        self.client = httpx.Client(base_url=self.address, timeout=90.0)
        eventually(lambda: self.client.get("/readyz").status_code == 200, within=LONGEST_START)

    def _address(self, already: int) -> str | None:
        assert self.process.poll() is None, self.log.read_text()
        for event in self.events(already):
            if event["event"] == "serving":
                return str(event["address"])
        return None

    def events(self, after: int = 0) -> list[dict[str, Any]]:
        """What the log says from a place on; every line of it is JSON."""
        said = self.log.read_bytes()[after:]
        return [json.loads(line) for line in said[: said.rfind(b"\n") + 1].splitlines()]

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """Send a signal to the whole process group, as a terminal does; the exit code."""
        self.client.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, number)
        return self.process.wait(20)

    def processes(self, *words: str) -> list[int]:
        """The processes that were started with this service's data directory, and whose command has these words."""
        mine = f"NIWAKI_DATA_DIR={self.settings.data_dir}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                said = (folder / "environ").read_bytes().split(b"\0")
                command = (folder / "cmdline").read_bytes().decode().split("\0")
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
            if mine in said and set(words) <= set(command) and is_running(int(folder.name)):
                found.append(int(folder.name))
        return found

    @property
    def files(self) -> list[Path]:
        """The dataset files in the data directory, also those still being written."""
        return [
            path for path in Path(self.settings.data_dir).rglob("*") if path.is_file() and "niwaki.db" not in path.name
        ]

    def call(self, method: str, path: str, *, status: int = 200, **options: Any) -> Any:
        """Call, look at the status, and hand over the JSON (or None)."""
        answer = self.client.request(method, path, **options)
        assert answer.status_code == status, (method, path, answer.status_code, answer.text[:2000])
        return answer.json() if answer.content else None

    def get(self, path: str, *, status: int = 200, **parameters: Any) -> Any:
        return self.call("GET", path, status=status, params=parameters)

    def text(self, path: str, **parameters: Any) -> str:
        answer = self.client.get(path, params=parameters)
        assert answer.status_code == 200, answer.text
        return answer.text

    def post(self, path: str, body: Any, *, status: int = 200) -> Any:
        return self.call("POST", path, status=status, json=body)

    def dataset(self, columns: Columns, **options: Any) -> str:
        """Send a table; its id."""
        return str(self.post("/v1/datasets", {"columns": columns, **options}, status=201)["id"])

    def order(self, name: str, dataset_id: str, target: str, **order: Any) -> Any:
        """Order a training: of everything as one part, and without pruning, unless told."""
        plain = {"division": {"kind": "none"}, "pruning": {"kind": "none"}}
        body = {"name": name, "dataset_id": dataset_id, "target": target, **plain, **order}
        return self.post("/v1/trainings", body, status=202)

    def wait(self, training_id: str) -> Any:
        """The training once it has ended."""
        return eventually(lambda: self._ended(training_id), within=120.0)

    def _ended(self, training_id: str) -> Any:
        training = self.get(f"/v1/trainings/{training_id}", wait=20)
        return training if training["status"] not in ("queued", "running") else None

    def train(self, name: str, dataset_id: str, target: str, **order: Any) -> Any:
        """The training, which has to succeed."""
        training = self.wait(self.order(name, dataset_id, target, **order)["id"])
        assert training["status"] == "succeeded", training
        return training

    def noise(self, size_by_engine: Mapping[str, Size]) -> str:
        """The id of a table that keeps this service's engine busy for so long; put there once.

        It is too large to be sent in a test, so it is put where an upload would have put it.
        """
        size = size_by_engine[self.settings.engine]
        if f"noise {size}" not in self._known:
            self._known[f"noise {size}"] = asyncio.run(store(self.settings, noise(*size)))
        return self._known[f"noise {size}"]

    def golden(self, table: str, **options: Any) -> str:
        """The id of a worked table; sent once."""
        key = json.dumps([table, options], ensure_ascii=False)
        if key not in self._known:
            self._known[key] = self.dataset(golden_columns(table), name=table, **options)
        return self._known[key]

    def trained(self, name: str, make: Callable[[], Any]) -> str:
        """The address of the model that `make` trains; made once for all tests."""
        if name not in self._known:
            self._known[name] = make()["model_id"]
        return f"/v1/models/{self._known[name]}"


@contextmanager
def serving(
    settings: Settings, log: Path, *, niwaki: Sequence[str] = NIWAKI, cwd: Path | None = None
) -> Iterator[Service]:
    """A running service, of this checkout unless told; all its processes have ended afterwards."""
    service = Service(settings, log, niwaki=niwaki, cwd=cwd)
    try:
        yield service
    finally:
        service.end()
        for pid in service.processes():
            os.kill(pid, signal.SIGKILL)


def eventually(look: Callable[[], Any], *, within: float = 20.0) -> Any:
    """What `look` finds, as soon as it finds something."""
    deadline = time.monotonic() + within
    while not (found := look()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found


def golden_columns(table: str) -> Columns:
    """A worked table as JSON columns: numbers where all cells are numbers, null for an empty cell."""
    with (GOLDEN / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {name: cells([row[name] for row in rows]) for name in rows[0]}


def cells(texts: list[str]) -> list[Any]:
    try:
        return [float(text) if text else None for text in texts]
    except ValueError:
        return [text or None for text in texts]


def noise(n_rows: int, n_columns: int) -> Table:
    """A table with nothing to learn, so that a full tree takes its time."""
    chance = np.random.default_rng(n_rows)
    numbers = [Attribute(f"x{column}", Kind.NUMERIC) for column in range(n_columns)]
    classes = Attribute("y", Kind.CATEGORICAL, ("a", "b"))
    columns = [*chance.random((n_columns, n_rows)), chance.integers(2, size=n_rows).astype(np.int32)]
    return Table(Schema((*numbers, classes)), tuple(columns))


async def store(settings: Settings, table: Table) -> str:
    """Add a dataset without the service that uses it; its id."""
    database = Database(settings)
    record = await add_dataset(database, Artifacts(settings.data_dir), table, name="noise")
    await database.close()
    return record.id


def address_of(name: str) -> str:
    """The address of a model by its name or name@version, percent-encoded."""
    return f"/v1/models/{quote(name, safe='@')}"


def without_identity(value: Any) -> Any:
    """An answer without what differs between two trainings of the same model: our ids, versions and times."""
    if isinstance(value, Mapping):
        return {key: without_identity(inner) for key, inner in value.items() if not is_identity(key, inner)}
    return [without_identity(inner) for inner in value] if isinstance(value, list) else value


def is_identity(key: str, value: Any) -> bool:
    return key == "version" or key.endswith("_at") or (isinstance(value, str) and value.startswith(("mdl_", "ds_")))
