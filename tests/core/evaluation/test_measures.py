import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.measures import area_under_curve, mean_auc, measure_classes, measure_numbers
from tests.core.strategies import WEIGHTS

SCORES = st.sampled_from([0.0, 0.1, 0.25, 0.5, 0.5, 0.9, 1.0])


def test_measures_of_classes_by_hand():
    probabilities = np.array([[0.8, 0.2], [0.4, 0.6], [0.5, 0.5], [0.1, 0.9]])
    actual, weights = np.array([0, 0, 1, 1], dtype=np.int32), np.array([1.0, 2.0, 1.0, 4.0])
    found = measure_classes(probabilities, actual, weights, ("yes", "no"))
    assert (found.rows, found.weight, found.classes) == (4, 8.0, ("yes", "no"))
    assert found.matrix == ((1.0, 2.0), (1.0, 4.0))  # the third row is a tie, which goes to the first class
    assert found.accuracy == 5 / 8
    by_hand = -(math.log(0.8) + 2 * math.log(0.4) + math.log(0.5) + 4 * math.log(0.9)) / 8
    assert found.log_loss == pytest.approx(by_hand)
    # Pairs of a "yes" and a "no" row in the scores for "yes": 0.8 over both (5); 0.4 over 0.1 (2x4), not over 0.5.
    assert found.auc == pytest.approx((1 * 5 + 2 * 4) / (3 * 5))
    yes, no = found.per_class
    assert (yes.label, yes.precision, yes.recall, yes.support) == ("yes", 1 / 2, 1 / 3, 3.0)
    assert (no.label, no.precision, no.recall, no.support) == ("no", 4 / 6, 4 / 5, 5.0)
    assert yes.f1 == pytest.approx(2 * 1 / 2 * 1 / 3 / (1 / 2 + 1 / 3))
    assert no.f1 == pytest.approx(2 * 4 / 6 * 4 / 5 / (4 / 6 + 4 / 5))


def test_a_class_that_is_never_there_or_never_claimed_has_zeros():
    found = measure_classes(np.array([[1.0, 0.0, 0.0]]), np.array([1], dtype=np.int32), np.ones(1), ("a", "b", "c"))
    assert [(c.precision, c.recall, c.f1, c.support) for c in found.per_class] == [
        (0.0, 0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0, 1.0),
        (0.0, 0.0, 0.0, 0.0),
    ]
    assert found.auc is None
    assert found.log_loss == pytest.approx(-math.log(np.finfo(float).eps))


def test_perfect_answers_lose_nothing():
    found = measure_classes(np.eye(2)[[0, 1, 0]], np.array([0, 1, 0], dtype=np.int32), np.ones(3), ("a", "b"))
    assert (found.accuracy, found.log_loss, found.auc) == (1.0, 0.0, 1.0)


def test_probabilities_a_bit_above_1_do_not_make_the_loss_negative():
    found = measure_classes(np.array([[1 + 2e-16, 0.0]]), np.array([0], dtype=np.int32), np.ones(1), ("a", "b"))
    assert found.log_loss == 0.0


@given(st.lists(st.tuples(SCORES, st.booleans(), st.sampled_from(WEIGHTS)), min_size=2, max_size=12))
def test_area_under_the_curve_counts_pairs(rows):
    positives = [(score, weight) for score, is_positive, weight in rows if is_positive]
    negatives = [(score, weight) for score, is_positive, weight in rows if not is_positive]
    if not positives or not negatives:
        return
    won = sum(v * w * ((a > b) + (a == b) / 2) for a, v in positives for b, w in negatives)
    pairs = sum(v * w for _, v in positives for _, w in negatives)
    scores, is_positive, weights = (np.array(part) for part in zip(*rows, strict=True))
    assert area_under_curve(scores, is_positive, weights) == pytest.approx(won / pairs)


def test_the_mean_area_is_over_the_classes_that_are_there():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.6, 0.4, 0.0]])
    actual = np.array([0, 1, 0], dtype=np.int32)
    areas = [area_under_curve(probabilities[:, code], actual == code, np.ones(3)) for code in (0, 1)]
    assert mean_auc(probabilities, actual, np.ones(3)) == pytest.approx(np.mean(areas))


def test_measures_of_numbers_by_hand():
    found = measure_numbers(np.array([[1.0], [2.0], [6.0]]), np.array([[1.0], [4.0], [5.0]]), np.array([1.0, 1.0, 2.0]))
    assert (found.rows, found.weight) == (3, 4.0)
    assert found.mae == pytest.approx((0 + 2 + 2 * 1) / 4)
    assert found.rmse == pytest.approx(math.sqrt((0 + 4 + 2 * 1) / 4))
    mean = (1 + 4 + 10) / 4
    variance = ((1 - mean) ** 2 + (4 - mean) ** 2 + 2 * (5 - mean) ** 2) / 4
    assert found.r2 == pytest.approx(1 - 1.5 / variance)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e8 + 0.1, -3.0])
def test_a_target_that_does_not_vary_has_no_r2(constant):
    found = measure_numbers(np.full((3, 1), constant + 1), np.full((3, 1), constant), np.array([1.0, 1.0, 1.0]))
    assert found.r2 is None
    assert found.mae == pytest.approx(1.0)


def test_the_mean_explains_nothing_and_the_truth_everything():
    actual = np.array([[1.0], [2.0], [6.0]])
    assert measure_numbers(np.full((3, 1), 3.0), actual, np.ones(3)).r2 == pytest.approx(0.0)
    assert measure_numbers(actual, actual, np.ones(3)).r2 == 1.0
    assert measure_numbers(actual + 1e8, actual + 1e8, np.ones(3)).r2 == 1.0


def test_several_targets_are_measured_each_and_averaged():
    answers = np.array([[1.0, 10.0, 5.0], [2.0, 20.0, 5.0], [6.0, 30.0, 4.0]])
    actual = np.array([[1.0, 20.0, 5.0], [4.0, 40.0, 5.0], [5.0, 60.0, 5.0]])
    weights = np.array([1.0, 1.0, 2.0])
    found = measure_numbers(answers, actual, weights, ("a", "b", "c"))
    alone = [measure_numbers(answers[:, [k]], actual[:, [k]], weights) for k in range(3)]
    assert [one.target for one in found.per_target] == ["a", "b", "c"]
    for one, measured in zip(found.per_target, alone, strict=True):
        assert (one.mae, one.rmse) == pytest.approx((measured.mae, measured.rmse))
        assert one.r2 == (None if measured.r2 is None else pytest.approx(measured.r2))
    assert alone[2].r2 is None
    assert found.mae == pytest.approx(np.mean([one.mae for one in alone]))
    assert found.rmse == pytest.approx(np.mean([one.rmse for one in alone]))
    assert found.r2 == pytest.approx((alone[0].r2 + alone[1].r2) / 2)
    assert alone[0].per_target == ()
