from typing import Any

import pytest

from tests.service.api.trained import Workshop, places

pytestmark = pytest.mark.anyio

TABLE: dict[str, Any] = {
    "density": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    "texture": ["clear", "clear", "blurry", "blurry", "clear", None],
    "weight": [1, 2, 1, 2, 1, 2],
    "negative": [-1, 2, 1, 2, 1, 2],
    "holey": [1, None, 1, 2, 1, 2],
    "zero": [0, 0, 0, 0, 0, 0],
    "part": ["train", "train", "train", "validation", "validation", "test"],
    "halves": ["train", "train", "train", "other", "other", "test"],
    "aside": ["validation", "validation", "test", "test", "test", "test"],
    "nothing": [None, None, None, None, None, None],
    "secret": ["a", "b", "c", "d", "e", "f"],
    "number": [0, 1, 0, 1, 0, 1],
    "y": ["good", "bad", "good", "bad", "good", "bad"],
}
SCHEMA = {"secret": {"kind": "ignore"}}
COLUMNS = ["density", "texture", "weight"]
ID3 = {"kind": "id3"}
REDUCED_ERROR = {"kind": "reduced_error"}


def stopping(limits: dict[str, Any]) -> dict[str, Any]:
    return {"algorithm": {"kind": "cart", "stopping": limits}}


@pytest.fixture
async def dataset_id(workshop: Workshop) -> str:
    return await workshop.dataset(TABLE, schema=SCHEMA)


async def refused(workshop: Workshop, dataset_id: str, **order: Any) -> list[tuple[str, str, str | None]]:
    """Pointer, detail and hint of everything that is wrong with an order."""
    problem = await workshop.order(dataset_id, status=422, **order)
    assert problem["type"] in ("/problems/invalid_request", "/problems/invalid_config")
    assert all(error["in"] == "body" for error in problem["errors"])
    return [(error["pointer"], error["detail"], error["hint"]) for error in problem["errors"]]


async def test_an_order_is_answered_with_everything_filled_in(workshop: Workshop, dataset_id: str) -> None:
    body = {"name": "m", "dataset_id": dataset_id, "target": "y", "algorithm": {"kind": "c45"}, "attributes": COLUMNS}
    answer = await workshop.client.post("/v1/trainings", json=body)
    assert answer.status_code == 202
    training = answer.json()
    assert answer.headers["location"] == f"/v1/trainings/{training['id']}"
    assert int(answer.headers["retry-after"]) >= 1
    assert training == await workshop.get(answer.headers["location"])
    assert set(training) == {
        "id", "name", "status", "stage", "progress", "model_id", "version", "dataset_id",
        "validation_dataset_id", "configuration", "parent", "warnings", "problem", "created_at", "started_at",
        "finished_at",
    }  # fmt: skip
    assert training["id"].startswith("trn_")
    assert training["model_id"].startswith("mdl_")
    assert (training["status"], training["version"], training["dataset_id"]) == ("queued", 1, dataset_id)
    assert training["configuration"] == {
        "target": "y",
        "target_kind": None,
        "attributes": COLUMNS,
        "sample_weight": None,
        "class_weights": None,
        "misclassification_costs": None,
        "seed": 0,
        "division": {"kind": "random", "train": 0.6, "validation": 0.2, "test": 0.2, "stratified": True},
        "algorithm": {
            "kind": "c45",
            "dialect": "textbook",
            "collapse": False,
            "criterion": {"kind": "gain_ratio", "filter": "above_average", "numeric_correction": "none"},
            "attribute_costs": None,
            "categorical": "multiway",
            "min_category_weight": 0,
            "numeric": {"kind": "exact"},
            "missing": "weighted",
            "stopping": {
                "max_depth": None,
                "max_leaves": None,
                "min_samples_split": 2,
                "min_samples_leaf": 2,
                "min_gain": 0,
                "min_score": 0,
                "min_impurity": 0,
                "min_copy_weight": 0,
                "validate_splits": False,
            },
        },
        "pruning": {"kind": "confidence", "cf": 0.25, "bound": "binomial", "raising": False},
        "importance": None,
    }


COST_COMPLEXITY = {"kind": "cost_complexity", "alpha": None, "folds": 10, "rule": "minimum"}


