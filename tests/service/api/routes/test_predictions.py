import itertools
import json
import random
from typing import Any

import pytest
from pydantic import TypeAdapter

from service.api.routes import predictions
from service.api.schemas.predictions import Predictions
from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio

TABLE: dict[str, Any] = {
    "size": [1, 2, 3, 4, 5, 6, 7, 8],
    "colour": ["red", "red", "green", "green", "red", "green", "red", "green"],
    "ripe": [True, True, True, False, False, False, True, False],
    "note": ["a", "b", "c", "d", "e", "f", "g", "h"],
    "y": ["p", "p", "q", "q", "p", "p", "q", "q"],
}
SCHEMA = {"note": {"kind": "ignore"}}


@pytest.fixture
async def model(workshop: Workshop) -> str:
    return await workshop.model(TABLE, options={"schema": SCHEMA}, name="melon")


@pytest.fixture
async def numbers(workshop: Workshop) -> str:
    table = {"x": [1, 2, 3, 4], "colour": ["red", "red", "blue", "red"], "y": [1.0, 1.0, 5.0, 5.0]}
    return await workshop.model(table, name="numbers")


async def test_an_answer_has_everything(workshop: Workshop, model: str) -> None:
    answer = await workshop.predict(model, {"records": [{"size": 1, "colour": "red", "ripe": True}]})
    assert set(answer) == {"model", "task", "predictions"}
    assert set(answer["model"]) == {"id", "name", "version", "step", "digest"}
    assert answer["predictions"] == [
        {
            "label": "p",
            "probabilities": {"p": 1.0, "q": 0.0},
            "decided": True,
            "bounds": {"p": [1.0, 1.0], "q": [0.0, 0.0]},
            "bounds_kind": "exact",
            "missing": [],
            "unseen": [],
            "explanation": None,
            "paths": None,
        }
    ]


async def test_left_out_and_null_are_missing(workshop: Workshop, model: str) -> None:
    body = {"records": [{"size": None, "colour": None, "ripe": None}, {}], "explain": True}
    both = (await workshop.predict(model, body))["predictions"]
    assert both[0] == both[1]
    assert both[0]["missing"] == ["size", "colour", "ripe"]


async def test_the_sum_can_be_done_by_hand_to_the_last_digit(workshop: Workshop, model: str) -> None:
    records = [{}, {"size": 4}, {"colour": "red"}, {"size": 7, "colour": "green"}]
    nodes = {node["id"]: node for node in (await workshop.get(f"/v1/models/{model}/tree"))["nodes"]}
    for prediction in (await workshop.predict(model, {"records": records, "explain": True}))["predictions"]:
        assert sum(path["weight"] for path in prediction["paths"]) == pytest.approx(1)
        for label, probability in prediction["probabilities"].items():
            by_hand = 0.0
            for path in prediction["paths"]:
                by_hand += path["weight"] * path["probabilities"][label]
            assert probability == by_hand
        for path in prediction["paths"]:
            product = 1.0
            for test in path["tests"]:
                product *= test["weight"]
                assert (test["outcome"] == "missing") == (test["attribute"] in prediction["missing"])
            assert path["weight"] == product
            assert nodes[path["leaf"]]["children"] == []
            assert nodes[path["leaf"]]["label"] == path["label"]


async def test_the_sum_of_numbers_can_be_done_by_hand_to_the_last_digit(workshop: Workshop) -> None:
    chance = random.Random(5)
    rows = [(chance.random(), chance.choice("abc"), chance.random()) for _ in range(60)]
    table = {"x": [x for x, _, _ in rows], "c": [c for _, c, _ in rows], "y": [y + x for x, _, y in rows]}
    model = await workshop.model(table, algorithm={"kind": "cart"}, pruning={"kind": "none"})
    records = [{}, *({"x": x} for x in table["x"]), *({"c": c} for c in "abcd")]
    predictions = (await workshop.predict(model, {"records": records, "explain": True}))["predictions"]
    assert max(len(prediction["paths"]) for prediction in predictions) > 20
    for prediction in predictions:
        by_hand = 0.0
        for path in prediction["paths"]:
            product = 1.0
            for test in path["tests"]:
                product *= test["weight"]
            assert path["weight"] == product
            by_hand += path["weight"] * path["mean"]
        assert prediction["mean"] == by_hand


