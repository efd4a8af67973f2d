"""Multivariate trees over HTTP: ordered, read, asked, explained and exported."""

import sqlite3
from typing import Any

import pytest

from tests.core.rules.test_python_source import run
from tests.golden_tables import golden_table
from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio

MELONS = golden_table("watermelon_3.0a")
DENSITY, SUGAR = (MELONS.values(name).tolist() for name in ("密度", "含糖率"))
LABELS = [MELONS.schema[3].categories[code] for code in MELONS.values("好瓜")]
TABLE = {"密度": DENSITY, "含糖率": SUGAR, "好瓜": LABELS}
RECORDS = [{"密度": density, "含糖率": sugar} for density, sugar in zip(DENSITY, SUGAR, strict=True)]


async def melon(workshop: Workshop, **options: Any) -> str:
    return await workshop.model(TABLE, target="好瓜", algorithm={"kind": "multivariate", **options})


def weighted(weights: dict[str, float], record: dict[str, float]) -> float:
    return sum(weight * record[name] for name, weight in weights.items())


async def test_the_tree_says_what_is_summed(workshop: Workshop) -> None:
    model = await melon(workshop)
    tree = await workshop.get(f"/v1/models/{model}/tree", candidates="true")
    root, below = tree["nodes"][0], tree["nodes"][1]
    assert tree["n_leaves"] == 3
    assert root["split"]["kind"] == "linear"
    assert set(root["split"]["weights"]) == {"密度", "含糖率"}
    assert below["test"] == {
        "op": "linear",
        "weights": root["split"]["weights"],
        "threshold": root["split"]["threshold"],
        "side": "<=",
    }
    assert root["split"]["candidates"][-1]["weights"] == root["split"]["weights"]
    assert [one["weights"] for one in root["split"]["candidates"][:-1]] == [None, None]
    text = (await workshop.client.get(f"/v1/models/{model}/tree", params={"format": "text"})).text
    assert " 密度 - " in text.splitlines()[0]
    svg = (await workshop.client.get(f"/v1/models/{model}/tree", params={"format": "svg"})).text
    assert "密度" in svg


async def test_the_configuration_is_shown_with_its_defaults_and_bad_ones_are_refused(workshop: Workshop) -> None:
    model = await melon(workshop, max_terms=2)
    shown = (await workshop.get(f"/v1/models/{model}"))["configuration"]["algorithm"]
    assert (shown["kind"], shown["fit"], shown["max_terms"], shown["categorical"]) == (
        "multivariate",
        "oc1",
        2,
        "one_hot",
    )
    dataset = await workshop.dataset(TABLE)
    algorithm = {"kind": "multivariate", "missing": "surrogate"}
    refused = await workshop.order(dataset, target="好瓜", algorithm=algorithm, status=422)
    assert [fault["pointer"] for fault in refused["errors"]] == ["#/algorithm/missing"]
    refused = await workshop.order(dataset, target="密度", algorithm={"kind": "multivariate"}, status=422)
    assert refused["errors"][0]["pointer"] == "#/target"


async def test_rules_are_exclusive_and_complete_and_agree_with_predictions(workshop: Workshop) -> None:
    model = await melon(workshop)
    rules = (await workshop.get(f"/v1/models/{model}/rules"))["items"]
    predictions = (await workshop.predict(model, {"records": RECORDS, "explain": True}))["predictions"]
    assert [one["label"] for one in predictions] == LABELS
    for record, prediction in zip(RECORDS, predictions, strict=True):
        holding = [rule for rule in rules if all(holds(one, record) for one in rule["conditions"])]
        assert [rule["leaf"] for rule in holding] == [prediction["paths"][0]["leaf"]]
        assert " 密度 " in prediction["explanation"]


def holds(condition: dict[str, Any], record: dict[str, float]) -> bool:
    linear = condition["op"] == "linear"
    value = weighted(condition["weights"], record) if linear else record[condition["attribute"]]
    side = condition["side"] if linear else condition["op"]
    if side == "between":
        return bool(condition["above"] < value <= condition["at_most"])
    return bool(value > condition["threshold"] if side == ">" else value <= condition["threshold"])