@pytest.mark.parametrize(
    ("order", "pruning"),
    [
        ({"algorithm": ID3, "attributes": ["texture"]}, {"kind": "none"}),
        (
            {"algorithm": {"kind": "c45", "dialect": "release8"}},
            {"kind": "confidence", "cf": 0.25, "bound": "normal", "raising": True},
        ),
        (
            {"algorithm": {"kind": "c45", "dialect": "release8"}, "pruning": {"kind": "confidence", "raising": False}},
            {"kind": "confidence", "cf": 0.25, "bound": "normal", "raising": False},
        ),
        ({}, {**COST_COMPLEXITY, "cost": "gini", "choose": "cross_validation"}),
        (
            {"division": {"kind": "random"}, "algorithm": {"kind": "cart", "criterion": {"kind": "gain_ratio"}}},
            {**COST_COMPLEXITY, "cost": "entropy", "choose": "validation"},
        ),
        ({"target": "density"}, {**COST_COMPLEXITY, "cost": "squared_error", "choose": "cross_validation"}),
        (
            {"pruning": {"kind": "cost_complexity", "alpha": 0.01, "cost": "error"}},
            {**COST_COMPLEXITY, "alpha": 0.01, "cost": "error", "choose": None},
        ),
        ({"pruning": {"kind": "none"}}, {"kind": "none"}),
    ],
)
async def test_pruning_that_nobody_orders_is_the_methods_own(
    workshop: Workshop, dataset_id: str, order: dict[str, Any], pruning: dict[str, Any]
) -> None:
    training = await workshop.order(dataset_id, **{"pruning": None, "attributes": None, **order})
    assert training["configuration"]["pruning"] == pruning


@pytest.mark.parametrize(
    ("pruning", "pointers"),
    [
        ({"kind": "cost_complexity", "alpha": 0.1, "choose": "validation"}, {"#/pruning/alpha", "#/pruning/choose"}),
        ({"kind": "cost_complexity", "alpha": 0.1, "rule": "one_standard_error"}, {"#/pruning/rule"}),
        ({"kind": "cost_complexity", "alpha": -1}, {"#/pruning/alpha"}),
        ({"kind": "cost_complexity", "folds": 1}, {"#/pruning/folds"}),
        ({"kind": "cost_complexity", "cost": "squared_error"}, {"#/pruning/cost"}),
        ({"kind": "cost_complexity", "choose": "validation"}, {"#/division"}),
        ({"kind": "confidence", "cf": 0}, {"#/pruning/cf"}),
        ({"kind": "confidence", "cf": 0.7, "bound": "normal"}, {"#/pruning/cf"}),
        ({"kind": "confidence", "alpha": 0.1}, {"#/pruning/alpha"}),
    ],
)
async def test_pruning_that_makes_no_sense_is_told_where(
    workshop: Workshop, dataset_id: str, pruning: dict[str, Any], pointers: set[str]
) -> None:
    assert {place for place, _, _ in await refused(workshop, dataset_id, pruning=pruning)} == pointers


async def test_numbers_are_not_pruned_by_confidence(workshop: Workshop, dataset_id: str) -> None:
    ((place, _, hint),) = await refused(workshop, dataset_id, target="density", pruning={"kind": "confidence"})
    assert (place, hint) == ("#/pruning/kind", "use cost_complexity or reduced_error")


async def test_the_configuration_shown_can_be_sent_again(workshop: Workshop, dataset_id: str) -> None:
    orders: list[dict[str, Any]] = [
        {"algorithm": {"kind": "c45"}},
        {"algorithm": {"kind": "c45", "numeric": {"kind": "uniform", "as": "intervals"}, "missing": "majority"}},
        {"algorithm": {"kind": "id3"}, "attributes": ["texture"], "seed": 5},
        {
            "algorithm": {"kind": "c45", "dialect": "release8"},
            "division": {"kind": "random"},
            "pruning": {"kind": "reduced_error"},
        },
        {"division": {"kind": "random"}, "pruning": {"kind": "reduced_error"}, "class_weights": {"good": 2}},
        {"target": "density", "division": {"kind": "column", "column": "part"}, "sample_weight": "weight"},
        {"division": {"kind": "datasets", "test": dataset_id}},
    ]
    for order in orders:
        first = (await workshop.order(dataset_id, **order))["configuration"]
        assert (await workshop.order(dataset_id, **first))["configuration"] == first


async def test_defaults_may_be_sent_as_null(workshop: Workshop, dataset_id: str) -> None:
    named = ("criterion", "attribute_costs", "categorical", "min_category_weight", "numeric", "missing", "stopping")
    plain = await workshop.order(dataset_id)
    nulls = await workshop.order(dataset_id, algorithm={"kind": "cart", **dict.fromkeys(named)}, target_kind=None)
    assert plain["configuration"] == nulls["configuration"]
    inner = dict.fromkeys(plain["configuration"]["algorithm"]["stopping"])
    stopping = await workshop.order(dataset_id, algorithm={"kind": "cart", "stopping": inner})
    assert plain["configuration"] == stopping["configuration"]