async def test_explain_changes_nothing_but_the_paths_and_the_sentences(workshop: Workshop, model: str) -> None:
    records = [{}, {"size": 4}, {"colour": "pink"}]
    plain = await workshop.predict(model, {"records": records})
    explained = await workshop.predict(model, {"records": records, "explain": True})
    for prediction in explained["predictions"]:
        assert prediction["paths"]
        assert prediction["explanation"]
        prediction["paths"] = prediction["explanation"] = None
    assert explained == plain


async def test_both_layouts_give_the_same_answers(workshop: Workshop, model: str) -> None:
    records: list[dict[str, Any]] = [
        {"size": 1, "colour": "red"},
        {"size": None, "colour": "pink"},
        {"size": 8.5, "colour": None},
    ]
    columns = {name: [record[name] for record in records] for name in ("size", "colour")}
    by_records = await workshop.predict(model, {"records": records, "explain": True})
    assert await workshop.predict(model, {"columns": columns, "explain": True}) == by_records


@pytest.mark.parametrize("body", [{"records": []}, {"columns": {}}, {"columns": {"size": []}}])
async def test_nothing_asked_is_nothing_answered(workshop: Workshop, model: str, body: dict[str, Any]) -> None:
    assert (await workshop.predict(model, body))["predictions"] == []


async def test_two_thousand_records(workshop: Workshop, model: str) -> None:
    records = [{"size": i / 100, "colour": ("red", None, "green")[i % 3]} for i in range(2_000)]
    many = (await workshop.predict(model, {"records": records, "explain": True}))["predictions"]
    assert len(many) == 2_000
    for i in (0, 1, 777, 1_999):
        alone = await workshop.predict(model, {"records": [records[i]], "explain": True})
        assert alone["predictions"] == [many[i]]


@pytest.mark.parametrize("layout", ["records", "columns"])
@pytest.mark.parametrize("n_records", [1, 40, 300])
async def test_every_way_of_reading_gives_the_same_answer(
    workshop: Workshop, model: str, monkeypatch: pytest.MonkeyPatch, layout: str, n_records: int
) -> None:
    records = [
        {"size": i / 20, "colour": ("red", None, "pink", "green")[i % 4], "ripe": "true"} for i in range(n_records)
    ]
    names = ("size", "colour", "ripe")
    table = records if layout == "records" else {name: [record[name] for record in records] for name in names}
    # What nobody reads quickly: a list in a column that the model does not use.
    unusual = {"note": [[]] * n_records}
    strictly = [{**record, "note": []} for record in records] if layout == "records" else {**table, **unusual}
    answers = []
    for is_ready, few_bytes, inline_bytes, body in (
        (False, 4_096, 65_536, {layout: table}),
        (False, 0, 0, {layout: table}),
        (True, 0, 1_000_000, {layout: table}),
        (True, 0, 0, {layout: table}),
        (True, 4_096, 65_536, {layout: strictly}),
    ):
        monkeypatch.setattr(predictions, "compiled_code_is_ready", lambda _, is_ready=is_ready: is_ready)
        monkeypatch.setattr(predictions, "FEW_BYTES", few_bytes)
        monkeypatch.setattr(predictions, "INLINE_BYTES", inline_bytes)
        answer = await workshop.predict(model, {**body, "explain": True, "step": "full"})
        answers.append(answer["predictions"][:n_records])
    assert len(answers[0]) == n_records
    assert all(answer == answers[0] for answer in answers)


OF_MANY_TREES = ("votes", "contributions", "typical_path")  # which are left out where there is a single one


