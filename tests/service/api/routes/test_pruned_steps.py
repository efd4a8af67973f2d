"""Every step of every way of pruning is read, asked and exported alike, also where branches were raised."""

import itertools
from typing import Any

import numpy as np
import pytest

from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio

DIVISION = {"kind": "random", "train": 0.6, "validation": 0.2, "test": 0.2}
COLOURS = ["red", "green", "blue"]
WAYS: dict[str, dict[str, Any]] = {
    "raising": {"kind": "confidence", "cf": 0.25, "raising": True},
    "release8": {"kind": "confidence"},
    "cross_validation": {"kind": "cost_complexity", "choose": "cross_validation", "folds": 4},
    "validation": {"kind": "cost_complexity", "choose": "validation", "cost": "error"},
    "alpha": {"kind": "cost_complexity", "alpha": 0.01},
    "reduced_error": {"kind": "reduced_error"},
}


def noise(n_rows: int) -> dict[str, list[Any]]:
    chance = np.random.default_rng(5)
    x, colour = chance.random((2, n_rows)).round(2), chance.integers(3, size=n_rows)
    wrong = chance.random(n_rows) < 0.25
    y = np.where(((x[0] > 0.5) & (colour < 2)) ^ wrong, "p", "q")
    holes = chance.random(n_rows) < 0.05
    return {
        "a": [None if hole else value for hole, value in zip(holes, x[0].tolist(), strict=True)],
        "b": x[1].tolist(),
        "colour": [COLOURS[code] for code in colour],
        "y": y.tolist(),
    }


async def train(workshop: Workshop, way: str) -> str:
    algorithm: dict[str, Any] = {"kind": "c45", "stopping": {"min_samples_leaf": 1}}
    if way == "release8":
        algorithm["dialect"] = "release8"
    model_id = await workshop.model(noise(240), algorithm=algorithm, division=DIVISION, pruning=WAYS[way])
    return f"/v1/models/{model_id}"