async def test_presets_choose_by_the_target(workshop: Workshop, dataset_id: str) -> None:
    for target, criterion in (("y", "gini"), ("density", "squared_error")):
        algorithm = (await workshop.order(dataset_id, target=target))["configuration"]["algorithm"]
        assert algorithm["criterion"] == {"kind": criterion}
        assert algorithm["categorical"] == "two_groups"


@pytest.mark.parametrize(
    ("order", "pointer", "detail", "hint"),
    [
        ({"target": "textur"}, "#/target", '"textur" is not a column', "did you mean texture?"),
        ({"attributes": ["density", "txture"]}, "#/attributes/1", '"txture" is not a column', "did you mean texture?"),
        ({"sample_weight": "wieght"}, "#/sample_weight", "not a column", "did you mean weight?"),
        ({"division": {"kind": "column", "column": "prt"}}, "#/division/column", "not a column", "did you mean part?"),
        ({"algorithm": {"kind": "c45"}, "target": "density"}, "#/target", "C4.5 predicts classes", "cart"),
        ({"algorithm": {"kind": "c45"}, "target": "number"}, "#/target", '"number" is numeric', "target_kind"),
        (
            {"algorithm": {"kind": "id3"}, "target": "number", "attributes": ["texture"]},
            "#/target", "ID3 predicts classes", "cart",
        ),
        ({"target_kind": "numeric"}, "#/target_kind", "categorical", "leave target_kind out"),
        ({"target": "nothing"}, "#/target", "missing in every row", "choose another"),
        ({"target": "secret"}, "#/target", "ignored", "post the dataset"),
        ({"algorithm": ID3, "attributes": ["density"]}, "#/attributes/0", "ID3 takes categorical", "c45 or cart"),
        ({"attributes": ["density", "density"]}, "#/attributes/1", "listed twice", "once"),
        ({"attributes": ["density", "y"]}, "#/attributes/1", "the target", "take it off"),
        ({"attributes": ["secret"]}, "#/attributes/0", "ignored", "take it off"),
        ({"attributes": ["weight"], "sample_weight": "weight"}, "#/attributes/0", "the sample weight", "take it off"),
        (
            {"attributes": ["part"], "division": {"kind": "column", "column": "part"}},
            "#/attributes/0", "the division", "take it off",
        ),
        ({"attributes": []}, "#/attributes", "at least 1", None),
        ({"sample_weight": "y"}, "#/sample_weight", "the target", None),
        ({"sample_weight": "texture"}, "#/sample_weight", "weights are numbers", None),
        ({"sample_weight": "negative"}, "#/sample_weight", "-1", "0 or more"),
        ({"sample_weight": "holey"}, "#/sample_weight", "missing in 1 row", "every row"),
        ({"sample_weight": "zero"}, "#/sample_weight", "0 everywhere", "some row"),
        ({"class_weights": {"god": 2}}, "#/class_weights/god", "not a class", "did you mean good?"),
        ({"class_weights": {"good": 0}}, "#/class_weights/good", "must be", None),
        ({"class_weights": {"good": -1}}, "#/class_weights/good", "must be", None),
        ({"class_weights": {"good": "2"}}, "#/class_weights/good", "must be a number", None),
        ({"class_weights": {"good": 1e300}}, "#/class_weights/good", "must be at most", None),
        ({"class_weights": {"good": 1e-300}}, "#/class_weights/good", "must be at least", None),
        ({"target": "density", "class_weights": {"good": 1}}, "#/class_weights", "no classes", "class_weights"),
        ({"division": {"kind": "random", "train": 0.5, "validation": 0.2, "test": 0.2}}, "#/division", "0.9", "1"),
        ({"division": {"kind": "random", "train": 0, "validation": 1}}, "#/division/train", "greater than 0", None),
        ({"division": {"kind": "random", "test": -0.2}}, "#/division/test", "at least 0", None),
        ({"division": {"kind": "random", "train": "0.6"}}, "#/division/train", "must be a number", None),
        ({"division": {"kind": "column", "column": "halves"}}, "#/division/column", "other", "train, validation"),
        ({"division": {"kind": "column", "column": "density"}}, "#/division/column", "no part", "train, validation"),
        ({"division": {"kind": "column", "column": "aside"}}, "#/division/column", "never says train", "some rows"),
        ({"division": {"kind": "column", "column": "y"}}, "#/division/column", "target", None),
        ({"division": {"kind": "column"}}, "#/division/column", "required", None),
        ({"pruning": {"kind": "reduced_error"}}, "#/division", "reduced-error", "validation part"),
        (
            {"pruning": REDUCED_ERROR, "division": {"kind": "random", "train": 1, "validation": 0, "test": 0}},
            "#/division", "none", "validation part",
        ),
        ({"pruning": {"kind": "reduced_error"}, "division": {"kind": "datasets"}}, "#/division", "none", "validation"),
        (stopping({"validate_splits": True}), "#/division", "validate_splits", "part"),
        ({"pruning": {"kind": "reduced_error", "on_tie": "cutt"}}, "#/pruning/on_tie", "'keep' or 'cut'", "cut"),
        (stopping({"max_depth": -1}), "#/algorithm/stopping/max_depth", "at least 0", None),
        (stopping({"max_depth": 2.5}), "#/algorithm/stopping/max_depth", "whole", None),
        (stopping({"max_depth": True}), "#/algorithm/stopping/max_depth", "whole", None),
        (stopping({"max_leaves": 0}), "#/algorithm/stopping/max_leaves", "at least 1", None),
        (stopping({"min_gain": -0.1}), "#/algorithm/stopping/min_gain", "at least 0", None),
        (
            {"algorithm": {"kind": "cart", "criterion": {"kind": "squared_error"}}},
            "#/algorithm/criterion/kind", "does not go with", "gini",
        ),
        (
            {"target": "density", "algorithm": {"kind": "cart", "criterion": {"kind": "gini"}}},
            "#/algorithm/criterion/kind", "does not go with", "squared_error",
        ),
        (
            {"algorithm": {"kind": "cart", "criterion": {"kind": "gini", "filter": "none"}}},
            "#/algorithm/criterion/filter", "not a known key", None,
        ),
        ({"algorithm": {"kind": "cart", "categorical": "binary"}}, "#/algorithm/categorical", "multiway", None),
        (
            {"algorithm": {"kind": "c45", "min_category_weight": 2}},
            "#/algorithm/min_category_weight", "keeps every value apart", "two_groups",
        ),
        (
            {"algorithm": {"kind": "cart", "attribute_costs": {"kind": "nunez", "costs": {"texture": 1}}}},
            "#/algorithm/attribute_costs", "weighs information gain", "information_gain",
        ),
        (
            {"algorithm": {"kind": "id3", "attribute_costs": {"kind": "nunez", "costs": {"textur": 1}}},
             "attributes": ["texture"]},
            "#/algorithm/attribute_costs/costs/textur", "not an attribute", "did you mean texture?",
        ),
        (
            {"algorithm": {"kind": "id3", "attribute_costs": {"kind": "tan_schlimmer", "costs": {"texture": 0}}}},
            "#/algorithm/attribute_costs/costs/texture", "greater than 0", None,
        ),
        (
            {"misclassification_costs": {"goo": {"bad": 2}}},
            "#/misclassification_costs/goo", "not a class", "did you mean good?",
        ),
        (
            {"misclassification_costs": {"good": {"good": 2}}},
            "#/misclassification_costs/good/good", "costs nothing", "leave it out",
        ),
        (
            {"misclassification_costs": {"good": {"bad": -1}}},
            "#/misclassification_costs/good/bad", "at least 0", None,
        ),
        (
            {"target": "density", "misclassification_costs": {"good": {"bad": 2}}},
            "#/misclassification_costs", "no classes to mistake", "leave",
        ),
        (
            {"algorithm": {"kind": "c45", "dialect": "release8", "categorical": "two_groups"}},
            "#/algorithm/categorical", "release8 has no two_groups", "multiway",
        ),
        ({"algorithm": {"kind": "cart", "missing": "guess"}}, "#/algorithm/missing", "weighted", None),
        ({"algorithm": {"kind": "c45", "missing": "surrogate"}}, "#/algorithm/missing", "two branches", "two_groups"),
        (
            {"target": "density", "algorithm": {"kind": "cart", "missing": "class_majority"}},
            "#/algorithm/missing", "numbers have none", "majority",
        ),
        ({"algorithm": {"kind": "cart", "numeric": {"kind": "median"}}}, "#/algorithm/numeric/kind", "exact", None),
        (
            {"target": "density", "algorithm": {"kind": "cart", "numeric": {"kind": "mdlp"}}},
            "#/algorithm/numeric/kind", "looks at classes", "quantile",
        ),
        (
            {"algorithm": {"kind": "cart", "numeric": {"kind": "quantile", "bins": 1}}},
            "#/algorithm/numeric/bins", "at least 2", None,
        ),
        (
            {"algorithm": {"kind": "cart", "numeric": {"kind": "uniform", "as": "ranges"}}},
            "#/algorithm/numeric/as", "intervals", None,
        ),
        ({"algorithm": {"kind": "cart", "numeric": "exact"}}, "#/algorithm/numeric", "must be an object", None),
        ({"algorithm": "cart"}, "#/algorithm", "must be an object", None),
        ({"seed": -1}, "#/seed", "at least 0", None),
        ({"seed": 2**63}, "#/seed", "at most", None),
        ({"seed": 1.5}, "#/seed", "whole", None),
        ({"target": None}, "#/target", "a training needs", "name the column"),
        ({"target": 3}, "#/target", "must be text", None),
        ({"target": []}, "#/target", "at least 1", None),
        ({"target": ["density", 3]}, "#/target/1", "must be text", None),
        ({"target": ["density", "densty"]}, "#/target/1", "not a column", "density"),
        ({"target": ["density", "weight", "density"]}, "#/target/2", "listed twice", "once"),
        ({"target": ["density", "texture"]}, "#/target/1", "is categorical", "numeric columns"),
        ({"target": ["density", "secret"]}, "#/target/1", "ignored", None),
        ({"target": ["density", "weight"], "target_kind": "categorical"}, "#/target_kind", "as numbers", "leave"),
        ({"target": ["density", "weight"], "attributes": ["weight"]}, "#/attributes/0", "is a target", None),
        ({"target": ["density", "weight"], "sample_weight": "weight"}, "#/sample_weight", "is a target", None),
        ({"target": ["density"], "algorithm": {"kind": "c45"}}, "#/target", "C4.5 predicts classes", "cart"),
        ({"target": ["density"], "class_weights": {"good": 2}}, "#/class_weights", "no classes", None),
        ({"target_kind": "nominal"}, "#/target_kind", "categorical", None),
    ],
)  # fmt: skip
async def test_a_wrong_order_is_told_where(
    workshop: Workshop, dataset_id: str, order: dict[str, Any], pointer: str, detail: str, hint: str | None
) -> None:
    found = await refused(workshop, dataset_id, **order)
    assert {place for place, _, _ in found} == {pointer}
    assert detail in found[0][1]
    if hint is not None:
        assert hint in (found[0][2] or "")


