"""Pruning a model again: the next version, made of the same tree."""

from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest
from sqlalchemy import func, select

from service.settings import Settings
from service.store import tables
from service.store.transactions import Database
from tests.service.api.trained import Workshop, places, workshop_on

pytestmark = pytest.mark.anyio

NONE, CUT = {"kind": "none"}, {"kind": "reduced_error", "on_tie": "cut"}
DIVISION = {"kind": "random", "train": 0.5, "validation": 0.3, "test": 0.2}


def noise(n_rows: int, seed: int) -> dict[str, list[Any]]:
    chance = np.random.default_rng(seed)
    x = chance.random((3, n_rows))
    y = np.where((x[0] > 0.5) ^ (chance.random(n_rows) < 0.3), "p", "q")
    return {"a": x[0].tolist(), "b": x[1].tolist(), "c": x[2].tolist(), "y": y.tolist()}


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    async with workshop_on(settings) as workshop:
        yield workshop


@pytest.fixture
async def model(workshop: Workshop) -> str:
    """A model that was not pruned, with rows to validate by."""
    return await workshop.model(noise(200, 1), name="melon", division=DIVISION, pruning=NONE)


async def prune(workshop: Workshop, model: str, **order: Any) -> Any:
    """The training that pruned a model again, once it has ended."""
    ordered = await workshop.post(f"/v1/models/{model}/prunings", order, status=202)
    await workshop.work()
    return await workshop.get(f"/v1/trainings/{ordered['id']}")


async def shown(workshop: Workshop, model: str) -> Any:
    return await workshop.get(f"/v1/models/{model}")


async def test_another_way_of_pruning_makes_the_next_version(workshop: Workshop, model: str) -> None:
    answer = await workshop.client.post(f"/v1/models/{model}/prunings", json={"pruning": CUT})
    assert answer.status_code == 202
    ordered = answer.json()
    assert answer.headers["location"] == f"/v1/trainings/{ordered['id']}"
    assert answer.headers["retry-after"] == "1"
    parent = {"id": model, "name": "melon", "version": 1, "step": 0}
    assert (ordered["status"], ordered["name"], ordered["version"], ordered["parent"]) == (
        "queued", "melon", 2, parent,
    )  # fmt: skip
    await workshop.get(f"/v1/models/{ordered['model_id']}", status=409)
    await workshop.work()
    ended = await workshop.get(f"/v1/trainings/{ordered['id']}")
    assert (ended["status"], ended["problem"], ended["progress"]) == ("succeeded", None, 1.0)

    old, new = await shown(workshop, model), await shown(workshop, ended["model_id"])
    assert (new["version"], new["parent"], old["parent"]) == (2, parent, None)
    assert new["configuration"] == old["configuration"] | {"pruning": CUT}
    assert (old["n_steps"], new["n_steps"] > 0) == (0, True)
    assert new["n_leaves"] < old["n_leaves"]
    for route in ("tree", "rules", "export"):
        full = [await workshop.get(f"/v1/models/{one}/{route}", step="full") for one in (model, new["id"])]
        for one in full:
            del one["model"]
        if route != "export":
            assert full[0] == full[1]
    assert (await workshop.get("/v1/models/melon"))["id"] == new["id"]


async def test_it_is_what_a_training_with_that_pruning_gives(workshop: Workshop, model: str) -> None:
    again = await prune(workshop, model, pruning=CUT)
    dataset_id = (await shown(workshop, model))["dataset_id"]
    trained = await workshop.order(dataset_id, name="other", division=DIVISION, pruning=CUT)
    await workshop.work()
    one, other = await shown(workshop, again["model_id"]), await shown(workshop, trained["model_id"])
    assert one["digest"] == other["digest"]
    routes = [await workshop.get(f"/v1/models/{each['id']}/evaluation") for each in (one, other)]
    assert routes[0]["parts"] == routes[1]["parts"]
    assert routes[0]["curve"] == routes[1]["curve"]
    assert (await workshop.get(f"/v1/models/{one['id']}/pruning"))["items"] == (
        await workshop.get(f"/v1/models/{other['id']}/pruning")
    )["items"]


