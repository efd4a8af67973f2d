"""The choice of an attribute works p out of few of them, and chooses as if it knew all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.significance import log10_p, most_significant
from core.methods.quest.kernels.attribute_tests import LEAF, NOT_TESTED
from core.methods.quest.kernels.attribute_tests import most_significant as fast_most_significant
from core.methods.quest.quest import SAME_STATISTIC
from tests.examples import examples

pytestmark = pytest.mark.bounds


def drawn(seed):
    """Statistics, many of them 0 or all but equal, of one number of groups or several; chi-squared has none within."""
    chance = np.random.default_rng(seed)
    n = int(chance.integers(1, 12))
    statistics = chance.choice([0.0, 1e-12, 0.3, 2.0, 2.0, 60.0, 1e12], n)
    statistics *= 1 + chance.choice([0, 1e-16, 3e-10, 2e-9, 0.1], n)
    between = chance.choice([2.0, float(chance.integers(1, 5))], n)
    within = chance.choice([0.0, 1.0, 7.0, 7.5, 4000.0][: int(chance.integers(1, 6))], n)
    is_left = chance.random(n) < 0.8
    statistics[chance.random(n) < 0.1] = NOT_TESTED
    return statistics, np.array([between, within]), is_left


@examples(500)
@given(st.integers(0, 100_000))
def test_the_smallest_p_is_found_without_all_of_them(seed):
    statistics, degrees, is_left = drawn(seed)
    best, smallest = fast_most_significant(statistics, degrees, is_left, np.empty(len(statistics)))
    positions = np.flatnonzero(is_left & (statistics >= 0))
    if len(positions) == 0:
        assert best == LEAF
        return
    logs = [log10_p(float(statistics[i]), [each for each in degrees[:, i] if each > 0]) for i in positions]
    assert best == positions[most_significant(np.array(logs), statistics[positions], tolerance=SAME_STATISTIC)]
    assert abs(smallest - min(logs)) <= 1e-12 * max(1.0, abs(smallest))
