"""Every worked figure of the theory that the API shows, read over HTTP."""

from typing import Any

import pytest

from tests.journeys.running import Service, golden_columns

ATTRIBUTES = ["色泽", "根蒂", "敲声", "纹理", "脐部", "触感"]
LEDGER_ORDER = ["脐部", "色泽", "根蒂", "敲声", "纹理", "触感"]
ANY_LEAF = {"min_samples_leaf": 1}
BY_GAIN = {"kind": "c45", "criterion": {"kind": "information_gain"}, "stopping": ANY_LEAF}
BY_RATIO = {"kind": "c45", "stopping": ANY_LEAF}


def figure(value: float) -> Any:
    """Equal to the four digits that the theory prints."""
    return pytest.approx(value, abs=5e-5)


def tree_of(
    service: Service, table: str, algorithm: dict[str, Any], target: str = "好瓜", schema: Any = None, **order: Any
) -> Any:
    """The tree of a worked table with all candidates, trained once."""
    name = f"figures {table} {algorithm} {schema}".replace("/", "")[:200]
    columns = {} if schema is None else {"schema": schema}
    address = service.trained(
        name, lambda: service.train(name, service.golden(table, **columns), target, algorithm=algorithm, **order)
    )
    return service.get(f"{address}/tree", candidates=True)


def candidates(node: Any) -> dict[str, Any]:
    return {candidate["attribute"]: candidate for candidate in node["split"]["candidates"]}


def child(tree: Any, parent: Any, *values: str) -> Any:
    """The node below that takes exactly these values."""
    by_id = {node["id"]: node for node in tree["nodes"]}
    return next(by_id[i] for i in parent["children"] if by_id[i]["test"]["values"] == list(values))


IGNORE_NUMBER = {"编号": {"kind": "ignore"}}
NUMBER_AS_CATEGORY = {"编号": {"kind": "categorical"}}


def test_gains_of_watermelon_2_0(service: Service) -> None:
    tree = tree_of(service, "watermelon_2.0", {"kind": "id3"}, schema=IGNORE_NUMBER)
    root = tree["nodes"][0]
    assert root["impurity"] == figure(0.9975)
    assert (root["weight"], root["distribution"]) == (17.0, {"是": 8.0, "否": 9.0})
    expected = {"色泽": 0.1081, "根蒂": 0.1427, "敲声": 0.1408, "纹理": 0.3806, "脐部": 0.2892, "触感": 0.0060}
    assert {name: one["gain"] for name, one in candidates(root).items()} == {n: figure(g) for n, g in expected.items()}
    assert list(candidates(root)) == ATTRIBUTES
    assert all((c["score"], c["known"], c["n_thresholds"]) == (c["gain"], 1.0, None) for c in candidates(root).values())
    assert (root["split"]["attribute"], root["split"]["kind"], root["split"]["gain"]) == (
        "纹理",
        "multiway",
        figure(0.3806),
    )


def test_gains_below_the_clear_texture(service: Service) -> None:
    tree = tree_of(service, "watermelon_2.0", {"kind": "id3"}, schema=IGNORE_NUMBER)
    clear = child(tree, tree["nodes"][0], "清晰")
    expected = {"色泽": 0.0431, "根蒂": 0.4581, "敲声": 0.3309, "脐部": 0.4581, "触感": 0.4581}
    assert {name: one["gain"] for name, one in candidates(clear).items()} == {n: figure(g) for n, g in expected.items()}
    assert clear["split"]["attribute"] == "根蒂"


def test_intrinsic_values(service: Service) -> None:
    root = tree_of(service, "watermelon_2.0", BY_RATIO, schema=NUMBER_AS_CATEGORY)["nodes"][0]
    found = candidates(root)
    assert found["编号"]["gain"] == figure(0.9975)
    values = {"触感": 0.8740, "色泽": 1.5799, "编号": 4.0875}
    assert {name: found[name]["gain"] / found[name]["score"] for name in values} == {
        name: figure(value) for name, value in values.items()
    }


