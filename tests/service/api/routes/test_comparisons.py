"""The same records under several steps, versions and ways to treat missing values."""

import csv
from pathlib import Path
from typing import Any

import pytest

from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio

MELONS = Path(__file__).parents[4] / "docs" / "examples" / "watermelons.csv"
ORDER = {
    "target": "好瓜",
    "algorithm": {"kind": "c45"},
    "division": {"kind": "random", "train": 0.7, "validation": 0.3, "test": 0},
    "pruning": {"kind": "reduced_error"},
    "seed": 22,
}
STEPS = [{"name": "before", "step": "full"}, {"name": "after"}]


def melons() -> dict[str, Any]:
    with MELONS.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: [row[name] or None for row in rows] for name in rows[0] if name != "编号"}


@pytest.fixture
async def melon(workshop: Workshop) -> str:
    return await workshop.model(melons(), name="melon", **ORDER)


async def compared(workshop: Workshop, model: str, body: Any, *, status: int = 200) -> Any:
    return await workshop.post(f"/v1/models/{model}/compare", body, status=status)


async def test_a_cut_between_two_steps(workshop: Workshop, melon: str) -> None:
    records = [{"纹理": "清晰", "根蒂": "硬挺"}, {"纹理": "模糊"}, {"纹理": "清晰", "根蒂": "蜷缩"}]
    answer = await compared(workshop, "melon", {"records": records, "variants": STEPS})
    assert answer["task"] == "classification"
    assert [(one["name"], one["model"]["step"], one["missing"], one["fills"]) for one in answer["variants"]] == [
        ("before", 0, "weighted", False), ("after", 3, "weighted", False),
    ]  # fmt: skip
    assert (answer["n_records"], answer["n_same"]) == (3, 2)
    assert answer["pairs"] == [{"first": 0, "second": 1, "n_different": 1}]
    parted, same, figures = answer["records"]
    assert [one["label"] for one in parted["answers"]] == ["否", "是"]
    assert parted["reasons"] == [
        {
            "variant": 1,
            "kind": "cut",
            "text": 'After 纹理 = 清晰 "before" asks for 根蒂, where "after" answers: '
            "step 1 of its pruning cut node 1.",
            "weight": 1.0,
            "conditions": [{"attribute": "纹理", "op": "in", "values": ["清晰"]}],
            "first_node": 1,
            "second_node": 1,
            "attribute": "根蒂",
            "cut_variant": 1,
            "step": 1,
        }
    ]
    assert (parted["same"], same["same"], figures["same"]) == (False, True, True)
    assert same["reasons"] == []
    assert [reason["kind"] for reason in figures["reasons"]] == ["cut"]  # the same label with other probabilities


async def test_the_answers_are_those_of_a_prediction(workshop: Workshop, melon: str) -> None:
    table = melons()
    columns = {name: values for name, values in table.items() if name != "好瓜"}
    variants = [*STEPS, {"missing": "last_node"}, {"missing": "majority_branch", "step": "full"}]
    answer = await compared(workshop, melon, {"columns": columns, "variants": variants})
    wanted = ("label", "probabilities", "decided")
    for place, variant in enumerate(variants):
        asked = {key: value for key, value in variant.items() if key != "name"}
        predicted = await workshop.predict(melon, {"columns": columns, **asked})
        shown = [{key: one[key] for key in wanted} for one in predicted["predictions"]]
        assert [record["answers"][place] for record in answer["records"]] == shown
        assert answer["variants"][place]["model"] == predicted["model"]
    for pair in answer["pairs"]:
        labels = [
            [record["answers"][pair[side]]["label"] for record in answer["records"]] for side in ("first", "second")
        ]
        assert pair["n_different"] == sum(one != other for one, other in zip(*labels, strict=True))
    for record in answer["records"]:
        assert record["same"] == (len({one["label"] for one in record["answers"]}) == 1)
        first = record["answers"][0]["probabilities"]
        others = {n for n, one in enumerate(record["answers"]) if one["probabilities"] != pytest.approx(first)}
        assert {reason["variant"] for reason in record["reasons"]} == others