@pytest.mark.parametrize(
    ("order", "pointer", "kinds", "hint"),
    [
        ({"algorithm": {"kind": "c4.5"}}, "#/algorithm/kind", ("id3", "c45", "cart"), "did you mean c45?"),
        ({"algorithm": {"kind": "boosting"}}, "#/algorithm/kind", ("id3", "c45", "random_forest"), "boosting"),
        ({"algorithm": {}}, "#/algorithm/kind", (), None),
        (
            {"pruning": {"kind": "cost-complexity"}},
            "#/pruning/kind",
            ("none", "reduced_error", "confidence", "cost_complexity"),
            "did you mean cost_complexity?",
        ),
        ({"division": {"kind": "rows"}}, "#/division/kind", ("random", "none", "column", "datasets"), None),
        (
            {"algorithm": {"kind": "cart", "criterion": {"kind": "chi2"}}},
            "#/algorithm/criterion/kind",
            ("information_gain", "gain_ratio", "gini", "error_rate", "squared_error"),
            None,
        ),
    ],
)
async def test_an_unknown_kind_is_answered_with_the_kinds_there_are(
    workshop: Workshop, dataset_id: str, order: dict[str, Any], pointer: str, kinds: tuple[str, ...], hint: str | None
) -> None:
    ((place, detail, said),) = await refused(workshop, dataset_id, **order)
    assert place == pointer
    assert all(f"'{kind}'" in detail for kind in kinds)
    if hint is not None:
        assert hint in (said or "")


