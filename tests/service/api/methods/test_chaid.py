"""CHAID from the order to rules, paths, bounds and prunings; the whole way on both databases."""

from typing import Any
from xml.etree import ElementTree

import pytest

from service.settings import Settings
from tests.service.api.trained import Workshop, places, workshop_on

pytestmark = pytest.mark.anyio

# Red and green are alike, and so are blue and an unknown colour; large ones differ among those.
N_ROWS = 240
COLOURS = ["red", "green", "blue", None]
TABLE: dict[str, Any] = {
    "colour": [COLOURS[i % 4] for i in range(N_ROWS)],
    "size": [None if i % 40 == 6 else (i * 7) % 60 for i in range(N_ROWS)],
    "noise": [(i * 31) % 7 for i in range(N_ROWS)],
    "y": [
        ("p" if i // 4 % 10 else "q") if i % 4 < 2 else ("r" if (i * 7) % 60 > 30 and i % 9 else "q")
        for i in range(N_ROWS)
    ],
    "z": [float(100 * (i % 4 < 2) + i % 3) for i in range(N_ROWS)],
}
CHAID: dict[str, Any] = {"kind": "chaid"}


async def test_from_the_order_to_rules_and_the_export(settings: Settings, anyio_backend: str) -> None:
    async with workshop_on(settings) as workshop:
        await go_from_the_order_to_the_export(workshop)


async def go_from_the_order_to_the_export(workshop: Workshop) -> None:
    training = await workshop.train(TABLE, algorithm=CHAID, attributes=["colour", "size", "noise"], name="crab")
    assert training["status"] == "succeeded"
    assert training["configuration"]["algorithm"] == {
        **{"kind": "chaid", "alpha": 0.05, "alpha_merge": 0.05, "alpha_split": 0.05, "bonferroni": True},
        **{"exhaustive": False, "bins": 10, "binning": "equal_count", "statistic": "pearson"},
        "missing": "own_category",
        "stopping": training["configuration"]["algorithm"]["stopping"],
    }
    stopping = training["configuration"]["algorithm"]["stopping"]
    assert (stopping["min_samples_split"], stopping["min_samples_leaf"]) == (30, 10)

    tree = await workshop.get("/v1/models/crab/tree", candidates="true")
    root = tree["nodes"][0]
    assert (root["split"]["kind"], root["split"]["gain"], root["split"]["score"]) == ("merged", None, None)
    first, second = (tree["nodes"][child] for child in root["children"])
    assert first["test"] == {"attribute": "colour", "op": "in", "values": ["red", "green"]}
    assert second["test"] == {"attribute": "colour", "op": "in", "values": ["blue", None]}
    assert root["shares"] == [0.5, 0.5]
    colour = next(one for one in root["split"]["candidates"] if one["attribute"] == "colour")
    assert colour["groups"] == [["red", "green"], ["blue", None]]
    assert (colour["gain"], colour["score"], colour["degrees_of_freedom"]) == (None, None, [2.0])
    assert colour["adjusted_p_value"] == pytest.approx(7 * colour["p_value"])  # of 4 categories, 2 groups
    assert colour["log10_p_value"] < -10
    assert colour["known"] == 0.75
    below = tree["nodes"][second["children"][1]]
    assert (below["test"]["op"], below["test"]["or_missing"]) == (">", False)

    rules = await workshop.get("/v1/models/crab/rules")
    assert (rules["exclusive"], rules["complete"]) == (True, True)
    texts = [rule["text"] for rule in rules["items"]]
    assert texts[0] == "if colour in {red, green} then p"
    assert texts[-1].startswith("if (colour = blue or missing) and size > ")
    text = await workshop.client.get("/v1/models/crab/tree", params={"format": "text"})
    assert "colour = blue or missing" in text.text
    drawing = await workshop.client.get("/v1/models/crab/tree", params={"format": "svg"})
    assert ElementTree.fromstring(drawing.text).tag.endswith("svg")
    schema = await workshop.get("/v1/models/crab/schema")
    size = next(one for one in schema["attributes"] if one["name"] == "size")
    assert size["cuts"] == sorted(size["cuts"])
    export = await workshop.get("/v1/models/crab/export")
    assert export["tree"] == await workshop.get("/v1/models/crab/tree")
    assert (await workshop.get("/v1/models/crab/pruning"))["items"] == []


async def test_predictions_with_a_missing_value_take_its_own_branch(workshop: Workshop) -> None:
    await workshop.train(TABLE, algorithm=CHAID, attributes=["colour", "size", "noise"], name="crab")
    records = [{"colour": None, "size": 50}, {"colour": "violet", "size": 50}, {"colour": "blue", "size": 50}]
    answer = await workshop.predict("crab", {"records": records, "explain": True})
    missing, unseen, known = answer["predictions"]
    for one in (missing, unseen):
        (path,) = one["paths"]
        assert (path["weight"], path["leaf"]) == (1.0, known["paths"][0]["leaf"])
        assert [test["weight"] for test in path["tests"]] == [1.0, 1.0]
        assert one["probabilities"] == known["probabilities"]
        assert one["bounds"]["p"][1] > 0.8  # it could be red
        assert one["decided"] is False
    assert [test["outcome"] for test in missing["paths"][0]["tests"]] == ["missing", "true"]
    assert [test["outcome"] for test in unseen["paths"][0]["tests"]] == ["unseen", "true"]
    assert (missing["missing"], unseen["unseen"]) == (["colour", "noise"], ["colour"])
    assert missing["explanation"].startswith("r, because (colour = blue or missing) and size > ")
    assert "colour could change it: with colour in {red, green} the answer would be p." in missing["explanation"]
    assert "(colour = blue or missing) (never seen, so as if missing)" in unseen["explanation"]
    many = await workshop.predict("crab", {"records": records * 100})
    assert [one["probabilities"] for one in many["predictions"]] == [known["probabilities"]] * 300


async def test_numbers_are_judged_by_f(workshop: Workshop) -> None:
    training = await workshop.train(TABLE, algorithm=CHAID, target="z", attributes=["colour", "size"], name="crab")
    assert training["configuration"]["algorithm"]["statistic"] is None
    tree = await workshop.get("/v1/models/crab/tree", candidates="true")
    (colour, *_) = tree["nodes"][0]["split"]["candidates"]
    assert colour["groups"] == [["red", "green"], ["blue", None]]
    assert colour["degrees_of_freedom"] == [1.0, N_ROWS - 2]
    assert colour["p_value"] == 0.0
    assert colour["log10_p_value"] < -400


@pytest.mark.parametrize("pruning", [{"kind": "reduced_error"}, {"kind": "confidence"}, {"kind": "cost_complexity"}])
async def test_a_chaid_tree_can_be_pruned_in_every_way(workshop: Workshop, pruning: dict[str, Any]) -> None:
    order: dict[str, Any] = {"algorithm": {**CHAID, "alpha": 0.9, "bonferroni": False}, "pruning": pruning}
    attributes = ["colour", "size", "noise"]
    training = await workshop.train(TABLE, **order, division={"kind": "random"}, attributes=attributes, name="crab")
    assert training["status"] == "succeeded"
    ledger = (await workshop.get("/v1/models/crab/pruning"))["items"]
    assert ledger
    full = await workshop.get("/v1/models/crab/tree", step="full")
    selected = await workshop.get("/v1/models/crab/tree")
    assert selected["n_leaves"] <= full["n_leaves"]


async def test_null_divides_no_group_again(workshop: Workshop) -> None:
    dataset = await workshop.dataset(TABLE)
    order: dict[str, Any] = {"attributes": ["colour"], "algorithm": {**CHAID, "alpha_split": None}}
    training = await workshop.order(dataset, **order)
    assert training["configuration"]["algorithm"]["alpha_split"] is None
    exhaustive = await workshop.order(dataset, algorithm={**CHAID, "exhaustive": True}, attributes=["colour"])
    shown = exhaustive["configuration"]["algorithm"]
    assert (shown["exhaustive"], shown["alpha_merge"], shown["alpha_split"]) == (True, None, None)


@pytest.mark.parametrize(
    ("algorithm", "pointer"),
    [
        ({"criterion": {"kind": "gini"}}, "#/algorithm/criterion"),
        ({"missing": "majority"}, "#/algorithm/missing"),
        ({"alpha": 0}, "#/algorithm/alpha"),
        ({"bins": 1}, "#/algorithm/bins"),
        ({"alpha_merge": 0.01}, "#/algorithm/alpha_split"),
        ({"exhaustive": True, "alpha_merge": 0.1}, "#/algorithm/alpha_merge"),
        ({"stopping": {"max_leaves": 3}}, "#/algorithm/stopping/max_leaves"),
    ],
)
async def test_what_chaid_does_not_take_is_refused(workshop: Workshop, algorithm: Any, pointer: str) -> None:
    dataset = await workshop.dataset(TABLE)
    problem = await workshop.order(dataset, status=422, algorithm={**CHAID, **algorithm})
    assert places(problem) == [pointer]
