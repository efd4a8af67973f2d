"""Every tree of a pruning history, by every way of naming it, on every route that takes one."""

import xml.etree.ElementTree as ElementTree
from typing import Any

import pytest

from tests.journeys.running import Service, golden_columns

ORDER = ["脐部", "色泽", "根蒂", "敲声", "纹理", "触感"]
# Leaves as of steps 0 to 5: the cut of 纹理, one kept, the cut of 色泽, two kept.
ROUTES = ("tree", "rules", "evaluation", "export")


@pytest.fixture(scope="module")
def model(service: Service) -> str:
    """The address of the worked example of reduced-error pruning."""

    def make() -> Any:
        parts = [golden_columns(f"watermelon_2.0_{part}") for part in ("train", "validation")]
        train, validation = [service.dataset(columns, schema={"编号": {"kind": "ignore"}}) for columns in parts]
        return service.train(
            "steps",
            train,
            "好瓜",
            attributes=ORDER,
            algorithm={"kind": "id3"},
            division={"kind": "datasets", "validation": validation},
            pruning={"kind": "reduced_error"},
        )

    return service.trained("steps", make)


def leaves_by_step(service: Service, model: str) -> list[int]:
    full = service.get(f"{model}/tree", step="full")["n_leaves"]
    return [full, *(entry["leaves"] for entry in service.get(f"{model}/pruning")["items"])]


def sizes_by_route(service: Service, model: str, step: str | int) -> dict[str, int]:
    """The number of leaves that each route shows as of a step, all of which name the same number."""
    answers = {route: service.get(f"{model}/{route}", step=step) for route in ROUTES}
    answers["predict"] = service.post(f"{model}/predict", {"records": [{}], "step": step, "explain": True})
    answers["pruning"] = service.get(f"{model}/pruning/{step}")
    assert len({answer["model"]["step"] for answer in answers.values()}) == 1
    return {
        "tree": answers["tree"]["n_leaves"],
        "pruning": answers["pruning"]["n_leaves"],
        "rules": len(answers["rules"]["items"]),
        "export": answers["export"]["tree"]["n_leaves"],
        "evaluation": leaves_on_curve(answers["evaluation"]),
        "text": len(service.text(f"{model}/rules", format="text", step=step).splitlines()),
    }


def leaves_on_curve(evaluation: Any) -> int:
    """Those of the step that was asked for: the curve has it, whether it changed the tree or not."""
    (point,) = [point for point in evaluation["curve"] if point["step"] == evaluation["model"]["step"]]
    return int(point["leaves"])


def test_every_index_is_a_smaller_tree(service: Service, model: str) -> None:
    leaves = leaves_by_step(service, model)
    assert leaves == sorted(leaves, reverse=True)
    assert len(leaves) == 6
    for step, expected in enumerate(leaves):
        assert set(sizes_by_route(service, model, step).values()) == {expected}


@pytest.mark.parametrize(("step", "number"), [("full", 0), ("selected", 5)])
def test_words_name_steps(service: Service, model: str, step: str, number: int) -> None:
    assert service.get(f"{model}/tree", step=step) == service.get(f"{model}/tree", step=number)
    assert service.get(f"{model}/pruning/{step}") == service.get(f"{model}/tree", step=number)
    leaves = leaves_by_step(service, model)[number]
    assert set(sizes_by_route(service, model, step).values()) == {leaves}


def test_selected_is_what_is_served(service: Service, model: str) -> None:
    assert service.get(f"{model}/tree") == service.get(f"{model}/tree", step="selected")
    assert service.get(f"{model}/rules") == service.get(f"{model}/rules", step="selected")
    shown = service.get(model)
    assert (shown["selected_step"], shown["n_steps"]) == (5, 5)
    assert shown["n_leaves"] == service.get(f"{model}/tree")["n_leaves"]


def test_leaves_n_is_the_largest_tree_with_at_most_n(service: Service, model: str) -> None:
    leaves = leaves_by_step(service, model)
    for n in range(min(leaves), max(leaves) + 3):
        found = service.get(f"{model}/tree", step=f"leaves:{n}")
        assert found["n_leaves"] == max(size for size in leaves if size <= n)
    too_few = service.get(f"{model}/tree", step=f"leaves:{min(leaves) - 1}", status=404)
    assert too_few["type"] == "/problems/step_not_found"
    assert str(min(leaves)) in too_few["detail"]


def test_node_ids_are_the_same_in_every_step(service: Service, model: str) -> None:
    full = {node["id"]: node for node in service.get(f"{model}/tree", step="full")["nodes"]}
    for step in range(1, 6):
        for node in service.get(f"{model}/tree", step=step)["nodes"]:
            for key in ("parent", "test", "weight", "distribution", "label", "impurity"):
                assert node[key] == full[node["id"]][key]