@pytest.mark.parametrize(
    ("order", "pointer", "hint"),
    [
        ({"prunning": {}}, "#/prunning", "did you mean pruning?"),
        ({"algorithm": {"kind": "cart", "stoping": {}}}, "#/algorithm/stoping", "did you mean stopping?"),
        ({"algorithm": {"kind": "cart", "dialect": "release8"}}, "#/algorithm/dialect", None),
        (
            {"algorithm": {"kind": "cart", "stopping": {"max_deep": 3}}},
            "#/algorithm/stopping/max_deep",
            "did you mean max_depth?",
        ),
        (
            {"algorithm": {"kind": "c45", "criterion": {"kind": "gain_ratio", "filtr": "none"}}},
            "#/algorithm/criterion/filtr",
            "did you mean filter?",
        ),
        ({"algorithm": {"kind": "cart", "numeric": {"kind": "exact", "bins": 3}}}, "#/algorithm/numeric/bins", None),
        ({"division": {"kind": "none", "train": 1}}, "#/division/train", None),
        ({"division": {"kind": "random", "straified": True}}, "#/division/straified", "did you mean stratified?"),
        ({"pruning": {"kind": "none", "on_tie": "cut"}}, "#/pruning/on_tie", None),
        ({"a/b~c": 1}, "#/a~1b~0c", None),
    ],
)
async def test_unknown_keys_are_refused_at_every_level(
    workshop: Workshop, dataset_id: str, order: dict[str, Any], pointer: str, hint: str | None
) -> None:
    ((place, detail, said),) = await refused(workshop, dataset_id, **order)
    assert (place, detail) == (pointer, "not a known key here")
    assert said
    if hint is not None:
        assert said == hint


