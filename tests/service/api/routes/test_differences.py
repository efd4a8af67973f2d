"""What changes from one step of a pruning history to another."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.settings import Settings
from tests.service.api.routes.test_prunings import CUT, DIVISION, noise
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    async with workshop_on(settings) as workshop:
        yield workshop


@pytest.fixture
async def model(workshop: Workshop) -> str:
    return f"/v1/models/{await workshop.model(noise(200, 1), division=DIVISION, pruning=CUT)}"


async def rules(workshop: Workshop, model: str, step: str | int) -> dict[str, Any]:
    page = await workshop.get(f"{model}/rules", step=step, limit=1000)
    return {rule["id"]: rule for rule in page["items"]}


@pytest.mark.parametrize(("a", "b"), [("full", "selected"), ("selected", "full"), ("2", "leaves:12"), ("1", "1")])
async def test_rules_gone_and_new(workshop: Workshop, model: str, a: str, b: str) -> None:
    found = await workshop.get(f"{model}/pruning/{a}/diff/{b}", limit=1000)
    old, new = await rules(workshop, model, a), await rules(workshop, model, b)
    gone = {item["rule"]["id"]: item["rule"] for item in found["items"] if item["change"] == "gone"}
    come = {item["rule"]["id"]: item["rule"] for item in found["items"] if item["change"] == "new"}
    assert gone == {key: rule for key, rule in old.items() if key not in new}
    assert come == {key: rule for key, rule in new.items() if key not in old}
    assert (found["n_gone"], found["n_new"], found["n_same"]) == (len(gone), len(come), len(old.keys() & new.keys()))
    assert found["moved"] == pytest.approx(sum(rule["support"] for rule in gone.values()))
    assert found["moved"] == pytest.approx(sum(rule["support"] for rule in come.values()))
    assert found["next_cursor"] is None
    for side, step in (("before", a), ("after", b)):
        tree = await workshop.get(f"{model}/tree", step=step)
        assert found[side] == tree["model"] | {"n_leaves": tree["n_leaves"], "depth": tree["depth"]}


async def test_the_error_of_each_part_that_has_rows(workshop: Workshop, model: str) -> None:
    found = (await workshop.get(f"{model}/pruning/full/diff/selected"))["errors"]
    for part in ("train", "validation", "test"):
        before, after = [
            1 - (await workshop.get(f"{model}/evaluation", step=step))["parts"][part]["accuracy"]
            for step in ("full", "selected")
        ]
        assert found[part] == pytest.approx({"before": before, "after": after, "change": after - before})
    assert found["train"]["change"] > 0 > found["validation"]["change"]
    own = await workshop.model(noise(40, 2), name="undivided", pruning={"kind": "none"})
    errors = (await workshop.get(f"/v1/models/{own}/pruning/full/diff/full"))["errors"]
    assert (errors["validation"], errors["test"]) == (None, None)
    assert errors["train"]["change"] == 0


async def test_rules_come_in_pages(workshop: Workshop, model: str) -> None:
    address = f"{model}/pruning/full/diff/selected"
    whole = (await workshop.get(address, limit=1000))["items"]
    assert len(whole) > 5
    collected: list[Any] = []
    cursor: dict[str, str] = {}
    while True:
        page = await workshop.get(address, limit=4, **cursor)
        collected += page["items"]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert collected == whole
    first = await workshop.client.get(address)
    again = await workshop.client.get(address, headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304


@pytest.mark.parametrize("y", ["z", ["z", "w"]])
async def test_numbers_differ_too(workshop: Workshop, y: str | list[str]) -> None:
    table = noise(120, 4)
    table |= {"z": [a * 3 + b for a, b in zip(table["a"], table["b"], strict=True)], "w": table.pop("b")}
    del table["y"]
    model = f"/v1/models/{await workshop.model(table, target=y, attributes=['a', 'c'], division=DIVISION, pruning=CUT)}"
    found = await workshop.get(f"{model}/pruning/full/diff/selected")
    assert found["task"] == ("regression" if y == "z" else "multi_output_regression")
    curve = {point["step"]: point for point in (await workshop.get(f"{model}/evaluation"))["curve"]}
    for part in ("train", "validation", "test"):
        expected = [curve[found[side]["step"]][part] for side in ("before", "after")]
        assert [found["errors"][part][side] for side in ("before", "after")] == pytest.approx(expected)
    assert found["items"][0]["rule"]["mean"]


async def test_a_step_that_is_not_there_is_named(workshop: Workshop, model: str) -> None:
    for a, b, parameter in (("last", "1", "a"), ("1", "alpha:0.1", "b"), ("1", "alpha:x", "b")):
        problem = await workshop.get(f"{model}/pruning/{a}/diff/{b}", status=422)
        (error,) = problem["errors"]
        assert (error["in"], error["parameter"]) == ("path", parameter)
    problem = await workshop.get(f"{model}/pruning/0/diff/100000", status=404)
    assert problem["type"] == "/problems/step_not_found"
