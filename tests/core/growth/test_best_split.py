from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from core.arithmetic.sums import sums_by, weights_by
from core.config.options import Algorithm, Categorical, Criterion, CriterionKind, Numeric, NumericKind
from core.criteria.gain import impurity_decrease
from core.criteria.impurity import entropy
from core.growth.best_split import (
    all_candidates,
    best_split,
    column_candidates,
    node_samples,
    objective_of,
    threshold_candidates,
)
from core.tables.schema import Attribute, Kind
from tests.core.building import GAIN, c45, cart, id3, samples_of
from tests.core.strategies import trainings
from tests.golden_tables import golden_samples


def candidates_of(samples, algorithm):
    here = node_samples(samples, samples.rows, samples.weights)
    found = all_candidates(samples, here, algorithm, objective_of(algorithm, samples), ())
    return {samples.attributes.schema[one.split.column].name: one for one in found}


def test_colour_of_watermelon_2_0a_in_full():
    samples = golden_samples("watermelon_2.0a")
    found = candidates_of(samples, id3())["色泽"]
    assert found.known == pytest.approx(14 / 17)
    assert found.branch_weights.tolist() == [6.0, 4.0, 4.0]  # in order of appearance: 乌黑, 青绿, 浅白
    values = samples.attributes.values("色泽")
    known = np.flatnonzero(values >= 0)
    branches = sums_by(values[known], samples.target.statistics(known, samples.weights[known]), 3)
    assert entropy(branches.sum(axis=0)) == pytest.approx(0.9852, abs=5e-5)
    assert impurity_decrease(entropy, branches, branches.sum(axis=1)) == pytest.approx(0.3060, abs=5e-5)
    assert found.gain == pytest.approx(14 / 17 * 0.3060, abs=5e-5)


def test_the_intrinsic_value_looks_at_known_rows_only():
    samples = samples_of({"a": ["x", "x", "y", None, None]}, ["p", "p", "q", "p", "q"])
    found = candidates_of(samples, c45())["a"]
    assert found.known == pytest.approx(3 / 5)
    assert found.score == pytest.approx(found.gain / entropy(np.array([2.0, 1.0])))


def test_the_number_of_a_row_as_a_category_has_the_largest_gain_and_a_poor_ratio():
    samples = golden_samples("watermelon_2.0", attributes=["编号", "纹理"], categorical=["编号"])
    found = candidates_of(samples, c45())
    assert found["编号"].gain == pytest.approx(0.9975, abs=5e-5)
    assert found["编号"].score == pytest.approx(0.9975 / 4.0875, abs=5e-5)
    assert found["纹理"].score > found["编号"].score


def test_only_numbers_count_thresholds():
    found = candidates_of(golden_samples("watermelon_3.0"), cart())
    assert found["密度"].n_thresholds == found["含糖率"].n_thresholds == 16
    assert found["纹理"].n_thresholds is None


def test_ordinals_are_cut_by_their_order_and_boundaries_hold_for_them_too():
    kinds = {"size": Attribute("size", Kind.ORDINAL, ("S", "M", "L", "XL"))}
    samples = samples_of({"size": ["XL", "S", "L", "S"]}, ["q", "p", "q", "p"], kinds=kinds)
    for kind, n_thresholds in ((NumericKind.EXACT, 2), (NumericKind.BOUNDARY, 1)):
        found = candidates_of(samples, Algorithm("cart", GAIN, Categorical.MULTIWAY, Numeric(kind)))["size"]
        assert found.split.threshold == 1.0  # between S (0) and L (2): M, which no row has, is on the left
        assert found.n_thresholds == n_thresholds


def test_one_branch_is_no_candidate():
    samples = samples_of({"a": ["x", "x", None]}, ["p", "q", "p"])
    for algorithm in (id3(), cart(), c45()):
        assert candidates_of(samples, algorithm) == {}
        here = node_samples(samples, samples.rows, samples.weights)
        assert best_split(samples, here, algorithm, objective_of(algorithm, samples), ()) is None


def test_spent_attributes_are_left_out():
    samples = golden_samples("watermelon_2.0")
    here = node_samples(samples, samples.rows, samples.weights)
    found = all_candidates(samples, here, id3(), objective_of(id3(), samples), {3})
    assert [one.split.column for one in found] == [0, 1, 2, 4, 5]


@pytest.mark.parametrize(
    "criterion", [Criterion(CriterionKind.GINI), Criterion(CriterionKind.ERROR_RATE), GAIN], ids=lambda c: c.kind
)
def test_the_score_is_the_gain_unless_it_is_a_ratio(criterion):
    found = candidates_of(golden_samples("watermelon_3.0"), Algorithm("cart", criterion, Categorical.TWO_GROUPS))
    assert all(one.score == one.gain for one in found.values())


@given(trainings(limits=False))
def test_known_is_the_known_part_of_the_weight_and_branches_hold_it(training):
    samples, algorithm = training
    here = node_samples(samples, samples.rows, samples.weights)
    for found in all_candidates(samples, here, algorithm, objective_of(algorithm, samples), ()):
        branch = found.split.branches(samples.attributes.columns[found.split.column])
        known = branch >= 0
        expected = weights_by(branch[known], samples.weights[known], found.split.n_branches)
        assert found.branch_weights.tolist() == expected.tolist()
        assert found.known == pytest.approx(samples.weights[known].sum() / samples.weights.sum())
        assert np.count_nonzero(expected) >= 2


@given(trainings())
def test_columns_searched_together_have_the_candidates_of_each_by_itself(training):
    samples, algorithm = training
    algorithm = replace(algorithm, numeric=Numeric(NumericKind.EXACT))
    here, objective = node_samples(samples, samples.rows, samples.weights), objective_of(algorithm, samples)
    columns = [column for column, attribute in enumerate(samples.attributes.schema) if attribute.has_order]
    assume(columns)
    together = threshold_candidates(samples, here, columns, algorithm, objective)
    for column in columns:
        one_by_one = column_candidates(samples, here, column, algorithm, objective)
        assert [figures(one) for one in together.get(column, [])] == [figures(one) for one in one_by_one]


def figures(candidate):
    """All that a candidate says, to the last bit."""
    numbers = np.array([candidate.split.threshold, candidate.gain, candidate.score, candidate.known])
    return numbers.tobytes(), candidate.branch_weights.tobytes(), candidate.n_thresholds, candidate.split.column