async def test_everything_wrong_is_told_at_once(workshop: Workshop, dataset_id: str) -> None:
    shape = {"nam": "x", "seed": -1, "algorithm": {"kind": "cart", "stopping": {"max_depth": -1, "min_gain": "0"}}}
    found = await refused(workshop, dataset_id, **shape)
    assert {place for place, _, _ in found} == {
        "#/nam", "#/seed", "#/algorithm/stopping/max_depth", "#/algorithm/stopping/min_gain",
    }  # fmt: skip
    sense = {
        "sample_weight": "negative",
        "attributes": ["density", "density", "secret"],
        "division": {"kind": "random", "train": 0.1, "validation": 0.1, "test": 0.1},
    }
    problem = await workshop.order(dataset_id, status=422, **sense)
    assert places(problem) == ["#/attributes/1", "#/attributes/2", "#/sample_weight", "#/division"]
    assert "and 3 more" in problem["detail"]


@pytest.mark.parametrize("body", [{}, {"name": "m"}])
async def test_what_is_required_is_named(workshop: Workshop, body: dict[str, Any]) -> None:
    problem = await workshop.post("/v1/trainings", body, status=422)
    assert set(places(problem)) == {f"#/{key}" for key in ("name", "dataset_id", "algorithm") if key not in body}


@pytest.mark.parametrize(
    "name", ["", "x" * 201, "a/b", "a@b", "@", " a", "a ", "mdl_x", "a\nb", "\x7f", "\u200e", ".", "..", 3, None, ["a"]]
)  # fmt: skip
async def test_names_that_would_be_no_address(workshop: Workshop, dataset_id: str, name: Any) -> None:
    assert [place for place, _, _ in await refused(workshop, dataset_id, name=name)] == ["#/name"]


@pytest.mark.parametrize("name", ["西瓜", "🍉", "x" * 200, "a b", "100%", "melon.v2", "a:b", "MDL_1"])
async def test_names_that_are_fine(workshop: Workshop, dataset_id: str, name: str) -> None:
    assert (await workshop.order(dataset_id, name=name))["name"] == name


async def test_a_dataset_that_is_not_there(workshop: Workshop, dataset_id: str) -> None:
    problem = await workshop.order("ds_nobody", status=404)
    assert (problem["type"], places(problem)) == ("/problems/dataset_not_found", ["#/dataset_id"])
    for part in ("validation", "test"):
        division = {"kind": "datasets", part: "ds_nobody"}
        problem = await workshop.order(dataset_id, status=404, division=division)
        assert (problem["type"], places(problem)) == ("/problems/dataset_not_found", [f"#/division/{part}"])


async def test_other_datasets_must_fit(workshop: Workshop) -> None:
    train = await workshop.dataset({"density": [1, 2], "texture": ["a", "b"], "y": ["p", "q"]})
    other = await workshop.dataset({"densty": [1], "texture": [1], "y": ["r"]})
    problem = await workshop.order(train, status=422, division={"kind": "datasets", "validation": other})
    assert set(places(problem)) == {"#/division/validation"}
    said = [(error["detail"], error["hint"]) for error in problem["errors"]]
    assert ('that dataset has no column "density"', "did you mean densty?") in said
    assert any('"texture" is numeric there' in detail for detail, _ in said)
    assert any('class "r"' in detail for detail, _ in said)


