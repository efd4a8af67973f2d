import itertools
from typing import Any

import pytest

from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio

COLOURS = ["red", "green", "blue", "white"]
GRADES = ["low", "mid", "high"]
# Complete records on a grid that has points between all thresholds.
GRID = [
    {"size": size / 2, "colour": colour, "grade": grade}
    for size, colour, grade in itertools.product(range(30), COLOURS, GRADES)
]
N_ROWS = 60
TABLE: dict[str, Any] = {
    "size": [float((7 * i) % 13) for i in range(N_ROWS)],
    "colour": [COLOURS[(i * i) % 4] if i % 11 else None for i in range(N_ROWS)],
    "grade": [GRADES[i % 3] if i % 7 else None for i in range(N_ROWS)],
    "y": ["p" if (i * i + i // 3) % 5 < 2 else "q" for i in range(N_ROWS)],
    "z": [float((i * i) % 17) for i in range(N_ROWS)],
}
SCHEMA = {"grade": {"kind": "ordinal", "order": GRADES}, "colour": {"kind": "categorical", "categories": COLOURS}}
ATTRIBUTES = ["size", "colour", "grade"]


def holds(condition: dict[str, Any], record: dict[str, Any]) -> bool:
    value = record[condition["attribute"]]
    match condition["op"]:
        case "in":
            return value in condition["values"]
        case "<=":
            return bool(value <= condition["threshold"])
        case ">":
            return bool(value > condition["threshold"])
        case _:
            return bool(condition["above"] < value <= condition["at_most"])


@pytest.mark.parametrize("step", ["full", "selected", 1])
@pytest.mark.parametrize("kind", ["c45", "cart"])
async def test_every_complete_record_satisfies_exactly_one_rule(workshop: Workshop, kind: str, step: str | int) -> None:
    model_id = await workshop.model(
        TABLE,
        options={"schema": SCHEMA},
        attributes=ATTRIBUTES,
        algorithm={"kind": kind},
        division={"kind": "random"},
        pruning={"kind": "reduced_error"},
    )
    answer = await workshop.get(f"/v1/models/{model_id}/rules", step=step, limit=1000)
    rules = answer["items"]
    assert (answer["exclusive"], answer["complete"], answer["default"], answer["style"]) == (True, True, None, "paths")
    predicted = await workshop.predict(model_id, {"records": GRID, "step": step, "explain": True})
    for record, prediction in zip(GRID, predicted["predictions"], strict=True):
        satisfied = [rule for rule in rules if all(holds(condition, record) for condition in rule["conditions"])]
        assert [(rule["leaf"], rule["label"]) for rule in satisfied] == [
            (path["leaf"], prediction["label"]) for path in prediction["paths"]
        ]
    for rule in rules:
        names = [condition["attribute"] for condition in rule["conditions"]]
        assert len(names) == len(set(names))


async def test_rules_carry_what_their_leaf_knows(workshop: Workshop) -> None:
    model_id = await workshop.model(TABLE, options={"schema": SCHEMA}, attributes=ATTRIBUTES)
    rules = (await workshop.get(f"/v1/models/{model_id}/rules", limit=1000))["items"]
    nodes = {node["id"]: node for node in (await workshop.get(f"/v1/models/{model_id}/tree"))["nodes"]}
    assert sum(rule["support"] for rule in rules) == pytest.approx(1)
    for rule in rules:
        leaf = nodes[rule["leaf"]]
        assert rule["distribution"] == leaf["distribution"]
        assert rule["label"] == leaf["label"]
        assert rule["support"] == pytest.approx(leaf["weight"] / N_ROWS)
        assert rule["confidence"] == pytest.approx(leaf["distribution"][leaf["label"]] / leaf["weight"])
    assert len({rule["id"] for rule in rules}) == len(rules)
    text = (await workshop.client.get(f"/v1/models/{model_id}/rules", params={"format": "text"})).text
    assert text.splitlines() == [rule["text"] for rule in rules]


async def test_conditions_on_one_attribute_are_one_interval(workshop: Workshop) -> None:
    table = {"a": [1, 2, 3, 4, 5, 6], "y": ["p", "p", "q", "q", "p", "p"]}
    model_id = await workshop.model(table)
    rules = (await workshop.get(f"/v1/models/{model_id}/rules"))["items"]
    assert [rule["conditions"] for rule in rules] == [
        [{"attribute": "a", "op": "<=", "threshold": 2.5, "or_missing": False}],
        [{"attribute": "a", "op": "between", "above": 2.5, "at_most": 4.5, "or_missing": False}],
        [{"attribute": "a", "op": ">", "threshold": 4.5, "or_missing": False}],
    ]
    assert [rule["text"] for rule in rules] == ["if a <= 2.5 then p", "if 2.5 < a <= 4.5 then q", "if a > 4.5 then p"]


async def test_groups_are_sets(workshop: Workshop) -> None:
    table = {"a": ["u", "v", "w", "u", "v", "w"], "y": ["p", "q", "p", "p", "q", "p"]}
    rules = (await workshop.get(f"/v1/models/{await workshop.model(table)}/rules"))["items"]
    assert [rule["text"] for rule in rules] == ["if a in {u, w} then p", "if a = v then q"]


async def test_a_branch_that_received_nothing_answers_like_its_parent(workshop: Workshop) -> None:
    table = {"a": ["u", "v", "u"], "y": ["p", "q", "p"]}
    schema = {"a": {"kind": "categorical", "categories": ["u", "v", "empty"]}}
    model_id = await workshop.model(table, options={"schema": schema}, algorithm={"kind": "id3"})
    rules = (await workshop.get(f"/v1/models/{model_id}/rules"))["items"]
    assert (rules[2]["label"], rules[2]["support"], rules[2]["distribution"]) == ("p", 0.0, {"p": 0.0, "q": 0.0})
    assert rules[2]["confidence"] == pytest.approx(2 / 3)
    answer = await workshop.predict(model_id, {"records": [{"a": "empty"}]})
    assert answer["predictions"][0]["probabilities"] == pytest.approx({"p": 2 / 3, "q": 1 / 3})
    assert answer["predictions"][0]["unseen"] == []


async def test_a_single_leaf_is_one_rule_without_conditions(workshop: Workshop) -> None:
    model_id = await workshop.model({"a": [1, 1], "y": ["p", "p"]})
    (rule,) = (await workshop.get(f"/v1/models/{model_id}/rules"))["items"]
    assert (rule["conditions"], rule["text"], rule["support"], rule["confidence"]) == ([], "always p", 1.0, 1.0)


async def test_rules_of_numbers(workshop: Workshop) -> None:
    model_id = await workshop.model(TABLE, options={"schema": SCHEMA}, target="z", attributes=ATTRIBUTES)
    answer = await workshop.get(f"/v1/models/{model_id}/rules", limit=1000)
    assert answer["task"] == "regression"
    assert sum(rule["support"] * rule["mean"] for rule in answer["items"]) == pytest.approx(sum(TABLE["z"]) / N_ROWS)
    assert all(rule["spread"] >= 0 for rule in answer["items"])


async def test_the_same_conditions_have_the_same_id_in_every_model(workshop: Workshop) -> None:
    table = {"a": [1, 2], "y": ["p", "q"]}
    ids = []
    for _ in range(2):
        rules = await workshop.get(f"/v1/models/{await workshop.model(table)}/rules")
        ids.append([rule["id"] for rule in rules["items"]])
    assert ids[0] == ids[1]
