"""A tree whose splits are chosen by tests is read, asked and pruned like any other."""

from typing import Any

import pytest

from tests.service.api.routes.test_pruned_steps import holds, noise
from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio


async def test_a_quest_model_is_read_asked_and_pruned(workshop: Workshop) -> None:
    columns = noise(240)
    model = f"/v1/models/{await workshop.model(columns, algorithm={'kind': 'quest'}, pruning=None)}"
    tree = await workshop.get(f"{model}/tree", candidates="true", step="full")
    root = tree["nodes"][0]["split"]
    assert (root["gain"], root["score"]) == (None, None)
    candidates = {one["attribute"]: one for one in root["candidates"]}
    assert list(candidates) == ["a", "b", "colour"]
    for name, one in candidates.items():
        assert (one["gain"], one["score"], one["n_thresholds"]) == (None, None, None)
        assert len(one["degrees_of_freedom"]) == (1 if name == "colour" else 2)
        assert one["p_value"] == pytest.approx(10 ** one["log10_p_value"])
        assert one["adjusted_p_value"] == pytest.approx(min(1.0, 3 * one["p_value"]))
        assert (one["levene_statistic"] is None) == (one["levene_log10_p_value"] is None) == (name == "colour")
        is_chosen = name == root["attribute"]
        assert (one["threshold"] is not None or one["values"] is not None) == is_chosen
    assert root["attribute"] == min(candidates, key=lambda name: candidates[name]["log10_p_value"])

    rules = await workshop.get(f"{model}/rules", step="full")
    record = {"a": 0.7, "b": 0.2, "colour": "red"}
    (rule,) = [one for one in rules["items"] if all(met(test, record) for test in one["conditions"])]
    body = {"records": [record, {"b": 0.9}], "explain": True, "step": "full"}
    known, unknown = (await workshop.post(f"{model}/predict", body))["predictions"]
    assert known["label"] == rule["label"]
    assert [path["leaf"] for path in known["paths"]] == [rule["leaf"]]
    assert sum(path["weight"] for path in unknown["paths"]) == pytest.approx(1.0)
    for label, (low, high) in unknown["bounds"].items():
        assert low <= unknown["probabilities"][label] <= high

    ledger = (await workshop.get(f"{model}/pruning", limit=1000))["items"]
    assert {entry["method"] for entry in ledger} == {"cost_complexity"}
    shown = await workshop.get(model)
    assert shown["n_leaves"] < len([node for node in tree["nodes"] if not node["children"]])
    pruning = shown["configuration"]["pruning"]
    assert (pruning["choose"], pruning["rule"]) == ("cross_validation", "one_standard_error")
    for picture in ("text", "dot", "svg"):
        assert (await workshop.client.get(f"{model}/tree?format={picture}")).status_code == 200


def met(condition: dict[str, Any], record: dict[str, Any]) -> bool:
    if condition["op"] == "between":
        return condition["above"] < record[condition["attribute"]] <= condition["at_most"]
    return holds(condition, record)


@pytest.mark.parametrize(
    ("algorithm", "pointer"),
    [
        ({"stopping": {"max_leaves": 5}}, "#/algorithm/stopping/max_leaves"),
        ({"stopping": {"min_gain": 0.1}}, "#/algorithm/stopping/min_gain"),
        ({"alpha": 0}, "#/algorithm/alpha"),
        ({"when_insignificant": "guess"}, "#/algorithm/when_insignificant"),
        ({"criterion": {"kind": "gini"}}, "#/algorithm/criterion"),
    ],
)
async def test_what_quest_does_not_have_is_refused(workshop: Workshop, algorithm: dict[str, Any], pointer: str) -> None:
    dataset_id = await workshop.dataset(noise(40))
    problem = await workshop.order(dataset_id, algorithm={"kind": "quest", **algorithm}, status=422)
    assert [error["pointer"] for error in problem["errors"]] == [pointer]


async def test_numbers_that_cannot_be_squared_are_refused(workshop: Workshop) -> None:
    dataset_id = await workshop.dataset({**noise(40), "far": [1e200] + [0.0] * 39})
    (error,) = (await workshop.order(dataset_id, algorithm={"kind": "quest"}, status=422))["errors"]
    assert error["pointer"] == "#/attributes"
    assert '"far" goes up to 1e+200' in error["detail"]