async def test_answers_are_those_of_the_document(workshop: Workshop, model: str, numbers: str) -> None:
    several = await workshop.model({"x": [1, 2, 3, 4], "y": [1, 1, 5, 5], "z": [0, 0, 2, 2]}, target=["y", "z"])
    shape: TypeAdapter[Any] = TypeAdapter(Predictions)
    for name, own in (
        (model, ["label", "probabilities"]),
        (numbers, ["mean", "spread", "count"]),
        (several, ["mean", "spread", "count"]),
    ):
        body = {"records": [{}, {"x": 1}, {"size": 1, "colour": "red", "ripe": True}], "ignore_unknown": True}
        every = [*own, "decided", "bounds", "missing", "unseen", "explanation", "leaves", "paths"]
        answer = await workshop.predict(name, {**body, "fields": every})
        assert list(answer["predictions"][0]) == [*every[:-5], "bounds_kind", *every[-5:]]
        for asked in ({"fields": every}, {"fields": every, "explain": True}):
            answer = await workshop.predict(name, {**body, **asked})
            for prediction in answer["predictions"]:
                assert not set(OF_MANY_TREES) & set(prediction)
                prediction |= {"contributions": None, "typical_path": None}
                prediction |= {"votes": {}} if "label" in own else {}
            assert shape.validate_json(json.dumps(answer), strict=True)


@pytest.mark.parametrize(
    ("fields", "keys"),
    [
        (["label"], ["label"]),
        (["probabilities", "label", "label"], ["label", "probabilities"]),
        (["missing"], ["missing"]),
        (["unseen", "decided"], ["decided", "unseen"]),
        (["bounds"], ["bounds", "bounds_kind"]),
        (["leaves"], ["leaves"]),
        (["explanation"], ["explanation"]),
        (["paths"], ["paths"]),
    ],
)
async def test_a_request_may_ask_for_parts_of_an_answer(
    workshop: Workshop, model: str, fields: list[str], keys: list[str]
) -> None:
    records = [{"size": 1, "colour": "red", "ripe": True}, {}, {"colour": "pink"}]
    whole = (await workshop.predict(model, {"records": records, "explain": True}))["predictions"]
    parts = (await workshop.predict(model, {"records": records, "fields": fields}))["predictions"]
    for prediction, part in zip(whole, parts, strict=True):
        prediction["leaves"] = [{"leaf": path["leaf"], "weight": path["weight"]} for path in prediction["paths"]]
        assert part == {key: prediction[key] for key in keys}
        assert list(part) == keys


async def test_explain_adds_the_reasons_to_the_parts_asked_for(workshop: Workshop, model: str) -> None:
    (part,) = (await workshop.predict(model, {"records": [{}], "fields": ["label"], "explain": True}))["predictions"]
    assert set(part) == {"label", "explanation", "paths"}
    assert len(part["paths"]) > 1


async def test_numbers_have_other_parts_than_classes(workshop: Workshop, model: str, numbers: str) -> None:
    (part,) = (await workshop.predict(numbers, {"records": [{"x": 4}], "fields": ["count", "mean"]}))["predictions"]
    assert part == {"mean": 5.0, "count": 2.0}
    problem = await workshop.predict(
        numbers, {"records": [{}], "fields": ["mean", "label", "probabilities"]}, status=422
    )
    assert places(problem) == ["#/fields/1", "#/fields/2"]
    assert problem["errors"][0]["detail"] == "a regression model has no label"
    assert problem["errors"][0]["hint"].startswith("it has mean, spread, count, decided")
    assert places(await workshop.predict(model, {"records": [{}], "fields": ["mean"]}, status=422)) == ["#/fields/0"]
    assert places(await workshop.predict(model, {"records": [{}], "fields": ["all"]}, status=422)) == ["#/fields/0"]
    assert places(await workshop.predict(model, {"records": [{}], "fields": []}, status=422)) == ["#/fields"]


async def test_a_category_never_seen_is_routed_like_a_missing_value(workshop: Workshop, model: str) -> None:
    body = {"records": [{"size": 4, "ripe": True, "colour": value} for value in ("pink", None)], "explain": True}
    unseen, missing = (await workshop.predict(model, body))["predictions"]
    assert (unseen["unseen"], unseen["missing"]) == (["colour"], [])
    assert (missing["unseen"], missing["missing"]) == ([], ["colour"])
    for key in ("label", "probabilities", "decided", "bounds"):
        assert unseen[key] == missing[key]
    outcomes = {test["outcome"] for path in unseen["paths"] for test in path["tests"] if test["attribute"] == "colour"}
    assert outcomes <= {"unseen"}


