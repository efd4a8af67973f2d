"""Generated tables, samples and algorithms: small, and full of what makes trees go wrong.

Numeric, ordinal and categorical columns with ties, constant columns, columns without any known cell, missing cells
anywhere, declared categories that no row has, rows that stand twice, weights of very different size, one to six
classes, numbers to predict that sit far away from 0, one or several of them.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from core.config.options import (
    Algorithm,
    Categorical,
    Criterion,
    CriterionKind,
    GainFilter,
    Numeric,
    NumericKind,
    Stopping,
)
from core.growth.samples import Samples
from core.splits.split import Split, SplitKind
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table
from core.tables.target import ClassTarget, NumberTarget, Task
from core.tree.tree import LEAF, SPLIT_KINDS, Tree

NUMBERS = (-2.5, -1.0, 0.0, 0.1, 0.2, 0.3, 0.30000000000000004, 1.0, 7.0, 1e8, 1e8 + 1, 1e308)
WEIGHTS = (1.0, 2.0, 0.5, 3.0, 0.1, 0.001, 1000.0, 1e-6, 1e6)
OFFSETS = (0.0, 0.0, 1.5, 1e8, -1e8)
SCALES = (0.5, 0.5, 16.0)  # of the first, second and third number to predict

CRITERIA = {
    Task.CLASSIFICATION: (
        Criterion(CriterionKind.INFORMATION_GAIN),
        Criterion(CriterionKind.GAIN_RATIO, GainFilter.ABOVE_AVERAGE),
        Criterion(CriterionKind.GAIN_RATIO, GainFilter.BETTER_HALF),
        Criterion(CriterionKind.GAIN_RATIO, GainFilter.NONE),
        Criterion(CriterionKind.GINI),
        Criterion(CriterionKind.ERROR_RATE),
    ),
    Task.REGRESSION: (Criterion(CriterionKind.SQUARED_ERROR),),
}

ANYTHING_GOES = Stopping(min_samples_split=0, min_samples_leaf=0)


@st.composite
def columns(draw: st.DrawFn, name: str, n_rows: int, *, missing: bool) -> tuple[Attribute, Column]:
    """A column of any kind; perhaps constant, perhaps without a known cell."""
    kind = draw(st.sampled_from([Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL]))
    is_known = st.just(True)
    if missing:
        is_known = draw(st.sampled_from([st.just(True), st.sampled_from([True, True, False]), st.just(False)]))
    known = draw(st.lists(is_known, min_size=n_rows, max_size=n_rows))
    if kind is Kind.NUMERIC:
        pool = draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=5))
        cells = draw(st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows))
        return Attribute(name, kind), np.where(known, np.array(cells, dtype=np.float64), np.nan)
    n_categories = draw(st.integers(1, 5))
    codes = draw(st.lists(st.integers(0, n_categories - 1), min_size=n_rows, max_size=n_rows))
    categories = tuple(f"{name}{letter}" for letter in "uvwxyz"[:n_categories])
    return Attribute(name, kind, categories), np.where(known, codes, -1).astype(np.int32)


@st.composite
def tables(
    draw: st.DrawFn, *, min_rows: int = 1, max_rows: int = 12, max_columns: int = 4, missing: bool = True
) -> Table:
    """A table; some rows are copies of others."""
    n_distinct = draw(st.integers(min_rows, max_rows))
    n_columns = draw(st.integers(1, max_columns))
    made = [draw(columns(f"a{position}", n_distinct, missing=missing)) for position in range(n_columns)]
    table = Table(Schema(tuple(attribute for attribute, _ in made)), tuple(values for _, values in made))
    copies = draw(st.lists(st.integers(0, n_distinct - 1), max_size=3))
    return table.take(np.array([*range(n_distinct), *copies], dtype=np.int64))


@st.composite
def targets(draw: st.DrawFn, task: Task, n_rows: int, *, max_outputs: int = 1) -> ClassTarget | NumberTarget:
    """One to six classes, or numbers that may lie far from 0; several may be of very different size."""
    if task is Task.CLASSIFICATION:
        n_classes = draw(st.integers(1, 6))
        codes = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
        return ClassTarget(tuple("ABCDEF"[:n_classes]), np.array(codes, dtype=np.int32))
    outputs = []
    for scale in SCALES[: draw(st.integers(1, max_outputs))]:
        offset = draw(st.sampled_from(OFFSETS))
        steps = draw(st.lists(st.integers(-4, 4), min_size=n_rows, max_size=n_rows))
        outputs.append(offset + np.array(steps, dtype=np.float64) * scale)
    return NumberTarget(np.stack(outputs, axis=1))


@st.composite
def weights(draw: st.DrawFn, n_rows: int) -> Any:
    """All 1, or any mix of small and large."""
    if draw(st.booleans()):
        return np.ones(n_rows)
    pool = draw(st.lists(st.sampled_from(WEIGHTS), min_size=1, max_size=3))
    return np.array(draw(st.lists(st.sampled_from(pool), min_size=n_rows, max_size=n_rows)), dtype=np.float64)


TASKS = st.sampled_from([Task.CLASSIFICATION, Task.CLASSIFICATION, Task.REGRESSION])


@st.composite
def samples(draw: st.DrawFn, *, task: Task | None = None, max_outputs: int = 1, **of_table: Any) -> Samples:
    """Samples of any task: cell by cell, so that failures shrink, or by the dozen, so that trees get large."""
    task = task or draw(TASKS)
    if draw(st.sampled_from([True, False, False])):
        table = draw(tables(**of_table))
        target = draw(targets(task, table.n_rows, max_outputs=max_outputs))
        return Samples(table, target, draw(weights(table.n_rows)))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    return crowded_samples(chance, task, max_outputs=max_outputs, **of_table)


def crowded_samples(
    chance: np.random.Generator,
    task: Task,
    *,
    min_rows: int = 4,
    max_rows: int = 12,
    max_columns: int = 4,
    missing: bool = True,
    max_outputs: int = 1,
) -> Samples:
    """Samples drawn all at once, with few distinct values, so that ties and repeated rows abound."""
    n_rows = int(chance.integers(max(min_rows, min(5, max_rows)), max_rows + 4))
    made = [
        _crowded_column(chance, f"a{position}", n_rows, missing)
        for position in range(chance.integers(1, max_columns + 1))
    ]
    table = Table(Schema(tuple(attribute for attribute, _ in made)), tuple(values for _, values in made))
    pool = chance.choice(WEIGHTS, size=chance.integers(1, 4))
    drawn = np.ones(n_rows) if chance.random() < 0.5 else chance.choice(pool, size=n_rows)
    if task is Task.REGRESSION:
        scales = SCALES[: chance.integers(1, max_outputs + 1)] if max_outputs > 1 else SCALES[:1]
        outputs = [chance.choice(OFFSETS) + chance.integers(-4, 5, n_rows) * scale for scale in scales]
        return Samples(table, NumberTarget(np.stack(outputs, axis=1)), drawn)
    n_classes = int(chance.integers(2, 7))
    n_used = int(chance.integers(2, n_classes + 1))
    codes = chance.integers(0, n_used, n_rows).astype(np.int32)
    return Samples(table, ClassTarget(tuple("ABCDEF"[:n_classes]), codes), drawn)


def _crowded_column(chance: np.random.Generator, name: str, n_rows: int, missing: bool) -> tuple[Attribute, Column]:
    kind = [Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL][chance.integers(3)]
    known = chance.random(n_rows) >= (chance.choice([0.0, 0.2, 0.5]) if missing else 0.0)
    if kind is Kind.NUMERIC:
        cells = chance.choice(chance.choice(NUMBERS, size=chance.integers(2, 7)), size=n_rows)
        return Attribute(name, kind), np.where(known, cells, np.nan)
    n_categories = int(chance.integers(2, 6))
    categories = tuple(f"{name}{letter}" for letter in "uvwxyz"[:n_categories])
    codes = chance.integers(0, n_categories - chance.integers(0, 2), n_rows)
    return Attribute(name, kind, categories), np.where(known, codes, -1).astype(np.int32)


@st.composite
def stoppings(draw: st.DrawFn) -> Stopping:
    """Limits on growth, most of them loose."""
    return Stopping(
        max_depth=draw(st.sampled_from([None, None, None, None, 0, 1, 2])),
        min_samples_split=draw(st.sampled_from([0, 0, 0, 2, 4.5])),
        min_samples_leaf=draw(st.sampled_from([0, 0, 0, 0.5, 1, 2])),
        min_gain=draw(st.sampled_from([0.0, 0.0, 0.0, 0.05])),
        min_score=draw(st.sampled_from([0.0, 0.0, 0.0, 0.1])),
        min_impurity=draw(st.sampled_from([0.0, 0.0, 0.0, 0.3])),
    )


@st.composite
def algorithms(draw: st.DrawFn, task: Task, *, limits: bool = True, boundary: bool = True) -> Algorithm:
    """Any parts that go with the task."""
    may_be_boundary = boundary and task is Task.CLASSIFICATION
    kinds = [NumericKind.EXACT, NumericKind.BOUNDARY] if may_be_boundary else [NumericKind.EXACT]
    categorical = draw(st.sampled_from(list(Categorical)))
    stopping = draw(stoppings()) if limits else ANYTHING_GOES
    return Algorithm(
        kind="cart",
        criterion=draw(st.sampled_from(CRITERIA[task])),
        categorical=categorical,
        numeric=Numeric(draw(st.sampled_from(kinds))),
        stopping=stopping,
    )


@st.composite
def trainings(draw: st.DrawFn, *, task: Task | None = None, limits: bool = True, **of_table: Any) -> Any:
    """Samples with an algorithm that can learn from them."""
    drawn = draw(samples(task=task, **of_table))
    return drawn, draw(algorithms(drawn.target.task, limits=limits))


def any_tree(chance: np.random.Generator, schema: Schema, *, deepest: int = 4) -> Tree:
    """A tree that nobody grew: its tests may contradict those above them, as after a later change they might."""
    nodes: list[dict[str, Any]] = []

    def add(depth: int) -> int:
        position = len(nodes)
        weights = chance.integers(0, 4, 2) + np.array([0.0, 1.0])
        nodes.append({"size": 1, "column": LEAF, "kind": LEAF, "threshold": np.nan, "branch_of": (), "values": weights})
        if depth < deepest and chance.random() < 0.8:
            split = _any_split(chance, schema)
            nodes[position] |= {"column": split.column, "kind": SPLIT_KINDS.index(split.kind)}
            nodes[position] |= {"threshold": split.threshold, "branch_of": split.branch_of}
            nodes[position]["size"] += sum(add(depth + 1) for _ in range(split.n_branches))
        return int(nodes[position]["size"])

    add(0)
    numbers = {name: np.array([node[name] for node in nodes]) for name in ("threshold", "values")}
    tree = Tree(
        task=Task.CLASSIFICATION,
        size=np.array([node["size"] for node in nodes], dtype=np.int32),
        column=np.array([node["column"] for node in nodes], dtype=np.int32),
        kind=np.array([node["kind"] for node in nodes], dtype=np.int8),
        threshold=numbers["threshold"],
        branch_start=np.cumsum([0, *(len(node["branch_of"]) for node in nodes)], dtype=np.int64),
        branch_of=np.array([branch for node in nodes for branch in node["branch_of"]], dtype=np.int32),
        share=np.ones(len(nodes)),
        weight=numbers["values"].sum(axis=1),
        impurity=np.zeros(len(nodes)),
        gain=np.zeros(len(nodes)),
        score=np.zeros(len(nodes)),
        values=numbers["values"],
        variances=np.empty((len(nodes), 0)),
    )
    for node in range(len(tree)):
        children = tree.children(node)
        tree.share[children] = 1 / max(1, len(children))
    return tree


def _any_split(chance: np.random.Generator, schema: Schema) -> Split:
    column = int(chance.integers(len(schema)))
    n_categories = len(schema[column].categories)
    if schema[column].kind is Kind.NUMERIC:
        return Split(column, SplitKind.THRESHOLD, 2, threshold=float(chance.integers(0, 4)))
    if schema[column].kind is Kind.ORDINAL:
        return Split(column, SplitKind.THRESHOLD, 2, threshold=float(chance.integers(0, 2 * n_categories - 2)) / 2)
    if chance.random() < 0.3:
        return Split(column, SplitKind.MULTIWAY, n_categories, branch_of=tuple(range(n_categories)))
    groups = [0, 1, *chance.integers(0, 2, n_categories - 2)]
    return Split(column, SplitKind.GROUPS, 2, branch_of=tuple(int(group) for group in chance.permutation(groups)))
