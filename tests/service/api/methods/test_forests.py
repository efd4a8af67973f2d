"""A committee is read and asked like a tree, and says how its trees vote."""

import json
import math
from collections.abc import Callable
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from pydantic import TypeAdapter

import service.api.predicting.batches as batches
import service.usecases.predictions.predict_forest as predict_forest
from service.api.schemas.predictions import Predictions
from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio

N = 160
TABLE: dict[str, Any] = {
    "a": [None if row % 11 == 0 else (row * 37 % 101) / 100 for row in range(N)],
    "b": [(row * 53 % 97) / 97 for row in range(N)],
    "c": [None if row % 13 == 0 else "xyz"[row % 3] for row in range(N)],
}
TABLE["y"] = ["p" if (TABLE["a"][row] or 0.5) + 0.3 * (row % 3 == 0) > 0.6 else "q" for row in range(N)]
TABLE["rare"] = ["yes" if (TABLE["b"][row] > 0.8) else "no" for row in range(N)]
TABLE["z"] = [3 * (TABLE["a"][row] or 0.5) + TABLE["b"][row] for row in range(N)]
LOOKING = ["a", "b", "c"]
FOREST: dict[str, Any] = {"kind": "random_forest", "n_trees": 7}
THIRDS = {"kind": "random", "train": 0.6, "validation": 0.1, "test": 0.3}
COMPLETE, HOLEY, EMPTY = {"a": 0.9, "b": 0.2, "c": "x"}, {"b": 0.2, "c": "unheard of"}, dict[str, Any]()


async def forest(workshop: Workshop, algorithm: dict[str, Any] | None = None, **order: Any) -> str:
    """The address of a committee."""
    order = {"attributes": LOOKING, "pruning": None, "division": THIRDS, **order}
    return f"/v1/models/{await workshop.model(TABLE, algorithm=algorithm or FOREST, **order)}"


