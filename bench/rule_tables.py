"""`python -m bench.rule_tables`: simplified rules beside their trees, on public tables; the table of docs/rules.md.

Trees are grown by C4.5 with its own pruning. Errors on training rows are of all rows, those held out of ten folds, in
which each row is answered by what was learnt without it.
"""

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from core.config import TrainingConfig
from core.division import Part
from core.facade import named_columns, table
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.plain_config import config_from_plain
from core.prediction import predict
from core.preparation import Prepared, prepare, take
from core.pruning.choose_alpha import fold_of_rows
from core.rules.simplification import OrderedRules, simplified_rules
from core.table import RowArray
from core.target import ClassTarget
from core.training import train, training_samples
from core.tree import TreeView

FOLDS = 10
WATERMELONS = Path(__file__).parent.parent / "tests" / "golden" / "watermelon_3.0.csv"
ORDER = {"target": "class", "algorithm": {"kind": "c45"}, "division": {"kind": "none"}}

Columns = dict[str, Any]


def from_scikit_learn(loaded: Any, classes: Any = None) -> Columns:
    """A table that comes with scikit-learn, its classes as text."""
    answers = loaded.target if classes is None else classes
    return {**named_columns(loaded.data), "class": [str(answer) for answer in answers]}


def diabetes() -> Columns:
    """The progress of diabetes, as a third of all that there is."""
    loaded = datasets.load_diabetes()
    return from_scikit_learn(loaded, np.searchsorted(np.quantile(loaded.target, [1 / 3, 2 / 3]), loaded.target))


def watermelons() -> Columns:
    """Seventeen watermelons; the first column only numbers them, the last is the class."""
    with WATERMELONS.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    columns: Columns = {name: [row[place] or None for row in rows] for place, name in enumerate(header)}
    for name in ("密度", "含糖率"):
        columns[name] = [float(cell) for cell in columns[name]]
    return {**{name: columns[name] for name in header[1:-1]}, "class": columns[header[-1]]}


TABLES: dict[str, Callable[[], Columns]] = {
    "iris": lambda: from_scikit_learn(datasets.load_iris()),
    "wine": lambda: from_scikit_learn(datasets.load_wine()),
    "breast cancer": lambda: from_scikit_learn(datasets.load_breast_cancer()),
    "digits": lambda: from_scikit_learn(datasets.load_digits()),
    "diabetes, in thirds": diabetes,
    "watermelons": watermelons,
}


@dataclass(frozen=True)
class Figures:
    """How many leaves and rules there are, and which share of rows they get wrong."""

    n_rows: int
    n_leaves: int
    n_rules: int
    tree_error: float
    rules_error: float


def learnt(prepared: Prepared, config: TrainingConfig) -> tuple[TreeView, OrderedRules]:
    """The tree after pruning, and its simplified rules."""
    model = train(prepared, config)
    view = model.view(model.history.selected)
    return view, simplified_rules(view, training_samples(prepared, config))


def mistakes(view: TreeView, rules: OrderedRules, rows: Samples) -> tuple[int, int]:
    """How many rows the tree gets wrong, and how many the rules."""
    assert isinstance(rows.target, ClassTarget)
    by_tree, by_rules = labels_of(predict(view, rows.attributes)), rules.labels(rows.attributes)
    return int((by_tree != rows.target.codes).sum()), int((by_rules != rows.target.codes).sum())


def prepared_rows(columns: Columns) -> tuple[Prepared, TrainingConfig]:
    """All rows of a table, to train on."""
    data = table(columns, kinds={"class": "categorical"})
    config = config_from_plain(ORDER, data.schema)
    return prepare(data, config, {}), config


def training_figures(columns: Columns) -> Figures:
    """Learnt from all rows, and judged by them."""
    prepared, config = prepared_rows(columns)
    view, rules = learnt(prepared, config)
    n_rows = len(prepared.train)
    by_tree, by_rules = mistakes(view, rules, prepared.train)
    return Figures(n_rows, len(view.leaves), len(rules.rules), by_tree / n_rows, by_rules / n_rows)


def held_out_errors(columns: Columns) -> tuple[float, float]:
    """The shares of rows that a tree and its rules get wrong if they were learnt without them."""
    prepared, config = prepared_rows(columns)
    folds = fold_of_rows(prepared.train.target, FOLDS, config.seed)
    wrong = np.zeros(2)
    for fold in range(FOLDS):
        others, left_out = (part_of(prepared, np.flatnonzero(rows)) for rows in (folds != fold, folds == fold))
        wrong += mistakes(*learnt(others, config), left_out.train)
    by_tree, by_rules = (wrong / len(prepared.train)).tolist()
    return by_tree, by_rules


def part_of(prepared: Prepared, rows: RowArray) -> Prepared:
    """Some of the rows."""
    return Prepared({**prepared.parts, Part.TRAIN: take(prepared.train, rows)}, ())


def main() -> None:
    """Print the table."""
    print("| table | rows | leaves | rules | tree, training | rules, training | tree, held out | rules, held out |")
    print("|---|---|---|---|---|---|---|---|")
    for name, load in TABLES.items():
        columns = load()
        figures, held_out = training_figures(columns), held_out_errors(columns)
        errors = (figures.tree_error, figures.rules_error, *held_out)
        shown = " | ".join(f"{100 * error:.1f} %" for error in errors)
        print(f"| {name} | {figures.n_rows} | {figures.n_leaves} | {figures.n_rules} | {shown} |", flush=True)


if __name__ == "__main__":
    main()