async def test_another_dataset_can_validate(workshop: Workshop, model: str) -> None:
    table = noise(60, 9)
    other = await workshop.dataset(table)
    ended = await prune(workshop, model, pruning=CUT, validation_dataset_id=other)
    assert (ended["status"], ended["validation_dataset_id"]) == ("succeeded", other)
    new = await shown(workshop, ended["model_id"])
    assert new["validation_dataset_id"] == other
    assert (await shown(workshop, model))["validation_dataset_id"] is None
    old_parts = (await workshop.get(f"/v1/models/{model}/evaluation", step="full"))["parts"]
    new_parts = (await workshop.get(f"/v1/models/{new['id']}/evaluation", step="full"))["parts"]
    assert (new_parts["train"], new_parts["test"]) == (old_parts["train"], old_parts["test"])
    assert (old_parts["validation"]["rows"], new_parts["validation"]["rows"]) == (60, 60)
    assert new_parts["validation"] != old_parts["validation"]
    # Its own descendants keep it, and so does the file when the dataset is deleted.
    await workshop.call("DELETE", f"/v1/datasets/{other}", status=204)
    grandchild = await prune(workshop, new["id"], pruning={"kind": "reduced_error"})
    assert (grandchild["status"], grandchild["validation_dataset_id"]) == ("succeeded", other)
    parts = (await workshop.get(f"/v1/models/{grandchild['model_id']}/evaluation", step="full"))["parts"]
    assert parts == new_parts


async def test_a_model_whose_dataset_is_gone_can_be_pruned(workshop: Workshop, model: str) -> None:
    dataset_id = (await shown(workshop, model))["dataset_id"]
    await workshop.call("DELETE", f"/v1/datasets/{dataset_id}", status=204)
    assert (await prune(workshop, model, pruning=CUT))["status"] == "succeeded"


async def test_another_name_can_be_given(workshop: Workshop, model: str) -> None:
    ended = await prune(workshop, model, pruning=CUT, name="bonsai")
    new = await shown(workshop, "bonsai")
    assert (new["id"], new["version"], new["parent"]["name"]) == (ended["model_id"], 1, "melon")


async def test_a_step_becomes_a_version_at_once(workshop: Workshop, model: str) -> None:
    pruned = (await prune(workshop, model, pruning=CUT))["model_id"]
    before = await shown(workshop, pruned)
    answer = await workshop.client.post(f"/v1/models/{pruned}/prunings", json={"step": "leaves:18"})
    assert answer.status_code == 201
    new = answer.json()
    assert answer.headers["location"] == f"/v1/models/{new['id']}"
    assert new == await shown(workshop, new["id"])
    chosen = await workshop.get(f"/v1/models/{pruned}/tree", step="leaves:18")
    assert (new["version"], new["selected_step"], new["n_leaves"]) == (3, chosen["model"]["step"], chosen["n_leaves"])
    assert new["parent"] == {"id": pruned, "name": "melon", "version": 2, "step": chosen["model"]["step"]}
    assert new["configuration"] == before["configuration"]
    assert await shown(workshop, pruned) == before
    for route in ("tree", "rules", "evaluation"):
        one = await workshop.get(f"/v1/models/{new['id']}/{route}")
        other = await workshop.get(f"/v1/models/{pruned}/{route}", step="leaves:18")
        assert one.pop("model")["step"] == other.pop("model")["step"]
        assert one == other
    ledgers = [(await workshop.get(f"/v1/models/{one}/pruning"))["items"] for one in (pruned, new["id"])]
    assert ledgers[0] == ledgers[1]
    record = {"a": 0.7, "b": 0.1}
    answers = [
        await workshop.predict(one, {"records": [record], "step": step})
        for one, step in ((new["id"], "selected"), (pruned, "leaves:18"))
    ]
    assert answers[0]["predictions"] == answers[1]["predictions"]
    assert [item["id"] for item in (await workshop.get("/v1/trainings"))["items"]] != []
    named = await workshop.post(f"/v1/models/{pruned}/prunings", {"step": 0, "name": "wild"}, status=201)
    assert (named["name"], named["version"], named["selected_step"]) == ("wild", 1, 0)
    assert named["n_leaves"] == (await shown(workshop, model))["n_leaves"]


async def test_the_tree_is_stored_once(workshop: Workshop, model: str) -> None:
    pruned = (await prune(workshop, model, pruning=CUT))["model_id"]
    chosen = await workshop.post(f"/v1/models/{pruned}/prunings", {"step": 1}, status=201)
    database = Database(workshop.settings)
    uses = tables.model_pieces
    async with database.reading() as session:
        shared = select(uses.c.digest).group_by(uses.c.digest).having(func.count() == 3)
        (tree,) = (await session.scalars(shared)).all()
        size = await session.scalar(select(tables.pieces.c.size).where(tables.pieces.c.digest == tree))
    await database.close()
    assert size > (await shown(workshop, model))["size"] / 2
    # Whichever goes, the others stay whole.
    trees = {one: await workshop.get(f"/v1/models/{one}/tree") for one in (pruned, chosen["id"])}
    await workshop.call("DELETE", f"/v1/models/{model}", status=204)
    await workshop.call("DELETE", f"/v1/models/{pruned}", status=204)
    async with workshop_on(workshop.settings) as fresh:
        assert await fresh.get(f"/v1/models/{chosen['id']}/tree") == trees[chosen["id"]]
        await fresh.get(f"/v1/models/{pruned}/tree", status=404)
        again = await prune(fresh, chosen["id"], pruning=NONE)
        assert (await shown(fresh, again["model_id"]))["n_steps"] == 0