async def test_nothing_is_recorded_of_a_refused_order(workshop: Workshop, dataset_id: str) -> None:
    await refused(workshop, dataset_id, target="textur")
    assert (await workshop.get("/v1/trainings"))["items"] == []
    assert (await workshop.order(dataset_id))["version"] == 1


async def test_a_training_that_is_not_there(workshop: Workshop) -> None:
    for method, path in (("GET", ""), ("POST", "/cancel"), ("DELETE", "")):
        problem = await workshop.call(method, f"/v1/trainings/trn_nobody{path}", status=404)
        assert problem["type"] == "/problems/training_not_found"


async def test_an_ended_training_can_be_deleted_and_its_model_stays(workshop: Workshop) -> None:
    training = await workshop.train(TABLE, options={"schema": SCHEMA}, attributes=COLUMNS)
    await workshop.call("DELETE", f"/v1/trainings/{training['id']}", status=204)
    await workshop.get(f"/v1/trainings/{training['id']}", status=404)
    assert (await workshop.get(f"/v1/models/{training['model_id']}"))["name"] == "m"


NONE = {"kind": "none"}


@pytest.mark.parametrize(
    ("columns", "order", "n_leaves", "warning"),
    [
        ({"a": [1, 2, 3, 4], "y": ["x"] * 4}, {}, 1, "one class"),
        ({"a": [1, 2, 3, 4], "y": ["x"] * 4}, {"division": {"kind": "random"}}, 1, "one class"),
        ({"a": [1], "y": ["x"]}, {"division": {"kind": "random"}}, 1, "one class"),
        ({"a": [1], "y": [1.5]}, {"division": {"kind": "random"}}, 1, None),
        ({"a": [1, 2], "y": ["x", "z"]}, {}, 2, None),
        ({"a": [1, 2], "y": ["x", "z"]}, {"algorithm": {"kind": "c45"}}, 1, None),
        ({"a": [1, 2], "y": ["x", "z"]}, {"division": {"kind": "random"}}, 2, None),
        ({"a": [1] * 6, "b": ["q"] * 6, "y": ["x", "z"] * 3}, {}, 1, None),
        ({"a": [1, 2, 3, 4, 5], "y": ["x", None, "z", "x", None]}, {}, 3, "2 rows are left out"),
        ({"a": [1, 2, 3], "y": [1.0, None, 2.0]}, {}, 2, "1 row is left out"),
        ({"a": [None] * 6, "b": [1, 1, 1, 2, 2, 2], "y": ["x"] * 3 + ["z"] * 3}, {}, 2, None),
        ({"a": [None] * 6, "y": ["x", "z"] * 3}, {}, 1, None),
        ({"a": [1, 2, 3], "y": [7, 7, 7]}, {}, 1, None),
        ({"a": [1, 2, 3, 4], "y": [0, 1, 0, 1]}, {"algorithm": {"kind": "c45"}, "target_kind": "categorical"}, 2, None),
        ({"a": [1e308, -1e308, 1.7e308, -1.7e308], "y": ["x", "z", "x", "z"]}, {}, 2, None),
        ({"a": [5e-324, 0, 1e-323, -5e-324], "y": ["x", "z", "x", "z"]}, {}, 2, None),
        ({"a": [1, 2, 3], "w": [1, 0, 1], "y": ["x", "z", "x"]}, {"sample_weight": "w"}, 1, "weight is 0"),
        ({"a": ["", "b", "", "b"], "y": ["", "z", "", "z"]}, {}, 2, None),
        ({"a": [True, False], "y": [True, False]}, {"algorithm": {"kind": "id3"}}, 2, None),
        ({"<b>": [1, 2], "y": ["x\ny", "</svg>"]}, {"target": "y"}, 2, None),
    ],
)  # fmt: skip
async def test_odd_tables_are_trained_on_correctly(
    workshop: Workshop, columns: dict[str, list[Any]], order: dict[str, Any], n_leaves: int, warning: str | None
) -> None:
    training = await workshop.train(columns, **{"division": NONE, **order})
    assert training["status"] == "succeeded", training["problem"]
    said = " ".join(training["warnings"])
    assert (warning in said) if warning else not said
    model = f"/v1/models/{training['model_id']}"
    assert (await workshop.get(f"{model}/tree"))["n_leaves"] == n_leaves
    await everything_can_be_read(workshop, model)


