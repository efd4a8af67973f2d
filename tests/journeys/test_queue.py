"""Trainings that wait, run, fail or are cancelled, and what their models and datasets answer meanwhile."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.journeys.running import FAR_TOO_LONG, Service, eventually

CART = {"kind": "cart"}
READS = ("", "/schema", "/tree", "/pruning", "/pruning/0", "/rules", "/evaluation", "/export")


@pytest.fixture(scope="module")
def large(service: Service) -> str:
    """A dataset whose training takes minutes."""
    return service.noise(FAR_TOO_LONG)


@pytest.fixture
def slow(service: Service, large: str) -> Iterator[Any]:
    """A training that runs while the test does, and is cancelled afterwards."""
    training = service.order("slow", large, "y", algorithm=CART)
    eventually(lambda: service.get(f"/v1/trainings/{training['id']}")["stage"] == "growing", within=30)
    yield training
    service.post(f"/v1/trainings/{training['id']}/cancel", None)
    assert service.wait(training["id"])["status"] == "cancelled"


def test_a_model_answers_409_until_its_training_has_ended(service: Service, slow: Any) -> None:
    model = f"/v1/models/{slow['model_id']}"
    problems = [service.get(model + read, status=409) for read in READS]
    problems.append(service.post(f"{model}/predict", {"records": [{}]}, status=409))
    problems.append(service.call("DELETE", model, status=409))
    problems.append(service.get("/v1/models/slow", status=409))
    problems.append(service.get(f"/v1/models/slow@{slow['version']}", status=409))
    assert {problem["type"] for problem in problems} == {"/problems/model_not_ready"}
    assert slow["model_id"] not in [one["id"] for one in service.get("/v1/models", limit=1000)["items"]]


def test_an_older_version_answers_while_the_next_is_trained(service: Service, large: str) -> None:
    small = service.dataset({"x0": [1, 2], "y": ["a", "b"]})
    first = service.train("next", small, "y", algorithm=CART)
    second = service.order("next", large, "y", algorithm=CART)
    assert second["version"] == 2
    assert service.get("/v1/models/next")["id"] == first["model_id"]
    assert service.get("/v1/models/next@2", status=409)["type"] == "/problems/model_not_ready"
    service.post(f"/v1/trainings/{second['id']}/cancel", None)
    assert service.wait(second["id"])["status"] == "cancelled"
    service.get("/v1/models/next@2", status=404)
    assert service.train("next", small, "y", algorithm=CART)["version"] == 3


def test_a_running_training_shows_how_far_it_is_and_can_be_cancelled(service: Service, large: str) -> None:
    training = service.order("cancelled", large, "y", algorithm=CART)
    path = f"/v1/trainings/{training['id']}"
    assert (training["status"], training["progress"], training["started_at"]) == ("queued", 0.0, None)
    running = eventually(lambda: (t := service.get(path))["stage"] == "growing" and t, within=30)
    assert running["status"] == "running"
    assert running["started_at"] is not None
    later = eventually(lambda: (t := service.get(path))["progress"] > running["progress"] and t, within=30)
    assert 0 < later["progress"] < 1
    asked = time.monotonic()
    service.post(f"{path}/cancel", None)
    cancelled = service.wait(training["id"])
    assert time.monotonic() - asked < 5
    assert (cancelled["status"], cancelled["model_id"], cancelled["problem"]) == ("cancelled", None, None)
    assert cancelled["finished_at"] is not None
    service.get(f"/v1/models/{training['model_id']}", status=404)
    service.get("/v1/models/cancelled", status=404)
    assert service.post(f"{path}/cancel", None) == cancelled


def test_a_queued_training_is_cancelled_at_once(service: Service, slow: Any) -> None:
    small = service.dataset({"x0": [1, 2], "y": ["a", "b"]})
    waiting = service.order("never", small, "y", algorithm=CART)
    path = f"/v1/trainings/{waiting['id']}"
    assert service.get(path)["status"] == "queued"
    assert service.get(f"/v1/models/{waiting['model_id']}", status=409)["type"] == "/problems/model_not_ready"
    cancelled = service.post(f"{path}/cancel", None)
    assert (cancelled["status"], cancelled["model_id"], cancelled["started_at"]) == ("cancelled", None, None)
    service.get(f"/v1/models/{waiting['model_id']}", status=404)
    service.call("DELETE", path, status=204)
    service.call("DELETE", f"/v1/datasets/{small}", status=204)


def test_what_a_training_uses_cannot_be_deleted(service: Service, slow: Any, large: str) -> None:
    train, validation, test = [service.dataset({"x0": [1, 2, n], "y": ["a", "b", "a"]}) for n in (3, 4, 5)]
    files = set(service.files)
    division = {"kind": "datasets", "validation": validation, "test": test}
    queued = service.order("in use", train, "y", algorithm=CART, division=division)
    for dataset_id, training in ((large, slow), (train, queued), (validation, queued), (test, queued)):
        problem = service.call("DELETE", f"/v1/datasets/{dataset_id}", status=409)
        assert problem["type"] == "/problems/dataset_in_use"
        assert training["id"] in problem["detail"]
        service.get(f"/v1/datasets/{dataset_id}")
    for training in (slow, queued):
        problem = service.call("DELETE", f"/v1/trainings/{training['id']}", status=409)
        assert problem["type"] == "/problems/training_not_ended"
    service.post(f"/v1/trainings/{queued['id']}/cancel", None)
    for dataset_id in (train, validation, test):
        service.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
    assert len(files - set(service.files)) == 3


def test_waiting_ends_with_the_training_or_with_the_time(service: Service, slow: Any) -> None:
    started = time.monotonic()
    assert service.get(f"/v1/trainings/{slow['id']}", wait=1)["status"] == "running"
    assert 0.9 < time.monotonic() - started < 4
    for wait in ("-1", "61", "soon", "nan"):
        (error,) = service.get(f"/v1/trainings/{slow['id']}", wait=wait, status=422)["errors"]
        assert (error["in"], error["parameter"]) == ("query", "wait")


def test_what_only_the_data_shows_ends_the_training_as_failed(service: Service) -> None:
    # Each class has one row, so all of them stay in train, and nothing is left to judge by.
    dataset_id = service.dataset({"x0": [1, 2, 3], "y": ["a", "b", "c"]})
    ordered = service.order(
        "failed", dataset_id, "y", algorithm=CART, division={"kind": "random"}, pruning={"kind": "reduced_error"}
    )
    failed = service.wait(ordered["id"])
    assert (failed["status"], failed["model_id"]) == ("failed", None)
    assert (failed["problem"]["type"], failed["problem"]["status"]) == ("/problems/invalid_config", 422)
    (error,) = failed["problem"]["errors"]
    assert (error["pointer"], error["in"]) == ("#/division", "body")
    assert error["hint"]
    service.get(f"/v1/models/{ordered['model_id']}", status=404)
    problem = service.post(f"/v1/trainings/{ordered['id']}/cancel", None, status=409)
    assert problem["type"] == "/problems/training_already_ended"
    again = service.train("failed", dataset_id, "y", algorithm=CART)
    assert again["version"] == 2
    problem = service.post(f"/v1/trainings/{again['id']}/cancel", None, status=409)
    assert problem["type"] == "/problems/training_already_ended"


def test_trainings_run_in_the_order_they_came(service: Service) -> None:
    dataset_id = service.dataset({"x0": [1, 2], "y": ["a", "b"]})
    ordered = [service.order("in order", dataset_id, "y", algorithm=CART) for _ in range(5)]
    ended = [service.wait(training["id"]) for training in ordered]
    assert [training["status"] for training in ended] == ["succeeded"] * 5
    finished = [training["finished_at"] for training in ended]
    assert finished == sorted(finished)
    assert [training["version"] for training in ended] == [1, 2, 3, 4, 5]