async def answers(workshop: Workshop, model: str, *records: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    answer = await workshop.post(f"{model}/predict", {"records": list(records), **options})
    predictions: list[dict[str, Any]] = answer["predictions"]
    return predictions


async def test_a_committee_tells_what_it_is_made_of(workshop: Workshop) -> None:
    model = await forest(workshop)
    shown = await workshop.get(model)
    trees = [await workshop.get(f"{model}/tree", index=index) for index in range(7)]
    assert shown["n_trees"] == 7
    assert (shown["n_steps"], shown["selected_step"]) == (0, 0)
    assert shown["n_nodes"] == sum(tree["n_nodes"] for tree in trees)
    assert shown["n_leaves"] == sum(tree["n_leaves"] for tree in trees)
    assert shown["depth"] == max(tree["depth"] for tree in trees)
    assert shown["configuration"]["algorithm"]["kind"] == "random_forest"
    listed = (await workshop.get("/v1/models"))["items"][0]
    assert listed == {key: value for key, value in shown.items() if key != "configuration"}
    schema = await workshop.get(f"{model}/schema")
    assert [attribute["name"] for attribute in schema["attributes"]] == LOOKING
    assert (await answers(workshop, model, schema["example"]))[0]["label"] in ("p", "q")


async def test_a_single_tree_has_no_number_of_trees_and_no_index(workshop: Workshop) -> None:
    model = f"/v1/models/{await workshop.model(TABLE, attributes=LOOKING)}"
    assert (await workshop.get(model))["n_trees"] is None
    for call in ("tree", "rules", "export"):
        problem = await workshop.get(f"{model}/{call}", index=0, status=422)
        assert problem["errors"][0]["parameter"] == "index"
        assert problem["errors"][0]["hint"] == "leave index out"
    assert (await workshop.get(f"{model}/evaluation"))["trees"] == []
    problem = await workshop.post(f"{model}/predict", {"records": [{}], "voting": {"kind": "majority"}}, status=422)
    assert places(problem) == ["#/voting"]
    assert "single tree" in problem["detail"]


async def test_every_tree_of_a_committee_can_be_seen(workshop: Workshop) -> None:
    model = await forest(workshop, {"kind": "bagging", "base": ["cart", "c45"], "n_trees": 4})
    seen = {json.dumps((await workshop.get(f"{model}/tree", index=index))["nodes"]) for index in range(4)}
    assert len(seen) == 4
    for picture, kind in (("text", "text/plain"), ("dot", "text/vnd.graphviz"), ("svg", "image/svg+xml")):
        answer = await workshop.client.get(f"{model}/tree", params={"index": 3, "format": picture})
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
    rules = await workshop.get(f"{model}/rules", index=1, limit=1000)
    assert (rules["exclusive"], rules["complete"]) == (True, True)
    leaves = [node["id"] for node in (await workshop.get(f"{model}/tree", index=1))["nodes"] if not node["children"]]
    assert sorted(rule["leaf"] for rule in rules["items"]) == leaves
    export = await workshop.get(f"{model}/export", index=2)
    assert export["tree"]["nodes"] == (await workshop.get(f"{model}/tree", index=2))["nodes"]
    drawn = await workshop.client.get(f"{model}/boundary", params={"x": "a", "y": "b", "index": 0})
    assert drawn.headers["content-type"] == "image/svg+xml"


@pytest.mark.parametrize(
    ("call", "parameters", "parameter", "words"),
    [
        ("tree", {}, "index", "0 to 6"),
        ("tree", {"index": 7}, "index", "none is tree 7"),
        ("tree", {"index": -1}, "index", "0 to 6"),
        ("tree", {"index": 0, "candidates": "true"}, "candidates", "drawn attributes"),
        ("tree", {"index": 0, "step": "leaves:3"}, "step", "only step 0"),
        ("tree", {"index": 0, "thresholds": "data"}, "thresholds", "release8"),
        ("rules", {"style": "paths"}, "index", "0 to 6"),
        ("rules", {"style": "strongest", "index": 0}, "style", "use paths"),
        ("rules", {"style": "simplified", "index": 0}, "style", "are not kept"),
        ("rules", {"format": "sql"}, "format", "json or text"),
        ("rules", {"matching": "{}"}, "matching", "index=0"),
        ("rules", {"thresholds": "data"}, "thresholds", "quantiles"),
        ("importance", {"part": "out"}, "part", "out_of_bag"),
        ("export", {}, "index", "0 to 6"),
        ("boundary", {"x": "a", "y": "b"}, "index", "0 to 6"),
        ("evaluation", {"step": "alpha:0.1"}, "step", "only step 0"),
    ],
)
async def test_what_is_not_there_is_told_with_its_parameter(
    workshop: Workshop, call: str, parameters: dict[str, Any], parameter: str, words: str
) -> None:
    model = await forest(workshop)
    (error,) = (await workshop.get(f"{model}/{call}", **parameters, status=422))["errors"]
    assert (error["in"], error["parameter"]) == ("query", parameter)
    assert words in f"{error['detail']} {error['hint']}"


async def test_many_trees_have_no_pruning(workshop: Workshop) -> None:
    model = await forest(workshop)
    assert await workshop.get(f"{model}/pruning") == {"items": [], "next_cursor": None}
    assert "tree?index=0" in (await workshop.get(f"{model}/pruning/0", status=409))["detail"]
    assert (await workshop.get(f"{model}/pruning/0/diff/0", status=409))["type"] == "/problems/not_for_this_model"
    for body in ({"pruning": {"kind": "cost_complexity", "alpha": 0.1}}, {"step": 0}):
        problem = await workshop.post(f"{model}/prunings", body, status=409)
        assert problem["type"] == "/problems/not_for_this_model"
    assert (await workshop.get(f"{model}/tree", index=0, step="3", status=404))["type"] == "/problems/step_not_found"


async def test_committees_are_not_compared_and_that_is_told(workshop: Workshop) -> None:
    model = await forest(workshop)
    body = {"records": [COMPLETE], "variants": [{"step": "full"}, {"step": "selected"}]}
    problem = await workshop.post(f"{model}/compare", body, status=409)
    assert places(problem) == ["#/variants/0/model"]


async def test_a_committee_is_judged_by_rows_its_trees_have_not_seen(workshop: Workshop) -> None:
    model = await forest(workshop, {**FOREST, "n_trees": 25})
    shown = await workshop.get(f"{model}/evaluation")
    parts, simplest = shown["parts"], shown["baseline"]
    assert {part: parts[part]["rows"] for part in parts} == {part: simplest[part]["rows"] for part in parts}
    assert parts["out_of_bag"]["rows"] == parts["train"]["rows"]  # by 25 trees every row was left out once
    assert parts["out_of_bag"]["accuracy"] < parts["train"]["accuracy"]
    assert parts["out_of_bag"]["accuracy"] > simplest["out_of_bag"]["accuracy"]
    assert shown["curve"] == []
    assert [point["trees"] for point in shown["trees"]] == list(range(1, 26))
    assert shown["trees"][-1]["out_of_bag"] == pytest.approx(1 - parts["out_of_bag"]["accuracy"])
    rows = [point["rows"] for point in shown["trees"]]
    assert rows == sorted(rows)
    assert 0 < rows[0] < rows[-1]


async def test_trees_of_all_rows_have_nothing_out_of_the_bag(workshop: Workshop) -> None:
    model = await forest(workshop, {"kind": "extra_trees", "n_trees": 3})
    shown = await workshop.get(f"{model}/evaluation")
    assert shown["parts"]["out_of_bag"] is None
    assert shown["baseline"]["out_of_bag"] is None
    assert shown["trees"] == []
    (error,) = (await workshop.get(f"{model}/evaluation", format="svg", status=422))["errors"]
    assert (error["parameter"], error["hint"]) == ("format", "use json")
    assert "grown from all rows" in error["detail"]


@pytest.mark.parametrize(("target", "words"), [("y", "share answered wrongly"), ("z", "mean squared error")])
async def test_the_error_over_the_number_of_trees_is_a_picture(workshop: Workshop, target: str, words: str) -> None:
    model = await forest(workshop, target=target)
    picture = await workshop.client.get(f"{model}/evaluation", params={"format": "svg"})
    assert picture.headers["content-type"] == "image/svg+xml"
    assert picture.text.startswith("<svg")
    assert f">{words}<" in picture.text
    part = (await workshop.get(f"{model}/evaluation"))["parts"]["test"]
    error = 1 - part["accuracy"] if target == "y" else part["rmse"] ** 2
    assert f"test rows, all trees ({error:.4g})" in picture.text
    again = {"if-none-match": picture.headers["etag"]}
    shown = await workshop.client.get(f"{model}/evaluation", params={"format": "svg"}, headers=again)
    assert shown.status_code == 304


async def test_a_committee_answers_with_the_mean_of_its_trees(workshop: Workshop) -> None:
    model = await forest(workshop)
    (answer,) = await answers(workshop, model, COMPLETE)
    shares = []
    for index in range(7):
        rules = (await workshop.get(f"{model}/rules", index=index, limit=1000, matching=json.dumps(COMPLETE)))["items"]
        (rule,) = [rule for rule in rules if rule["match"]["state"] == "full"]
        total = sum(rule["distribution"].values())
        shares.append({label: weight / total for label, weight in rule["distribution"].items()})
    for label in ("p", "q"):
        mean = math.fsum(share[label] for share in shares) / 7
        assert answer["probabilities"][label] == pytest.approx(mean)
    votes = [max(share, key=lambda label: share[label]) for share in shares]
    assert answer["votes"] == {label: votes.count(label) for label in ("p", "q")}
    assert answer["label"] == max(answer["probabilities"], key=lambda label: answer["probabilities"][label])
    assert answer["decided"] is True
    assert (answer["missing"], answer["unseen"]) == ([], [])


async def test_bounds_of_many_trees_hold_whatever_the_missing_values_are(workshop: Workshop) -> None:
    model = await forest(workshop)
    (holey,) = await answers(workshop, model, {"b": 0.2, "c": "x"})
    assert (holey["bounds_kind"], holey["missing"]) == ("outer", ["a"])
    filled = await answers(workshop, model, *({"a": a / 20, "b": 0.2, "c": "x"} for a in range(-5, 30)))
    for label, (low, high) in holey["bounds"].items():
        assert all(low - 1e-12 <= one["probabilities"][label] <= high + 1e-12 for one in filled)
        assert low <= holey["probabilities"][label] <= high
    if holey["decided"]:
        assert {one["label"] for one in filled} == {holey["label"]}


async def test_votings_are_chosen_with_each_request(workshop: Workshop) -> None:
    model = await forest(workshop)
    records = [COMPLETE, HOLEY, EMPTY, {"a": 0.55, "b": 0.5, "c": "y"}]
    plain = await answers(workshop, model, *records)
    assert await answers(workshop, model, *records, voting={"kind": "average"}) == plain
    majority = await answers(workshop, model, *records, voting={"kind": "majority"})
    for one, other in zip(majority, plain, strict=True):
        assert one["votes"] == other["votes"]
        assert one["probabilities"] == {label: votes / 7 for label, votes in one["votes"].items()}
        assert one["label"] == ("p" if one["votes"]["p"] >= one["votes"]["q"] else "q")
    for one in await answers(workshop, model, *records, voting={"kind": "unanimous"}):
        assert (one["label"] is None) == (0 < one["votes"]["p"] < 7)
        assert one["decided"] is False or one["label"] is not None
    for one in await answers(workshop, model, *records, voting={"kind": "threshold", "share": 0.8}):
        assert (one["label"] is None) == (max(one["votes"].values()) / 7 < 0.8)
    for one in await answers(workshop, model, *records, voting={"kind": "bayesian", "m": 0}):
        assert sum(one["probabilities"].values()) == pytest.approx(1.0)


async def test_an_explanation_begins_with_what_the_voting_comes_to(workshop: Workshop) -> None:
    """Its other words are about the mean of the trees, which may say something else."""
    model, records = await forest(workshop), (COMPLETE, {**COMPLETE, "a": 0.1}, {**COMPLETE, "a": 0.5, "c": "y"})
    on_average = await answers(workshop, model, *records, explain=True)
    assert {one["label"] for one in on_average} == {"p", "q"}
    for voting in ({"kind": "bayesian", "m": 1e9}, {"kind": "trimmed"}, {"kind": "unanimous"}):
        voted = await answers(workshop, model, *records, explain=True, voting=voting)
        for one, plain in zip(voted, on_average, strict=True):
            assert plain["explanation"].startswith(f"{plain['label']} with probability")
            said = f"{one['label'] or 'Undecided'} by {voting['kind']} voting; on average: {plain['explanation']}"
            assert one["explanation"] == said
        if voting["kind"] == "bayesian":  # all are drawn to the class of most training rows
            assert len({one["label"] for one in voted}) == 1
    numbers = await forest(workshop, target="z")
    (one,) = await answers(workshop, numbers, COMPLETE, explain=True, voting={"kind": "trimmed"})
    assert one["explanation"].startswith(f"{one['mean']:.4g} by trimmed voting; on average: ")


@pytest.mark.parametrize(
    ("voting", "pointer"),
    [
        ({"kind": "mayority"}, "#/voting/kind"),
        ({"kind": "veto"}, "#/voting/trees"),
        ({"kind": "veto", "trees": []}, "#/voting/trees"),
        ({"kind": "veto", "trees": [0, 7]}, "#/voting/trees/1"),
        ({"kind": "threshold", "share": 0}, "#/voting/share"),
        ({"kind": "bayesian", "m": -1}, "#/voting/m"),
        ({"kind": "majority", "share": 0.5}, "#/voting/share"),
        ("majority", "#/voting"),
    ],
)
async def test_votings_that_cannot_be_are_told_with_their_place(workshop: Workshop, voting: Any, pointer: str) -> None:
    model = await forest(workshop)
    problem = await workshop.post(f"{model}/predict", {"records": [COMPLETE], "voting": voting}, status=422)
    assert places(problem) == [pointer]


async def test_numbers_are_averaged_and_not_voted_on(workshop: Workshop) -> None:
    model = await forest(workshop, target="z")
    (answer,) = await answers(workshop, model, COMPLETE)
    assert set(answer) == {
        *("mean", "spread", "decided", "bounds", "bounds_kind", "missing", "unseen"),
        *("explanation", "contributions", "typical_path"),
    }
    assert answer["bounds"] == [answer["mean"], answer["mean"]]
    assert answer["spread"] > 0
    body = {"records": [COMPLETE], "voting": {"kind": "majority"}}
    assert places(await workshop.post(f"{model}/predict", body, status=422)) == ["#/voting/kind"]
    evaluation = await workshop.get(f"{model}/evaluation")
    assert evaluation["parts"]["out_of_bag"]["r2"] > 0.5
    rmse = evaluation["parts"]["out_of_bag"]["rmse"]
    assert evaluation["trees"][-1]["out_of_bag"] == pytest.approx(rmse**2)


async def test_several_numbers_are_answered_by_target(workshop: Workshop) -> None:
    model = await forest(workshop, target=["z", "b"], attributes=["a", "c"])
    (answer,) = await answers(workshop, model, {"a": 0.5, "c": "x"})
    assert list(answer["mean"]) == list(answer["spread"]) == list(answer["bounds"]) == ["z", "b"]
    assert (await workshop.get(model))["task"] == "multi_output_regression"


async def test_only_what_is_asked_for_is_answered(workshop: Workshop) -> None:
    model = await forest(workshop)
    assert await answers(workshop, model, COMPLETE, fields=["label"]) == [{"label": "p"}]
    (answer,) = await answers(workshop, model, HOLEY, fields=["unseen", "votes"])
    assert list(answer) == ["votes", "unseen"]
    assert answer["unseen"] == ["c"]
    for field in ("paths", "leaves", "score", "mean"):
        problem = await workshop.post(f"{model}/predict", {"records": [{}], "fields": [field]}, status=422)
        assert places(problem) == ["#/fields/0"]


async def test_answers_are_those_of_the_document(workshop: Workshop) -> None:
    shape: TypeAdapter[Any] = TypeAdapter(Predictions)
    for target, of_one in (("y", ("leaves", "paths")), ("z", ("count", "leaves", "paths"))):
        model = await forest(workshop, target=target, attributes=["a", "c"])
        for explain in (False, True):
            answer = await workshop.post(f"{model}/predict", {"records": [{}, {"a": 0.5}], "explain": explain})
            for prediction in answer["predictions"]:
                assert not set(of_one) & set(prediction)
                prediction |= {"leaves": [], "paths": None} | ({"count": 0.0} if "count" in of_one else {})
            assert shape.validate_json(json.dumps(answer), strict=True)


async def test_all_formats_say_the_same(workshop: Workshop) -> None:
    model = await forest(workshop)
    records = [COMPLETE, HOLEY, EMPTY]
    voting = {"kind": "threshold", "share": 0.9}
    said = await answers(workshop, model, *records, voting=voting)
    parameters = {"voting": json.dumps(voting)}
    lines = "".join(json.dumps(record) + "\n" for record in records)
    sent: dict[str, Any] = {"content": lines, "headers": {"content-type": "application/x-ndjson"}, "params": parameters}
    answer = await workshop.client.post(f"{model}/predict", **sent)
    assert [json.loads(line) for line in answer.text.splitlines()] == said
    assert answer.headers["niwaki-step"] == "0"
    columns = {"columns": {"a": [0.9, None, None], "b": [0.2, 0.2, None], "c": ["x", "unheard of", None]}}
    assert (await workshop.post(f"{model}/predict", {**columns, "voting": voting}))["predictions"] == said
    sent["headers"]["accept"] = "text/csv"
    header, *rows = (await workshop.client.post(f"{model}/predict", **sent)).text.splitlines()
    assert header.startswith("label,probability_p,probability_q,votes_p,votes_q,decided,lowest_p")
    assert [row.split(",")[0] for row in rows] == [one["label"] or "" for one in said]
    assert [row.split(",")[3] for row in rows] == [str(one["votes"]["p"]) for one in said]  # whole, as they are counted
    sent["headers"]["accept"] = "application/vnd.apache.arrow.stream"
    stream = (await workshop.client.post(f"{model}/predict", **sent)).content
    table = pa.ipc.open_stream(BytesIO(stream)).read_all()
    assert table["label"].to_pylist() == [one["label"] for one in said]
    assert table["probability_p"].to_pylist() == [one["probabilities"]["p"] for one in said]
    assert (table["votes_p"].type, table["votes_p"].to_pylist()) == (pa.int64(), [one["votes"]["p"] for one in said])
    assert table["missing"].to_pylist() == [one["missing"] for one in said]


@pytest.mark.parametrize(
    ("voting", "pointer"), [("{", None), ("[]", None), ('{"kind": "x"}', "#/kind"), ('{"kind": "veto"}', "#/trees")]
)
async def test_a_voting_in_a_query_is_json(workshop: Workshop, voting: str, pointer: str | None) -> None:
    model = await forest(workshop)
    options: dict[str, Any] = {"content": "a\n1\n", "headers": {"content-type": "text/csv"}}
    problem = await workshop.call("POST", f"{model}/predict", status=422, params={"voting": voting}, **options)
    (error,) = problem["errors"]
    assert (error["in"], error["parameter"], error["pointer"]) == ("query", "voting", pointer)


async def test_the_rules_of_a_committee_are_those_its_trees_share(workshop: Workshop) -> None:
    model = await forest(workshop, {**FOREST, "n_trees": 15, "stopping": {"max_depth": 3}})
    shown = await workshop.get(f"{model}/rules", limit=1000)
    assert (shown["style"], shown["exclusive"], shown["complete"], shown["ordered"]) == (
        "strongest",
        False,
        False,
        False,
    )
    rules = shown["items"]
    assert rules
    strengths = [rule["shared"]["strength"] for rule in rules]
    assert strengths == sorted(strengths, reverse=True)
    for rule in rules:
        assert (rule["leaf"], rule["interval"], rule["match"]) == (None, None, None)
        assert 0 < rule["support"] <= 1
        assert 0 <= rule["confidence"] <= 1
        assert 1 <= rule["shared"]["trees"] <= 15
        assert rule["shared"]["unseen_weight"] > 0
        assert rule["text"].endswith(f" then {rule['label']}")
    text = (await workshop.client.get(f"{model}/rules", params={"format": "text"})).text
    assert text.splitlines() == [rule["text"] for rule in rules]
    first = await workshop.get(f"{model}/rules", limit=1)
    assert first["items"] == rules[:1]
    second = await workshop.get(f"{model}/rules", limit=1, cursor=first["next_cursor"])
    assert second["items"] == rules[1:2]


async def test_rules_that_trees_share_may_be_about_numbers(workshop: Workshop) -> None:
    model = await forest(workshop, {**FOREST, "stopping": {"max_depth": 3}}, target="z")
    shown = await workshop.get(f"{model}/rules")
    assert shown["task"] == "regression"
    assert shown["items"][0]["spread"] is None
    two = await forest(workshop, {**FOREST, "stopping": {"max_depth": 3}}, target=["z", "b"], attributes=["a", "c"])
    assert list((await workshop.get(f"{two}/rules"))["items"][0]["mean"]) == ["z", "b"]


async def test_without_rows_out_of_the_bag_no_shared_rules_are_judged(workshop: Workshop) -> None:
    model = await forest(workshop, {"kind": "extra_trees", "n_trees": 3})
    (error,) = (await workshop.get(f"{model}/rules", status=422))["errors"]
    assert error["parameter"] == "index"
    assert "all rows" in error["detail"]


async def test_single_trees_share_no_rules(workshop: Workshop) -> None:
    model = f"/v1/models/{await workshop.model(TABLE, attributes=LOOKING)}"
    problem = await workshop.get(f"{model}/rules", style="strongest", status=422)
    assert problem["errors"][0]["parameter"] == "style"
    assert (await workshop.get(f"{model}/rules"))["items"][0]["shared"] is None
    problem = await workshop.get(f"{model}/importance", part="out_of_bag", status=422)
    assert problem["errors"][0]["parameter"] == "part"


async def test_a_committee_tells_which_attributes_it_relies_on(workshop: Workshop) -> None:
    model = await forest(workshop)
    shown = await workshop.get(f"{model}/importance")
    assert [item["attribute"] for item in shown["items"]] == LOOKING
    assert sum(item["impurity_decrease"] for item in shown["items"]) == pytest.approx(1.0)
    assert all(item["permutation"] is None for item in shown["items"])
    splits = []
    for index in range(7):
        nodes = (await workshop.get(f"{model}/tree", index=index))["nodes"]
        splits += [node["split"]["attribute"] for node in nodes if node["split"] is not None]
    assert {item["attribute"]: item["times_selected"] for item in shown["items"]} == {
        name: splits.count(name) for name in LOOKING
    }
    for part in ("test", "out_of_bag"):
        measured = await workshop.get(f"{model}/importance", part=part, repeats=3)
        falls = {item["attribute"]: item["permutation"] for item in measured["items"]}
        assert {fall["part"] for fall in falls.values()} == {part}
        assert falls["a"]["mean"] > 0.1
        assert falls["a"]["mean"] > falls["b"]["mean"]
    problem = await workshop.get(
        f"{await forest(workshop, division={'kind': 'none'})}/importance", part="test", status=422
    )
    assert problem["errors"][0]["parameter"] == "part"


async def test_a_committee_can_be_kept_by_its_etag(workshop: Workshop) -> None:
    model = await forest(workshop)
    for path in ("", "/schema", "/tree?index=1", "/pruning", "/evaluation", "/rules", "/export?index=0", "/importance"):
        first = await workshop.client.get(f"{model}{path}")
        assert first.status_code == 200, path
        again = await workshop.client.get(f"{model}{path}", headers={"if-none-match": first.headers["etag"]})
        assert again.status_code == 304, path


async def test_the_same_order_makes_the_same_committee(workshop: Workshop) -> None:
    first, second = [await workshop.get(await forest(workshop, seed=seed)) for seed in (3, 3)]
    other = await workshop.get(await forest(workshop, seed=4))
    assert first["digest"] == second["digest"] != other["digest"]


async def test_an_answer_is_explained_by_votes_contributions_and_a_typical_path(workshop: Workshop) -> None:
    model = await forest(workshop)
    for record in (COMPLETE, HOLEY, EMPTY):
        (answer,) = await answers(workshop, model, record, explain=True)
        (plain,) = await answers(workshop, model, record)
        assert (plain["explanation"], plain["contributions"], plain["typical_path"]) == (None, None, None)
        parts, path = answer["contributions"], answer["typical_path"]
        assert list(parts["attributes"]) == LOOKING
        for label, probability in answer["probabilities"].items():
            moved = sum(part[label] for part in parts["attributes"].values())
            assert parts["start"][label] + moved == pytest.approx(probability, abs=1e-14)
        votes = f"{answer['votes'][answer['label']]} of 7 trees say {answer['label']}"
        assert votes in answer["explanation"]
        nodes = (await workshop.get(f"{model}/tree", index=path["tree"]))["nodes"]
        leaf = next(node for node in nodes if node["id"] == path["leaf"])
        assert leaf["children"] == []
        total = sum(leaf["distribution"].values())
        assert path["probabilities"] == pytest.approx({k: w / total for k, w in leaf["distribution"].items()})
        assert path["weight"] == pytest.approx(math.prod(test["weight"] for test in path["tests"]))


async def test_numbers_are_explained_too(workshop: Workshop) -> None:
    model = await forest(workshop, target="z")
    (answer,) = await answers(workshop, model, COMPLETE, explain=True)
    parts = answer["contributions"]
    assert parts["start"] + sum(parts["attributes"].values()) == pytest.approx(answer["mean"], rel=1e-14)
    assert parts["attributes"]["a"] > 0
    assert "the mean of 7 trees" in answer["explanation"]
    assert answer["typical_path"]["tests"]
    two = await forest(workshop, target=["z", "b"], attributes=["a", "c"])
    (answer,) = await answers(workshop, two, {"a": 0.5}, explain=True)
    for target, mean in answer["mean"].items():
        moved = sum(part[target] for part in answer["contributions"]["attributes"].values())
        assert answer["contributions"]["start"][target] + moved == pytest.approx(mean)


async def test_sums_of_attributes_share_what_they_change(workshop: Workshop) -> None:
    model = await forest(workshop, {**FOREST, "base": "multivariate", "n_trees": 3})
    (answer,) = await answers(workshop, model, COMPLETE, explain=True)
    parts = answer["contributions"]
    moved = sum(part["p"] for part in parts["attributes"].values())
    assert parts["start"]["p"] + moved == pytest.approx(answer["probabilities"]["p"])


@pytest.mark.parametrize(
    "imbalance",
    [
        {"kind": "undersample"},
        {"kind": "parts"},
        {"kind": "cluster_undersample"},
        {"kind": "oversample", "ratio": 0.9},
        {"kind": "interpolate"},
        {"kind": "smote", "neighbours": 3},
    ],
)
async def test_classes_are_balanced_in_training_only(workshop: Workshop, imbalance: dict[str, Any]) -> None:
    model = await forest(workshop, {**FOREST, "imbalance": imbalance, "n_trees": 4}, target="rare")
    plain = await forest(workshop, {**FOREST, "n_trees": 4}, target="rare")
    shown, other = [(await workshop.get(f"{one}/evaluation"))["baseline"] for one in (model, plain)]
    assert shown["test"] == other["test"]  # what is tested on is as it was
    assert shown["train"] == other["train"]
    trees = [await workshop.get(f"{one}/tree", index=0) for one in (model, plain)]
    assert trees[0]["nodes"][0]["distribution"] != trees[1]["nodes"][0]["distribution"]


async def test_filled_values_and_costs_hold_for_all_trees(workshop: Workshop) -> None:
    costs = {"p": {"q": 20}}
    model = await forest(workshop, {**FOREST, "missing": "majority"}, misclassification_costs=costs)
    (answer,) = await answers(workshop, model, {"b": 0.4, "c": "x"})
    assert answer["missing"] == ["a"]
    assert answer["label"] == ("p" if 20 * answer["probabilities"]["p"] >= answer["probabilities"]["q"] else "q")
    assert (await workshop.get(f"{model}/evaluation"))["parts"]["out_of_bag"]["mean_cost"] is not None


async def test_few_records_are_answered_without_a_thread(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "compiled_code_is_ready", lambda _: True)
    monkeypatch.setattr(predict_forest, "SOON_TREES", 10 * FOREST["n_trees"])
    model, threads = await forest(workshop), list[object]()

    async def in_thread(work: Callable[..., Any], *arguments: Any) -> Any:
        threads.append(work)
        return work(*arguments)

    async def was_in_thread(*records: dict[str, Any], **options: Any) -> bool:
        threads.clear()
        answered = await answers(workshop, model, *records, **options)
        monkeypatch.setattr(batches, "FEW_BYTES", 0)
        assert answered == await answers(workshop, model, *records, **options)  # there too
        monkeypatch.setattr(batches, "FEW_BYTES", 4_096)
        return len(threads) == 2

    monkeypatch.setattr(batches.to_thread, "run_sync", in_thread)
    assert await was_in_thread(COMPLETE)  # the first time everything is laid out
    assert not await was_in_thread(COMPLETE)
    assert not await was_in_thread(*[COMPLETE] * 10, fields=["votes"])
    assert not await was_in_thread(COMPLETE, voting={"kind": "majority"})
    assert await was_in_thread(*[COMPLETE] * 11)
    assert await was_in_thread(COMPLETE, explain=True)
    assert await was_in_thread(COMPLETE, fields=["contributions"])
    monkeypatch.setattr(predict_forest, "SOON_NODES", 20_000)
    assert not await was_in_thread(HOLEY)
    monkeypatch.setattr(predict_forest, "SOON_NODES", 100)
    assert await was_in_thread(HOLEY)
    assert not await was_in_thread(COMPLETE)
