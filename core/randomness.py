"""Chance that repeats: the same seed gives the same draws on every machine and with every library version.

Only the raw bits of PCG64 are used, whose stream NumPy promises to keep; its higher-level methods may change.
"""

import zlib

import numpy as np

from core.table import RowArray


def stream(seed: int, purpose: str) -> np.random.PCG64:
    """Bits for one purpose; different purposes under one seed do not share any."""
    return np.random.PCG64(np.random.SeedSequence([seed, zlib.crc32(purpose.encode())]))


def shuffled(rows: RowArray, bits: np.random.PCG64) -> RowArray:
    """The rows in random order."""
    return rows[np.argsort(bits.random_raw(len(rows)), kind="stable")]
