import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

from service.jobs.processes import environment
from service.settings import Settings
from service.version import VERSION
from tests.service.jobs.test_embedded import processes_of
from tests.service.jobs.workers import start


def run(settings: Settings, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "service", *arguments]
    return subprocess.run(
        command, env=environment(settings) | more, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data_dir=tmp_path / "data", port=0)


@contextmanager
def serving(settings: Settings) -> Iterator[tuple["subprocess.Popen[bytes]", Settings]]:
    """A running service, and its settings with the port it got."""
    process = start([sys.executable, "-m", "service", "serve"], settings)
    assert process.stderr is not None
    try:
        address = next(said["address"] for said in map(json.loads, process.stderr) if said["event"] == "serving")
        yield process, settings.model_copy(update={"port": int(address.rpartition(":")[2])})
    finally:
        process.kill()
        process.communicate()


def get(settings: Settings, path: str) -> tuple[int, Any]:
    connection = HTTPConnection(settings.host, settings.port, timeout=10)
    connection.request("GET", path)
    response = connection.getresponse()
    answer = response.status, json.loads(response.read())
    connection.close()
    return answer


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_serves_and_ends_cleanly(settings: Settings, number: signal.Signals) -> None:
    with serving(settings) as (process, served):
        assert get(served, "/livez")[0] == 200
        assert run(served, "health").returncode == 0
        time.sleep(1)
        assert len(processes_of(settings)) >= 2  # itself and its worker
        process.send_signal(number)
        started = time.monotonic()
        _, errors = process.communicate(timeout=15)
    assert process.returncode == 0
    assert time.monotonic() - started < 8
    assert b"Traceback" not in errors
    assert processes_of(settings) == []
    assert run(served, "health").returncode == 1


def test_a_second_start_is_quick(settings: Settings) -> None:
    assert run(settings, "migrate").returncode == 0
    started = time.monotonic()
    with serving(settings) as (_, served):
        assert get(served, "/readyz")[0] == 200
        # Below 3 s on an idle machine; the tests may run on a busy one.
        assert time.monotonic() - started < 8


def test_a_taken_port_is_said_plainly(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = run(settings.model_copy(update={"port": port}), "serve")
    assert ended.returncode == 1
    assert f"niwaki: cannot listen on 127.0.0.1 port {port}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert processes_of(settings) == []


def test_migrating_twice_is_fine(settings: Settings) -> None:
    assert [run(settings, "migrate").returncode for _ in range(2)] == [0, 0]


@pytest.mark.parametrize("command", ["serve", "worker", "migrate"])
def test_an_impossible_database_is_said_plainly(settings: Settings, command: str) -> None:
    ended = run(settings.model_copy(update={"database_url": "mysql://host/db"}), command)
    assert ended.returncode == 1
    assert ended.stderr.startswith("niwaki: NIWAKI_DATABASE_URL begins with mysql://")


def test_a_database_that_is_away_is_said_plainly(settings: Settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        port = nobody.getsockname()[1]
    ended = run(settings.model_copy(update={"database_url": f"postgresql://me@127.0.0.1:{port}/x"}), "migrate")
    assert ended.returncode == 1
    assert ended.stderr.startswith("niwaki: the database does not answer: ")
    assert "Traceback" not in ended.stderr


def test_an_impossible_setting_is_said_plainly(settings: Settings) -> None:
    ended = run(settings, "migrate", NIWAKI_PORT="many", NIWAKI_WORKER_SLOTS="0")
    assert ended.returncode == 2
    assert "niwaki: NIWAKI_PORT: " in ended.stderr
    assert "niwaki: NIWAKI_WORKER_SLOTS: " in ended.stderr


@pytest.mark.parametrize("slots", ["0", "-1", "two"])
def test_impossible_slots_are_said_plainly(settings: Settings, slots: str) -> None:
    ended = run(settings, "worker", "--slots", slots)
    assert ended.returncode == 2
    assert "must be a whole number from 1" in ended.stderr


def test_openapi_prints_the_document(settings: Settings) -> None:
    document = json.loads(run(settings, "openapi").stdout)
    assert document["info"]["title"] == "Niwaki"


def test_it_tells_its_version(settings: Settings) -> None:
    told = run(settings, "--version")
    assert (told.returncode, told.stdout, told.stderr) == (0, f"niwaki {VERSION}\n", "")