async def test_the_target_and_unused_columns_may_come_along(workshop: Workshop, model: str) -> None:
    plain = await workshop.predict(model, {"records": [{"size": 1}]})
    for extra in ({"y": "p"}, {"note": "z"}, {"y": None, "note": 3}):
        assert await workshop.predict(model, {"records": [{"size": 1, **extra}]}) == plain


async def test_unknown_attributes_are_refused_with_a_hint(workshop: Workshop, model: str) -> None:
    problem = await workshop.predict(model, {"records": [{"size": 1}, {"sise": 1, "a/b": 2}]}, status=422)
    assert problem["type"] == "/problems/records_do_not_fit"
    assert places(problem) == ["#/records/1/sise", "#/records/1/a~1b"]
    assert problem["errors"][0]["hint"] == "did you mean size?"
    assert "ignore_unknown" in problem["errors"][1]["hint"]
    problem = await workshop.predict(model, {"columns": {"size": [1], "sise": [1]}}, status=422)
    assert places(problem) == ["#/columns/sise"]


async def test_unknown_attributes_can_be_dropped(workshop: Workshop, model: str) -> None:
    plain = await workshop.predict(model, {"records": [{"size": 1}]})
    body = {"records": [{"size": 1, "sise": 9}], "ignore_unknown": True}
    assert await workshop.predict(model, body) == plain
    body = {"columns": {"size": [1], "sise": ["x"]}, "ignore_unknown": True}
    assert await workshop.predict(model, body) == plain


@pytest.mark.parametrize(
    ("record", "pointer"),
    [
        ({"size": "1"}, "#/records/0/size"),
        ({"size": True}, "#/records/0/size"),
        ({"colour": 3}, "#/records/0/colour"),
        ({"colour": True}, "#/records/0/colour"),
    ],
)
async def test_a_value_of_the_wrong_type_is_named(
    workshop: Workshop, model: str, record: dict[str, Any], pointer: str
) -> None:
    problem = await workshop.predict(model, {"records": [record]}, status=422)
    assert (problem["type"], places(problem)) == ("/problems/records_do_not_fit", [pointer])
    ((name, value),) = record.items()
    problem = await workshop.predict(model, {"columns": {name: [None, value]}}, status=422)
    assert places(problem) == [f"#/columns/{name}/1"]


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["#"]),
        ({"records": [{}], "columns": {}}, ["#"]),
        ({"records": {}}, ["#/records"]),
        ({"records": [1]}, ["#/records/0"]),
        ({"records": [{"size": [1]}]}, ["#/records/0/size"]),
        ({"records": [{"size": {"a": 1}}]}, ["#/records/0/size"]),
        ({"columns": {"size": 1}}, ["#/columns/size"]),
        ({"columns": {"size": [1, 2], "colour": ["red"]}}, ["#/columns/colour"]),
        ({"records": [{}], "missing": "guess"}, ["#/missing"]),
        ({"records": [{}], "explain": "yes"}, ["#/explain"]),
        ({"records": [{}], "ignore_unknown": 1}, ["#/ignore_unknown"]),
        ({"records": [{}], "recrods": []}, ["#/recrods"]),
        ({"records": [{}], "step": []}, ["#/step"]),
        ([], ["#"]),
        ("text", ["#"]),
    ],
)
async def test_a_body_that_does_not_fit_is_told_where(
    workshop: Workshop, model: str, body: Any, pointers: list[str]
) -> None:
    assert places(await workshop.predict(model, body, status=422)) == pointers


async def test_numbers_that_json_does_not_have_are_refused(workshop: Workshop, model: str) -> None:
    for value in ("NaN", "Infinity", "-Infinity", "1e999"):
        answer = await workshop.client.post(
            f"/v1/models/{model}/predict",
            content=f'{{"records": [{{"size": {value}}}]}}',
            headers={"Content-Type": "application/json"},
        )
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["pointer"] == "#/records/0/size"


async def test_a_hundred_faults_are_enough(workshop: Workshop, model: str) -> None:
    records = [{"size": "x", "unknown": 1} for _ in range(500)]
    problem = await workshop.predict(model, {"records": records}, status=422)
    assert len(problem["errors"]) == 100


