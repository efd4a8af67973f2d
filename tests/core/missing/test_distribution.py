from dataclasses import replace

import numpy as np
import pytest

from core.arithmetic.randomness import root_key
from core.config.options import MissingStrategy
from core.engine.considered import candidates_by_node
from core.missing.distribution import drawn_branches
from core.tree.tree import full_view
from tests.core.both_engines import grow
from tests.core.building import id3
from tests.golden_tables import golden_samples

pytestmark = pytest.mark.bounds


def test_known_rows_stay_and_the_others_are_spread_by_the_shares():
    rows, branch = np.arange(4_000), np.full(4_000, -1)
    branch[:10] = 2
    drawn = drawn_branches(rows, branch, np.array([0.5, 0.0, 0.3, 0.2]), root_key(1))
    assert drawn[:10].tolist() == [2] * 10
    counts = np.bincount(drawn[10:], minlength=4) / 3_990
    assert counts == pytest.approx([0.5, 0.0, 0.3, 0.2], abs=0.03)


def test_a_draw_depends_on_seed_node_and_row_and_not_on_the_other_rows():
    shares, nobody = np.array([0.5, 0.5]), np.full(50, -1)
    every = drawn_branches(np.arange(50), nobody, shares, root_key(1))
    some = drawn_branches(np.arange(10, 20), nobody[:10], shares, root_key(1))
    assert some.tolist() == every[10:20].tolist()
    assert every.tolist() != drawn_branches(np.arange(50), nobody, shares, root_key(2)).tolist()


def test_every_row_goes_whole_down_one_branch():
    samples = golden_samples("watermelon_2.0a")
    algorithm = replace(id3(), missing=MissingStrategy.DISTRIBUTION)
    tree, _ = grow(samples, algorithm, seed=4)
    assert (tree.weight == np.round(tree.weight)).all()
    assert tree.weight[full_view(tree).leaves].sum() == 17
    # The root is judged as with weights: 纹理 has the largest gain, 0.4236.
    assert tree.gain[0] == pytest.approx(0.4236, abs=5e-5)
    assert tree.share[tree.children(0)] == pytest.approx([7 / 15, 5 / 15, 3 / 15])
    for node, candidates in candidates_by_node(full_view(tree), samples, algorithm, seed=4).items():
        chosen = next(one for one in candidates if one.split.column == tree.column[node])
        assert (chosen.gain, chosen.score) == (tree.gain[node], tree.score[node])
