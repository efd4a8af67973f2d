import numpy as np
import pytest

from core.growth.held_out import HeldOut, labels_of
from tests.core.building import samples_of


def test_labels_are_the_largest_ties_to_the_earlier():
    assert labels_of(np.array([[0.2, 0.8], [0.5, 0.5], [0.5 - 1e-13, 0.5 + 1e-13], [0.4, 0.6]])).tolist() == [
        1,
        0,
        0,
        1,
    ]


def test_credit_of_classes_is_the_weight_answered_rightly():
    samples = samples_of({"a": [1, 2, 3]}, ["p", "q", "q"], weights=[1.0, 2.0, 5.0])
    held_out = HeldOut(samples, np.array([[1.0, 0.0], [0.0, 1.0], [0.9, 0.1]]), np.zeros(2))
    assert held_out.credit == 3.0
    assert held_out.measure(held_out.credit) == 3 / 8
    change = np.array([[-0.8, 0.8]])
    assert held_out.credit_after(np.array([2]), change) == 8.0
    assert held_out.credit == 3.0
    held_out.accept(np.array([2]), change)
    assert held_out.credit == 8.0
    assert held_out.answers[2] == pytest.approx([0.1, 0.9])


def test_credit_of_numbers_is_less_the_squared_error():
    samples = samples_of({"a": [1, 2]}, [1.0, 3.0], weights=[1.0, 3.0])
    held_out = HeldOut(samples, np.array([[1.0], [1.0]]), np.array([1.0]))
    assert held_out.credit == -4.0
    assert held_out.measure(held_out.credit) == 1.0


def test_comparisons_know_better_worse_and_equal():
    samples = samples_of({"a": [1, 2]}, ["p", "q"])
    held_out = HeldOut(samples, np.array([[1.0, 0.0], [1.0, 0.0]]), np.zeros(2))
    assert [held_out.compare(credit) for credit in (2.0, 1.0, 1.0 + 1e-13, 0.0)] == [1, 0, 0, -1]
