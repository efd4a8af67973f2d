import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.sums import sums_by
from core.criteria.gain import above_average, better_half, gain_ratio, impurity_decrease, intrinsic_value
from core.criteria.impurity import entropy, error_rate, gini
from tests.golden_tables import golden_samples

WATERMELON = [
    ("色泽", 0.1081),
    ("根蒂", 0.1427),
    ("敲声", 0.1408),
    ("纹理", 0.3806),
    ("脐部", 0.2892),
    ("触感", 0.0060),
]
GINI_INDEX = [
    ("色泽", 0.4275),
    ("根蒂", 0.4223),
    ("敲声", 0.4235),
    ("纹理", 0.2771),
    ("脐部", 0.3445),
    ("触感", 0.4941),
]


def branches(samples, column, rows=None):
    """`[branch, class]` of a categorical column without missing values."""
    rows = samples.rows if rows is None else rows
    codes = samples.attributes.values(column)[rows]
    n_levels = len(samples.attributes.schema[samples.attributes.schema.column(column)].categories)
    return sums_by(codes, samples.target.statistics(rows, samples.weights[rows]), n_levels)


@pytest.mark.parametrize(("column", "gain"), [*WATERMELON, ("编号", 0.9975)])
def test_gains_of_watermelon_2_0(column, gain):
    samples = golden_samples("watermelon_2.0", attributes=[column], categorical=["编号"])
    table = branches(samples, column)
    assert impurity_decrease(entropy, table, table.sum(axis=1)) == pytest.approx(gain, abs=5e-5)


@pytest.mark.parametrize(("column", "value"), [("触感", 0.8740), ("色泽", 1.5799), ("编号", 4.0875)])
def test_intrinsic_values_of_watermelon_2_0(column, value):
    samples = golden_samples("watermelon_2.0", attributes=[column], categorical=["编号"])
    assert intrinsic_value(branches(samples, column).sum(axis=1)) == pytest.approx(value, abs=5e-5)


@pytest.mark.parametrize(("column", "index"), GINI_INDEX)
def test_gini_index_of_watermelon_2_0_is_impurity_less_gain(column, index):
    samples = golden_samples("watermelon_2.0")
    table = branches(samples, column)
    decrease = impurity_decrease(gini, table, table.sum(axis=1))
    assert gini(table.sum(axis=0)) - decrease == pytest.approx(index, abs=5e-5)


def test_smallest_gini_index_of_watermelon_2_0_is_that_of_texture():
    assert min(GINI_INDEX, key=lambda one: one[1])[0] == "纹理"


@pytest.mark.parametrize(
    ("column", "gain"), [("色泽", 0.0431), ("根蒂", 0.4581), ("敲声", 0.3309), ("脐部", 0.4581), ("触感", 0.4581)]
)
def test_gains_under_clear_texture(column, gain):
    samples = golden_samples("watermelon_2.0")
    clear = np.flatnonzero(samples.attributes.values("纹理") == 0)
    assert len(clear) == 9
    table = branches(samples, column, clear)
    assert impurity_decrease(entropy, table, table.sum(axis=1)) == pytest.approx(gain, abs=5e-5)


def test_gain_of_gender_in_app_recommendation():
    samples = golden_samples("app_recommendation")
    table = branches(samples, "gender")
    assert impurity_decrease(entropy, table, table.sum(axis=1)) == pytest.approx(0.5409, abs=5e-5)


def test_gain_ratio_is_gain_in_proportion_to_intrinsic_value():
    assert gain_ratio(np.float64(0.1081), np.array([6.0, 6.0, 5.0])) == pytest.approx(0.1081 / 1.5799, abs=5e-5)


@pytest.mark.parametrize("impurity", [entropy, gini, error_rate])
@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=2, max_size=5))
def test_no_split_makes_samples_less_pure(impurity, table):
    counts = np.array(table, dtype=float)
    assert impurity_decrease(impurity, counts, counts.sum(axis=1)) >= -1e-12


def test_above_average_takes_the_average_itself_and_what_is_within_a_tie_below():
    assert above_average(np.array([0.1, 0.2, 0.3])).tolist() == [False, True, True]
    assert above_average(np.array([0.3, 0.3 - 1e-13, 0.3])).all()
    assert above_average(np.array([0.25])).tolist() == [True]


@pytest.mark.parametrize(
    ("gains", "chosen"),
    [
        ([0.3], [True]),
        ([0.1, 0.3], [False, True]),
        ([0.1, 0.3, 0.2], [False, True, True]),
        ([0.2, 0.2, 0.2, 0.2], [True, True, False, False]),
        ([0.0, 0.4, 0.1, 0.3, 0.2], [False, True, False, True, True]),
    ],
)
def test_better_half_is_half_rounded_up_ties_to_the_earlier(gains, chosen):
    assert better_half(np.array(gains)).tolist() == chosen


def test_better_half_tells_equals_apart_by_column_not_by_their_last_bits():
    assert better_half(np.array([0.2, 0.2 + 1e-15, 0.2 + 2e-15])).tolist() == [True, True, False]
    assert better_half(np.array([0.2, 0.2 + 1e-9])).tolist() == [False, True]
