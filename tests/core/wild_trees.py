"""Trees that nobody grew, with every kind of split and of branch, and records to send down them."""

from typing import Any

import numpy as np

from core.missing.surrogates import Surrogate
from core.splits.split import Cuts, Split, SplitKind, Term
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table
from core.tables.target import Task
from core.tree.tree import LEAF, SPLIT_KINDS, Tree, TreeView

MOST_NODES = 300
KINDS = (Kind.NUMERIC, Kind.NUMERIC, Kind.ORDINAL, Kind.CATEGORICAL)


def wild_schema(chance: np.random.Generator) -> Schema:
    return Schema(tuple(_attribute(chance, f"a{column}") for column in range(chance.integers(1, 6))))


def wild_table(chance: np.random.Generator, schema: Schema, n_rows: int) -> Table:
    """Whole and half numbers, so that values meet thresholds; holes from none to everywhere."""
    return Table(schema, tuple(_cells(chance, attribute, n_rows) for attribute in schema))


def wild_tree(
    chance: np.random.Generator,
    schema: Schema,
    *,
    deepest: int = 6,
    surrogates: bool = False,
    thresholds: bool = False,
    sums: bool = True,
    like: Tree | None = None,
) -> Tree:
    """A tree with up to a branch for every category; shares may be 0, tiny, or equal, answers negative zeros.

    Its task and how many values a node has are those of the tree that it is to be like.
    """
    cuts = tuple(_cuts(chance) if attribute.has_order else None for attribute in schema)
    task = Task.CLASSIFICATION if chance.random() < 0.5 else Task.REGRESSION
    n_values = int(chance.integers(1, 7))
    if like is not None:
        task, n_values = like.task, like.values.shape[1]
    nodes: list[dict[str, Any]] = []
    turns = chance.spawn(1)[0]

    def add(depth: int, share: float) -> int:
        position = len(nodes)
        nodes.append({"size": 1, "share": share, "split": None, "stand_ins": ()})
        if depth < deepest and len(nodes) < MOST_NODES and chance.random() < 0.85:
            split = _split(chance, schema, cuts, only_two=surrogates, thresholds=thresholds)
            if sums and split.n_branches == 2 and turns.random() < 0.3:
                split = _linear(turns, schema)
            shares = _shares(chance, split.n_branches)
            nodes[position]["split"] = split
            if surrogates:
                nodes[position]["stand_ins"] = tuple(_surrogate(chance, schema) for _ in range(chance.integers(0, 4)))
            nodes[position]["size"] += sum(add(depth + 1, float(part)) for part in shares)
        return int(nodes[position]["size"])

    add(0, 1.0)
    splits = [node["split"] for node in nodes]
    branch_of = [() if split is None else split.branch_of for split in splits]
    values = chance.choice([-0.0, 0.0, 1.0, 2.5, -3.1, 0.1], size=(len(nodes), n_values))
    if task is Task.CLASSIFICATION:
        values = np.abs(values) + np.eye(n_values)[chance.integers(0, n_values, len(nodes))]
    received = chance.random(len(nodes)) < 0.9
    received[[0, *(position for position, split in enumerate(splits) if split is not None)]] = True
    return Tree(
        task=task,
        size=np.array([node["size"] for node in nodes], dtype=np.int32),
        column=np.array([LEAF if s is None else s.column for s in splits], dtype=np.int32),
        kind=np.array([LEAF if s is None else SPLIT_KINDS.index(s.kind) for s in splits], dtype=np.int8),
        threshold=np.array([np.nan if s is None else s.threshold for s in splits]),
        branch_start=np.cumsum([0, *map(len, branch_of)], dtype=np.int64),
        branch_of=np.array([branch for branches in branch_of for branch in branches], dtype=np.int32),
        share=np.array([node["share"] for node in nodes]),
        weight=received.astype(np.float64),
        impurity=np.zeros(len(nodes)),
        gain=np.zeros(len(nodes)),
        score=np.zeros(len(nodes)),
        values=values * received[:, None],
        variances=np.empty((len(nodes), 0)),
        cuts=cuts,
        surrogates=tuple(node["stand_ins"] for node in nodes) if surrogates else (),
        terms=tuple(() if s is None else s.terms for s in splits) if any(s and s.terms for s in splits) else (),
    )


def some_view(chance: np.random.Generator, tree: Tree) -> TreeView:
    """The tree as grown, or with a few or many subtrees cut off."""
    return TreeView(tree, (tree.size == 1) | (chance.random(len(tree)) < chance.choice([0.0, 0.1, 0.5])))


def _attribute(chance: np.random.Generator, name: str) -> Attribute:
    kind = KINDS[chance.integers(len(KINDS))]
    if kind is Kind.NUMERIC:
        return Attribute(name, kind)
    return Attribute(name, kind, tuple(f"{name}.{code}" for code in range(chance.choice([2, 3, 7, 70]))))


