"""Many trees together are ordered like one: options in, every default out, and faults with their places."""

from typing import Any

import pytest

from tests.service.api.routes.test_trainings import SCHEMA, TABLE, refused
from tests.service.api.trained import Workshop

pytestmark = pytest.mark.anyio

FOREST: dict[str, Any] = {"kind": "random_forest"}
LOOKING = ["density", "texture", "weight"]


@pytest.fixture
async def dataset_id(workshop: Workshop) -> str:
    return await workshop.dataset(TABLE, schema=SCHEMA)


async def ordered(workshop: Workshop, dataset_id: str, algorithm: dict[str, Any], **order: Any) -> dict[str, Any]:
    """The configuration of a training that was ordered."""
    order = {"attributes": LOOKING, "pruning": None, **order}
    training = await workshop.order(dataset_id, algorithm=algorithm, **order)
    configuration: dict[str, Any] = training["configuration"]
    return configuration


async def test_a_committee_is_answered_with_everything_filled_in(workshop: Workshop, dataset_id: str) -> None:
    shown = await ordered(workshop, dataset_id, FOREST)
    single = (await workshop.order(dataset_id, algorithm={"kind": "cart"}))["configuration"]["algorithm"]
    assert shown["pruning"] == {"kind": "none"}
    assert shown["algorithm"] == {
        "kind": "random_forest",
        "base": "cart",
        "n_trees": 100,
        "max_features": "sqrt",
        "features_per_tree": None,
        "sample_size": 1,
        "bootstrap": True,
        "imbalance": None,
        "members": [single],
    }


async def test_an_isolation_forest_needs_no_target(workshop: Workshop, dataset_id: str) -> None:
    shown = await ordered(workshop, dataset_id, {"kind": "isolation_forest"}, target=None)
    assert shown["target"] is None
    assert shown["algorithm"] == {"kind": "isolation_forest", "n_trees": 100, "sample_size": 256, "threshold": 0.5}


@pytest.mark.parametrize(
    "algorithm",
    [
        {"kind": "bagging", "base": "c45", "n_trees": 3, "imbalance": {"kind": "smote"}},
        {**FOREST, "base": ["cart", "chaid"], "alpha_split": None, "max_features": 0.5, "sample_size": 4},
        {"kind": "extra_trees", "numeric": {"kind": "random"}, "features_per_tree": 2, "bootstrap": True},
        {**FOREST, "members": [{"kind": "cart"}, {"kind": "chaid", "alpha_split": None}]},
        {**FOREST, "imbalance": {"kind": "parts"}, "n_trees": None, "base": None},
        {"kind": "isolation_forest", "n_trees": 5, "sample_size": 0.5, "threshold": 0.6},
    ],
)
async def test_the_configuration_shown_can_be_sent_again(
    workshop: Workshop, dataset_id: str, algorithm: dict[str, Any]
) -> None:
    target = None if algorithm["kind"] == "isolation_forest" else "y"
    shown = await ordered(workshop, dataset_id, algorithm, target=target)
    again = await workshop.order(dataset_id, **shown)
    assert again["configuration"] == shown


async def test_a_null_that_says_something_is_heard(workshop: Workshop, dataset_id: str) -> None:
    algorithm = {**FOREST, "base": "chaid", "alpha_split": None}
    (member,) = (await ordered(workshop, dataset_id, algorithm))["algorithm"]["members"]
    assert member["alpha_split"] is None
    (member,) = (await ordered(workshop, dataset_id, {**FOREST, "base": "chaid"}))["algorithm"]["members"]
    assert member["alpha_split"] == 0.05


