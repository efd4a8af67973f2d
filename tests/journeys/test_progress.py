"""A training of minutes tells how far it is at least twice a second, and stops when it is told to."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from service.kernel_cache import KernelCache
from service.settings import Settings
from tests.journeys.running import FAR_TOO_LONG, QUICK_LEASE, Service, eventually, serving

WATCHED_SECONDS = 4.0


@pytest.fixture(scope="module", params=FAR_TOO_LONG)
def slow_service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, warm_kernels: KernelCache
) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp(f"progress-{request.param}")
    settings = Settings(data_dir=folder / "data", port=0, engine=request.param, **QUICK_LEASE)
    with serving(settings, folder / "log") as service:
        yield service


def test_a_long_training_tells_how_far_it_is_and_stops_when_told(slow_service: Service) -> None:
    dataset_id = slow_service.noise(FAR_TOO_LONG)
    training = slow_service.order("long", dataset_id, "y", algorithm={"kind": "cart"})
    path = f"/v1/trainings/{training['id']}"
    eventually(lambda: slow_service.get(path)["stage"] == "growing", within=60)
    eventually(lambda: slow_service.get(path)["progress"] > 0.06, within=60)
    told = watch(slow_service, path)
    assert len(told) >= 2 * WATCHED_SECONDS
    assert told == sorted(told)
    asked = time.monotonic()
    slow_service.post(f"{path}/cancel", None)
    eventually(lambda: slow_service.get(path)["status"] == "cancelled", within=20)
    # Within a second on an idle machine; the tests may run on a busy one.
    assert time.monotonic() - asked < 2.5


def watch(service: Service, path: str) -> list[float]:
    """The different figures that a client sees while the training grows."""
    told: dict[float, Any] = {}
    until = time.monotonic() + WATCHED_SECONDS
    while time.monotonic() < until:
        seen = service.get(path)
        assert (seen["status"], seen["stage"]) == ("running", "growing")
        told.setdefault(seen["progress"])
        time.sleep(0.05)
    return list(told)
