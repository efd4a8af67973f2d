"""The types of arrays that are used throughout."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
CodeArray = NDArray[np.int32]
RowArray = NDArray[np.signedinteger[Any]]
BoolArray = NDArray[np.bool_]
