import itertools
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import AsyncIterator
from typing import Any

import jsonschema
import pytest

from service.settings import Settings
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio

TABLE: dict[str, Any] = {
    "size": [1, 2, 3, 4, 5, 6, 7, 8],
    "grade": ["low", "low", "mid", "mid", "high", "high", "low", None],
    "colour": ["red", "red", "green", "green", "blue", "blue", None, "red"],
    "note": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "y": ["p", "p", "q", "q", "p", "p", "q", "q"],
}
SCHEMA = {"grade": {"kind": "ordinal", "order": ["low", "mid", "high", "top"]}, "note": {"kind": "ignore"}}


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    """On both databases: what is read here was stored before."""
    async with workshop_on(settings) as workshop:
        yield workshop


@pytest.fixture
async def model(workshop: Workshop) -> str:
    return f"/v1/models/{await workshop.model(TABLE, options={'schema': SCHEMA}, name='melon')}"


async def test_a_model_is_shown_with_its_configuration(workshop: Workshop, model: str) -> None:
    shown = await workshop.get(model)
    assert shown["configuration"]["attributes"] == ["size", "grade", "colour"]
    assert (shown["name"], shown["version"], shown["task"], shown["target"]) == ("melon", 1, "classification", "y")
    assert (shown["classes"], shown["n_attributes"]) == (["p", "q"], 3)
    tree = await workshop.get(f"{model}/tree")
    assert {key: shown[key] for key in ("n_nodes", "n_leaves", "depth")} == {
        key: tree[key] for key in ("n_nodes", "n_leaves", "depth")
    }
    (listed,) = (await workshop.get("/v1/models"))["items"]
    assert listed == {key: value for key, value in shown.items() if key != "configuration"}


async def test_the_schema_says_what_a_record_looks_like(workshop: Workshop, model: str) -> None:
    schema = await workshop.get(f"{model}/schema")
    assert schema["target"] == "y"
    assert schema["attributes"] == [
        {
            "name": "size", "kind": "numeric", "categories": None,
            "minimum": 1.0, "maximum": 8.0, "cost": 1.0, "cuts": None,
        },
        {
            "name": "grade", "kind": "ordinal", "categories": ["low", "mid", "high", "top"],
            "minimum": None, "maximum": None, "cost": 1.0, "cuts": None,
        },
        {
            "name": "colour", "kind": "categorical", "categories": ["red", "green", "blue"],
            "minimum": None, "maximum": None, "cost": 1.0, "cuts": None,
        },
    ]  # fmt: skip
    assert schema["example"] == {"size": 4.5, "grade": "low", "colour": "red"}
    answer = await workshop.post(f"{model}/predict", {"records": [schema["example"]]})
    assert answer["predictions"][0]["missing"] == []
    jsonschema.Draft202012Validator.check_schema(schema["json_schema"])
    jsonschema.validate(schema["example"], schema["json_schema"])
    jsonschema.validate({"size": None}, schema["json_schema"])
    for wrong in ({"size": "1"}, {"sise": 1}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, schema["json_schema"])


async def test_the_schema_comes_by_itself_for_programs(workshop: Workshop, model: str) -> None:
    answer = await workshop.client.get(f"{model}/schema", params={"format": "json_schema"})
    assert answer.headers["content-type"] == "application/schema+json"
    assert answer.json() == (await workshop.get(f"{model}/schema"))["json_schema"]
    again = await workshop.client.get(
        f"{model}/schema", params={"format": "json_schema"}, headers={"If-None-Match": answer.headers["etag"]}
    )
    assert again.status_code == 304
    records = [{"size": 10**400}, {"size": 10**300, "colour": "pink"}, {"colour": 1}, {"grade": "low", "colour": None}]
    is_valid = jsonschema.Draft202012Validator(answer.json()).is_valid
    for record, status in zip(records, (400, 200, 422, 200), strict=True):
        await workshop.post(f"{model}/predict", {"records": [record]}, status=status)
        assert is_valid(record) == (status == 200)