async def test_other_ways_with_missing_values(workshop: Workshop) -> None:
    # Three of four known values go to the first branch.
    table = {"a": ["u", "u", "u", "v"], "b": [1, 2, 3, 4], "y": ["p", "p", "q", "q"]}
    model = await workshop.model(table, algorithm={"kind": "id3"}, attributes=["a"])
    asked = {"records": [{}], "explain": True}
    answers = {}
    for policy in ("weighted", "majority_branch", "last_node"):
        (answers[policy],) = (await workshop.predict(model, {**asked, "missing": policy}))["predictions"]
    (default,) = (await workshop.predict(model, asked))["predictions"]
    assert default == answers["weighted"]
    assert answers["weighted"]["probabilities"] == pytest.approx({"p": 0.5, "q": 0.5})
    assert [path["weight"] for path in answers["weighted"]["paths"]] == [0.75, 0.25]
    assert answers["majority_branch"]["probabilities"] == pytest.approx({"p": 2 / 3, "q": 1 / 3})
    (only,) = answers["majority_branch"]["paths"]
    assert (only["weight"], only["tests"][0]["outcome"], only["tests"][0]["weight"]) == (1.0, "missing", 1.0)
    assert answers["last_node"]["probabilities"] == {"p": 0.5, "q": 0.5}
    (only,) = answers["last_node"]["paths"]
    assert (only["leaf"], only["weight"], only["tests"]) == (0, 1.0, [])
    for answer in answers.values():
        assert answer["bounds"]["p"] == pytest.approx([0.0, 2 / 3])
        assert answer["decided"] is False


async def test_every_policy_agrees_on_complete_records(workshop: Workshop, model: str) -> None:
    records = [{"size": s, "colour": c, "ripe": r} for s in range(9) for c in ("red", "green") for r in (True, False)]
    answers = [
        await workshop.predict(model, {"records": records, "missing": policy, "explain": True})
        for policy in ("weighted", "majority_branch", "last_node")
    ]
    assert answers[0] == answers[1] == answers[2]


async def test_bounds_are_those_of_all_completions(workshop: Workshop, model: str) -> None:
    values: dict[str, list[Any]] = {
        "size": [n / 2 for n in range(18)],
        "colour": ["red", "green"],
        "ripe": [True, False],
    }
    for known in ({}, {"size": 4}, {"size": 7}, {"colour": "red"}, {"ripe": False}, {"colour": "green", "ripe": True}):
        unknown = [name for name in values if name not in known]
        filled = itertools.product(*(values[name] for name in unknown))
        completions = [{**known, **dict(zip(unknown, one, strict=True))} for one in filled]
        answers = (await workshop.predict(model, {"records": completions}))["predictions"]
        (asked,) = (await workshop.predict(model, {"records": [known]}))["predictions"]
        for label in ("p", "q"):
            reached = [answer["probabilities"][label] for answer in answers]
            assert asked["bounds"][label] == [min(reached), max(reached)]
        assert asked["decided"] == ({answer["label"] for answer in answers} == {asked["label"]})


async def test_numbers_are_answered_with_their_spread(workshop: Workshop, numbers: str) -> None:
    answer = await workshop.predict(numbers, {"records": [{"x": 3.7}, {"colour": "red"}], "explain": True})
    assert answer["task"] == "regression"
    known, unknown = answer["predictions"]
    assert set(known) == {
        "mean", "spread", "count", "decided", "bounds", "bounds_kind", "missing", "unseen", "explanation", "paths",
    }  # fmt: skip
    assert (known["mean"], known["spread"], known["count"], known["bounds"], known["decided"]) == (
        5.0, 0.0, 2.0, [5.0, 5.0], True,
    )  # fmt: skip
    assert known["missing"] == ["colour"]
    assert (unknown["mean"], unknown["spread"], unknown["bounds"], unknown["decided"]) == (3.0, 2.0, [1.0, 5.0], False)
    assert [(path["mean"], path["weight"]) for path in unknown["paths"]] == [(1.0, 0.5), (5.0, 0.5)]


