import numpy as np
import pytest

from core.tables.target import ClassTarget, NumberTarget


def test_classes_are_summed_by_weight():
    target = ClassTarget(("p", "q", "r"), np.array([0, 2, 0, -1], dtype=np.int32))
    assert target.is_known.tolist() == [True, True, True, False]
    rows, weights = np.array([0, 1, 2]), np.array([1.0, 2.0, 0.5])
    values, variances = target.summary(rows, weights)
    assert values.tolist() == [1.5, 0.0, 2.0]
    assert variances.shape == (0,)
    assert target.statistics(rows, weights).sum(axis=0).tolist() == [1.5, 0.0, 2.0]
    assert target.is_pure(np.array([0, 2]))
    assert not target.is_pure(rows)
    assert target.take(np.array([1])).codes.tolist() == [2]


@pytest.mark.parametrize("offset", [0.0, 1e8, -1e8])
def test_numbers_are_summed_without_losing_digits(offset):
    target = NumberTarget(offset + np.array([[0.0], [1.0], [0.5], [np.nan]]))
    assert target.is_known.tolist() == [True, True, True, False]
    mean, variance = target.summary(np.array([0, 1]), np.array([1.0, 3.0]))
    assert mean.tolist() == [offset + 0.75]
    assert variance == pytest.approx([0.1875], rel=1e-9)


def test_a_row_of_no_weight_does_not_move_the_centre():
    target = NumberTarget(np.array([[1e8], [0.0], [1.0]]))
    statistics = target.statistics(np.arange(3), np.array([1e-12, 1.0, 1.0]))
    assert np.abs(statistics[1:, 1]).max() < 1
    assert statistics[:, 0].tolist() == [1e-12, 1.0, 1.0]


def test_purity_of_numbers_is_exact():
    target = NumberTarget(np.array([[0.1], [0.1], [0.1 + 1e-16], [0.1000001]]))
    assert target.is_pure(np.array([0, 1]))
    assert not target.is_pure(np.array([0, 3]))
    assert target.take(np.array([3])).numbers.tolist() == [[0.1000001]]


def test_several_outputs_are_known_together():
    target = NumberTarget(np.array([[1.0, np.nan], [1.0, 2.0]]))
    assert target.is_known.tolist() == [False, True]