async def test_a_missing_value_is_treated_differently(workshop: Workshop, melon: str) -> None:
    variants = [{"name": "every branch"}, {"name": "stop", "missing": "last_node"}, {"missing": "majority_branch"}]
    answer = await compared(workshop, melon, {"records": [{"敲声": "浊响"}], "variants": variants})
    (record,) = answer["records"]
    assert answer["variants"][2]["name"] == "melon@1, step 3, majority_branch"
    stop, main = record["reasons"]
    assert (stop["kind"], stop["attribute"], stop["first_node"], stop["second_node"]) == ("missing", "纹理", 0, 0)
    assert stop["text"] == (
        '纹理 is asked for and not known: "every branch" goes down every branch by its weight, and "stop" answers from '
        "there."
    )
    assert main["kind"] == "missing"
    assert main["text"].endswith('and "melon@1, step 3, majority_branch" takes the main branch.')


async def test_filled_values_are_told_from_weighted_ones(workshop: Workshop) -> None:
    algorithm = {"kind": "cart", "missing": "majority"}
    model = await workshop.model(
        melons(), name="filled", **{**ORDER, "algorithm": algorithm, "pruning": {"kind": "none"}}
    )
    variants = [{"name": "filled"}, {"name": "weighted", "missing": "weighted"}]
    answer = await compared(workshop, model, {"records": [{"敲声": "浊响"}], "variants": variants})
    assert [one["fills"] for one in answer["variants"]] == [True, False]
    (reason,) = answer["records"][0]["reasons"]
    assert reason["text"].endswith(
        'not known: "filled" fills it in, and "weighted" goes down every branch by its weight.'
    )


NUMBERS = {"x": [1, 2, 3, 4], "z": ["u", "v", "u", "v"], "y": [1.0, 1.0, 5.0, 5.0]}


async def test_versions_that_ask_different_things(workshop: Workshop) -> None:
    await workshop.model(NUMBERS, name="n")
    await workshop.model({**NUMBERS, "y": [1.0, 5.0, 1.0, 5.0]}, name="n")
    await workshop.model({**NUMBERS, "y": [2.0, 2.0, 5.0, 5.0]}, name="n")
    variants = [{"model": "n@1"}, {"model": "n@2"}, {"model": "n@3"}]
    answer = await compared(workshop, "n", {"records": [{"x": 1, "z": "v"}], "variants": variants})
    assert answer["task"] == "regression"
    (record,) = answer["records"]
    assert [one["mean"] for one in record["answers"]] == [1.0, 5.0, 2.0]
    test, figures = record["reasons"]
    assert test["kind"] == "test"
    assert test["first_test"] == {"attribute": "x", "op": "<=", "threshold": 2.5, "or_missing": False}
    assert test["second_test"] == {"attribute": "z", "op": "in", "values": ["v"]}
    assert test["text"] == '"n@1, step 0" goes on with x <= 2.5, and "n@2, step 0" goes on with z = v.'
    assert (figures["kind"], figures["text"]) == ("figures", "After x <= 2.5 both answer, from other training samples.")
    assert [pair["n_different"] for pair in answer["pairs"]] == [1, 1, 1]


async def test_branches_that_weigh_otherwise(workshop: Workshop) -> None:
    await workshop.model(NUMBERS, name="n")
    heavier = {"x": [1, 2, 3, 4, 1], "z": ["u"] * 5, "y": [1.0, 1.0, 5.0, 5.0, 1.0]}
    await workshop.model(heavier, name="n")
    variants = [{"model": "n@1"}, {"model": "n@2"}]
    answer = await compared(workshop, "n@1", {"records": [{}], "variants": variants})
    (reason,) = answer["records"][0]["reasons"]
    assert (reason["kind"], reason["attribute"]) == ("shares", "x")
    assert reason["text"] == "x is asked for and not known, and the training data divides otherwise."


