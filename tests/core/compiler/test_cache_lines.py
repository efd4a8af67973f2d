"""Arrays that begin where a line of the cache does."""

from typing import Any

import numpy as np
import pytest

from core.compiler.cache_lines import LINE, in_lines


@pytest.mark.parametrize("shape", [1, 17, (3, 40)])
@pytest.mark.parametrize("kind", [np.uint16, np.float32, np.float64])
def test_they_begin_with_a_line_and_are_filled(shape: Any, kind: Any) -> None:
    every = [in_lines(shape, kind, 7) for _ in range(5)]  # somewhere in memory
    assert all(array.ctypes.data % LINE == 0 for array in every)
    assert all(np.array_equal(array, np.full(shape, 7, kind)) and array.dtype == kind for array in every)
    assert all(array.flags.c_contiguous and array.flags.writeable for array in every)
