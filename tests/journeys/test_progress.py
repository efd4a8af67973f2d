"""A training of minutes tells how far it is at least twice a second, and stops when it is told to."""

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from core.schema import Attribute, Kind, Schema
from core.table import Table
from service.kernel_cache import KernelCache
from service.settings import Settings
from service.store.artifacts import Artifacts
from service.store.transactions import Database
from tests.journeys.running import QUICK_LEASE, Service, eventually, serving
from tests.service.store.orders import add_dataset

# Rows of noise whose full tree takes each engine far longer than the test looks on.
ROWS = {"definition": 100_000, "kernels": 2_000_000}
WATCHED_SECONDS = 4.0


@pytest.fixture(scope="module", params=ROWS)
def slow_service(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, warm_kernels: KernelCache
) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp(f"progress-{request.param}")
    settings = Settings(data_dir=folder / "data", port=0, **{**QUICK_LEASE, "engine": request.param})
    with serving(settings, folder / "log") as service:
        yield service


def store_noise(settings: Settings, n_rows: int) -> str:
    """A table too large to be sent in a test, put where an upload would have put it; the dataset's id."""
    chance = np.random.default_rng(n_rows)
    attributes = [*(Attribute(f"x{i}", Kind.NUMERIC) for i in range(8)), Attribute("y", Kind.CATEGORICAL, ("a", "b"))]
    columns = [*(chance.random(n_rows) for _ in range(8)), chance.integers(2, size=n_rows).astype(np.int32)]

    async def store() -> str:
        database = Database(settings)
        record = await add_dataset(
            database, Artifacts(settings.data_dir), Table(Schema(tuple(attributes)), tuple(columns))
        )
        await database.close()
        return record.id

    return asyncio.run(store())


def test_a_long_training_tells_how_far_it_is_and_stops_when_told(slow_service: Service) -> None:
    dataset_id = store_noise(slow_service.settings, ROWS[slow_service.settings.engine])
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
