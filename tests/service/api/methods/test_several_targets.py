"""Several numbers predicted at once, from the order to the export, on both databases."""

from collections.abc import AsyncIterator
from typing import Any
from xml.etree import ElementTree

import pytest

from service.settings import Settings
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio

# Height depends on the age alone, width also on the colour; one height is unknown.
TABLE: dict[str, Any] = {
    "age": [1, 1, 2, 2, 1, 1, 2, 2, 1],
    "colour": ["red", "blue", "red", "blue", "red", "blue", "red", "blue", "red"],
    "height": [10, 10, 30, 30, 10, 10, 30, 30, None],
    "width": [1, 1, 1, 5, 1, 1, 1, 5, 9],
}
TARGETS = ["height", "width"]


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    async with workshop_on(settings) as workshop:
        yield workshop


async def test_from_the_order_to_the_export(workshop: Workshop) -> None:
    training = await workshop.train(TABLE, target=TARGETS, name="plants")
    assert training["status"] == "succeeded"
    assert training["warnings"] == ["1 row is left out: a target is missing"]
    assert training["configuration"]["target"] == TARGETS
    assert training["configuration"]["attributes"] == ["age", "colour"]
    assert training["configuration"]["algorithm"]["criterion"] == {"kind": "squared_error"}

    model = "/v1/models/plants"
    shown = await workshop.get(model)
    assert (shown["task"], shown["target"], shown["classes"]) == ("multi_output_regression", TARGETS, [])
    (listed,) = (await workshop.get("/v1/models"))["items"]
    assert (listed["task"], listed["target"]) == ("multi_output_regression", TARGETS)
    schema = await workshop.get(f"{model}/schema")
    assert (schema["target"], set(schema["example"])) == (TARGETS, {"age", "colour"})
    assert schema["json_schema"]["title"] == "A record to predict height and width from"

    tree = await workshop.get(f"{model}/tree", candidates="true")
    assert (tree["task"], tree["targets"], tree["n_nodes"]) == ("multi_output_regression", TARGETS, 5)
    root = tree["nodes"][0]
    assert root["mean"] == {"height": 20.0, "width": 2.0}
    assert root["spread"] == {"height": 10.0, "width": pytest.approx(3**0.5)}
    assert (root["n_outputs"], root["impurity"]) == (2, 103.0)
    assert {one["attribute"]: one["gain"] for one in root["split"]["candidates"]} == {"age": 101.0, "colour": 1.0}
    assert [node["mean"]["width"] for node in tree["nodes"]] == [2.0, 1.0, 3.0, 1.0, 5.0]

    export = await workshop.get(f"{model}/export")
    assert export["target"] == TARGETS
    assert export["tree"] == await workshop.get(f"{model}/tree")
    assert export["configuration"] == training["configuration"]


async def test_drawings_and_rules_name_every_target(workshop: Workshop) -> None:
    model = f"/v1/models/{await workshop.model(TABLE, target=TARGETS)}"
    text = (await workshop.client.get(f"{model}/tree", params={"format": "text"})).text
    assert text.splitlines()[0] == "age <= 1.5: height = 10, width = 1 (n 4)"
    assert "height = 10, width = 1" in (await workshop.client.get(f"{model}/tree", params={"format": "dot"})).text
    svg = ElementTree.fromstring((await workshop.client.get(f"{model}/tree", params={"format": "svg"})).text)
    words = {element.text for element in svg.iter() if element.tag.endswith(("text", "title"))}
    assert {"Decision tree for height, width", "height = 30, width = 5"} <= words

    rules = await workshop.get(f"{model}/rules")
    assert (rules["task"], rules["exclusive"], rules["default"]) == ("multi_output_regression", True, None)
    assert [rule["mean"] for rule in rules["items"]] == [
        {"height": 10.0, "width": 1.0},
        {"height": 30.0, "width": 1.0},
        {"height": 30.0, "width": 5.0},
    ]
    assert rules["items"][0]["spread"] == {"height": 0.0, "width": 0.0}
    assert rules["items"][0]["text"] == "if age <= 1.5 then height = 10, width = 1"
    lines = (await workshop.client.get(f"{model}/rules", params={"format": "text"})).text.splitlines()
    assert lines == [rule["text"] for rule in rules["items"]]