async def test_a_missing_value_leaves_both_ways_open(workshop: Workshop) -> None:
    model = await melon(workshop)
    order = {"records": [{"密度": 0.5}, RECORDS[0]], "explain": True}
    holes, whole = (await workshop.predict(model, order))["predictions"]
    assert holes["bounds_kind"] == whole["bounds_kind"] == "outer"
    assert not holes["decided"]
    assert whole["decided"]
    assert sum(path["weight"] for path in holes["paths"]) == pytest.approx(1.0)
    first = holes["paths"][0]["tests"][0]
    assert (first["attribute"], first["outcome"]) == ("含糖率", "missing")
    assert "含糖率 is not known" in holes["explanation"]


@pytest.mark.parametrize("media_type", ["application/json", "application/x-ndjson", "text/csv"])
async def test_every_format_says_that_bounds_may_be_too_wide(workshop: Workshop, media_type: str) -> None:
    model = await melon(workshop)
    address = f"/v1/models/{model}/predict"
    answer = await workshop.client.post(address, json={"records": [{"密度": 0.4}]}, headers={"Accept": media_type})
    assert answer.status_code == 200
    assert "outer" in answer.text
    assert "exact" not in answer.text


async def test_sql_and_python_answer_as_predict_does(workshop: Workshop) -> None:
    model = await melon(workshop)
    case, weights, source = [
        (await workshop.client.get(f"/v1/models/{model}/rules", params={"format": name})).text
        for name in ("sql", "sql_weighted", "python")
    ]
    records = [*RECORDS, {"密度": 0.5, "含糖率": None}, {"密度": None, "含糖率": 0.2}]
    answers = (await workshop.predict(model, {"records": records}))["predictions"]
    database = sqlite3.connect(":memory:")
    database.execute('CREATE TABLE records ("密度" REAL, "含糖率" REAL)')
    database.executemany("INSERT INTO records VALUES (?, ?)", [tuple(record.values()) for record in records])
    labels = [label for (label,) in database.execute(f"SELECT {case} FROM records")]
    assert labels[:-2] == LABELS
    shares = database.execute(f"SELECT {weights} FROM records").fetchall()
    predict = run(source)
    for record, share, answer in zip(records, shares, answers, strict=True):
        assert share == pytest.approx(tuple(answer["probabilities"].values()), abs=1e-12)
        assert predict(record)["probabilities"] == pytest.approx(answer["probabilities"], abs=1e-12)


@pytest.mark.parametrize("kind", ["cart", "multivariate", "c45"])
async def test_the_boundary_is_drawn_for_every_family(workshop: Workshop, kind: str) -> None:
    model = await workshop.model(TABLE, target="好瓜", algorithm={"kind": kind})
    answer = await workshop.client.get(f"/v1/models/{model}/boundary", params={"x": "密度", "y": "含糖率"})
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.text.count("<circle") == len(LABELS)
    tree = await workshop.get(f"/v1/models/{model}/tree")
    assert answer.text.count("<polygon") >= tree["n_leaves"]
    headers = {"If-None-Match": answer.headers["etag"]}
    again = await workshop.client.get(
        f"/v1/models/{model}/boundary", params={"x": "密度", "y": "含糖率"}, headers=headers
    )
    assert again.status_code == 304
    cut = await workshop.client.get(f"/v1/models/{model}/boundary", params={"x": "密度", "y": "含糖率", "step": "full"})
    assert cut.status_code == 200


@pytest.mark.parametrize(
    ("asked", "parameter"),
    [
        ({"x": "密", "y": "含糖率"}, "x"),
        ({"x": "密度", "y": "密度"}, "y"),
        ({"x": "密度", "y": "含糖率", "given": "[1]"}, "given"),
        ({"x": "密度", "y": "含糖率", "given": "{"}, "given"),
        ({"x": "密度", "y": "含糖率", "given": '{"密度": 1}'}, "given"),
        ({"x": "密度", "y": "含糖率", "given": '{"nothing": 1}'}, "given"),
        ({"x": "密度"}, "y"),
    ],
)
async def test_what_cannot_be_drawn_is_refused(workshop: Workshop, asked: dict[str, str], parameter: str) -> None:
    model = await workshop.model(TABLE, target="好瓜")
    refused = await workshop.get(f"/v1/models/{model}/boundary", status=422, **asked)
    assert refused["errors"][0]["parameter"] == parameter
