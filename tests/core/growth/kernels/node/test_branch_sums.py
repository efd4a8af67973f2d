"""The sums of both branches of a number to predict, beside a sum of each branch's own rows."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiler.compile import compiled
from core.growth.kernels.node.branch_sums import no_branches, put_branches, with_row
from tests.core.growth.kernels.node.test_sums import added
from tests.examples import examples

pytestmark = pytest.mark.bounds


@compiled
def sum_branches(to: Any, weights: Any, numbers: Any, centre: Any, sums: Any, centres: Any) -> None:
    both = no_branches()
    for row in range(to.shape[0]):
        both = with_row(both, to[row], weights[row], numbers[row], centre)
    put_branches(both, sums, centres)


@given(st.integers(0, 2**32), st.integers(1, 30))
@examples(20)
def test_each_branch_has_the_sums_of_its_rows(seed: int, n: int) -> None:
    chance = np.random.default_rng(seed)
    to, weights, numbers = chance.integers(0, 2, n), chance.choice([1.0, 0.3], n), chance.normal(size=n) + 1e5
    centre, sums, centres = float(numbers.mean()), np.full(8, np.nan), np.full(2, np.nan)
    sum_branches(to, weights, numbers, centre, sums, centres)
    for b in range(2):
        w, off = weights[to == b], numbers[to == b] - centre
        assert sums[b] == added(w)
        assert sums[2 + 3 * b : 5 + 3 * b].tolist() == [added(w), added(off * w), added(off * off * w)]
        assert centres[b] == added(w * numbers[to == b])
