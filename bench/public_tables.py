"""Public tables that come with packages, or with the tests, and folds of their rows."""

import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets

from core.arithmetic.arrays import RowArray
from core.config.from_plain import config_from_plain
from core.config.options import TrainingConfig
from core.library.train import named_columns, table
from core.pruning.choose_alpha import fold_of_rows
from core.tables.parts import Part
from core.training.preparation import Prepared, prepare, take

FOLDS = 10
WATERMELONS = Path(__file__).parent.parent / "tests" / "golden" / "watermelon_3.0.csv"

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
    columns: Columns = {name: [row[index] or None for row in rows] for index, name in enumerate(header)}
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


def prepared_rows(columns: Columns, algorithm: dict[str, Any]) -> tuple[Prepared, TrainingConfig]:
    """All rows of a table, to train on."""
    data = table(columns, kinds={"class": "categorical"})
    order = {"target": "class", "algorithm": algorithm, "division": {"kind": "none"}}
    config = config_from_plain(order, data.schema)
    return prepare(data, config, {}), config


def left_out(prepared: Prepared, seed: int) -> Iterator[tuple[Prepared, Prepared]]:
    """Of each of ten folds, the rows to learn from and the rows left out."""
    folds = fold_of_rows(prepared.train.target, FOLDS, seed)
    for fold in range(FOLDS):
        yield part_of(prepared, np.flatnonzero(folds != fold)), part_of(prepared, np.flatnonzero(folds == fold))


def part_of(prepared: Prepared, rows: RowArray) -> Prepared:
    """Some of the rows."""
    return Prepared({**prepared.parts, Part.TRAIN: take(prepared.train, rows)}, ())
