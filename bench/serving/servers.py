"""Servers in processes of their own, each in the environment it needs, and the CPU time they take."""

import ctypes
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

from bench.growing import NotMeasured
from bench.serving.claims import DEPTH, MIN_LEAF, MODEL, TARGET, answers_of, columns_of, trained_on
from bench.serving.client import PATIENCE_SECONDS
from bench.tables import Data

ROOT = Path(__file__).parent.parent.parent
NIWAKI = ROOT / ".venv" / "bin"
MLSERVER = ROOT / "bench" / ".venv-mlserver" / "bin"
KERNELS = ROOT / "data" / "kernels"  # where `make serve` keeps compiled code too

Environment = dict[str, str]


@dataclass(frozen=True)
class Server:
    """A running server."""

    process: subprocess.Popen[bytes]
    port: int
    environment: Environment

    @property
    def cpu_seconds(self) -> float:
        """What its process has computed so far, in all its threads."""
        return time.clock_gettime(cpu_clock(self.process.pid))

    def call(self, method: str, path: str, value: Any = None) -> Any:
        """A JSON answer, where speed does not matter."""
        body = None if value is None else json.dumps(value)
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as connection:
            connection.request(method, path, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            content = answer.read()
        assert answer.status < 300, (method, path, answer.status, content[:1000])
        return json.loads(content)

    def answers(self, path: str) -> bool:
        """Whether it answers a GET with 200."""
        with (
            closing(HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)) as connection,
            suppress(OSError),
        ):
            connection.request("GET", path)
            return connection.getresponse().status == HTTPStatus.OK
        return False


def cpu_clock(pid: int) -> int:
    """The clock of a process's CPU time."""
    clock = ctypes.c_int()
    error = ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock))
    assert error == 0, os.strerror(error)
    return clock.value


@contextmanager
def niwaki(**settings: Any) -> Iterator[Server]:
    """Ours with a constant answer beside predict, as `make serve` runs it, but without a worker unless told."""
    require(NIWAKI / "python")
    with TemporaryDirectory() as folder:
        (port,) = free_ports(1)
        said = {"data_dir": folder, "port": port, "kernel_dir": KERNELS, "embedded_worker": False, **settings}
        environment = niwaki_environment(said)
        run(NIWAKI, "service", "warm-up", environment=environment)
        with started(NIWAKI, "bench.serving.constant_answer", port=port, environment=environment) as server:
            ready(server, "/readyz")
            yield server


def niwaki_environment(settings: dict[str, Any]) -> Environment:
    """The variables that say these settings, and nobody else's; bytecode is kept, as it usually is."""
    unwanted = ("NIWAKI_", "PYTHONDONTWRITEBYTECODE")
    others = {name: value for name, value in os.environ.items() if not name.startswith(unwanted)}
    return others | {f"NIWAKI_{name.upper()}": str(value) for name, value in settings.items()}


@contextmanager
def plain() -> Iterator[Server]:
    """FastAPI, pandas and scikit-learn."""
    (port,) = free_ports(1)
    with started(Path(sys.executable).parent, "bench.serving.plain_app", str(port), port=port) as server:
        ready(server, "/openapi.json")
        yield server


@contextmanager
def mlserver() -> Iterator[Server]:
    """MLServer with its scikit-learn runtime, computing in the process that answers."""
    require(MLSERVER / "python")
    ports = free_ports(3)
    with TemporaryDirectory() as folder:
        run(MLSERVER, "bench.serving.mlserver_folder", folder, *map(str, ports))
        with started(MLSERVER, "mlserver.cli.main", "start", folder, port=ports[0]) as server:
            ready(server, f"/v2/models/{MODEL}/ready")
            yield server


@contextmanager
def worker(server: Server, *arguments: str) -> Iterator[Server]:
    """A worker on the same database, until it is not needed any more."""
    with started(NIWAKI, "service", "worker", *arguments, port=0, environment=server.environment) as running:
        yield running


def send_table(server: Server, data: Data) -> str:
    """The id of a dataset with these rows."""
    columns = columns_of(data) | {TARGET: list(answers_of(data))}
    return str(server.call("POST", "/v1/datasets", {"name": MODEL, "columns": columns})["id"])


def order(server: Server, dataset_id: str, *, name: str, **options: Any) -> str:
    """The id of a training that begins when a worker has time."""
    plain_order = {"algorithm": {"kind": "cart"}, "division": {"kind": "none"}, "pruning": {"kind": "none"}}
    body = {"name": name, "dataset_id": dataset_id, "target": TARGET, **plain_order, **options}
    return str(server.call("POST", "/v1/trainings", body)["id"])


def status(server: Server, training_id: str) -> str:
    """How far a training is."""
    return str(server.call("GET", f"/v1/trainings/{training_id}")["status"])


def ended(server: Server, training_id: str) -> float:
    """Wait for a training, which has to succeed; when that was, in seconds since 1970."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    training = server.call("GET", f"/v1/trainings/{training_id}?wait=20")
    while training["status"] in ("queued", "running") and time.monotonic() < deadline:  # others may have the machine
        training = server.call("GET", f"/v1/trainings/{training_id}?wait=20")
    assert training["status"] == "succeeded", training
    return datetime.fromisoformat(training["finished_at"]).timestamp()


def train_claims(server: Server) -> None:
    """Train the tree that all rows ask; a worker has to run."""
    stopping = {"max_depth": DEPTH, "min_samples_leaf": MIN_LEAF}
    dataset_id = send_table(server, trained_on())
    training_id = order(server, dataset_id, name=MODEL, algorithm={"kind": "cart", "stopping": stopping})
    ended(server, training_id)


@contextmanager
def started(
    environment_bin: Path, module: str, *arguments: str, port: int, environment: Environment | None = None
) -> Iterator[Server]:
    """A module run by the Python of an environment; its output is shown when it does not end by our signal."""
    environment = dict(os.environ) if environment is None else environment
    with TemporaryFile() as output:
        command = [str(environment_bin / "python"), "-m", module, *arguments]
        process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output
        )
        try:
            yield Server(process, port, environment)
        finally:
            if process.poll() is None:
                process.terminate()
            else:
                output.seek(0)
                sys.stderr.write(output.read().decode(errors="replace")[-5_000:])
            process.wait(PATIENCE_SECONDS)


def run(environment_bin: Path, module: str, *arguments: str, environment: Environment | None = None) -> None:
    """Run a module to its end."""
    command = [str(environment_bin / "python"), "-m", module, *arguments]
    subprocess.run(command, cwd=ROOT, env=environment, check=True, stderr=subprocess.DEVNULL)


def ready(server: Server, path: str) -> None:
    """Wait until it answers."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not server.answers(path):
        assert server.process.poll() is None, "the server ended"
        assert time.monotonic() < deadline, "the server does not get ready"
        time.sleep(0.1)


def require(program: Path) -> None:
    """NotMeasured where an environment is not there."""
    if not program.exists():
        raise NotMeasured(f"{program.relative_to(ROOT)} is not there; `make bench` installs it")


def free_ports(n: int) -> list[int]:
    """Ports that nobody listens on."""
    with ExitStack() as stack:
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(n)]
        return [listener.getsockname()[1] for listener in listeners]