async def test_answers_of_extreme_numbers_are_numbers(workshop: Workshop, model: str) -> None:
    records = [{"size": value} for value in (1.7e308, -1.7e308, 5e-324, 0, -0.0, 10**300)]
    for prediction in (await workshop.predict(model, {"records": records}))["predictions"]:
        assert None not in prediction["probabilities"].values()


async def test_a_class_that_reads_as_a_number(workshop: Workshop) -> None:
    table = {"code": [1, 2, 1, 2], "y": [0, 1, 0, 1]}
    model = await workshop.model(
        table, options={"schema": {"code": {"kind": "categorical"}}}, target_kind="categorical"
    )
    for value in (1, 1.0, "1"):
        (prediction,) = (await workshop.predict(model, {"records": [{"code": value}]}))["predictions"]
        assert (prediction["label"], prediction["unseen"]) == ("0", [])
    (prediction,) = (await workshop.predict(model, {"records": [{"code": 3}]}))["predictions"]
    assert prediction["unseen"] == ["code"]


async def test_predictions_are_counted_by_model_and_version(workshop: Workshop, model: str) -> None:
    await workshop.predict(model, {"records": [{}, {}, {}]})
    metrics = (await workshop.client.get("/metrics")).text
    assert 'niwaki_predicted_records_total{model="melon",version="1"} 3.0' in metrics


async def test_a_model_that_is_not_there(workshop: Workshop) -> None:
    problem = await workshop.predict("nobody", {"records": [{}]}, status=404)
    assert problem["type"] == "/problems/model_not_found"


HOLES = {
    "size": [1, 2, 3, 4, 10, 11, 12, None],
    "weight": [1, 2, 3, 4, 10, 11, None, 13],
    "y": ["p"] * 4 + ["q"] * 4,
}


async def test_a_surrogate_model_follows_its_surrogates_unless_told_otherwise(workshop: Workshop) -> None:
    model = await workshop.model(HOLES, algorithm={"kind": "cart", "missing": "surrogate"})
    tree = await workshop.get(f"/v1/models/{model}/tree")
    assert tree["nodes"][0]["split"]["attribute"] == "size"
    assert tree["nodes"][0]["surrogates"] == [
        {"attribute": "weight", "agreement": 1.0, "threshold": 7.0, "values": None, "reversed": False}
    ]
    assert tree["nodes"][1]["surrogates"] == []
    asked = {"records": [{"weight": 1}, {"weight": 9}, {}], "explain": True}
    answers = (await workshop.predict(model, asked))["predictions"]
    assert [one["label"] for one in answers] == ["p", "q", "p"]
    assert [len(one["paths"]) for one in answers] == [1, 1, 1]
    weighted = (await workshop.predict(model, {**asked, "missing": "weighted"}))["predictions"]
    assert weighted[1]["probabilities"] == pytest.approx({"p": 4 / 7, "q": 3 / 7})
    same = (await workshop.predict(model, {**asked, "missing": "surrogate"}))["predictions"]
    assert same == answers


@pytest.mark.parametrize("strategy", ["majority", "class_majority", "distribution"])
async def test_a_model_trained_on_filled_rows_fills_records_and_says_so(workshop: Workshop, strategy: str) -> None:
    model = await workshop.model(HOLES, algorithm={"kind": "cart", "missing": strategy})
    (answer,) = (await workshop.predict(model, {"records": [{}], "explain": True}))["predictions"]
    assert answer["missing"] == ["size", "weight"]
    assert (len(answer["paths"]), answer["label"], answer["decided"]) == (1, "p", False)  # the median of size is 4
    assert answer["bounds"]["q"] == [0.0, 1.0]
    (weighted,) = (await workshop.predict(model, {"records": [{}], "missing": "weighted"}))["predictions"]
    assert 0 < weighted["probabilities"]["q"] < 1


async def test_surrogates_are_refused_where_a_model_has_none(workshop: Workshop) -> None:
    model = await workshop.model(HOLES)
    problem = await workshop.predict(model, {"records": [{}], "missing": "surrogate"}, status=422)
    assert places(problem) == ["#/missing"]
    assert "no surrogates" in problem["errors"][0]["detail"]