def test_gini_index(service: Service) -> None:
    algorithm = {"kind": "c45", "criterion": {"kind": "gini"}, "stopping": ANY_LEAF}
    root = tree_of(service, "watermelon_2.0", algorithm, schema=IGNORE_NUMBER)["nodes"][0]
    index = {name: root["impurity"] - one["gain"] for name, one in candidates(root).items()}
    assert index["纹理"] == figure(0.2771)
    assert min(index, key=lambda name: index[name]) == "纹理"
    assert root["split"]["attribute"] == "纹理"


def test_thresholds_of_watermelon_3_0(service: Service) -> None:
    root = tree_of(service, "watermelon_3.0", BY_GAIN, schema=IGNORE_NUMBER)["nodes"][0]
    density, sugar = candidates(root)["密度"], candidates(root)["含糖率"]
    assert (density["threshold"], density["gain"], density["n_thresholds"]) == (figure(0.3815), figure(0.2624), 16)
    assert (sugar["threshold"], sugar["gain"]) == (figure(0.126), figure(0.3493))
    assert root["split"]["attribute"] == "纹理"


def test_missing_values_of_watermelon_2_0a(service: Service) -> None:
    tree = tree_of(service, "watermelon_2.0a", BY_GAIN, schema=IGNORE_NUMBER)
    root = tree["nodes"][0]
    gains = {"色泽": 0.2520, "根蒂": 0.1712, "敲声": 0.1448, "纹理": 0.4236, "脐部": 0.2888, "触感": 0.0057}
    assert {name: one["gain"] for name, one in candidates(root).items()} == {n: figure(g) for n, g in gains.items()}
    colour = candidates(root)["色泽"]
    assert colour["known"] == pytest.approx(14 / 17)
    assert colour["gain"] / colour["known"] == figure(0.3060)
    assert candidates(root)["纹理"]["known"] == pytest.approx(15 / 17)
    assert root["split"]["attribute"] == "纹理"
    assert root["shares"] == pytest.approx([7 / 15, 5 / 15, 3 / 15])
    weights = [child(tree, root, value)["weight"] for value in ("清晰", "稍糊", "模糊")]
    assert weights == pytest.approx([7 + 2 * 7 / 15, 5 + 2 * 5 / 15, 3 + 2 * 3 / 15])


def test_a_record_without_texture_takes_all_three_ways(service: Service) -> None:
    tree_of(service, "watermelon_2.0a", BY_GAIN, schema=IGNORE_NUMBER)
    name = f"figures watermelon_2.0a {BY_GAIN} {IGNORE_NUMBER}"[:200]
    address = service.trained(name, lambda: pytest.fail("it is trained already"))
    answer = service.post(f"{address}/predict", {"records": [{"纹理": None, "触感": "硬滑"}], "explain": True})
    paths = answer["predictions"][0]["paths"]
    by_way: dict[str, float] = {}
    for path in paths:
        way = path["tests"][0]["test"]
        by_way[way] = by_way.get(way, 0.0) + path["weight"]
    assert by_way == pytest.approx({"= 清晰": 7 / 15, "= 稍糊": 5 / 15, "= 模糊": 3 / 15})


def ledger(service: Service, address: str) -> list[Any]:
    """What was decided about which split, with both measures."""
    full = service.get(f"{address}/tree", step="full")
    attribute = {node["id"]: node["split"]["attribute"] for node in full["nodes"] if node["split"]}
    entries = service.get(f"{address}/pruning")["items"]
    assert [entry["step"] for entry in entries] == list(range(1, len(entries) + 1))
    for entry in entries:
        evidence = entry["evidence"]
        assert (evidence["rows"], evidence["weight"]) == (7, 7.0)
        assert entry["before"] == pytest.approx(evidence["correct_before"] / 7)
        assert entry["after"] == pytest.approx(evidence["correct_after"] / 7)
    return [(attribute[e["node"]], e["decision"], e["before"], e["after"]) for e in entries]