async def test_an_answer_has_a_number_for_each_target(workshop: Workshop) -> None:
    model = await workshop.model(TABLE, target=TARGETS)
    records = [{"age": 2, "colour": "blue"}, {"age": 2, "height": 99, "width": None}, {"colour": "red"}]
    answer = await workshop.predict(model, {"records": records, "explain": True})
    assert answer["task"] == "multi_output_regression"
    known, no_colour, no_age = answer["predictions"]
    assert known == {
        "mean": {"height": 30.0, "width": 5.0},
        "spread": {"height": 0.0, "width": 0.0},
        "count": 2.0,
        "decided": True,
        "bounds": {"height": [30.0, 30.0], "width": [5.0, 5.0]},
        "bounds_kind": "exact",
        "missing": [],
        "unseen": [],
        "explanation": known["explanation"],
        "paths": known["paths"],
    }
    assert [path["mean"] for path in known["paths"]] == [{"height": 30.0, "width": 5.0}]
    assert (no_colour["mean"], no_colour["missing"]) == ({"height": 30.0, "width": 3.0}, ["colour"])
    assert no_colour["spread"] == {"height": 0.0, "width": 2.0}
    assert no_colour["bounds"] == {"height": [30.0, 30.0], "width": [1.0, 5.0]}
    assert no_colour["decided"] is False
    assert (no_age["mean"], no_age["count"]) == ({"height": 20.0, "width": 1.0}, 3.0)
    for one in answer["predictions"]:
        assert sum(path["weight"] for path in one["paths"]) == pytest.approx(1)
        for target, mean in one["mean"].items():
            assert sum(path["weight"] * path["mean"][target] for path in one["paths"]) == pytest.approx(mean)
    columns = await workshop.predict(model, {"columns": {"age": [2, 2], "colour": ["blue", None], "width": [1, 2]}})
    assert [one["mean"] for one in columns["predictions"]] == [known["mean"], no_colour["mean"]]


async def test_measures_of_each_target_and_of_all(workshop: Workshop) -> None:
    parts = ["train", "train", "train", "train", "validation", "validation", "validation", "validation", "test"]
    table = TABLE | {"part": parts, "height": [*TABLE["height"][:8], 14]}
    order = {"division": {"kind": "column", "column": "part"}, "pruning": {"kind": "reduced_error"}}
    model = f"/v1/models/{await workshop.model(table, target=TARGETS, **order)}"
    evaluation = await workshop.get(f"{model}/evaluation")
    assert evaluation["task"] == "multi_output_regression"
    assert evaluation["parts"]["test"] == {
        "rows": 1, "weight": 1.0, "mae": 6.0, "rmse": 6.0, "r2": None,
        "per_target": [
            {"target": "height", "mae": 4.0, "rmse": 4.0, "r2": None},
            {"target": "width", "mae": 8.0, "rmse": 8.0, "r2": None},
        ],
    }  # fmt: skip
    assert [one["r2"] for one in evaluation["parts"]["validation"]["per_target"]] == [1.0, 1.0]
    assert evaluation["baseline"]["train"]["r2"] == pytest.approx(0)
    assert evaluation["curve"][0]["test"] == 4.0**2 + 8.0**2
    assert (await workshop.get(f"{model}/evaluation", step="full"))["parts"] == evaluation["parts"]
    assert [entry["before"] for entry in (await workshop.get(f"{model}/pruning"))["items"]] == [0.0, 0.0]


async def test_a_list_of_one_target_grows_the_same_tree_and_answers_by_name(workshop: Workshop) -> None:
    one = await workshop.model(TABLE, target="width", attributes=["age", "colour"])
    listed = await workshop.model(TABLE, target=["width"], attributes=["age", "colour"])
    alone, named = [(await workshop.get(f"/v1/models/{model}/tree"))["nodes"] for model in (one, listed)]
    for node, other in zip(alone, named, strict=True):
        mean, spread = {"width": node["mean"]}, {"width": node["spread"]}
        assert other == node | {"mean": mean, "spread": spread}
    (answer,) = (await workshop.predict(listed, {"records": [{"age": 1}]}))["predictions"]
    assert set(answer["mean"]) == {"width"}


async def test_the_configuration_shown_can_be_sent_again(workshop: Workshop) -> None:
    training = await workshop.train(TABLE, target=TARGETS)
    again = await workshop.order(training["dataset_id"], **training["configuration"])
    assert again["configuration"] == training["configuration"]
    await workshop.work()
    models = (await workshop.get("/v1/models"))["items"]
    assert len({model["digest"] for model in models}) == 1
    assert len(models) == 2