async def everything_can_be_read(workshop: Workshop, model: str) -> None:
    """No read of a model fails, and none shows a number that JSON does not have or a null in place of one."""
    tree = await workshop.get(f"{model}/tree", candidates=True)
    for node in tree["nodes"]:
        assert None not in (node["weight"], node["impurity"], *node.get("distribution", {}).values())
    for read in ("", "/pruning", "/rules", "/evaluation", "/schema", "/export", "/evaluation?step=full"):
        await workshop.call("GET", model + read)
    for drawn in ("tree?format=text", "tree?format=dot", "tree?format=svg", "rules?format=text"):
        assert (await workshop.client.get(f"{model}/{drawn}")).status_code == 200
    example = (await workshop.get(f"{model}/schema"))["example"]
    await workshop.post(f"{model}/predict", {"records": [example, {}], "explain": True})


@pytest.mark.parametrize(
    ("columns", "order", "pointer"),
    [
        ({"y": ["x", "z"]}, {}, "#/attributes"),
        ({"a": [1, 2], "y": [None, None]}, {}, "#/target"),
        ({"a": [1, 2, 3, 4], "y": [1e200, -1e200, 1e200, -1e200]}, {}, "#/target"),
        ({"a": [1, 2], "w": [1e308, 1e308], "y": ["x", "z"]}, {"sample_weight": "w"}, "#/sample_weight"),
        ({"a": [1, 2], "w": [5e-324, 5e-324], "y": ["x", "z"]}, {"sample_weight": "w"}, "#/sample_weight"),
    ],
)
async def test_odd_tables_that_cannot_be_trained_on_are_refused(
    workshop: Workshop, columns: dict[str, list[Any]], order: dict[str, Any], pointer: str
) -> None:
    dataset_id = await workshop.dataset(columns)
    assert places(await workshop.order(dataset_id, status=422, **order)) == [pointer]


@pytest.mark.parametrize(
    ("columns", "order"),
    [
        (
            {"a": [1, 2, 3], "p": ["train", "test", "validation"], "y": [None, "z", "x"]},
            {"division": {"kind": "column", "column": "p"}},
        ),
        (
            {"a": [1, 2, 3], "w": [1, 1, 0], "p": ["train", "train", "validation"], "y": ["x", "z", "x"]},
            {"division": {"kind": "column", "column": "p"}, "sample_weight": "w", "pruning": {"kind": "reduced_error"}},
        ),
        ({"a": [1, 2], "y": ["x", "z"]}, {"division": {"kind": "random"}, "pruning": {"kind": "reduced_error"}}),
    ],
)
async def test_what_only_the_rows_show_fails_the_training(
    workshop: Workshop, columns: dict[str, list[Any]], order: dict[str, Any]
) -> None:
    training = await workshop.train(columns, **order)
    assert (training["status"], training["model_id"]) == ("failed", None)
    assert training["problem"]["type"] == "/problems/invalid_config"
    assert places(training["problem"]) == ["#/division"]


async def test_a_hundred_thousand_categories(workshop: Workshop) -> None:
    """As the id column of a table has them: multiway splits get that many branches, groups that many members."""
    n_rows = 100_000
    columns = {
        "id": [f"c{i}" for i in range(n_rows)],
        "half": [i % 2 for i in range(n_rows)],
        "y": ["p", "q"] * (n_rows // 2),
    }
    dataset_id = await workshop.dataset(columns)
    for kind, attributes in (("id3", ["id"]), ("c45", ["id", "half"]), ("cart", ["id"])):
        training = await workshop.order(dataset_id, name=kind, algorithm={"kind": kind}, attributes=attributes)
        await workshop.work()
        assert (await workshop.get(f"/v1/trainings/{training['id']}"))["status"] == "succeeded"
        answer = await workshop.predict(kind, {"records": [{"id": "c7", "half": 1}, {"id": "never"}]})
        assert answer["predictions"][0]["label"] == "q"
        assert answer["predictions"][1]["unseen"] == ["id"]
        page = await workshop.get(f"/v1/models/{kind}/rules", limit=2)
        assert len(page["items"]) == 2


async def test_a_target_with_more_classes_than_fit(workshop: Workshop) -> None:
    n_rows = 100_000
    dataset_id = await workshop.dataset({"a": list(range(n_rows)), "y": [f"c{i}" for i in range(n_rows)]})
    ((place, detail, hint),) = await refused(workshop, dataset_id)
    assert place == "#/target"
    assert "100000 classes" in detail
    assert hint