async def test_nodes_hold_together(workshop: Workshop, model: str) -> None:
    tree = await workshop.get(f"{model}/tree", candidates=True)
    nodes = {node["id"]: node for node in tree["nodes"]}
    assert [node["id"] for node in tree["nodes"]] == sorted(nodes)
    assert tree["n_nodes"] == len(nodes)
    assert tree["n_leaves"] == sum(not node["children"] for node in nodes.values())
    assert tree["depth"] == max(node["depth"] for node in nodes.values())
    root = nodes[0]
    assert (root["parent"], root["test"], root["depth"]) == (None, None, 0)
    for node in nodes.values():
        assert len(node["shares"]) == len(node["children"])
        if not node["children"]:
            assert node["split"] is None
            continue
        chosen = node["split"]["attribute"]
        same = next(one for one in node["split"]["candidates"] if one["attribute"] == chosen)
        assert (same["gain"], same["score"], same["threshold"]) == (
            node["split"]["gain"], node["split"]["score"], node["split"]["threshold"],
        )  # fmt: skip
        for child in node["children"]:
            assert (nodes[child]["parent"], nodes[child]["depth"]) == (node["id"], node["depth"] + 1)
            assert nodes[child]["test"]["attribute"] == chosen
    without = await workshop.get(f"{model}/tree")
    assert all(node["split"] is None or node["split"]["candidates"] is None for node in without["nodes"])


async def test_ordinals_are_shown_as_the_values_on_each_side(workshop: Workshop) -> None:
    table = {"grade": ["low", "mid", "high", "low"], "y": ["p", "q", "q", "p"]}
    model_id = await workshop.model(table, options={"schema": {"grade": SCHEMA["grade"]}})
    root, left, right = (await workshop.get(f"/v1/models/{model_id}/tree"))["nodes"]
    assert (root["split"]["kind"], root["split"]["threshold"]) == ("threshold", None)
    assert left["test"] == {"attribute": "grade", "op": "in", "values": ["low"]}
    assert right["test"] == {"attribute": "grade", "op": "in", "values": ["mid", "high", "top"]}


async def test_a_tree_is_drawn_in_three_ways(workshop: Workshop, model: str) -> None:
    text = await workshop.client.get(f"{model}/tree", params={"format": "text"})
    assert text.headers["content-type"].startswith("text/plain; charset=utf-8")
    assert "size" in text.text
    dot = await workshop.client.get(f"{model}/tree", params={"format": "dot"})
    assert dot.headers["content-type"].startswith("text/vnd.graphviz")
    assert dot.text.startswith("digraph")
    svg = await workshop.client.get(f"{model}/tree", params={"format": "svg"})
    assert svg.headers["content-type"] == "image/svg+xml"
    assert ElementTree.fromstring(svg.text).tag == "{http://www.w3.org/2000/svg}svg"


async def test_a_curve_is_drawn(workshop: Workshop, model: str) -> None:
    svg = await workshop.client.get(f"{model}/evaluation", params={"format": "svg"})
    assert svg.headers["content-type"] == "image/svg+xml"
    assert "Error by size of the tree" in svg.text
    assert ElementTree.fromstring(svg.text).tag == "{http://www.w3.org/2000/svg}svg"
    problem = await workshop.get(f"{model}/evaluation", status=422, format="png")
    assert problem["errors"][0]["parameter"] == "format"


async def test_a_drawing_cannot_be_broken_out_of(workshop: Workshop) -> None:
    nasty = ['</text><script>alert("1")</script>', 'a"];evil[label="b', "line\nbreak", "&amp;"]
    table = {'<x a="1">&': nasty, "y": ['<p>"', "\\q", '<p>"', "\\q"]}
    model_id = await workshop.model(table, algorithm={"kind": "id3"})
    svg = await workshop.client.get(f"/v1/models/{model_id}/tree", params={"format": "svg"})
    tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(svg.text).iter()}
    assert "script" not in tags
    dot = (await workshop.client.get(f"/v1/models/{model_id}/tree", params={"format": "dot"})).text
    assert 'a"];evil' not in dot


@pytest.mark.parametrize(
    ("path", "parameters", "parameter"),
    [
        ("/tree", {"format": "png"}, "format"),
        ("/tree", {"candidates": "maybe"}, "candidates"),
        ("/rules", {"format": "latex"}, "format"),
        ("/rules", {"style": "short"}, "style"),
        ("/rules", {"limit": 0}, "limit"),
        ("/pruning", {"limit": 1001}, "limit"),
        ("/pruning", {"cursor": "!"}, "cursor"),
        ("/rules", {"cursor": "eyJhZnRlciI6ICJ4In0"}, "cursor"),
        ("/export", {"format": "pmml"}, "format"),
        ("/tree", {"step": "leaves:x"}, "step"),
        ("/tree", {"step": ""}, "step"),
        ("/tree", {"step": "alpha:many"}, "step"),
    ],
)
async def test_wrong_parameters_are_named(
    workshop: Workshop, model: str, path: str, parameters: dict[str, Any], parameter: str
) -> None:
    problem = await workshop.get(model + path, status=422, **parameters)
    assert [(error["in"], error["parameter"]) for error in problem["errors"]] == [("query", parameter)]


