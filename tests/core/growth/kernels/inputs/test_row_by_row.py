"""Columns side by side."""

import numpy as np
import pytest

from core.growth.kernels.inputs.coding import NumberColumns
from core.growth.kernels.inputs.row_by_row import LINE, numbers_row_by_row, row_by_row

pytestmark = pytest.mark.bounds


@pytest.mark.parametrize("n_rows", [0, 1, 63, 64, 65, 1500])
@pytest.mark.parametrize(("n_columns", "width"), [(0, 0), (1, 8), (8, 8), (11, 16)])
@pytest.mark.parametrize("has_missing", [False, True])
def test_the_kernel_puts_numbers_where_the_definition_does(n_rows, n_columns, width, has_missing):
    chance = np.random.default_rng(n_rows)
    columns = [chance.normal(size=n_rows) for _ in range(n_columns)]
    if has_missing and n_rows * n_columns > 0:
        columns[-1][-1] = np.nan
    table, is_missing = numbers_row_by_row(NumberColumns(columns), n_rows, width)
    expected = row_by_row(columns, n_rows, width, np.float64)
    assert table.tobytes() == expected.tobytes()
    assert is_missing == bool(np.isnan(expected).any())
    assert n_rows * width == 0 or table.ctypes.data % LINE == 0


def test_rows_of_columns():
    columns = [np.array([1, 2, 3], dtype=np.uint16), np.array([7, 8, 9], dtype=np.uint16)]
    assert row_by_row(columns, 3, 3, np.uint16).reshape(3, 3).tolist() == [[1, 7, 0], [2, 8, 0], [3, 9, 0]]
