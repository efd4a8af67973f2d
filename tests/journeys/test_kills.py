"""Processes that are killed or told to end while a training runs."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.kernel_cache import KernelCache
from service.settings import Settings
from tests.journeys.running import ENGINE_ON, QUICK_LEASE, SOME_SECONDS, Service, eventually, serving


@pytest.fixture
def alone(settings: Settings, tmp_path: Path, warm_kernels: KernelCache) -> Iterator[Service]:
    """A service of the test's own, which may be killed."""
    (engine,) = [one for kind, one in ENGINE_ON.items() if settings.store_url.startswith(kind)]
    changes = {"embedded_worker": True, "port": 0, "max_attempts": 5, "engine": engine, **QUICK_LEASE}
    own = settings.model_copy(update=changes)
    with serving(own, tmp_path / "log") as service:
        yield service


def order(service: Service) -> Any:
    return service.order("survivor", service.noise(SOME_SECONDS), "y", algorithm={"kind": "cart"})


def is_growing(service: Service, training: Any, attempt: int) -> bool:
    """Whether this attempt at the training has come to its longest part."""
    starts = [event for event in service.events() if event["event"] == "job_started"]
    shown = service.get(f"/v1/trainings/{training['id']}")
    assert shown["status"] in ("queued", "running"), shown
    return bool(starts) and starts[-1]["attempt"] >= attempt and shown["stage"] == "growing"


def kill(pids: list[int]) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def test_a_training_survives_every_kill(alone: Service) -> None:
    training = order(alone)
    eventually(lambda: is_growing(alone, training, 1))
    kill(alone.processes("service.jobs.child"))

    eventually(lambda: is_growing(alone, training, 2))
    kill(alone.processes("worker"))

    eventually(lambda: is_growing(alone, training, 3))
    kill(alone.processes("serve"))
    alone.process.wait(10)
    eventually(lambda: alone.processes() == [], within=10)

    alone.start()
    ended = alone.wait(training["id"])
    assert (ended["status"], ended["problem"], ended["model_id"]) == ("succeeded", None, training["model_id"])
    undisturbed = alone.train("undisturbed", training["dataset_id"], "y", algorithm={"kind": "cart"})
    digests = {alone.get(f"/v1/models/{one['model_id']}")["digest"] for one in (training, undisturbed)}
    assert len(digests) == 1
    attempts = [event["attempt"] for event in alone.events() if event["event"] == "job_started"]
    assert attempts == [1, 2, 3, 4, 1]


def test_ctrl_c_during_a_training_ends_everything_and_loses_nothing(alone: Service) -> None:
    training = order(alone)
    eventually(lambda: is_growing(alone, training, 1))
    started = time.monotonic()
    assert alone.end(signal.SIGINT) == 0
    assert time.monotonic() - started < 8
    assert alone.processes() == []
    assert "Traceback" not in alone.log.read_text()
    alone.start()
    assert alone.wait(training["id"])["status"] == "succeeded"
