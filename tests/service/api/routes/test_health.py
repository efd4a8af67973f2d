import time

import pytest

from service.app import create_app
from service.settings import Settings
from tests.service.api.trained import talking_to

pytestmark = pytest.mark.anyio

# Nobody listens on port 1.
AWAY = "postgresql://nobody@127.0.0.1:1/none"


async def test_a_service_that_is_well(service):
    assert (await service.get("/livez")).json() == {"status": "alive"}
    assert (await service.get("/readyz")).json() == {"status": "ready"}


async def test_a_database_that_is_away(tmp_path, caplog):
    settings = Settings(database_url=AWAY, data_dir=tmp_path, embedded_worker=False)
    async with talking_to(create_app(settings)) as client:
        began = time.monotonic()
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/store_unavailable")
        assert answer.headers["retry-after"] == "5"
        [record] = [record for record in caplog.records if record.getMessage() == "unavailable"]
        assert "127.0.0.1" in record.fields["cause"]
        assert "127.0.0.1" not in answer.text
        assert (await client.get("/livez")).status_code == 200
        assert "niwaki_database_up 0.0" in (await client.get("/metrics")).text
        for answer in (
            await client.get("/v1/datasets"),
            await client.post("/v1/datasets", json={"columns": {"a": [1]}}),
        ):
            assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
        assert time.monotonic() - began < 10
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


async def test_a_database_without_its_tables(tmp_path):
    settings = Settings(data_dir=tmp_path, embedded_worker=False)
    async with talking_to(create_app(settings)) as client:
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["type"]) == (503, "/problems/migrations_pending")
        text = (await client.get("/metrics")).text
        assert "niwaki_database_up 1.0" in text
        assert "niwaki_jobs" not in text


async def test_requests_are_measured_by_their_route(service):
    sent = {"content": b'{"columns": {"a": [1]}}', "headers": {"Content-Type": "application/json"}}
    dataset = (await service.post("/v1/datasets", **sent)).json()
    await service.get(f"/v1/datasets/{dataset['id']}")
    await service.get("/v1/datasets/nothing")
    await service.get("/nothing")
    text = (await service.get("/metrics")).text
    for line in (
        'niwaki_requests_total{method="POST",route="/v1/datasets",status="201"} 1.0',
        'niwaki_requests_total{method="GET",route="/v1/datasets/{dataset_id}",status="200"} 1.0',
        'niwaki_requests_total{method="GET",route="/v1/datasets/{dataset_id}",status="404"} 1.0',
        'niwaki_requests_total{method="GET",route="unknown",status="404"} 1.0',
        'niwaki_request_seconds_count{method="POST",route="/v1/datasets",status="201"} 1.0',
        'niwaki_request_body_bytes_total{route="/v1/datasets"} 23.0',
        "niwaki_requests_in_flight 1.0",
        "niwaki_database_up 1.0",
        'niwaki_jobs{status="queued"} 0.0',
        "niwaki_oldest_queued_job_seconds 0.0",
    ):
        assert line in text.splitlines()
    assert dataset["id"] not in text


async def test_predictions_are_measured_by_model_and_version(edge_settings):
    app = create_app(edge_settings)
    app.state.metrics.observe_prediction("melon", 3, 10, 0.002)
    async with talking_to(app) as client:
        text = (await client.get("/metrics")).text
    assert 'niwaki_predicted_records_total{model="melon",version="3"} 10.0' in text
    assert 'niwaki_prediction_seconds_count{model="melon",version="3"} 1.0' in text