async def test_a_format_that_will_come_later_is_answered_with_those_there_are(workshop: Workshop, model: str) -> None:
    (error,) = (await workshop.get(f"{model}/export", format="onnx", status=422))["errors"]
    assert "'json'" in error["detail"]


async def test_an_export_is_complete(workshop: Workshop, model: str) -> None:
    export = await workshop.get(f"{model}/export", format="json", step="full")
    assert (export["format"], export["format_version"], export["target"]) == ("niwaki-tree", 1, "y")
    assert export["tree"] == await workshop.get(f"{model}/tree", step="full")
    assert export["attributes"] == (await workshop.get(f"{model}/schema"))["attributes"]
    assert export["configuration"] == (await workshop.get(model))["configuration"]
    assert export["pruning"] == (await workshop.get(f"{model}/pruning"))["items"]


async def test_figures_of_a_classifier(workshop: Workshop) -> None:
    table = {"a": [1, 1, 2, 2, 1, 2], "part": ["train"] * 4 + ["test"] * 2, "y": ["p", "p", "q", "q", "p", "p"]}
    model_id = await workshop.model(table, division={"kind": "column", "column": "part"})
    evaluation = await workshop.get(f"/v1/models/{model_id}/evaluation")
    assert set(evaluation["parts"]) == {"train", "validation", "test", "out_of_bag"}
    assert (evaluation["parts"]["validation"], evaluation["parts"]["out_of_bag"]) == (None, None)
    test = evaluation["parts"]["test"]
    assert (test["rows"], test["weight"], test["accuracy"], test["auc"]) == (2, 2.0, 0.5, None)
    assert test["confusion"] == {"classes": ["p", "q"], "matrix": [[1.0, 1.0], [0.0, 0.0]]}
    assert test["per_class"] == [
        {"label": "p", "precision": 1.0, "recall": 0.5, "f1": pytest.approx(2 / 3), "support": 2.0},
        {"label": "q", "precision": 0.0, "recall": 0.0, "f1": 0.0, "support": 0.0},
    ]
    train = evaluation["parts"]["train"]
    assert (train["accuracy"], train["auc"], train["log_loss"]) == (1.0, 1.0, pytest.approx(0, abs=1e-12))
    baseline = evaluation["baseline"]["train"]
    assert (baseline["accuracy"], baseline["auc"], baseline["log_loss"]) == (
        0.5,
        0.5,
        pytest.approx(0.693147, abs=1e-6),
    )
    assert [point["train"] for point in evaluation["curve"]] == [0.0]


async def test_figures_of_a_regression(workshop: Workshop) -> None:
    table = {"a": [1, 1, 2, 2, 1, 2], "part": ["train"] * 4 + ["test"] * 2, "y": [1, 1, 3, 3, 2, 3]}
    model_id = await workshop.model(table, division={"kind": "column", "column": "part"})
    evaluation = await workshop.get(f"/v1/models/{model_id}/evaluation")
    assert evaluation["task"] == "regression"
    assert evaluation["parts"]["test"] == {
        "rows": 2, "weight": 2.0, "mae": 0.5, "rmse": pytest.approx(0.5**0.5), "r2": pytest.approx(-1.0),
    }  # fmt: skip
    assert evaluation["parts"]["train"]["r2"] == 1.0


async def test_a_model_stays_when_its_training_is_deleted_and_goes_when_told(workshop: Workshop, model: str) -> None:
    await workshop.call("DELETE", model, status=204)
    assert (await workshop.get("/v1/models"))["items"] == []
    for path in ("", "/tree", "/schema"):
        assert (await workshop.get(model + path, status=404))["type"] == "/problems/model_not_found"
    await workshop.call("DELETE", model, status=404)


async def test_a_waiting_model_is_not_ready_and_not_listed(workshop: Workshop) -> None:
    ordered = await workshop.order(await workshop.dataset(TABLE, schema=SCHEMA), name="waiting")
    assert (await workshop.get("/v1/models"))["items"] == []
    for ref in (ordered["model_id"], "waiting", "waiting@1"):
        problem = await workshop.get(f"/v1/models/{ref}", status=409)
        assert problem["type"] == "/problems/model_not_ready"
        assert ref in problem["detail"]
    await workshop.work()
    await workshop.get("/v1/models/waiting@1")


