"""Thresholds as C4.5's programs report them, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.settings import Settings
from tests.service.api.trained import Workshop, workshop_on

pytestmark = pytest.mark.anyio

# The midpoint below a = l is 4.5; 4 is a value of other rows, the largest that is not above.
TABLE: dict[str, Any] = {
    "a": ["l"] * 6 + ["r"] * 6,
    "x": [1, 1, 2, 7, 7, 7, 4, 4, 4, 4, 4, 4],
    "y": ["p", "p", "p", "q", "q", "q", "r", "r", "r", "r", "r", "r"],
}
RELEASE8 = {"kind": "c45", "dialect": "release8"}


@pytest.fixture
async def workshop(settings: Settings, anyio_backend: str) -> AsyncIterator[Workshop]:
    async with workshop_on(settings) as workshop:
        yield workshop


@pytest.fixture
async def model(workshop: Workshop) -> str:
    return f"/v1/models/{await workshop.model(TABLE, algorithm=RELEASE8)}"


async def text(workshop: Workshop, path: str, **parameters: str) -> str:
    answer = await workshop.client.get(path, params=parameters)
    assert answer.status_code == 200
    return answer.text


async def test_a_tree_is_told_with_either_number(workshop: Workshop, model: str) -> None:
    midpoint, data = "|   x <= 4.5: p (p 3)", "|   x <= 4: p (p 3)"
    assert (await text(workshop, f"{model}/tree", format="text")).splitlines()[1] == midpoint
    assert (await text(workshop, f"{model}/tree", format="text", thresholds="midpoint")).splitlines()[1] == midpoint
    assert (await text(workshop, f"{model}/tree", format="text", thresholds="data")).splitlines()[1] == data
    assert "&lt;= 4<" in await text(workshop, f"{model}/tree", format="svg", thresholds="data")
    assert '"<= 4"' in await text(workshop, f"{model}/tree", format="dot", thresholds="data")


async def test_json_differs_in_nothing_but_the_thresholds(workshop: Workshop, model: str) -> None:
    usual = await workshop.get(f"{model}/tree", candidates="true")
    lowered = await workshop.get(f"{model}/tree", candidates="true", thresholds="data")
    assert lowered["nodes"][1]["split"]["threshold"] == 4.0
    assert [one["threshold"] for one in lowered["nodes"][1]["split"]["candidates"]] == [4.0]
    assert [node["test"] and node["test"].get("threshold") for node in lowered["nodes"]] == [None, None, 4.0, 4.0, None]

    def without_thresholds(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: without_thresholds(inner) for key, inner in value.items() if key != "threshold"}
        return [without_thresholds(inner) for inner in value] if isinstance(value, list) else value

    assert usual != lowered
    assert without_thresholds(usual) == without_thresholds(lowered)
    plain = await workshop.get(f"{model}/tree", thresholds="data")
    assert (await workshop.get(f"{model}/pruning/0", thresholds="data"))["nodes"] == plain["nodes"]
    assert (await workshop.get(f"{model}/export", thresholds="data"))["tree"] == plain


async def test_rules_are_told_with_either_number(workshop: Workshop, model: str) -> None:
    rules = (await workshop.get(f"{model}/rules", thresholds="data"))["items"]
    assert rules[0]["text"] == "if a = l and x <= 4 then p"
    assert rules[0]["conditions"][1] == {"attribute": "x", "op": "<=", "threshold": 4.0, "or_missing": False}
    lines = (await text(workshop, f"{model}/rules", format="text", thresholds="data")).splitlines()
    assert lines == [rule["text"] for rule in rules]


async def test_records_are_still_divided_in_the_middle(workshop: Workshop, model: str) -> None:
    await workshop.get(f"{model}/tree", thresholds="data")
    body = {"records": [{"a": "l", "x": 4.4}], "explain": True}
    (answer,) = (await workshop.predict(model.rpartition("/")[2], body))["predictions"]
    assert answer["label"] == "p"
    assert answer["paths"][0]["tests"][1]["test"] == "<= 4.5"


@pytest.mark.parametrize("path", ["/tree", "/rules", "/export", "/pruning/0"])
async def test_other_models_did_not_keep_them_and_say_so(workshop: Workshop, path: str) -> None:
    model = f"/v1/models/{await workshop.model(TABLE)}"
    problem = await workshop.get(model + path, thresholds="data", status=422)
    (error,) = problem["errors"]
    assert (error["in"], error["parameter"]) == ("query", "thresholds")
    assert "release8" in error["hint"]
    await workshop.get(model + path, thresholds="midpoint")


async def test_another_word_is_answered_with_those_there_are(workshop: Workshop, model: str) -> None:
    (error,) = (await workshop.get(f"{model}/tree", thresholds="lowered", status=422))["errors"]
    assert "'midpoint' or 'data'" in error["detail"]
