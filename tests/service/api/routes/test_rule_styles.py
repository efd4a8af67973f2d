"""Rules over HTTP in every style and format, and matched with records."""

import json
from typing import Any

import psycopg
import pytest

from core.rules.sql import identifier
from service.usecases.models import read_rules
from tests.core.rules.test_python_source import run
from tests.service.api.routes.test_rules import ATTRIBUTES, COLOURS, GRADES, GRID, SCHEMA, TABLE
from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio

HOLES = [
    {name: None if (place + number) % 3 == 0 else value for number, (name, value) in enumerate(record.items())}
    for place, record in enumerate(GRID[::7])
]
ORDER: dict[str, Any] = {"options": {"schema": SCHEMA}, "attributes": ATTRIBUTES}
KINDS = ["c45", "cart", "numbers", "several"]


async def trained(workshop: Workshop, kind: str = "c45") -> str:
    if kind in ("c45", "cart"):
        return await workshop.model(TABLE, algorithm={"kind": kind}, **ORDER)
    target = "z" if kind == "numbers" else ["z", "size"]
    attributes = ATTRIBUTES if kind == "numbers" else ["colour", "grade"]
    return await workshop.model(TABLE, target=target, **{**ORDER, "attributes": attributes})


async def text(workshop: Workshop, model: str, kind: str, **parameters: Any) -> str:
    answer = await workshop.client.get(f"/v1/models/{model}/rules", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"].partition(";")[0] == kind
    assert "etag" in answer.headers
    return answer.text


def in_postgres(connection: psycopg.Connection[Any], expression: str, records: list[dict[str, Any]]) -> list[Any]:
    types = {"size": "DOUBLE PRECISION"}
    columns = ", ".join(f"{identifier(name)} {types.get(name, 'TEXT')}" for name in ATTRIBUTES)
    connection.execute(f"CREATE TEMPORARY TABLE records (place INTEGER, {columns})".encode())
    rows = [(place, *(record[name] for name in ATTRIBUTES)) for place, record in enumerate(records)]
    with connection.cursor() as cursor:
        cursor.executemany(b"INSERT INTO records VALUES (%s, %s, %s, %s)", rows)
    answers = connection.execute(f"SELECT {expression} FROM records ORDER BY place".encode()).fetchall()
    connection.execute("DROP TABLE records")
    return answers


@pytest.mark.parametrize("kind", KINDS)
async def test_sql_in_postgres_answers_as_predict_does(workshop: Workshop, postgres_server: str, kind: str) -> None:
    model = await trained(workshop, kind)
    case = await text(workshop, model, "application/sql", format="sql", step="full")
    weighted = await text(workshop, model, "application/sql", format="sql_weighted", step="full")
    whole = (await workshop.predict(model, {"records": GRID[::5], "step": "full"}))["predictions"]
    holes = (await workshop.predict(model, {"records": HOLES, "step": "full"}))["predictions"]
    with psycopg.connect(postgres_server, autocommit=True, prepare_threshold=None) as connection:
        assert in_postgres(connection, case, GRID[::5]) == [answers_of(one, "label") for one in whole]
        for found, answer in zip(in_postgres(connection, weighted, HOLES), holes, strict=True):
            assert found == pytest.approx(answers_of(answer, "probabilities"), abs=1e-12)


def answers_of(prediction: dict[str, Any], of_class: str) -> tuple[Any, ...]:
    """The answer as a row of a database: the class or the probabilities, or the numbers."""
    answer = prediction[of_class] if of_class in prediction else prediction["mean"]
    return tuple(answer.values()) if isinstance(answer, dict) else (answer,)


@pytest.mark.parametrize("kind", KINDS)
async def test_the_python_function_answers_as_predict_does(workshop: Workshop, kind: str) -> None:
    model = await trained(workshop, kind)
    answer = run(await text(workshop, model, "text/x-python", format="python"))
    predicted = (await workshop.predict(model, {"records": HOLES + GRID[::9]}))["predictions"]
    for record, expected in zip(HOLES + GRID[::9], predicted, strict=True):
        found = answer(record)
        assert found == {key: expected[key] for key in found}


@pytest.mark.parametrize("kind", KINDS)
async def test_a_markdown_table_has_a_row_for_each_rule(workshop: Workshop, kind: str) -> None:
    model = await trained(workshop, kind)
    rules = (await workshop.get(f"/v1/models/{model}/rules", limit=1000))["items"]
    lines = (await text(workshop, model, "text/markdown", format="markdown")).splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == [rule["text"] for rule in rules]


async def test_rules_tell_how_sure_they_are(workshop: Workshop) -> None:
    table = {"a": ["u"] * 4 + ["v"] * 2, "y": list("pppqqq")}
    model = await workshop.model(table)
    first, second = (await workshop.get(f"/v1/models/{model}/rules"))["items"]
    assert (first["confidence"], first["lift"], second["lift"]) == (0.75, 1.5, 2.0)
    assert first["interval"] == pytest.approx([0.19412, 0.99369], abs=1e-5)
    numbers = await workshop.model({"a": [1, 1, 9], "y": [1, 3, 7]}, name="numbers")
    several, single = (await workshop.get(f"/v1/models/{numbers}/rules"))["items"]
    assert several["interval"] == pytest.approx([2 - 12.7062047, 2 + 12.7062047])
    assert single["interval"] is None


async def test_simplified_rules_are_ordered_and_end_with_a_default(workshop: Workshop) -> None:
    model = await trained(workshop)
    address = f"/v1/models/{model}/rules"
    found = await workshop.get(address, style="simplified", step="full", limit=1000)
    told = ("style", "exclusive", "complete", "ordered", "matching", "next_cursor")
    assert [found[key] for key in told] == ["simplified", False, True, True, None, None]
    assert found["default"] in ("p", "q")
    assert 0 < len(found["items"]) <= len((await workshop.get(address, step="full", limit=1000))["items"])
    lines = (await text(workshop, model, "text/plain", style="simplified", step="full", format="text")).splitlines()
    assert lines == [*(rule["text"] for rule in found["items"]), f"otherwise {found['default']}"]
    page = await workshop.get(address, style="simplified", step="full", limit=1)
    rest = await workshop.get(address, style="simplified", step="full", limit=1000, cursor=page["next_cursor"])
    assert page["items"] + rest["items"] == found["items"]


async def test_simplified_rules_answer_alike_as_json_python_and_sql(workshop: Workshop, postgres_server: str) -> None:
    model, records = await trained(workshop), HOLES + GRID[::9]
    address, parameters = f"/v1/models/{model}/rules", {"style": "simplified", "step": "full"}
    answer = run(await text(workshop, model, "text/x-python", format="python", **parameters))
    case = await text(workshop, model, "application/sql", format="sql", **parameters)
    with psycopg.connect(postgres_server, autocommit=True, prepare_threshold=None) as connection:
        labels = [label for (label,) in in_postgres(connection, case, records)]
    assert [answer(record)["label"] for record in records] == labels
    for record, label in zip(records[::10], labels[::10], strict=True):
        found = await workshop.get(address, matching=json.dumps(record), limit=1000, **parameters)
        deciding = [rule["label"] for rule in found["items"] if rule["match"]["decides"]]
        assert (deciding or [found["default"]]) == [label]
        assert found["matching"]["by_default"] == (deciding == [])


async def test_simplified_rules_are_found_out_once_for_each_step(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []
    original = read_rules.simplified_rules

    def counted(*arguments: Any) -> Any:
        calls.append(1)
        return original(*arguments)

    monkeypatch.setattr(read_rules, "simplified_rules", counted)
    model = await workshop.model(TABLE, pruning={"kind": "confidence"}, **ORDER)
    for step in ("full", "full", "selected", "selected", "full"):
        await workshop.get(f"/v1/models/{model}/rules", style="simplified", step=step, limit=1)
    assert len(calls) == 2


async def test_simplified_rules_outlive_the_dataset(workshop: Workshop) -> None:
    dataset = await workshop.dataset(TABLE, schema=SCHEMA)
    training = await workshop.order(dataset, attributes=ATTRIBUTES)
    await workshop.work()
    await workshop.call("DELETE", f"/v1/datasets/{dataset}", status=204)
    assert (await workshop.get(f"/v1/models/{training['model_id']}/rules", style="simplified"))["items"]


async def test_thresholds_of_the_data_are_told_by_simplified_rules_too(workshop: Workshop) -> None:
    table = {"x": [1, 2, 3, 7, 8, 9], "y": list("pppqqq")}
    model = await workshop.model(table, algorithm={"kind": "c45", "dialect": "release8"})
    for thresholds, number in (("midpoint", 5.0), ("data", 3.0)):
        found = await workshop.get(f"/v1/models/{model}/rules", style="simplified", thresholds=thresholds)
        assert {rule["conditions"][0]["threshold"] for rule in found["items"]} == {number}


async def test_a_tree_too_large_to_simplify_is_refused_with_the_way_out(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_rules, "MOST_WORK", 200)
    model = await trained(workshop)
    problem = await workshop.get(f"/v1/models/{model}/rules", style="simplified", step="full", status=422)
    assert (problem["errors"][0]["parameter"], problem["errors"][0]["hint"]) == (
        "style",
        "use paths, or a smaller tree: step=leaves:3",
    )


async def test_a_record_matches_paths_fully_in_part_or_not(workshop: Workshop) -> None:
    model = await trained(workshop)
    address = f"/v1/models/{model}/rules"
    for record in (GRID[0], HOLES[1], {"colour": "violet"}, {}):
        found = await workshop.get(address, matching=json.dumps(record), limit=1000)
        (predicted,) = (await workshop.predict(model, {"records": [record], "explain": True}))["predictions"]
        weights = {path["leaf"]: path["weight"] for path in predicted["paths"]}
        matches = {rule["leaf"]: rule["match"] for rule in found["items"]}
        assert {leaf: m["weight"] for leaf, m in matches.items() if m["state"] != "none"} == weights
        assert all(m["weight"] == 0.0 for m in matches.values() if m["state"] == "none")
        full = [m for m in matches.values() if m["state"] == "full"]
        assert full == ([{"state": "full", "weight": 1.0, "decides": True}] if len(weights) == 1 else [])
        told = {key: predicted[key] for key in ("missing", "unseen")}
        assert found["matching"] == {**told, "by_default": False}
    assert all(rule["match"] is None for rule in (await workshop.get(address))["items"])


async def test_a_record_is_matched_as_the_model_was_trained(workshop: Workshop) -> None:
    filled = await workshop.model(TABLE, algorithm={"kind": "cart", "missing": "majority"}, **ORDER)
    surrogate = await workshop.model(TABLE, algorithm={"kind": "cart", "missing": "surrogate"}, name="s", **ORDER)
    for model, state in ((filled, "full"), (surrogate, "partial")):
        found = await workshop.get(f"/v1/models/{model}/rules", matching="{}", limit=1000)
        (match,) = [rule["match"] for rule in found["items"] if rule["match"]["state"] != "none"]
        assert match == {"state": state, "weight": 1.0, "decides": True}
        assert found["matching"]["missing"] == ATTRIBUTES


@pytest.mark.parametrize(
    ("matching", "pointer", "words"),
    [
        ('{"size": "big"}', "#/size", "not a number"),
        ('{"colour": 3}', "#/colour", "not text"),
        ('{"sise": 3}', "#/sise", "not an attribute"),
        ('{"size": [1]}', "#/size", "a list"),
        ('{"size": 1, "size": 2}', "#/size", "more than once"),
        ('{"size": NaN}', "#/size", "finite"),
        ("{", None, "is not JSON"),
        ("[]", None, "must be a JSON object"),
    ],
)
async def test_faults_of_the_record_are_named_inside_the_parameter(
    workshop: Workshop, matching: str, pointer: str | None, words: str
) -> None:
    model = await workshop.model({"size": [1, 2], "colour": ["u", "v"], "y": ["p", "q"]})
    problem = await workshop.get(f"/v1/models/{model}/rules", matching=matching, status=422)
    (error,) = problem["errors"]
    assert (error["in"], error["parameter"], error["pointer"]) == ("query", "matching", pointer)
    assert words in error["detail"]
    if "sise" in matching:
        assert error["hint"] == "did you mean size?"


@pytest.mark.parametrize(
    ("parameters", "parameter"),
    [
        ({"format": "sql_weighted", "style": "simplified"}, "format"),
        ({"format": "text", "matching": "{}"}, "format"),
        ({"thresholds": "data", "matching": "{}"}, "thresholds"),
    ],
)
async def test_what_does_not_go_together_is_refused(
    workshop: Workshop, parameters: dict[str, str], parameter: str
) -> None:
    table = {"x": [1, 2, 3, 7, 8, 9], "y": list("pppqqq")}
    model = await workshop.model(table, algorithm={"kind": "c45", "dialect": "release8"})
    problem = await workshop.get(f"/v1/models/{model}/rules", status=422, **parameters)
    assert [(error["in"], error["parameter"]) for error in problem["errors"]] == [("query", parameter)]
    assert problem["errors"][0]["hint"]


@pytest.mark.parametrize("target", ["z", ["z", "size"]])
async def test_simplified_rules_are_for_classes(workshop: Workshop, target: Any) -> None:
    table = {"a": COLOURS * 3, "g": GRADES * 4, "z": list(range(12)), "size": list(range(12))}
    model = await workshop.model(table, target=target, attributes=["a", "g"])
    (error,) = (await workshop.get(f"/v1/models/{model}/rules", style="simplified", status=422))["errors"]
    assert (error["parameter"], error["hint"]) == ("style", "use paths")