async def test_the_parent_may_be_deleted_before_the_work_begins(workshop: Workshop, model: str) -> None:
    ordered = await workshop.post(f"/v1/models/{model}/prunings", {"pruning": CUT}, status=202)
    await workshop.call("DELETE", f"/v1/models/{model}", status=204)
    await workshop.work()
    ended = await workshop.get(f"/v1/trainings/{ordered['id']}")
    assert ended["status"] == "succeeded"
    assert (await shown(workshop, ended["model_id"]))["parent"]["id"] == model


async def test_a_cancelled_pruning_leaves_no_model(workshop: Workshop, model: str) -> None:
    ordered = await workshop.post(f"/v1/models/{model}/prunings", {"pruning": CUT}, status=202)
    cancelled = await workshop.post(f"/v1/trainings/{ordered['id']}/cancel", None)
    assert (cancelled["status"], cancelled["model_id"]) == ("cancelled", None)
    await workshop.get(f"/v1/models/{ordered['model_id']}", status=404)
    assert (await shown(workshop, "melon"))["id"] == model
    assert (await prune(workshop, model, pruning=CUT))["version"] == 3


@pytest.mark.parametrize(
    ("order", "status", "pointers"),
    [
        ({}, 422, ["#"]),
        ({"pruning": CUT, "step": 1}, 422, ["#"]),
        ({"pruning": {"kind": "sawing"}}, 422, ["#/pruning/kind"]),
        ({"pruning": CUT, "validation_dataset_id": "ds_nobody"}, 404, ["#/validation_dataset_id"]),
        ({"step": 1, "validation_dataset_id": "ds_nobody"}, 422, ["#/validation_dataset_id"]),
        ({"step": "last"}, 422, ["#/step"]),
        ({"step": "alpha:0.1"}, 422, ["#/step"]),
        ({"pruning": CUT, "name": "a/b"}, 422, ["#/name"]),
        ({"pruning": {"kind": "cost_complexity", "alpha": 1, "choose": "validation"}}, 422,
         ["#/pruning/alpha", "#/pruning/choose"]),
        ({"pruning": {"kind": "cost_complexity", "cost": "squared_error"}}, 422, ["#/pruning/cost"]),
        ({"pruning": CUT, "prune": 1}, 422, ["#/prune"]),
    ],
)  # fmt: skip
async def test_what_cannot_be_done_is_said_with_its_place(
    workshop: Workshop, model: str, order: dict[str, Any], status: int, pointers: list[str]
) -> None:
    problem = await workshop.post(f"/v1/models/{model}/prunings", order, status=status)
    assert places(problem) == pointers


async def test_what_is_not_there_cannot_be_pruned(workshop: Workshop, model: str) -> None:
    for order in ({"pruning": CUT}, {"step": 0}):
        problem = await workshop.post("/v1/models/nobody/prunings", order, status=404)
        assert problem["type"] == "/problems/model_not_found"
    problem = await workshop.post(f"/v1/models/{model}/prunings", {"step": 7}, status=404)
    assert problem["type"] == "/problems/step_not_found"


async def test_rows_to_validate_by_are_asked_for(workshop: Workshop) -> None:
    model = await workshop.model(noise(80, 2), name="all", pruning=NONE)
    problem = await workshop.post(f"/v1/models/{model}/prunings", {"pruning": CUT}, status=422)
    assert (problem["type"], places(problem)) == ("/problems/invalid_config", ["#/validation_dataset_id"])
    assert "dataset" in problem["errors"][0]["hint"]
    lacking = await workshop.dataset({"a": [1, 2], "b": [1, 2], "y": ["p", "r"]})
    problem = await workshop.post(
        f"/v1/models/{model}/prunings", {"pruning": CUT, "validation_dataset_id": lacking}, status=422
    )
    assert places(problem) == ["#/validation_dataset_id"] * 2
    fitting = await workshop.dataset(noise(40, 3))
    ended = await prune(workshop, model, pruning=CUT, validation_dataset_id=fitting)
    assert ended["status"] == "succeeded"
    # What was judged by them once can be judged so again.
    assert (await prune(workshop, ended["model_id"], pruning={"kind": "reduced_error"}))["status"] == "succeeded"