def divided(service: Service, how: str) -> tuple[str, dict[str, Any]]:
    """The training and validation melons: in one table with a column that says which, or in two tables."""
    train, validation = golden_columns("watermelon_2.0_train"), golden_columns("watermelon_2.0_validation")
    if how == "datasets":
        ids = [service.dataset(columns, schema=IGNORE_NUMBER) for columns in (train, validation)]
        return ids[0], {"kind": "datasets", "validation": ids[1]}
    whole = {name: train[name] + validation[name] for name in train}
    part = ["train"] * len(train["编号"]) + ["validation"] * len(validation["编号"])
    return service.dataset({**whole, "部分": part}, schema=IGNORE_NUMBER), {"kind": "column", "column": "部分"}


@pytest.mark.parametrize("how", ["column", "datasets"])
def test_reduced_error_ledger(service: Service, how: str) -> None:
    dataset_id, division = divided(service, how)
    training = service.train(
        f"reduced error {how}",
        dataset_id,
        "好瓜",
        attributes=LEDGER_ORDER,
        algorithm={"kind": "id3"},
        division=division,
        pruning={"kind": "reduced_error"},
    )
    address = f"/v1/models/{training['model_id']}"
    assert ledger(service, address) == [
        ("纹理", "cut", pytest.approx(3 / 7), pytest.approx(4 / 7)),
        ("色泽", "kept", pytest.approx(4 / 7), pytest.approx(4 / 7)),
        ("色泽", "cut", pytest.approx(4 / 7), pytest.approx(5 / 7)),
        ("根蒂", "kept", pytest.approx(5 / 7), pytest.approx(5 / 7)),
        ("脐部", "kept", pytest.approx(5 / 7), pytest.approx(3 / 7)),
    ]
    assert service.get(f"{address}/evaluation")["parts"]["validation"]["accuracy"] == pytest.approx(5 / 7)
    full = service.get(f"{address}/evaluation", step="full")
    assert full["parts"]["validation"]["accuracy"] == pytest.approx(3 / 7)
    assert full["parts"]["train"]["accuracy"] == 1.0
    curve = service.get(f"{address}/evaluation")["curve"]
    # The steps that changed the tree, and the selected one.
    assert [point["step"] for point in curve] == [0, 1, 3, 5]
    assert [1 - point["validation"] for point in curve] == pytest.approx([3 / 7, 4 / 7, 5 / 7, 5 / 7])


@pytest.mark.parametrize("how", ["column", "datasets"])
def test_splits_judged_by_validation_rows(service: Service, how: str) -> None:
    dataset_id, division = divided(service, how)
    training = service.train(
        f"validated splits {how}",
        dataset_id,
        "好瓜",
        attributes=LEDGER_ORDER,
        algorithm={"kind": "id3", "stopping": {"validate_splits": True}},
        division=division,
    )
    address = f"/v1/models/{training['model_id']}"
    first, *deeper = ledger(service, address)
    assert first == ("脐部", "kept", pytest.approx(3 / 7), pytest.approx(5 / 7))
    assert [(attribute, decision, before) for attribute, decision, before, _ in deeper] == [
        ("色泽", "cut", pytest.approx(5 / 7)),
        ("根蒂", "cut", pytest.approx(5 / 7)),
    ]
    assert all(after <= 5 / 7 + 1e-9 for *_, after in deeper)
    tree = service.get(f"{address}/tree")
    assert (tree["n_leaves"], tree["depth"], tree["nodes"][0]["split"]["attribute"]) == (3, 1, "脐部")
    assert service.get(f"{address}/evaluation")["parts"]["validation"]["accuracy"] == pytest.approx(5 / 7)
    assert service.get(f"{address}/evaluation")["baseline"]["validation"]["accuracy"] == pytest.approx(3 / 7)


def test_app_recommendation(service: Service) -> None:
    name = "apps"
    address = service.trained(
        name,
        lambda: service.train(name, service.golden("app_recommendation"), "app", algorithm=BY_GAIN),
    )
    root = service.get(f"{address}/tree", candidates=True)["nodes"][0]
    assert root["impurity"] == figure(1.4591)
    assert candidates(root)["gender"]["gain"] == figure(0.5409)
    age = candidates(root)["age"]
    assert (age["threshold"], age["gain"]) == (20, figure(1.0))
    answer = service.post(f"{address}/predict", {"records": [{"gender": "F", "age": 30}]})
    assert answer["predictions"][0]["label"] == "wechat"


