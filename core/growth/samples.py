"""The samples that a tree is grown from."""

from dataclasses import dataclass

import numpy as np

from core.splits.split import Cuts
from core.table import FloatArray, RowArray, Table
from core.target import Target


@dataclass(frozen=True)
class Samples:
    """Attributes, target and weight of each row; every target is known, every weight positive.

    `cuts` are where columns with an order were cut on all these rows, if the algorithm asks for that.
    """

    attributes: Table
    target: Target
    weights: FloatArray
    cuts: Cuts = ()

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> RowArray:
        return np.arange(len(self.weights))