@pytest.mark.parametrize(
    ("algorithm", "pointer", "words"),
    [
        ({"base": "crat"}, "base", "'cart'"),
        ({"base": ["cart", "crat"]}, "base/1", "'cart'"),
        ({"base": []}, "base", "at least 1"),
        ({"n_trees": 0}, "n_trees", "at least 1"),
        ({"n_trees": 10_001}, "n_trees", "at most 10000"),
        ({"max_features": "most"}, "max_features", "must be sqrt, log2, all, a whole number from 1, or a share"),
        ({"max_features": 0}, "max_features", "at least 1"),
        ({"max_features": 1.5}, "max_features", "whole number"),
        ({"max_features": 0.0}, "max_features", "greater than 0"),
        ({"max_features": True}, "max_features", "must be sqrt, log2, all, a whole number from 1, or a share"),
        ({"sample_size": 0}, "sample_size", "greater than 0"),
        ({"sample_size": 1.5}, "sample_size", "whole number"),
        ({"imbalance": {"kind": "smoot"}}, "imbalance/kind", "smote"),
        ({"imbalance": {"kind": "parts", "ratio": 2}}, "imbalance/ratio", "it is for undersample and cluster_under"),
        ({"imbalance": {"kind": "undersample", "ratio": 0}}, "imbalance/ratio", "at least"),
        ({"members": [{"kind": "cart", "alpha": 1}]}, "members/0/alpha", "not a known key"),
        ({"members": [{"kind": "bagging"}]}, "members/0/kind", "must be one of"),
        ({"threshold": 0.5}, "threshold", "not a known key here it is for isolation_forest"),
        ({"alpha": 0.1}, "alpha", "not an option of cart"),
        ({"base": "c45", "fit": "lda"}, "fit", "a base that has it: multivariate"),
        ({"missing": "own_category"}, "missing", "chaid"),
        ({"stopping": {"validate_splits": True}}, "stopping/validate_splits", "not pruned"),
        ({"members": [{"kind": "cart"}], "alpha": 0.1}, "alpha", "say it in each member"),
        ({"members": [{"kind": "cart"}, {"kind": "id3"}]}, None, "ID3 takes categorical"),
        ({"members": [{"kind": "cart", "min_category_weight": 1, "categorical": "multiway"}]},
         "members/0/min_category_weight", "keeps every value apart"),
    ],
)  # fmt: skip
async def test_what_a_committee_cannot_be_is_told_with_its_place(
    workshop: Workshop, dataset_id: str, algorithm: dict[str, Any], pointer: str | None, words: str
) -> None:
    order = {"algorithm": {**FOREST, **algorithm}, "attributes": ["density", "texture"], "pruning": None}
    ((place, detail, hint),) = await refused(workshop, dataset_id, **order)
    assert place == ("#/attributes/0" if pointer is None else f"#/algorithm/{pointer}")
    assert words in f"{detail} {hint}"


@pytest.mark.parametrize(
    ("order", "pointer", "words"),
    [
        ({"pruning": {"kind": "cost_complexity"}}, "#/pruning/kind", '{"kind": "none"}'),
        ({"target": None}, "#/target", "needs"),
        (
            {"target": "density", "algorithm": {**FOREST, "imbalance": {"kind": "smote"}}},
            "#/algorithm/imbalance",
            "none",
        ),
        ({"algorithm": {"kind": "isolation_forest"}}, "#/target", "predicts no column"),
        (
            {"algorithm": {"kind": "isolation_forest"}, "target": None, "class_weights": {"good": 2}},
            "#/class_weights",
            "no",
        ),
        (
            {"algorithm": {"kind": "isolation_forest", "bootstrap": True}, "target": None},
            "#/algorithm/bootstrap",
            "it is for bagging and random_forest and extra_trees",
        ),
        (
            {"algorithm": {"kind": "isolation_forest", "threshold": 2}, "target": None},
            "#/algorithm/threshold",
            "most 1",
        ),
        ({"algorithm": {"kind": "cart"}, "target": None}, "#/target", "only isolation_forest predicts none"),
        (
            {"algorithm": {"kind": "cart", "imbalance": {"kind": "smote"}}},
            "#/algorithm/imbalance",
            "it is for bagging and random_forest and extra_trees",
        ),
        (
            {"algorithm": {"kind": "isolation_forest"}, "target": None, "pruning": {"kind": "confidence"}},
            "#/pruning/kind",
            "stay as they are grown leave pruning out",
        ),
    ],
)
async def test_what_does_not_go_with_many_trees_is_told_with_its_place(
    workshop: Workshop, dataset_id: str, order: dict[str, Any], pointer: str, words: str
) -> None:
    plain = {"algorithm": FOREST, "attributes": ["density", "texture"], "pruning": None}
    if order.get("target") == "density":
        plain["attributes"] = ["texture"]
    ((place, detail, hint),) = await refused(workshop, dataset_id, **{**plain, **order})
    assert place == pointer
    assert words in f"{detail} {hint}"
