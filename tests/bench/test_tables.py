"""The benchmark's tables are what its rows say."""

from functools import partial

import numpy as np
import pytest

from bench.tables import N_HELD_OUT, QUICK_SHARE, Tables, cover_types, hundred_values, mixed, numeric, regression

DRAWS = [numeric, hundred_values, regression, cover_types, partial(mixed, n_classes=2), partial(mixed, n_classes=4)]


@pytest.mark.parametrize("draw", DRAWS)
def test_a_seed_gives_one_table_and_another_seed_another(draw):
    tables = Tables(draw, 40_000, missing=0.1, weighted=True)
    first, again, other = (tables.division(seed, quick=True) for seed in (3, 3, 4))
    assert len(first.train) == 40_000 // QUICK_SHARE
    assert len(first.held_out) == N_HELD_OUT // QUICK_SHARE
    assert first.train.numbers.tobytes() == again.train.numbers.tobytes()
    assert first.train.codes.tobytes() == again.train.codes.tobytes()
    assert first.train.answers.tobytes() == again.train.answers.tobytes()
    assert first.train.answers.tobytes() != other.train.answers.tobytes()


@pytest.mark.parametrize("draw", DRAWS)
def test_holes_are_spread_over_the_same_cells(draw):
    complete = Tables(draw, 200_000).division(0, quick=True).train
    holes = Tables(draw, 200_000, missing=0.15).division(0, quick=True).train
    lost = np.isnan(holes.numbers)
    assert lost.mean() == pytest.approx(0.15, abs=0.01)
    assert (holes.numbers[~lost] == complete.numbers[~lost]).all()
    assert ((holes.codes == complete.codes) | (holes.codes == -1)).all()
    assert (holes.answers == complete.answers).all()


def test_cover_types_have_44_binary_columns_and_7_classes():
    data = Tables(cover_types, 400_000).division(0, quick=True).train
    assert data.numbers.shape == (20_000, 54)
    assert np.isin(data.numbers[:, 10:], (0, 1)).all()
    assert (data.numbers[:, 10:14].sum(axis=1) == 1).all()
    assert (data.numbers[:, 14:].sum(axis=1) == 1).all()
    assert set(np.unique(data.answers)) == set(range(7))


def test_mixed_tables_have_8_categoricals_of_2_to_200_levels():
    data = Tables(partial(mixed, n_classes=4), 1_000_000).division(0, quick=True).train
    assert data.numbers.shape == (50_000, 6)
    assert data.codes.min(axis=0).tolist() == [0] * 8
    assert tuple(data.codes.max(axis=0) + 1) == data.n_categories == (2, 3, 5, 10, 20, 50, 120, 200)
    assert set(np.unique(data.answers)) == set(range(4))


def test_columns_of_hundred_values_have_100():
    data = Tables(hundred_values, 400_000).division(0, quick=True).train
    assert [len(np.unique(values)) for values in data.numbers.T] == [100] * 20
