"""Records that tell the leaves of a tree apart: every threshold, every value between and beyond, every category."""

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Any

import numpy as np

from core.tables.schema import Kind
from core.tables.table import Table
from core.tree.tree import Tree

MOST = 4_000


def telling_values(tree: Tree, table: Table, column: int) -> list[Any]:
    """Values of a column such that every possible outcome of all its tests is among them."""
    attribute = table.schema[column]
    if attribute.kind is not Kind.NUMERIC:
        return list(range(len(attribute.categories)))
    splits = [tree.split(int(node)) for node in np.flatnonzero(tree.column == column)]
    cuts = sorted({cut for split in splits for cut in (split.cuts or (split.threshold,))})
    if not cuts:
        return [0.0]
    between = [low / 2 + high / 2 for low, high in pairwise(cuts)]
    just_above = [float(np.nextafter(cut, np.inf)) for cut in cuts]
    return sorted(
        {*cuts, *between, *just_above, cuts[0] - abs(cuts[0]) - 1, *([cuts[-1] * 2] if cuts[-1] > 0 else [1.0])}
        - {np.inf}
    )


def complete_records(tree: Tree, table: Table, row: int | None = None) -> Table:
    """Every combination of telling values; with a row, only those that fill in its missing cells."""
    choices = []
    for column, values in enumerate(table.columns):
        options = telling_values(tree, table, column)
        if row is not None:
            cell = values[row]
            is_known = not np.isnan(cell) if values.dtype == np.float64 else cell >= 0
            options = [cell] if is_known else options
        choices.append(options or [-1])
    combinations = list(_at_most(product(*choices)))
    columns = tuple(
        np.array([one[column] for one in combinations], dtype=values.dtype)
        for column, values in enumerate(table.columns)
    )
    return Table(table.schema, columns)


def _at_most(combinations: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    for n, combination in enumerate(combinations):
        assert n < MOST, "too many combinations: make the table smaller"
        yield combination
