import numpy as np
import pytest

from core.arithmetic.ties import TIE, first_within_tie, majorities


@pytest.mark.parametrize(
    ("values", "first"),
    [
        ([1.0], 0),
        ([0.0, 1.0], 1),
        ([1.0, 1.0 + 5e-13], 0),
        ([1.0, 1.0 + 5e-12], 1),
        ([-np.inf, 0.5, 0.5], 1),
        ([0.5 - 1e-13, 0.1, 0.5], 0),
    ],
)
def test_the_first_within_a_tie_of_the_largest(values, first):
    assert first_within_tie(np.array(values)) == first


def test_another_tolerance_can_be_given():
    assert first_within_tie(np.array([1.0, 3.0, 5.0]), 2.5) == 1


def test_majorities_are_by_share_so_the_size_of_weights_does_not_matter():
    assert TIE == 1e-12
    for scale in (1e-9, 1.0, 1e9):
        assert majorities(np.array([[1.0, 1.0 + 1e-13], [1.0, 1.0 + 1e-10], [2.0, 1.0]]) * scale).tolist() == [0, 1, 0]
