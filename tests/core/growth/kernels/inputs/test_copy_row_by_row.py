"""Columns of numbers side by side are those of `row_by_row`."""

import numpy as np
import pytest

from core.growth.kernels.inputs.coding import NumberColumns
from core.growth.kernels.inputs.copy_row_by_row import BLOCK_ROWS, put_row_by_row
from core.growth.kernels.inputs.row_by_row import row_by_row

pytestmark = pytest.mark.bounds


@pytest.mark.parametrize("n_rows", [1, BLOCK_ROWS - 1, BLOCK_ROWS, 2 * BLOCK_ROWS + 5])
@pytest.mark.parametrize(("n_columns", "width"), [(1, 1), (3, 8), (0, 4)])
@pytest.mark.parametrize("has_hole", [False, True])
def test_columns_stand_side_by_side(n_rows: int, n_columns: int, width: int, has_hole: bool) -> None:
    columns = list(np.random.default_rng(n_rows).normal(size=(n_columns, n_rows)))
    if has_hole and columns:
        columns[-1][-1] = np.nan
    table = np.full(n_rows * width, 7.0)
    assert put_row_by_row(NumberColumns(columns).addresses, n_rows, width, table) == (has_hole and n_columns > 0)
    assert table.tobytes() == row_by_row(columns, n_rows, width, np.float64).tobytes()