async def test_costs_alone_change_a_label(workshop: Workshop) -> None:
    table = {"x": [1, 1, 1, 1, 1], "y": ["ill", "well", "well", "well", "well"]}
    await workshop.model(table, name="fever")
    await workshop.model(table, name="fever", misclassification_costs={"ill": {"well": 10.0}})
    variants = [{"model": "fever@1"}, {"model": "fever@2"}]
    answer = await compared(workshop, "fever", {"records": [{"x": 1}], "variants": variants})
    assert [one["label"] for one in answer["records"][0]["answers"]] == ["well", "ill"]
    (reason,) = answer["records"][0]["reasons"]
    assert reason["kind"] == "costs"
    assert reason["text"] == "Both come to the same figures, but wrong answers have other costs."


async def test_several_targets(workshop: Workshop) -> None:
    table = {**NUMBERS, "w": [2.0, 2.0, 3.0, 3.0]}
    model = await workshop.model(table, name="both", target=["y", "w"])
    variants = [{}, {"missing": "last_node"}]
    answer = await compared(workshop, model, {"records": [{"x": 1}, {}], "variants": variants})
    assert answer["task"] == "multi_output_regression"
    assert answer["records"][0]["answers"][0]["mean"] == {"y": 1.0, "w": 2.0}
    assert [record["same"] for record in answer["records"]] == [True, True]


@pytest.mark.parametrize(
    ("body", "status", "pointers"),
    [
        ({"records": [{}], "variants": [{}]}, 422, ["#/variants"]),
        ({"records": [{}], "variants": [{}] * 11}, 422, ["#/variants"]),
        ({"variants": [{}, {}]}, 422, ["#"]),
        ({"records": [{}], "variants": [{}, {"step": "some"}]}, 422, ["#/variants/1/step"]),
        ({"records": [{}], "variants": [{}, {"step": 99}]}, 404, ["#/variants/1/step"]),
        ({"records": [{}], "variants": [{"missing": "surrogate"}, {}]}, 422, ["#/variants/0/missing"]),
        ({"records": [{}], "variants": [{}, {"model": "nobody"}]}, 404, ["#/variants/1/model"]),
        ({"records": [{}], "variants": [{}, {"model": "n"}]}, 422, ["#/variants/1/model"]),
        ({"records": [{}], "variants": [{}, {"stepp": 1}]}, 422, ["#/variants/1/stepp"]),
    ],
)
async def test_what_does_not_fit_is_told_where(
    workshop: Workshop, melon: str, body: dict[str, Any], status: int, pointers: list[str]
) -> None:
    await workshop.model(NUMBERS, name="n")
    problem = await compared(workshop, melon, body, status=status)
    assert places(problem) == pointers


async def test_records_must_fit_every_variant_and_faults_say_which_they_do_not_fit(workshop: Workshop) -> None:
    await workshop.model(NUMBERS, name="n")
    await workshop.model({"x": NUMBERS["x"], "y": NUMBERS["y"]}, name="n")
    body = {"records": [{"x": 1, "z": "u"}, {"x": "one"}], "variants": [{"model": "n@1"}, {"model": "n@2"}]}
    problem = await compared(workshop, "n", body, status=422)
    assert problem["type"] == "/problems/records_do_not_fit"
    assert [(error["pointer"], error["detail"]) for error in problem["errors"]] == [
        ("#/records/1/x", '"one" is not a number, and x is numeric (n@1, step 0)'),
        ("#/records/0/z", 'not an attribute of this model: "z" (n@2, step 0)'),
        ("#/records/1/x", '"one" is not a number, and x is numeric (n@2, step 0)'),
    ]
    fitting = {**body, "records": body["records"][:1], "ignore_unknown": True}
    assert (await compared(workshop, "n", fitting))["n_same"] == 1
