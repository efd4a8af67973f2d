"""Models by name, by version and by id, and what becomes of version numbers."""

from typing import Any
from urllib.parse import quote

import pytest

from tests.journeys.running import Service, address_of

SMALL = {"a": [1, 2, 3, 4], "y": ["p", "q", "p", "q"]}


def train(service: Service, name: str, *, depth: int | None = None) -> Any:
    dataset_id = service.trained("names data", lambda: {"model_id": service.dataset(SMALL)}).rpartition("/")[2]
    algorithm = {"kind": "cart", "stopping": {"max_depth": depth}}
    return service.train(name, dataset_id, "y", algorithm=algorithm)


@pytest.mark.parametrize(
    "name", ["西瓜", "🍉 melon 🍈", "100% sure?", "a b&c=d#e", "ünï.cödé", "a+b", "%2F", "x" * 200]
)
def test_any_name_is_an_address(service: Service, name: str) -> None:
    training = train(service, name)
    for ref in (name, f"{name}@1", training["model_id"]):
        shown = service.get(address_of(ref))
        assert (shown["id"], shown["name"], shown["version"]) == (training["model_id"], name, 1)
        answer = service.post(f"{address_of(ref)}/predict", {"records": [{"a": 1}]})
        assert answer["model"]["name"] == name
    assert [one["id"] for one in service.get("/v1/models", name=name)["items"]] == [training["model_id"]]
    assert service.get(f"/v1/models/{quote(name, safe='')}%401")["id"] == training["model_id"]


def test_a_name_means_its_newest_ready_version(service: Service) -> None:
    first, second = train(service, "twice"), train(service, "twice", depth=0)
    assert [training["version"] for training in (first, second)] == [1, 2]
    assert service.get("/v1/models/twice")["id"] == second["model_id"]
    assert service.get("/v1/models/twice@1")["id"] == first["model_id"]
    assert [one["version"] for one in service.get("/v1/models", name="twice")["items"]] == [2, 1]
    service.call("DELETE", "/v1/models/twice", status=204)
    assert service.get("/v1/models/twice")["id"] == first["model_id"]
    service.get("/v1/models/twice@2", status=404)


def test_the_number_of_a_deleted_version_is_not_used_again(service: Service) -> None:
    numbers = []
    for _ in range(3):
        training = train(service, "deleted")
        numbers.append(training["version"])
        service.call("DELETE", f"/v1/models/{training['model_id']}", status=204)
    assert numbers == [1, 2, 3]
    service.get("/v1/models/deleted", status=404)


def test_the_etag_of_a_name_changes_with_its_model(service: Service) -> None:
    train(service, "retrained")
    first = service.client.get("/v1/models/retrained").headers["etag"]
    train(service, "retrained")
    second = service.client.get("/v1/models/retrained@2").headers["etag"]
    assert first != second


@pytest.mark.parametrize(
    "ref", ["nobody", "nobody@1", "names@", "names@x", "names@-1", "names@1@1", "mdl_0", "@", "@1"]
)
def test_what_names_no_model(service: Service, ref: str) -> None:
    problem = service.get(address_of(ref), status=404)
    assert problem["type"] == "/problems/model_not_found"
    assert ref in problem["detail"]


def test_lists_come_in_pages_newest_first(service: Service) -> None:
    ids = [train(service, "paged")["model_id"] for _ in range(3)]
    lists: list[tuple[str, dict[str, Any]]] = [
        ("/v1/models", {"name": "paged"}),
        ("/v1/models", {}),
        ("/v1/trainings", {}),
        ("/v1/datasets", {}),
    ]
    for path, key in lists:
        whole = [one["id"] for one in service.get(path, limit=1000, **key)["items"]]
        assert whole == sorted(whole, reverse=True)
        collected: list[str] = []
        page = service.get(path, limit=2, **key)
        while page["next_cursor"]:
            collected += [one["id"] for one in page["items"]]
            page = service.get(path, limit=2, cursor=page["next_cursor"], **key)
        collected += [one["id"] for one in page["items"]]
        assert collected == whole
    assert [one["id"] for one in service.get("/v1/models", name="paged")["items"]] == ids[::-1]


def test_a_page_stays_where_it_was_when_things_are_added(service: Service) -> None:
    for _ in range(3):
        train(service, "moving")
    first = service.get("/v1/models", name="moving", limit=2)
    train(service, "moving")
    second = service.get("/v1/models", name="moving", limit=2, cursor=first["next_cursor"])
    assert [one["version"] for one in first["items"] + second["items"]] == [3, 2, 1]
