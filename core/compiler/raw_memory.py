"""Memory as kernels see it that read text: by addresses, and many bytes at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

END = bytes(32)  # before and behind a text: what JSON does not have, as much as kernels look at at once


def address_of(array: NDArray[Any]) -> np.uint64:
    """Where an array begins in memory."""
    return np.uint64(array.__array_interface__["data"][0])
