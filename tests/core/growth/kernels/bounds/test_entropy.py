"""Logarithms in lanes are as near as the doubt of a first look takes them to be."""

from typing import Any

import numpy as np
import pytest
from numba import types

from core.compiler.compile import compiled
from core.compiler.eight_lanes import WIDTH, in_lanes
from core.growth.kernels.bounds.entropy import about_log2

pytestmark = pytest.mark.bounds


@in_lanes(types.void)
def put_logs(shares, logs):  # type: ignore[no-untyped-def]
    """Eight logarithms."""
    logs.put(0, about_log2(shares(0)))


@compiled
def fill_logs(shares, logs):  # type: ignore[no-untyped-def]
    for at in range(0, shares.shape[0], WIDTH):
        put_logs(at, shares, logs)


def logs_of(shares: Any) -> Any:
    """The logarithms of float32 numbers, as many as fill the lanes."""
    logs = np.empty(len(shares), dtype=np.float32)
    fill_logs(shares, logs)
    return logs.astype(np.float64)


def test_a_share_times_its_logarithm_is_nearly_exact() -> None:
    for exponent in range(-30, 0):
        shares = np.ldexp(np.linspace(1.0, 2.0, 1 << 16, dtype=np.float32), exponent)
        exact = shares.astype(np.float64)
        assert np.abs(exact * (logs_of(shares) - np.log2(exact))).max() <= 2.0**-21


def test_nothing_times_its_logarithm_is_nothing() -> None:
    assert (0.0 * logs_of(np.zeros(WIDTH, dtype=np.float32)) == 0.0).all()