async def test_numbers_of_every_size_survive_the_way_through_storage(workshop: Workshop) -> None:
    values = [0.1 + 0.2, 1e-300, -1e300, 123456789.123456789, 2**53 + 1, 5e-324]
    table = {"a": values, "y": ["p", "q"] * 3}
    model_id = await workshop.model(table)
    tree = json.loads((await workshop.client.get(f"/v1/models/{model_id}/tree")).text)
    thresholds = sorted(node["split"]["threshold"] for node in tree["nodes"] if node["split"])
    known = sorted(values)
    for low, high in itertools.pairwise(known):
        inside = [threshold for threshold in thresholds if low <= threshold < high]
        assert len(inside) <= 1
    assert len(thresholds) >= 3
    predicted = await workshop.post(f"/v1/models/{model_id}/predict", {"records": [{"a": value} for value in values]})
    assert [one["label"] for one in predicted["predictions"]] == table["y"]


async def test_few_requests_may_wait_for_datasets_to_be_read(
    workshop: Workshop, model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.usecases.models.read_model.MOST_WAITING", 0)
    answer = await workshop.client.get(f"{model}/tree", params={"candidates": True})
    assert answer.status_code == 503
    assert answer.json()["type"] == "/problems/too_busy"
    assert "Retry-After" in answer.headers
    monkeypatch.undo()
    assert (await workshop.get(f"{model}/tree", candidates=True))["nodes"]


async def test_id3_takes_numbers_cut_into_intervals_and_the_schema_shows_the_cuts(workshop: Workshop) -> None:
    table = {"size": [1, 2, 3, 4, 5, 6, 7, None], "colour": ["r", "g"] * 4, "y": ["p"] * 4 + ["q"] * 3 + ["p"]}
    way = {"kind": "quantile", "bins": 2, "as": "intervals"}
    model = f"/v1/models/{await workshop.model(table, algorithm={'kind': 'id3', 'numeric': way})}"
    assert (await workshop.get(model))["configuration"]["algorithm"]["numeric"] == way
    assert [a["cuts"] for a in (await workshop.get(f"{model}/schema"))["attributes"]] == [[4.5], None]
    tree = await workshop.get(f"{model}/tree", candidates=True)
    root = tree["nodes"][0]["split"]
    assert (root["attribute"], root["kind"], root["threshold"]) == ("size", "intervals", None)
    assert [node["test"] for node in tree["nodes"] if node["parent"] == 0] == [
        {"attribute": "size", "op": "<=", "threshold": 4.5, "or_missing": False},
        {"attribute": "size", "op": ">", "threshold": 4.5, "or_missing": False},
    ]
    answer = await workshop.post(f"{model}/predict", {"records": [{"size": 4.5}, {}], "explain": True})
    assert [prediction["label"] for prediction in answer["predictions"]] == ["p", "p"]
    assert answer["predictions"][1]["probabilities"]["q"] == pytest.approx(3 / 7 * 3 / (3 + 3 / 7))


async def test_cuts_of_mdlp_are_shown_also_as_thresholds(workshop: Workshop) -> None:
    table = {"size": list(range(8)), "y": ["p"] * 4 + ["q"] * 4}
    model = f"/v1/models/{await workshop.model(table, algorithm={'kind': 'c45', 'numeric': {'kind': 'mdlp'}})}"
    assert (await workshop.get(f"{model}/schema"))["attributes"][0]["cuts"] == [3.5]
    assert (await workshop.get(f"{model}/tree"))["nodes"][0]["split"]["threshold"] == 3.5


async def test_a_dear_attribute_is_asked_later_and_the_schema_shows_what_it_costs(workshop: Workshop) -> None:
    table = {"a": ["x", "x", "y", "y"], "b": ["u", "u", "v", "v"], "y": ["p", "p", "q", "q"]}
    by_gain = {"kind": "id3", "attribute_costs": {"kind": "nunez", "costs": {"a": 3}}}
    model = f"/v1/models/{await workshop.model(table, algorithm=by_gain)}"
    shown = (await workshop.get(model))["configuration"]["algorithm"]["attribute_costs"]
    assert shown == {"kind": "nunez", "costs": {"a": 3}, "w": 1}
    assert [a["cost"] for a in (await workshop.get(f"{model}/schema"))["attributes"]] == [3, 1]
    split = (await workshop.get(f"{model}/tree", candidates=True))["nodes"][0]["split"]
    assert (split["attribute"], split["gain"], split["score"]) == ("b", 1.0, 0.5)
    assert [(one["gain"], one["score"]) for one in split["candidates"]] == [(1.0, 0.25), (1.0, 0.5)]
