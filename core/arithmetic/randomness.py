"""Repeatable random numbers: a seed gives the same draws on every machine and with every library version.

There are two kinds. A *stream* yields bits one after the other; it uses only the raw bits of PCG64, which NumPy
promises to keep, since its higher-level methods may change. A *key* names one draw by its purpose (seed, path from the
root to a node, column, number of the draw), so that the draws of a tree do not depend on the order of its growth. Keys
are integers below 2^64, and all arithmetic on them is modulo 2^64.
"""

import zlib

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray

ALL_BITS = 0xFFFFFFFFFFFFFFFF

# The purposes of a node's draws; different purposes share no draws.
FOR_CUTS, FOR_ROWS, FOR_DIRECTIONS, FOR_COLUMNS = 1, 2, 3, 4


def stream(seed: int, purpose: str) -> np.random.PCG64:
    """Random bits for one purpose; different purposes have different streams under one seed."""
    return np.random.PCG64(np.random.SeedSequence([seed, zlib.crc32(purpose.encode())]))


def shuffled(rows: RowArray, bits: np.random.PCG64) -> RowArray:
    """The rows in random order."""
    return rows[np.argsort(bits.random_raw(len(rows)), kind="stable")]


def fractions(bits: np.random.PCG64, n: int) -> FloatArray:
    """n numbers that are at least 0 and below 1, each a multiple of 2^-53."""
    return (bits.random_raw(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53


def splitmix64(state: int) -> int:
    """64 well-mixed bits from any 64 (Steele, Lea and Flood 2014)."""
    mixed = (state + 0x9E3779B97F4A7C15) & ALL_BITS
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & ALL_BITS
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & ALL_BITS
    return mixed ^ (mixed >> 31)


def key_of(key: int, number: int) -> int:
    """The key of the item with this number under a key."""
    return splitmix64((key + (number + 1) * 0xD1342543DE82EF95) & ALL_BITS)


def root_key(seed: int) -> int:
    """The key of a tree's root."""
    return splitmix64(seed & ALL_BITS)


def path_key(parent_key: int, branch: int) -> int:
    """The key of a node, which depends only on the seed and on the branches taken from the root."""
    return key_of(parent_key, branch)


def uniform(key: int) -> float:
    """A number strictly between 0 and 1: the middle of one of 2^52 equal parts."""
    return ((splitmix64(key) >> 12) + 0.5) / 4503599627370496.0
