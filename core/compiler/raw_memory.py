"""Memory for kernels that read text: by address, and many bytes at a time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

END = bytes(32)  # padding before and after a text: NUL, which JSON does not have, as many as kernels read at once


def address_of(array: NDArray[Any]) -> np.uint64:
    """The address of an array's first byte."""
    return np.uint64(array.__array_interface__["data"][0])