def leaf_of(tree: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """The leaf of a complete record, found by the conditions that the answer shows."""
    nodes = {node["id"]: node for node in tree["nodes"]}
    node = nodes[0]
    while node["children"]:
        (child,) = [nodes[number] for number in node["children"] if holds(nodes[number]["test"], record)]
        node = child
    return node


def holds(test: dict[str, Any], record: dict[str, Any]) -> bool:
    value = record[test["attribute"]]
    if test["op"] == "in":
        return value in test["values"]
    return bool(value <= test["threshold"]) if test["op"] == "<=" else bool(value > test["threshold"])


GRID = [
    {"a": a / 8, "b": b / 8, "colour": colour} for a, b, colour in itertools.product(range(9), range(0, 9, 2), COLOURS)
]


@pytest.mark.parametrize("way", WAYS)
async def test_every_route_shows_the_same_tree(workshop: Workshop, way: str) -> None:
    model = await train(workshop, way)
    ledger = (await workshop.get(f"{model}/pruning", limit=1000))["items"]
    if way == "raising":
        assert "raised" in {entry["decision"] for entry in ledger}
    shown = await workshop.get(model)
    assert shown["n_steps"] == len(ledger) > 3
    for step in sorted({0, 1, len(ledger) // 2, len(ledger), shown["selected_step"]}):
        tree = await workshop.get(f"{model}/tree", step=step)
        entry = ledger[step - 1] if step else {"leaves": tree["n_leaves"], "depth": tree["depth"]}
        assert (tree["n_leaves"], tree["depth"]) == (entry["leaves"], entry["depth"])
        rules = {rule["leaf"]: rule for rule in (await workshop.get(f"{model}/rules", step=step, limit=1000))["items"]}
        assert len(rules) == tree["n_leaves"]
        exported = await workshop.get(f"{model}/export", step=step)
        assert exported["tree"]["nodes"] == tree["nodes"]
        answers = (await workshop.predict(model.rpartition("/")[2], {"records": GRID, "step": step, "explain": True}))[
            "predictions"
        ]
        for record, answer in zip(GRID, answers, strict=True):
            leaf = leaf_of(tree, record)
            (path,) = answer["paths"]
            assert (path["leaf"], answer["label"], path["label"]) == (leaf["id"], leaf["label"], leaf["label"])
            assert answer["probabilities"] == path["probabilities"]
            assert rules[leaf["id"]]["distribution"] == leaf["distribution"]
            assert rules[leaf["id"]]["label"] == answer["label"]
        weight = sum(node["weight"] for node in tree["nodes"] if not node["children"])
        assert weight == pytest.approx(tree["nodes"][0]["weight"])
        text = await workshop.client.get(f"{model}/tree", params={"step": step, "format": "text"})
        assert len([line for line in text.text.splitlines() if "(" in line]) == tree["n_leaves"]


@pytest.mark.parametrize("way", WAYS)
async def test_the_curve_is_what_the_evaluation_of_each_step_says(workshop: Workshop, way: str) -> None:
    model = await train(workshop, way)
    evaluation = await workshop.get(f"{model}/evaluation")
    steps = [point["step"] for point in evaluation["curve"]]
    shown = await workshop.get(model)
    assert {0, shown["n_steps"], shown["selected_step"]} <= set(steps)
    for point in evaluation["curve"][:: max(1, len(steps) // 5)]:
        of_step = await workshop.get(f"{model}/evaluation", step=point["step"])
        for part in ("train", "validation", "test"):
            assert point[part] == pytest.approx(1 - of_step["parts"][part]["accuracy"])
        assert of_step["curve"] == evaluation["curve"]
        assert of_step["baseline"] == evaluation["baseline"]
    has_table = [point["cross_validation"] is not None for point in evaluation["curve"]]
    assert any(has_table) == (way == "cross_validation")
    table = (await workshop.get(f"{model}/export"))["cross_validation"]
    assert (table is not None) == (way == "cross_validation")
    if way == "cross_validation":
        assert (table["folds"], table["items"][-1]["leaves"]) == (4, 1)
        by_step = {entry["step"]: (entry["error"], entry["standard_error"]) for entry in table["items"]}
        of_curve = {point["step"]: (point["cross_validation"], point["spread"]) for point in evaluation["curve"]}
        assert {step: judged for step, judged in of_curve.items() if judged[0] is not None} == by_step
        alphas = [entry["alpha"] for entry in table["items"]]
        assert alphas == sorted(set(alphas))
        chosen = next(point for point in evaluation["curve"] if point["step"] == shown["selected_step"])
        errors = [point["cross_validation"] for point in evaluation["curve"] if point["cross_validation"] is not None]
        assert chosen["cross_validation"] == min(errors)
        assert chosen["spread"] > 0
    svg = await workshop.client.get(f"{model}/evaluation", params={"format": "svg"})
    assert ("cross-validation" in svg.text) == (way == "cross_validation")


async def test_alpha_names_a_step(workshop: Workshop) -> None:
    model = await train(workshop, "alpha")
    ledger = (await workshop.get(f"{model}/pruning", limit=1000))["items"]
    alphas = [entry["alpha"] for entry in ledger]
    assert alphas == sorted(alphas)
    assert ledger[-1]["leaves"] == 1
    selected = (await workshop.get(model))["selected_step"]
    assert selected == len([alpha for alpha in alphas if alpha <= 0.01])
    for name, step in (
        ("alpha:0.01", selected),
        ("alpha:0", len([a for a in alphas if a <= 0])),
        ("alpha:9", len(alphas)),
    ):
        for route in ("tree", "rules", "evaluation", "export"):
            assert (await workshop.get(f"{model}/{route}", step=name))["model"]["step"] == step
        answer = await workshop.post(f"{model}/predict", {"records": [{}], "step": name})
        assert answer["model"]["step"] == step
        assert (await workshop.get(f"{model}/pruning/{name}/diff/{step}"))["moved"] == 0
        made = await workshop.post(f"{model}/prunings", {"step": name}, status=201)
        assert made["selected_step"] == step


@pytest.mark.parametrize("way", ["raising", "cross_validation", "alpha"])
async def test_pruning_again_gives_what_training_gives(workshop: Workshop, way: str) -> None:
    trained = await train(workshop, way)
    other = await train(workshop, "reduced_error")
    ordered = await workshop.post(f"{other}/prunings", {"pruning": WAYS[way]}, status=202)
    await workshop.work()
    ended = await workshop.get(f"/v1/trainings/{ordered['id']}")
    assert ended["status"] == "succeeded", ended
    again, first = await workshop.get(f"/v1/models/{ended['model_id']}"), await workshop.get(trained)
    assert again["digest"] == first["digest"]
    assert again["configuration"] == first["configuration"]
    # And from there back.
    back = await workshop.post(f"/v1/models/{again['id']}/prunings", {"pruning": WAYS["reduced_error"]}, status=202)
    await workshop.work()
    model_id = (await workshop.get(f"/v1/trainings/{back['id']}"))["model_id"]
    assert (await workshop.get(f"/v1/models/{model_id}"))["digest"] == (await workshop.get(other))["digest"]


async def test_raised_branches_move_rows(workshop: Workshop) -> None:
    model = await train(workshop, "raising")
    ledger = (await workshop.get(f"{model}/pruning", limit=1000))["items"]
    raised = next(entry for entry in ledger if entry["decision"] == "raised")
    found = await workshop.get(f"{model}/pruning/{raised['step'] - 1}/diff/{raised['step']}", limit=1000)
    assert found["n_gone"] > found["n_new"] > 0
    assert 0 < found["moved"] < 1
    for side, change in (("before", "gone"), ("after", "new")):
        rules = (await workshop.get(f"{model}/rules", step=found[side]["step"], limit=1000))["items"]
        assert [item["rule"] for item in found["items"] if item["change"] == change] == [
            rule for rule in rules if rule in [item["rule"] for item in found["items"]]
        ]
    version = await workshop.post(f"{model}/prunings", {"step": raised["step"]}, status=201)
    tree = await workshop.get(f"/v1/models/{version['id']}/tree")
    assert tree["nodes"] == (await workshop.get(f"{model}/tree", step=raised["step"]))["nodes"]