def _cells(chance: np.random.Generator, attribute: Attribute, n_rows: int) -> Column:
    holes = chance.random(n_rows) < chance.choice([0.0, 0.0, 0.15, 0.5, 1.0])
    if attribute.kind is Kind.NUMERIC:
        return np.where(holes, np.nan, chance.integers(-2, 9, n_rows) / 2)
    codes = chance.integers(0, len(attribute.categories), n_rows)
    return np.where(holes, -1, codes).astype(np.int32)


def _cuts(chance: np.random.Generator) -> tuple[float, ...]:
    return tuple(np.unique(chance.integers(-1, 8, chance.integers(1, 5)) / 2).tolist())


def _split(chance: np.random.Generator, schema: Schema, cuts: Cuts, *, only_two: bool, thresholds: bool) -> Split:
    ordered = [column for column, attribute in enumerate(schema) if attribute.has_order]
    column = int(chance.choice(ordered)) if thresholds and ordered else int(chance.integers(len(schema)))
    n_codes, own = len(schema[column].categories), cuts[column]
    if own is not None:
        if chance.random() < 0.3 and not (only_two or thresholds):
            return _merged(chance, schema, column, own)
        if chance.random() < 0.3 and not (only_two or thresholds):
            return Split(column, SplitKind.INTERVALS, len(own) + 1, cuts=own)
        return Split(column, SplitKind.THRESHOLD, 2, threshold=float(chance.integers(-1, 8)) / 2)
    if chance.random() < 0.3 and not only_two:
        return _merged(chance, schema, column, ())
    if chance.random() < 0.5 and not only_two:
        return Split(column, SplitKind.MULTIWAY, n_codes, branch_of=tuple(range(n_codes)))
    if chance.random() < 0.3:
        first = int(chance.integers(n_codes))
        return Split(column, SplitKind.ONE_VS_REST, 2, branch_of=tuple(int(code != first) for code in range(n_codes)))
    return Split(column, SplitKind.GROUPS, 2, branch_of=_groups(chance, n_codes, -1 if chance.random() < 0.1 else 0))


def _linear(chance: np.random.Generator, schema: Schema) -> Split:
    """A weighted sum of some numbers and categories, compared with a number that it may well meet."""
    positions = [
        (column, code)
        for column, attribute in enumerate(schema)
        for code in ([-1] if attribute.kind is Kind.NUMERIC else range(len(attribute.categories)))
    ]
    chosen = sorted(chance.choice(len(positions), size=min(len(positions), 3), replace=False).tolist())
    terms = tuple(Term(positions[i][0], float(chance.choice([0.5, -1.0, 2.0, 0.1])), positions[i][1]) for i in chosen)
    threshold = float(chance.integers(-2, 5)) / 2
    return Split(terms[0].column, SplitKind.LINEAR, 2, threshold=threshold, terms=terms)


def _merged(chance: np.random.Generator, schema: Schema, column: int, cuts: tuple[float, ...]) -> Split:
    """Groups of neighbouring intervals, or of any categories; missing in one of them, in none, or in one by itself."""
    is_cut = schema[column].is_numeric
    n_codes = len(cuts) + 1 if is_cut else len(schema[column].categories)
    n_groups = int(chance.integers(1, n_codes + 1))
    groups = np.append(np.arange(n_groups), chance.integers(n_groups, size=n_codes - n_groups))
    groups = np.sort(groups) if is_cut else chance.permutation(groups)
    missing = n_groups if n_groups == 1 else int(chance.integers(-1, n_groups + 1))
    branch_of = (*groups.tolist(), missing)
    kind = SplitKind.MERGED_INTERVALS if is_cut else SplitKind.MERGED
    return Split(column, kind, max(n_groups, missing + 1), branch_of=branch_of, cuts=cuts if is_cut else ())


def _surrogate(chance: np.random.Generator, schema: Schema) -> Surrogate:
    column = int(chance.integers(len(schema)))
    if schema[column].has_order:
        split = Split(column, SplitKind.THRESHOLD, 2, threshold=float(chance.integers(-1, 8)) / 2)
        return Surrogate(split, is_reversed=bool(chance.random() < 0.5), agreement=0.9)
    branch_of = _groups(chance, len(schema[column].categories), -1)
    return Surrogate(Split(column, SplitKind.GROUPS, 2, branch_of=branch_of), is_reversed=False, agreement=0.8)


def _groups(chance: np.random.Generator, n_codes: int, lowest: int) -> tuple[int, ...]:
    return tuple(chance.integers(lowest, 2, n_codes).tolist())


def _shares(chance: np.random.Generator, n_branches: int) -> Any:
    weights = chance.choice([0.0, 1.0, 1.0, 2.0, 5.5, 1e-200], size=n_branches)
    weights[chance.integers(n_branches)] += 1.0
    return weights / weights.sum()
