"""Which attributes a model relies on."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.settings import Settings
from tests.service.api.routes.test_prunings import CUT, DIVISION, noise
from tests.service.api.trained import Workshop, places, workshop_on

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


RETRAINING = {"kind": "retraining", "repeats": 2}
FOREST = {"kind": "random_forest", "n_trees": 5, "max_features": "all"}
NONE_ASIDE = {"kind": "none"}


def doubled(n: int = 60) -> dict[str, list[Any]]:
    """What `a` tells, `copy` tells as well, and nothing else tells anything."""
    a = [(row * 37 % 101) / 101 for row in range(n)]
    return {"a": a, "copy": a, "alone": a, "idle": [row % 7 for row in range(n)], "y": ["pq"[x > 0.4] for x in a]}


@pytest.mark.parametrize(
    ("order", "part"),
    [
        ({"division": DIVISION}, "test"),
        ({"division": DIVISION, "algorithm": FOREST}, "test"),
        ({"division": NONE_ASIDE, "algorithm": FOREST}, "out_of_bag"),
        ({"division": NONE_ASIDE}, "cross_validation"),
        ({"division": NONE_ASIDE, "algorithm": {**FOREST, "bootstrap": False}}, "cross_validation"),
    ],
)
async def test_a_training_tells_what_attributes_are_worth_when_all_is_trained_again(
    workshop: Workshop, order: dict[str, Any], part: str
) -> None:
    shown = {}
    for names in (["a", "copy", "idle"], ["alone", "idle"]):
        ordered = {**order, "attributes": names, "importance": RETRAINING}
        model = f"/v1/models/{await workshop.model(doubled(), **ordered)}"
        found = await workshop.get(f"{model}/importance")
        assert found["measure"] == "accuracy"
        assert {item["retraining"]["part"] for item in found["items"]} == {part}
        assert [item["permutation"] for item in found["items"]] == [None] * len(names)
        shown |= {item["attribute"]: item["retraining"] for item in found["items"]}
        again = f"/v1/models/{await workshop.model(doubled(), **ordered)}"
        assert (await workshop.get(f"{again}/importance"))["items"] == found["items"]
    assert shown["alone"]["mean"] > 0.2
    assert max(abs(shown[name]["mean"]) for name in ("a", "copy", "idle")) < 0.1
    assert shown["alone"]["spread"] >= 0


async def test_the_configuration_shows_how_often_all_is_trained_again(workshop: Workshop) -> None:
    dataset = await workshop.dataset(doubled(20))
    told = await workshop.order(dataset, importance={"kind": "retraining"})
    assert told["configuration"]["importance"] == {"kind": "retraining", "repeats": 5}
    assert (await workshop.order(dataset))["configuration"]["importance"] is None
    await workshop.work()
    evaluation = await workshop.get(f"/v1/models/{told['model_id']}/evaluation")
    assert "retraining" not in evaluation


@pytest.mark.parametrize(
    ("importance", "pointer", "words"),
    [
        ({"kind": "retraining", "repeats": 0}, "#/importance/repeats", "1"),
        ({"kind": "retraining", "repeats": 101}, "#/importance/repeats", "100"),
        ({"kind": "retraining", "often": 3}, "#/importance/often", ""),
        ({"kind": "shapley"}, "#/importance/kind", "retraining"),
    ],
)
async def test_what_is_wrong_about_retraining_is_told_with_its_place(
    workshop: Workshop, importance: dict[str, Any], pointer: str, words: str
) -> None:
    problem = await workshop.order(await workshop.dataset(doubled(20)), importance=importance, status=422)
    assert places(problem) == [pointer]
    assert words in problem["errors"][0]["detail"]


async def test_where_nothing_is_predicted_nothing_can_be_worth_less(workshop: Workshop) -> None:
    order = {"algorithm": {"kind": "isolation_forest"}, "target": None, "pruning": None, "importance": RETRAINING}
    problem = await workshop.order(await workshop.dataset(doubled(20)), **order, status=422)
    assert places(problem) == ["#/importance"]
    assert problem["errors"][0]["hint"] == "leave importance out"


async def test_a_measure_that_cannot_fall_is_told_in_a_warning(workshop: Workshop) -> None:
    level = doubled(20) | {"y": [3.0] * 20}
    training = await workshop.train(level, importance=RETRAINING)
    assert training["status"] == "succeeded"
    assert "importance by retraining is not known" in training["warnings"][-1]
    found = await workshop.get(f"/v1/models/{training['model_id']}/importance")
    assert [item["retraining"] for item in found["items"]] == [None] * 4


async def test_what_was_found_by_retraining_stays_with_the_order_it_is_about(workshop: Workshop) -> None:
    """Another step is of the same training; another pruning would have to be trained again, and is not."""
    first = await workshop.model(noise(80, 1), division=DIVISION, pruning=CUT, importance={**RETRAINING, "repeats": 1})
    found = (await workshop.get(f"/v1/models/{first}/importance"))["items"]
    chosen = await workshop.post(f"/v1/models/{first}/prunings", {"step": "full"}, status=201)
    shown = (await workshop.get(f"/v1/models/{chosen['id']}/importance"))["items"]
    assert [item["retraining"] for item in shown] == [item["retraining"] for item in found]
    other = await workshop.post(f"/v1/models/{first}/prunings", {"pruning": {"kind": "reduced_error"}}, status=202)
    assert other["configuration"]["importance"] is None
    await workshop.work()
    shown = (await workshop.get(f"/v1/models/{other['model_id']}/importance"))["items"]
    assert {item["retraining"] for item in shown} == {None}
