from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from core.config.options import Algorithm, Categorical, Criterion, CriterionKind
from core.engine.considered import candidates_by_node
from core.missing.fractional_weights import branch_shares, send_down, without_light_copies
from core.prediction.routing import visits
from core.tree.tree import full_view
from tests.core.both_engines import grow
from tests.golden_tables import golden_samples, row_numbers

pytestmark = pytest.mark.bounds

ID3 = Algorithm("id3", Criterion(CriterionKind.INFORMATION_GAIN), Categorical.MULTIWAY)


def test_shares_are_parts_of_the_known_weight():
    assert branch_shares(np.array([7.0, 5.0, 3.0])).tolist() == [7 / 15, 5 / 15, 3 / 15]


def test_known_rows_go_whole_and_others_everywhere():
    rows, weights = np.array([3, 5, 8, 9]), np.array([1.0, 2.0, 0.5, 4.0])
    sent = send_down(rows, weights, np.array([0, -1, 1, 0]), np.array([0.75, 0.25, 0.0]))
    assert [(r.tolist(), w.tolist()) for r, w in sent] == [
        ([3, 5, 9], [1.0, 1.5, 4.0]),
        ([5, 8], [0.5, 0.5]),
        ([], []),
    ]


def test_rows_that_reach_each_branch_of_watermelon_2_0a():
    samples, numbers = golden_samples("watermelon_2.0a"), row_numbers("watermelon_2.0a")
    tree, _ = grow(samples, ID3)
    assert samples.attributes.schema[int(tree.column[0])].name == "纹理"
    assert samples.attributes.schema[int(tree.column[0])].categories == ("清晰", "稍糊", "模糊")
    arrived = {visit.node: visit for visit in visits(full_view(tree), samples.attributes, weights=samples.weights)}
    expected = [({1, 2, 3, 4, 5, 6, 15}, 7), ({7, 9, 13, 14, 17}, 5), ({11, 12, 16}, 3)]
    for child, (whole, fifteenths) in zip(tree.children(0), expected, strict=True):
        visit = arrived[child]
        weights = {numbers[row]: weight for row, weight in zip(visit.rows, visit.weights, strict=True)}
        assert {number for number, weight in weights.items() if weight == 1.0} == whole
        assert {number for number, weight in weights.items() if weight != 1.0} == {8, 10}
        assert weights[8] == weights[10] == pytest.approx(fifteenths / 15)
        assert tree.share[child] == pytest.approx(fifteenths / 15)
        assert tree.weight[child] == pytest.approx(float(len(whole) + 2 * Fraction(fifteenths, 15)))


@pytest.mark.parametrize(
    ("column", "gain"),
    [("色泽", 0.2520), ("根蒂", 0.1712), ("敲声", 0.1448), ("纹理", 0.4236), ("脐部", 0.2888), ("触感", 0.0057)],
)
def test_gains_of_watermelon_2_0a(column, gain):
    samples = golden_samples("watermelon_2.0a")
    tree, _ = grow(samples, ID3)
    candidates = candidates_by_node(full_view(tree), samples, ID3)[0]
    by_name = {samples.attributes.schema[one.split.column].name: one for one in candidates}
    assert by_name[column].gain == pytest.approx(gain, abs=5e-5)


def test_a_row_with_too_light_a_part_follows_the_heavier_branch_whole():
    shares = np.array([0.25, 0.75, 0.0])
    weights, branch = np.array([1.0, 1.0, 4.0, 2.0]), np.array([0, -1, -1, -1])
    # The smallest parts would weigh 0.25, 1 and 0.5; a branch that nobody takes is no part.
    assert without_light_copies(weights, branch, shares, 0.5).tolist() == [0, 1, -1, -1]
    assert without_light_copies(weights, branch, shares, 0.6).tolist() == [0, 1, -1, 1]
    assert without_light_copies(weights, branch, shares, 0.0).tolist() == branch.tolist()


def test_a_least_copy_weight_keeps_rows_whole_while_the_tree_grows():
    samples = golden_samples("watermelon_2.0a")
    whole, _ = grow(samples, replace(ID3, stopping=replace(ID3.stopping, min_copy_weight=1.0)))
    assert (whole.weight == np.round(whole.weight)).all()
    assert whole.weight[whole.children(0)].tolist() == [9.0, 5.0, 3.0]  # samples 8 and 10 follow 清晰
    copies, _ = grow(samples, ID3)
    assert copies.weight[copies.children(0)] == pytest.approx([7 + 14 / 15, 5 + 10 / 15, 3 + 6 / 15])