def test_candidates_only_where_the_class_changes(service: Service) -> None:
    algorithm = {**BY_GAIN, "numeric": {"kind": "boundary"}}
    tree = tree_of(service, "temperature", algorithm, target="play_tennis")
    root = tree["nodes"][0]
    assert candidates(root)["temperature"]["n_thresholds"] == 2
    thresholds = {node["split"]["threshold"] for node in tree["nodes"] if node["split"]}
    assert thresholds == {54.0, 85.0}
    exact = tree_of(service, "temperature", BY_GAIN, target="play_tennis")
    assert candidates(exact["nodes"][0])["temperature"]["n_thresholds"] == 5
    assert exact["nodes"][0]["split"]["threshold"] == root["split"]["threshold"]


def test_missing_and_numeric_together(service: Service) -> None:
    """The exercise without a printed answer: what must hold whatever the tree is."""
    tree = tree_of(service, "watermelon_2.0b", BY_RATIO, schema=IGNORE_NUMBER)
    nodes = {node["id"]: node for node in tree["nodes"]}
    for node in nodes.values():
        assert sum(node["distribution"].values()) == pytest.approx(node["weight"])
        if node["children"]:
            assert sum(node["shares"]) == pytest.approx(1)
            assert sum(nodes[below]["weight"] for below in node["children"]) == pytest.approx(node["weight"])
    leaves = [node for node in nodes.values() if not node["children"]]
    assert sum(leaf["weight"] for leaf in leaves) == pytest.approx(17)
    known = {name: one["known"] for name, one in candidates(nodes[0]).items()}
    columns = golden_columns("watermelon_2.0b")
    assert known == pytest.approx({n: sum(v is not None for v in columns[n]) / 17 for n in known})


def test_regression_with_cart(service: Service) -> None:
    columns = {"x": [1.0, 2.0, 3.0, 4.0], "colour": ["red", "red", "blue", "red"], "y": [1.0, 1.0, 5.0, 5.0]}
    training = service.train("numbers", service.dataset(columns), "y", algorithm={"kind": "cart"})
    address = f"/v1/models/{training['model_id']}"
    assert training["configuration"]["algorithm"]["criterion"] == {"kind": "squared_error"}
    tree = service.get(f"{address}/tree", candidates=True)
    assert tree["task"] == "regression"
    root, low, high = tree["nodes"]
    assert (root["mean"], root["spread"], root["impurity"], root["n_outputs"]) == (3.0, 2.0, 4.0, 1)
    assert (root["split"]["threshold"], root["split"]["gain"]) == (2.5, 4.0)
    assert candidates(root)["colour"]["gain"] == pytest.approx(4 - 3 / 4 * 32 / 9)
    assert [(leaf["mean"], leaf["spread"], leaf["weight"]) for leaf in (low, high)] == [
        (1.0, 0.0, 2.0),
        (5.0, 0.0, 2.0),
    ]
    known, unknown = service.post(f"{address}/predict", {"records": [{"x": 10}, {}]})["predictions"]
    assert (known["mean"], known["spread"], known["count"], known["decided"]) == (5.0, 0.0, 2.0, True)
    assert (unknown["mean"], unknown["spread"], unknown["bounds"], unknown["decided"]) == (3.0, 2.0, [1.0, 5.0], False)
    measures = service.get(f"{address}/evaluation")
    assert measures["parts"]["train"] == {"rows": 4, "weight": 4.0, "mae": 0.0, "rmse": 0.0, "r2": 1.0}
    assert measures["baseline"]["train"] == {"rows": 4, "weight": 4.0, "mae": 2.0, "rmse": 2.0, "r2": 0.0}
    rules = service.get(f"{address}/rules")
    assert [rule["text"] for rule in rules["items"]] == ["if x <= 2.5 then 1", "if x > 2.5 then 5"]
