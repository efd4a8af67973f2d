"""`python -m bench.method_tables`: every method on public tables; the table of docs/methods.md.

Each method with its own defaults, pruning too. Accuracy is of rows that were left out: ten folds, three times over,
others each time. Leaves and CPU time are those of training on all rows, by compiled code.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.public_tables import TABLES, Columns, left_out, prepared_rows
from core.config.options import TrainingConfig
from core.engine.engine import Engine
from core.evaluation.evaluate import as_trained
from core.growth.held_out import labels_of
from core.prediction.predictor import Predictor
from core.tables.target import ClassTarget
from core.training.preparation import Prepared
from core.training.train import train
from core.tree.model import Model

REPEATS = 3
METHODS: dict[str, dict[str, Any]] = {
    "ID3, numbers in intervals": {"kind": "id3", "numeric": {"kind": "mdlp", "as": "intervals"}},
    "C4.5": {"kind": "c45"},
    "C4.5, release 8": {"kind": "c45", "dialect": "release8"},
    "CART": {"kind": "cart"},
    "CHAID": {"kind": "chaid"},
    "QUEST": {"kind": "quest"},
    "multivariate": {"kind": "multivariate"},
}


@dataclass(frozen=True)
class Figures:
    """The share of rows answered rightly without having been learnt from, how large the tree is, and what it took."""

    accuracy: float
    n_leaves: int
    seconds: float


def figures(columns: Columns, algorithm: dict[str, Any]) -> Figures:
    """A method on a table."""
    prepared, config = prepared_rows(columns, algorithm)
    learnt(prepared, config)  # compiles what is not compiled yet
    began = time.process_time()
    model = learnt(prepared, config)
    seconds = time.process_time() - began
    n_right = sum(
        rightly_answered(learnt(others, config), aside)
        for repeat in range(REPEATS)
        for others, aside in left_out(prepared, repeat)
    )
    leaves = model.view(model.history.selected).leaves
    return Figures(n_right / (REPEATS * len(prepared.train)), len(leaves), seconds)


def learnt(prepared: Prepared, config: TrainingConfig) -> Model:
    """The model of some rows."""
    return train(prepared, config, engine=Engine.KERNELS)


def rightly_answered(model: Model, aside: Prepared) -> int:
    """How many rows get their class."""
    rows = as_trained(model, aside.train)
    assert isinstance(rows.target, ClassTarget)
    answers = Predictor(model.view(model.history.selected)).batch(rows.attributes, kernels=False)
    return int(np.count_nonzero(labels_of(answers) == rows.target.codes))


def main() -> None:
    """Print the table: accuracy, leaves and milliseconds."""
    print("| |", " | ".join(TABLES), "|")
    print("|---" * (1 + len(TABLES)) + "|")
    tables = {name: load() for name, load in TABLES.items()}
    for title, algorithm in METHODS.items():
        found = (figures(columns, algorithm) for columns in tables.values())
        cells = [f"{100 * one.accuracy:.1f} %, {one.n_leaves}, {1000 * one.seconds:.0f} ms" for one in found]
        print(f"| {title} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
