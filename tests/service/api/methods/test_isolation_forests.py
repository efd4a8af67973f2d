"""An isolation forest predicts no column: it says how unlike the others a record is."""

import json
from typing import Any

import pytest

from tests.service.api.methods.test_forests import LOOKING, TABLE
from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio

FOREST = {"kind": "isolation_forest", "n_trees": 30, "sample_size": 64, "threshold": 0.57}
USUAL, ODD = {"a": 0.5, "b": 0.5, "c": "x"}, {"a": 9.0, "b": -7.0, "c": "x"}


async def isolation(workshop: Workshop, **order: Any) -> str:
    """The address of an isolation forest."""
    order = {"attributes": LOOKING, "target": None, "pruning": None, **order}
    return f"/v1/models/{await workshop.model(TABLE, algorithm=FOREST, **order)}"


async def test_records_unlike_the_others_are_found(workshop: Workshop) -> None:
    model = await isolation(workshop)
    answer = await workshop.post(f"{model}/predict", {"records": [USUAL, ODD, {"b": 0.5}, {"c": "new"}]})
    assert answer["task"] == "anomaly_detection"
    usual, odd, holey, unseen = answer["predictions"]
    assert list(usual) == [
        *("score", "path_length", "is_anomaly", "missing", "unseen", "explanation", "contributions", "short_ways")
    ]
    assert (usual["is_anomaly"], odd["is_anomaly"]) == (False, True)
    assert usual["score"] < 0.57 < odd["score"] < 1
    assert usual["path_length"] > odd["path_length"]
    assert (holey["missing"], unseen["unseen"]) == (["a", "c"], ["c"])
    assert (usual["explanation"], usual["contributions"], usual["short_ways"]) == (None, None, None)


async def test_path_lengths_are_explained(workshop: Workshop) -> None:
    model = await isolation(workshop)
    (odd,) = (await workshop.post(f"{model}/predict", {"records": [ODD], "explain": True}))["predictions"]
    parts = odd["contributions"]
    assert parts["start"] + sum(parts["attributes"].values()) == pytest.approx(odd["path_length"])
    assert parts["attributes"]["a"] < 0
    lengths = [way["length"] for way in odd["short_ways"]]
    assert lengths == sorted(lengths)
    tree = await workshop.get(f"{model}/tree", index=odd["short_ways"][0]["tree"])
    assert tree["task"] == "regression"
    assert min(node["mean"] for node in tree["nodes"] if not node["children"]) <= lengths[0]
    assert odd["explanation"].startswith("an anomaly")
    assert "a (-" in odd["explanation"]


async def test_an_isolation_forest_is_read_like_other_models(workshop: Workshop) -> None:
    model = await isolation(workshop, division={"kind": "random", "train": 0.7, "validation": 0, "test": 0.3})
    shown = await workshop.get(model)
    assert (shown["task"], shown["target"], shown["classes"]) == ("anomaly_detection", None, [])
    assert (shown["n_trees"], shown["n_steps"]) == (30, 0)
    assert shown["depth"] <= 6
    evaluation = await workshop.get(f"{model}/evaluation")
    assert evaluation["parts"]["validation"] is None
    problem = await workshop.get(f"{model}/evaluation", format="svg", status=422)
    assert "nothing is predicted" in problem["errors"][0]["detail"]
    assert evaluation["parts"]["train"]["rows"] + evaluation["parts"]["test"]["rows"] == len(TABLE["a"])
    for measures in (evaluation["parts"]["train"], evaluation["parts"]["test"]):
        assert 0 < measures["lowest_score"] <= measures["mean_score"] <= measures["highest_score"] < 1
    schema = await workshop.get(f"{model}/schema")
    assert schema["target"] is None
    assert (await workshop.get(f"{model}/pruning"))["items"] == []
    assert (await workshop.get("/v1/models"))["items"][0]["target"] is None
    assert (await workshop.client.get(f"{model}/tree?index=0&format=svg")).status_code == 200


@pytest.mark.parametrize(
    ("options", "pointer"),
    [
        ({"voting": {"kind": "average"}}, "#/voting"),
        ({"missing": "last_node"}, "#/missing"),
        ({"fields": ["label"]}, "#/fields/0"),
        ({"step": "leaves:3"}, "#/step"),
    ],
)
async def test_what_it_has_no_use_for_is_told_with_its_place(
    workshop: Workshop, options: dict[str, Any], pointer: str
) -> None:
    model = await isolation(workshop)
    problem = await workshop.post(f"{model}/predict", {"records": [USUAL], **options}, status=422)
    assert places(problem) == [pointer]


async def test_rows_are_scored_in_all_formats(workshop: Workshop) -> None:
    model = await isolation(workshop)
    said = (await workshop.post(f"{model}/predict", {"records": [USUAL, ODD], "missing": "weighted"}))["predictions"]
    sent: dict[str, Any] = {"content": "a,b,c\n0.5,0.5,x\n9,-7,x\n", "headers": {"content-type": "text/csv"}}
    header, *rows = (await workshop.client.post(f"{model}/predict", **sent)).text.splitlines()
    assert header == "score,path_length,is_anomaly,missing,unseen"
    assert [float(row.split(",")[0]) for row in rows] == [one["score"] for one in said]
    sent["headers"]["accept"] = "application/x-ndjson"
    lines = (await workshop.client.post(f"{model}/predict", **sent)).text.splitlines()
    assert [json.loads(line) for line in lines] == said


@pytest.mark.parametrize("call", ["proximity", "importance"])
async def test_what_only_committees_have_is_told(workshop: Workshop, call: str) -> None:
    model = await isolation(workshop)
    problem = await workshop.get(f"{model}/{call}", status=409)
    assert problem["type"] == "/problems/not_for_this_model"
