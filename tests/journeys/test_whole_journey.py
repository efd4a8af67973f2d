"""From a table to answers and back to an empty data directory."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.settings import Settings
from tests.journeys.running import GOLDEN, QUICK_LEASE, Service, golden_columns, serving, without_identity

TABLE = "watermelon_2.0a"
NUMBER_IGNORED = {"编号": {"kind": "ignore"}}


def as_columns(service: Service) -> Any:
    body = {"name": "melons", "columns": golden_columns(TABLE), "schema": NUMBER_IGNORED}
    return service.post("/v1/datasets", body, status=201)


def as_records(service: Service) -> Any:
    columns = golden_columns(TABLE)
    records = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    return service.post("/v1/datasets", {"name": "melons", "records": records, "schema": NUMBER_IGNORED}, status=201)


def as_form(service: Service) -> Any:
    csv = (GOLDEN / f"{TABLE}.csv").read_bytes()
    parts = {
        "file": ("melons.csv", csv, "text/csv"),
        "options": (None, '{"name": "melons", "schema": {"编号": {"kind": "ignore"}}}', "application/json"),
    }
    return service.call("POST", "/v1/datasets", status=201, files=parts)


def as_raw_csv(service: Service) -> Any:
    """A raw body has no options: the numbers are left out of the file instead."""
    lines = (GOLDEN / f"{TABLE}.csv").read_text("utf-8").splitlines()
    csv = "".join(line.partition(",")[2] + "\n" for line in lines)
    return service.call(
        "POST",
        "/v1/datasets",
        status=201,
        params={"name": "melons"},
        content=csv.encode(),
        headers={"Content-Type": "text/csv"},
    )


WAYS: dict[str, Callable[[Service], Any]] = {
    "columns": as_columns,
    "records": as_records,
    "form": as_form,
    "raw": as_raw_csv,
}


@pytest.fixture(scope="module")
def answers() -> dict[str, Any]:
    """What the first way and database answered; all others must answer the same."""
    return {}


@pytest.mark.parametrize("way", WAYS)
def test_a_table_becomes_answers_and_leaves_nothing_behind(service: Service, way: str, answers: dict[str, Any]) -> None:
    before = set(service.files)
    dataset = WAYS[way](service)
    assert (dataset["name"], dataset["n_rows"]) == ("melons", 17)
    assert dataset["n_missing"] == 13
    assert service.get("/v1/datasets", limit=1)["items"][0]["id"] == dataset["id"]

    body = {
        "name": "journey",
        "dataset_id": dataset["id"],
        "target": "好瓜",
        "algorithm": {"kind": "c45"},
        "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
        "pruning": {"kind": "reduced_error"},
        "seed": 22,
    }
    ordered = service.client.post("/v1/trainings", json=body)
    assert ordered.status_code == 202
    assert ordered.headers["retry-after"] == "1"
    training = service.wait(ordered.headers["location"].rpartition("/")[2])
    assert {key: training[key] for key in ("status", "stage", "progress", "problem")} == {
        "status": "succeeded",
        "stage": None,
        "progress": 1.0,
        "problem": None,
    }
    assert training["model_id"] == ordered.json()["model_id"]
    assert training["created_at"] <= training["started_at"] <= training["finished_at"]

    model = f"/v1/models/{training['model_id']}"
    record = {"纹理": None, "敲声": "浊响", "触感": "硬滑", "好瓜": "是", "编号": 3}
    if way == "raw":
        del record["编号"]
    read = {
        "tree": service.get(f"{model}/tree", candidates=True),
        "text": service.text(f"{model}/tree", format="text"),
        "dot": service.text(f"{model}/tree", format="dot"),
        "svg": service.text(f"{model}/tree", format="svg"),
        "rules": service.get(f"{model}/rules"),
        "pruning": service.get(f"{model}/pruning"),
        "evaluation": service.get(f"{model}/evaluation"),
        "schema": service.get(f"{model}/schema"),
        "export": service.get(f"{model}/export", format="json", step="full"),
        "predictions": service.post(f"{model}/predict", {"records": [record, {}], "explain": True}),
    }
    assert read["dot"].startswith("digraph")
    assert read["svg"].startswith("<svg")
    said = without_identity(read)
    if answers:
        assert said == answers
    answers.update(said)

    leave_nothing(service, dataset["id"], training)
    assert set(service.files) == before


def leave_nothing(service: Service, dataset_id: str, training: Any) -> None:
    """Delete dataset, model and training, and see that each is gone."""
    model = f"/v1/models/{training['model_id']}"
    service.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
    service.get(f"/v1/datasets/{dataset_id}", status=404)
    service.call("DELETE", model, status=204)
    assert service.get(model, status=404)["type"] == "/problems/model_not_found"
    assert service.get(f"/v1/trainings/{training['id']}")["model_id"] is None
    service.call("DELETE", f"/v1/trainings/{training['id']}", status=204)
    service.get(f"/v1/trainings/{training['id']}", status=404)


def test_a_dataset_used_twice_goes_with_its_last_user(service: Service) -> None:
    before = set(service.files)
    columns = {"a": [1, 2, 3, 4, 7], "y": ["p", "q", "p", "q", "q"]}
    first, second = service.dataset(columns), service.dataset(columns)
    assert len(set(service.files) - before) == 1
    trainings = [service.train("two users", one, "y", algorithm={"kind": "cart"}) for one in (first, second)]
    assert [training["version"] for training in trainings] == [1, 2]
    for dataset_id in (first, second):
        service.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
        assert len(set(service.files) - before) == 1
    service.call("DELETE", f"/v1/models/{trainings[0]['model_id']}", status=204)
    assert len(set(service.files) - before) == 1
    service.call("DELETE", f"/v1/models/{trainings[1]['model_id']}", status=204)
    assert set(service.files) == before


def test_validation_and_test_tables_stay_for_their_model(service: Service) -> None:
    before = set(service.files)
    tables = [{"a": [1 + shift, 2, 3, 9], "y": ["p", "q", "p", "q"]} for shift in range(3)]
    train, validation, test = [service.dataset(columns) for columns in tables]
    training = service.train(
        "three tables",
        train,
        "y",
        algorithm={"kind": "cart"},
        division={"kind": "datasets", "validation": validation, "test": test},
        pruning={"kind": "reduced_error"},
    )
    for dataset_id in (train, validation, test):
        service.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
    assert len(set(service.files) - before) == 3
    model = f"/v1/models/{training['model_id']}"
    parts = service.get(f"{model}/evaluation", step="full")["parts"]
    assert [parts[part]["rows"] for part in ("train", "validation", "test")] == [4, 4, 4]
    service.call("DELETE", model, status=204)
    assert set(service.files) == before


def test_a_model_goes_on_to_work_without_its_dataset(service: Service) -> None:
    dataset_id = service.dataset(golden_columns(TABLE), schema=NUMBER_IGNORED)
    order = {
        "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
        "pruning": {"kind": "reduced_error"},
        "seed": 22,
    }
    training = service.train("orphan", dataset_id, "好瓜", algorithm={"kind": "c45"}, **order)
    model = f"/v1/models/{training['model_id']}"

    def reads() -> Any:
        return [
            service.get(f"{model}/tree", candidates=True, step="full"),
            *(service.get(f"{model}/evaluation", step=step) for step in ("full", 1, "selected")),
            service.post(f"{model}/predict", {"records": [{"纹理": "清晰"}], "step": 1}),
        ]

    with_dataset = reads()
    service.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
    assert reads() == with_dataset
    assert service.get(model)["dataset_id"] == dataset_id
    body = {"name": "orphan", "dataset_id": dataset_id, "target": "好瓜", "algorithm": {"kind": "c45"}}
    refused = service.post("/v1/trainings", body, status=404)
    assert (refused["type"], refused["errors"][0]["pointer"]) == ("/problems/dataset_not_found", "#/dataset_id")


def test_the_same_order_gives_the_same_model_on_both_databases_and_by_both_engines(
    sqlite_service: Service, postgres_service: Service
) -> None:
    orders: list[dict[str, Any]] = [
        {"algorithm": {"kind": "c45"}, "division": {"kind": "random"}, "seed": 7},
        {
            "algorithm": {"kind": "cart"},
            "pruning": {"kind": "reduced_error"},
            "division": {"kind": "random"},
            "seed": 3,
        },
        {"algorithm": {"kind": "cart"}},
    ]
    for number, order in enumerate(orders):
        digests = set()
        for service in (sqlite_service, postgres_service, postgres_service):
            dataset_id = service.golden("watermelon_2.0b", schema=NUMBER_IGNORED)
            training = service.train(f"same {number}", dataset_id, "好瓜", **order)
            digests.add(service.get(f"/v1/models/{training['model_id']}")["digest"])
        assert len(digests) == 1
    assert len({service.get("/v1/models/same 0")["digest"] for service in (sqlite_service, postgres_service)}) == 1


def test_a_service_started_again_knows_everything(tmp_path: Path, engine: str) -> None:
    settings = Settings(data_dir=tmp_path / "data", port=0, engine=engine, **QUICK_LEASE)
    with serving(settings, tmp_path / "log") as service:
        dataset_id = service.golden("app_recommendation")
        service.train("apps", dataset_id, "app", algorithm={"kind": "c45"})
        asked = {"records": [{"gender": "F", "age": 30}], "explain": True}
        answer = service.post("/v1/models/apps/predict", asked)
        assert service.end() == 0
        service.start()
        assert service.post("/v1/models/apps/predict", asked) == answer
        assert service.get(f"/v1/datasets/{dataset_id}")["n_rows"] == 6
        assert service.train("apps", dataset_id, "app", algorithm={"kind": "c45"})["version"] == 2
