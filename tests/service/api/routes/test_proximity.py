"""Which rows a committee cannot tell apart."""

from typing import Any

import pytest

from tests.service.api.methods.test_forests import LOOKING, TABLE, forest
from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio


async def test_rows_of_a_page_are_compared_with_each_other(workshop: Workshop) -> None:
    model = await forest(workshop)
    first = await workshop.get(f"{model}/proximity", limit=30)
    assert (first["part"], first["rows"], len(first["items"])) == ("train", 96, 30)
    for place, item in enumerate(first["items"]):
        assert len(item["proximities"]) == 30
        assert item["outlier"] is None
        for other, near in enumerate(item["proximities"]):
            assert 0 <= near <= 1 + 1e-12
            assert near == pytest.approx(first["items"][other]["proximities"][place])
        if all(TABLE[name][item["row"]] is not None for name in LOOKING):
            assert item["proximities"][place] == pytest.approx(1.0)
    rows, cursor = [item["row"] for item in first["items"]], first["next_cursor"]
    while cursor is not None:
        page = await workshop.get(f"{model}/proximity", limit=30, cursor=cursor)
        rows += [item["row"] for item in page["items"]]
        cursor = page["next_cursor"]
    assert len(rows) == len(set(rows)) == 96


async def test_outliers_are_told_where_they_are_asked_for(workshop: Workshop) -> None:
    model = await forest(workshop)
    test = await workshop.get(f"{model}/proximity", part="test", outliers="true", limit=100)
    assert test["rows"] == len(test["items"]) == 48
    apart = [item["outlier"] for item in test["items"]]
    assert min(apart) < 0 < max(apart)


async def test_the_nearest_training_rows_of_a_record_are_shown(workshop: Workshop) -> None:
    model = await forest(workshop)
    row = next(item["row"] for item in (await workshop.get(f"{model}/proximity"))["items"] if item["row"] % 143)
    record = {name: TABLE[name][row] for name in LOOKING}
    body = {"records": [record, {}], "n": 3}
    found, of_nothing = (await workshop.post(f"{model}/neighbours", body))["items"]
    assert [len(one["rows"]) for one in (found, of_nothing)] == [3, 3]
    near = [one["proximity"] for one in found["rows"]]
    assert near == sorted(near, reverse=True)
    assert near[0] == pytest.approx(1.0)
    for one in found["rows"]:
        assert one["record"] == {name: TABLE[name][one["row"]] for name in LOOKING}
        assert one["target"] == {"y": TABLE["y"][one["row"]]}


@pytest.mark.parametrize(
    ("parameters", "parameter"),
    [({"limit": 201}, "limit"), ({"limit": 0}, "limit"), ({"part": "out"}, "part"), ({"cursor": "x"}, "cursor")],
)
async def test_pages_that_cannot_be_are_told(workshop: Workshop, parameters: dict[str, Any], parameter: str) -> None:
    model = await forest(workshop)
    (error,) = (await workshop.get(f"{model}/proximity", **parameters, status=422))["errors"]
    assert error["parameter"] == parameter


async def test_a_part_without_rows_is_told(workshop: Workshop) -> None:
    model = await forest(workshop, division={"kind": "none"})
    problem = await workshop.get(f"{model}/proximity", part="test", status=422)
    assert problem["errors"][0]["hint"] == "use train"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"records": []}, "#/records"),
        ({"records": [{}], "n": 0}, "#/n"),
        ({"records": [{}], "k": 3}, "#/k"),
        ({"records": [{"aa": 1}]}, "#/records/0/aa"),
        ({"records": [{}], "missing": "surrogate"}, "#/missing"),
    ],
)
async def test_bodies_that_cannot_be_are_told(workshop: Workshop, body: dict[str, Any], pointer: str) -> None:
    model = await forest(workshop)
    assert places(await workshop.post(f"{model}/neighbours", body, status=422)) == [pointer]


async def test_a_single_tree_has_no_proximity(workshop: Workshop) -> None:
    model = f"/v1/models/{await workshop.model(TABLE, attributes=LOOKING)}"
    for problem in (
        await workshop.get(f"{model}/proximity", status=409),
        await workshop.post(f"{model}/neighbours", {"records": [{}]}, status=409),
    ):
        assert problem["type"] == "/problems/not_for_this_model"
        assert "random_forest" in problem["detail"]