@pytest.mark.parametrize("route", [*ROUTES, "pruning/{step}"])
@pytest.mark.parametrize(("step", "status"), [("6", 404), ("alpha:0.1", 422), ("last", 422), ("-1", 422), ("1.5", 422)])
def test_a_step_that_is_not_there(service: Service, model: str, route: str, step: str, status: int) -> None:
    in_path = "{step}" in route
    path = f"{model}/{route.format(step=step)}"
    problem = service.get(path, status=status, **({} if in_path else {"step": step}))
    if status == 404:
        assert problem["type"] == "/problems/step_not_found"
        return
    assert problem["type"] == "/problems/invalid_request"
    (error,) = problem["errors"]
    assert (error["in"], error["parameter"]) == ("path" if in_path else "query", "step")
    assert error["hint"]


@pytest.mark.parametrize(
    ("step", "status"), [(6, 404), ("6", 404), ("alpha:0.1", 422), ("last", 422), (-1, 422), (1.5, 422), (None, 422)]
)
def test_a_step_that_is_not_there_in_a_body(service: Service, model: str, step: Any, status: int) -> None:
    problem = service.post(f"{model}/predict", {"records": [{}], "step": step}, status=status)
    if status == 422:
        assert [(error["in"], error["pointer"]) for error in problem["errors"]] == [("body", "#/step")]


def test_a_step_answers_with_its_own_leaves(service: Service, model: str) -> None:
    record = {"脐部": "凹陷", "色泽": "浅白", "根蒂": "蜷缩", "敲声": "浊响", "纹理": "清晰", "触感": "硬滑"}
    labels = {}
    for step in range(6):
        leaves = {node["id"] for node in service.get(f"{model}/tree", step=step)["nodes"] if not node["children"]}
        answer = service.post(f"{model}/predict", {"records": [record], "step": step, "explain": True})
        (path,) = answer["predictions"][0]["paths"]
        assert path["leaf"] in leaves
        labels[step] = answer["predictions"][0]["label"]
    assert (labels[0], labels[5]) == ("否", "是")


@pytest.mark.parametrize(
    "route",
    ["", "/schema", "/tree", "/tree?format=svg", "/tree?step=full&candidates=true", "/pruning", "/pruning/1", "/rules",
     "/rules?format=text", "/evaluation", "/evaluation?step=full", "/evaluation?format=svg&step=2",
     "/pruning/full/diff/leaves:7", "/export"],
)  # fmt: skip
def test_what_never_changes_is_sent_once(service: Service, model: str, route: str) -> None:
    first = service.client.get(model + route)
    etag = first.headers["etag"]
    assert service.get(model)["digest"] in etag
    assert not etag.startswith("W/")
    again = service.client.get(model + route, headers={"If-None-Match": f'"other", {etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert service.client.get(model + route, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_curve_is_drawn_with_the_step_marked(service: Service, model: str) -> None:
    for step, words in (("selected", "step 5: 7 leaves"), ("2", "step 2:"), ("leaves:7", "step 3: 7 leaves")):
        answer = service.client.get(f"{model}/evaluation", params={"format": "svg", "step": step})
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
        assert words in answer.text
        assert ElementTree.fromstring(answer.text).tag == "{http://www.w3.org/2000/svg}svg"


def test_the_difference_of_two_steps(service: Service, model: str) -> None:
    """The first cut takes 纹理 below 脐部 = 稍凹: three rules become one, and validation rises from 3/7 to 4/7."""
    first = service.get(f"{model}/pruning/0/diff/1")
    assert (first["before"]["step"], first["after"]["step"]) == (0, 1)
    assert [item["change"] for item in first["items"]] == ["gone"] * first["n_gone"] + ["new"]
    assert first["errors"]["validation"]["change"] == pytest.approx(-1 / 7)
    assert first["errors"]["test"] is None
    kept = service.get(f"{model}/pruning/1/diff/2")
    assert (kept["n_gone"], kept["n_new"], kept["moved"], kept["items"]) == (0, 0, 0.0, [])
    whole = service.get(f"{model}/pruning/full/diff/selected")
    assert whole["errors"]["validation"] == pytest.approx({"before": 4 / 7, "after": 2 / 7, "change": -2 / 7})


def test_pruning_and_rules_come_in_pages(service: Service, model: str) -> None:
    for route in ("pruning", "rules"):
        whole = service.get(f"{model}/{route}")
        assert whole["next_cursor"] is None
        collected: list[Any] = []
        cursor: dict[str, Any] = {}
        while True:
            page = service.get(f"{model}/{route}", limit=2, **cursor)
            assert 1 <= len(page["items"]) <= 2
            collected += page["items"]
            if page["next_cursor"] is None:
                break
            cursor = {"cursor": page["next_cursor"]}
        assert collected == whole["items"]
