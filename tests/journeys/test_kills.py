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


def is_at(stage: str, service: Service, training: Any, attempt: int) -> bool:
    """Whether this attempt at the training has come to a stage."""
    starts = [event for event in service.events() if event["event"] == "job_started"]
    shown = service.get(f"/v1/trainings/{training['id']}")
    assert shown["status"] in ("queued", "running"), shown
    return bool(starts) and starts[-1]["attempt"] >= attempt and shown["stage"] == stage


def kill(pids: list[int]) -> None:
    assert pids
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


def survive_kills(service: Service, training: Any, stage: str) -> Any:
    """Kill every process once while the training is at that stage; the training once it has ended."""
    eventually(lambda: is_at(stage, service, training, 1))
    kill(service.processes("service.jobs"))

    eventually(lambda: is_at(stage, service, training, 2))
    kill(service.processes("worker"))

    eventually(lambda: is_at(stage, service, training, 3))
    kill(service.processes("serve"))
    service.process.wait(10)
    eventually(lambda: service.processes() == [], within=10)

    service.start()
    return service.wait(training["id"])


def test_a_training_survives_every_kill(alone: Service) -> None:
    training = order(alone)
    ended = survive_kills(alone, training, "growing")
    assert (ended["status"], ended["problem"], ended["model_id"]) == ("succeeded", None, training["model_id"])
    undisturbed = alone.train("undisturbed", training["dataset_id"], "y", algorithm={"kind": "cart"})
    digests = {alone.get(f"/v1/models/{one['model_id']}")["digest"] for one in (training, undisturbed)}
    assert len(digests) == 1
    attempts = [event["attempt"] for event in alone.events() if event["event"] == "job_started"]
    assert attempts == [1, 2, 3, 4, 1]


def test_pruning_again_survives_every_kill_and_the_end_of_its_parent(alone: Service) -> None:
    dataset, cart = alone.noise(SOME_SECONDS), {"kind": "cart"}
    again = {"kind": "cost_complexity", "choose": "cross_validation", "folds": 2}  # takes as long as growing
    grown = alone.train("survivor", dataset, "y", algorithm=cart, pruning={"kind": "none"})
    unwanted = alone.post("/v1/models/survivor/prunings", {"pruning": again}, status=202)
    eventually(lambda: is_at("pruning", alone, unwanted, 1))
    alone.post(f"/v1/trainings/{unwanted['id']}/cancel", None)
    cancelled = alone.wait(unwanted["id"])
    assert (cancelled["status"], cancelled["model_id"]) == ("cancelled", None)
    pruning = alone.post("/v1/models/survivor/prunings", {"pruning": again}, status=202)
    assert (pruning["version"], pruning["parent"]["id"]) == (3, grown["model_id"])
    alone.call("DELETE", f"/v1/models/{grown['model_id']}", status=204)
    ended = survive_kills(alone, pruning, "pruning")
    assert (ended["status"], ended["problem"], ended["model_id"]) == ("succeeded", None, pruning["model_id"])
    at_once = alone.train("undisturbed", dataset, "y", algorithm=cart, pruning=again)
    digests = {alone.get(f"/v1/models/{one['model_id']}")["digest"] for one in (ended, at_once)}
    assert len(digests) == 1
    attempts = [event["attempt"] for event in alone.events() if event["event"] == "job_started"]
    assert attempts == [1, 1, 1, 2, 3, 4, 1]


def test_ctrl_c_during_a_training_ends_everything_and_loses_nothing(alone: Service) -> None:
    training = order(alone)
    eventually(lambda: is_at("growing", alone, training, 1))
    started = time.monotonic()
    assert alone.end(signal.SIGINT) == 0
    assert time.monotonic() - started < 8
    assert alone.processes() == []
    assert "Traceback" not in alone.log.read_text()
    alone.start()
    assert alone.wait(training["id"])["status"] == "succeeded"
