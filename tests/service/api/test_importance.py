"""Which attributes a model relies on."""

from collections.abc import AsyncIterator

import pytest

from service.settings import Settings
from tests.service.api.test_prunings import CUT, DIVISION, noise
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    async with workshop_on(settings) as workshop:
        yield workshop


@pytest.fixture
async def model(workshop: Workshop) -> str:
    return f"/v1/models/{await workshop.model(noise(200, 1), division=DIVISION, pruning=CUT)}"


async def test_every_attribute_in_column_order(workshop: Workshop, model: str) -> None:
    found = await workshop.get(f"{model}/importance")
    schema = await workshop.get(f"{model}/schema")
    assert [item["attribute"] for item in found["items"]] == [one["name"] for one in schema["attributes"]]
    assert sum(item["impurity_decrease"] for item in found["items"]) == pytest.approx(1.0)
    assert [item["permutation"] for item in found["items"]] == [None] * len(found["items"])
    assert found["measure"] == "accuracy"


@pytest.mark.parametrize("step", ["full", "selected", "leaves:12", "1"])
async def test_as_of_each_step_the_nodes_of_the_tree_are_counted(workshop: Workshop, model: str, step: str) -> None:
    found = await workshop.get(f"{model}/importance", step=step)
    tree = await workshop.get(f"{model}/tree", step=step)
    asked = [node["split"]["attribute"] for node in tree["nodes"] if node["split"] is not None]
    assert found["model"] == tree["model"]
    for item in found["items"]:
        assert item["times_selected"] == asked.count(item["attribute"])
        assert (item["impurity_decrease"] > 0) <= (item["times_selected"] > 0)


@pytest.mark.parametrize("part", ["train", "validation", "test"])
async def test_shuffled_on_the_part_asked_for(workshop: Workshop, model: str, part: str) -> None:
    found = (await workshop.get(f"{model}/importance", part=part, repeats=3))["items"]
    assert {item["permutation"]["part"] for item in found} == {part}
    again = (await workshop.get(f"{model}/importance", part=part, repeats=3))["items"]
    assert again == found
    unused = [item for item in found if item["times_selected"] == 0]
    assert all(item["permutation"]["mean"] == 0 for item in unused)
    assert any(item["permutation"]["mean"] > 0 for item in found)


async def test_a_part_without_rows_is_refused_with_the_way_out(workshop: Workshop) -> None:
    own = await workshop.model(noise(40, 2), name="undivided")
    problem = await workshop.get(f"/v1/models/{own}/importance", part="test", status=422)
    (error,) = problem["errors"]
    assert (error["in"], error["parameter"], error["hint"]) == ("query", "part", "use train")
    assert error["detail"] == "the test part of this model has no rows"


async def test_costs_and_numbers_are_measured_by_their_own_measure(workshop: Workshop) -> None:
    costs = {"p": {"q": 5.0}}
    columns = {"a": [1, 2, 3, 4, 5, 6], "y": ["p", "p", "q", "q", "q", "q"]}
    costly = await workshop.model(columns, name="costly", misclassification_costs=costs)
    found = await workshop.get(f"/v1/models/{costly}/importance", part="train", repeats=20)
    assert found["measure"] == "mean_cost"
    assert found["items"][0]["permutation"]["mean"] > 1
    numbers = await workshop.model(columns | {"y": [1, 1, 2, 2, 8, 9]}, name="numbers")
    found = await workshop.get(f"/v1/models/{numbers}/importance", part="train")
    assert found["measure"] == "r2"
    assert found["items"][0]["permutation"]["mean"] > 0
    level = await workshop.model(columns | {"y": [3, 3, 3, 3, 3, 3]}, name="level")
    problem = await workshop.get(f"/v1/models/{level}/importance", part="train", status=422)
    assert problem["errors"][0]["hint"] == "use another part"


async def test_known_answers_are_not_sent_again(workshop: Workshop, model: str) -> None:
    first = await workshop.client.get(f"{model}/importance")
    again = await workshop.client.get(f"{model}/importance", headers={"If-None-Match": first.headers["etag"]})
    assert again.status_code == 304
