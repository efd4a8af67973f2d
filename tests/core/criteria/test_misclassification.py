from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import ColumnDivision, NoDivision, OnTie, ReducedErrorPruning, TrainingConfig
from core.criteria.misclassification import cheapest_classes, cost_matrix
from core.evaluation.evaluate import evaluate
from core.growth.held_out import labels_of
from core.storage.serialization import dump, load
from core.tables.errors import InvalidConfig
from core.tables.parts import Part
from core.training.preparation import prepare
from core.training.train import train
from tests.core.building import cart, table_of

COSTS = {"ill": {"well": 10.0}}
# One value for all: the tree is a single leaf with 1 ill in 5.
FEVER = {"fever": ["yes"] * 5, "y": ["ill", "well", "well", "well", "well"]}


def trained(columns, costs, *, pruning=None, division=None, algorithm=None):
    table = table_of(columns)
    config = TrainingConfig(
        "y", algorithm or cart(), misclassification_costs=costs, division=division or NoDivision(),
        **({"pruning": pruning} if pruning else {}),
    )  # fmt: skip
    prepared = prepare(table, config, {})
    return train(prepared, config), prepared


def test_what_is_not_given_costs_1_and_right_answers_nothing():
    assert cost_matrix(COSTS, ("ill", "well", "dead")).tolist() == [[0, 10, 1], [1, 0, 1], [1, 1, 0]]


def test_the_answer_is_the_class_of_least_expected_cost_and_ties_go_to_the_earlier():
    costs = cost_matrix({"a": {"b": 4.0}}, ("a", "b"))
    # Saying b costs 4 p(a), saying a costs p(b): even at p(a) = 0.2.
    assert cheapest_classes(np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]]), costs).tolist() == [1, 0, 0]


@given(st.lists(st.lists(st.integers(0, 6), min_size=3, max_size=3).filter(any), min_size=1, max_size=5))
def test_with_equal_costs_it_is_the_majority(rows):
    shares = np.array(rows, dtype=float)
    shares /= shares.sum(axis=1, keepdims=True)
    assert labels_of(shares, np.ones((3, 3)) - np.eye(3)).tolist() == labels_of(shares).tolist()


def test_leaves_predictions_and_evaluation_use_the_costs():
    model, prepared = trained(FEVER, COSTS)
    assert model.classes[model.tree.labels[0]] == "ill"
    measured = evaluate(model, 0, prepared.parts).parts[Part.TRAIN]
    assert (measured.accuracy, measured.mean_cost) == (pytest.approx(0.2), pytest.approx(0.8))
    assert evaluate(model, 0, prepared.parts).curve[0].errors[Part.TRAIN] == pytest.approx(0.8)
    plain, prepared = trained(FEVER, None)
    assert plain.classes[plain.tree.labels[0]] == "well"
    assert evaluate(plain, 0, prepared.parts).parts[Part.TRAIN].mean_cost is None


def test_costs_are_stored_with_the_model_and_only_where_there_are_some():
    model, _ = trained(FEVER, COSTS)
    again = load(dump(model))
    assert again.tree.costs.tolist() == [[0, 10], [1, 0]]
    assert again.tree.labels.tolist() == model.tree.labels.tolist()
    assert dump(again) == dump(model)
    assert b"tree.costs" not in dump(trained(FEVER, None)[0])


# The split sends a to ill and b to well; on validation it is right 3 times of 4, a single leaf as often.
JUDGED = {
    "a": ["a", "a", "b", "b", "b", "a", "a", "b", "b"],
    "part": ["train"] * 5 + ["validation"] * 4,
    "y": ["ill", "ill", "well", "well", "well", "ill", "well", "well", "well"],
}


def test_pruning_judges_by_the_mean_cost():
    by_part = ColumnDivision("part")
    model, _ = trained(JUDGED, COSTS, division=by_part, pruning=ReducedErrorPruning(OnTie.CUT))
    (step,) = model.history.steps
    # As split: one well person called ill costs 1. As a leaf everybody is called ill: three cost 1 each.
    assert (step.before, step.after, step.decision) == (0.25, 0.75, "kept")
    counts = {"branch_leaves": 2.0, "rows": 4.0, "weight": 4.0}
    assert step.evidence == {**counts, "cost_before": 1.0, "cost_after": 3.0}
    plain, _ = trained(JUDGED, None, division=by_part, pruning=ReducedErrorPruning(OnTie.CUT))
    assert (plain.history.steps[0].before, plain.history.steps[0].after) == (0.75, 0.75)
    assert plain.history.steps[0].decision == "cut"


def test_splits_are_validated_by_the_mean_cost():
    model, _ = trained(JUDGED, COSTS, division=ColumnDivision("part"), algorithm=replace(cart(validate_splits=True)))
    (step,) = model.history.steps
    assert (step.before, step.after, step.decision) == (0.75, 0.25, "kept")


def test_a_class_that_only_the_rows_know_is_refused_when_it_is_not_there():
    table = table_of({"a": [1, 2], "y": [0, 1]})
    config = TrainingConfig(
        "y", cart(), target_kind="categorical", division=NoDivision(), misclassification_costs={"2": {"0": 3.0}}
    )
    with pytest.raises(InvalidConfig, match="not a class"):
        train(prepare(table, config, {}), config)
