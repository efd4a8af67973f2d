"""Columns and their sorted lists as the kernels of growth take them, with what is awkward about both."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

FLAG = np.uint32(1 << 31)


class Rows(NamedTuple):
    """Rows of a node: a column with ties, few values or holes (NaN), classes, numbers and weights."""

    values: Any
    classes: Any
    numbers: Any
    weights: Any
    n_classes: int

    @property
    def n(self) -> int:
        return len(self.values)

    @property
    def row_bits(self) -> int:
        """How many bits number the rows."""
        return max(1, (self.n - 1).bit_length())

    @property
    def known(self) -> Any:
        """The rows whose value is known, in the order of the values, equal ones as they stand."""
        order = np.argsort(self.values, kind="stable")
        return order[: self.n - int(np.isnan(self.values).sum())]

    @property
    def entries(self) -> Any:
        """The sorted list: row, class, and a flag where the value is another than the one before."""
        values = self.values[self.known]
        is_new = np.append(False, values[1:] != values[:-1])[: len(values)].astype(np.uint32)
        classes = self.classes[self.known].astype(np.uint32) << np.uint32(self.row_bits)
        entries: Any = is_new << np.uint32(31) | classes | self.known.astype(np.uint32)
        return entries


@st.composite
def rows_of_a_node(draw: st.DrawFn, *, most: int = 60, most_classes: int = 5, holes: bool = True) -> Rows:
    """From one row to some, of which none, some or all lack the value."""
    n, n_classes = draw(st.integers(1, most)), draw(st.integers(1, most_classes))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = chance.normal(size=n) if draw(st.booleans()) else chance.integers(0, draw(st.integers(1, 6)), n) * 1.0
    if holes:
        values = np.where(chance.random(n) < draw(st.sampled_from([0.0, 0.2, 1.0])), np.nan, values)
    kinds = [np.ones(n), chance.integers(1, 4, n) * 1.0, chance.choice([0.1, 0.7, 3.3], n)]
    numbers = np.round(chance.normal(size=(n, 1)), 1) + draw(st.sampled_from([0.0, 1e6]))
    classes = chance.integers(0, n_classes, n).astype(np.int32)
    return Rows(values, classes, numbers, kinds[draw(st.integers(0, 2))], n_classes)
