"""`python -m bench.rule_tables`: simplified rules beside their trees, on public tables; the table of docs/rules.md.

Trees are grown by C4.5 with its own pruning. Errors on training rows are of all rows, those held out of ten folds, in
which each row is answered by what was learnt without it.
"""

from dataclasses import dataclass

import numpy as np

from bench.public_tables import TABLES, Columns, left_out, prepared_rows
from core.config.options import TrainingConfig
from core.growth.held_out import labels_of
from core.growth.samples import Samples
from core.prediction.routing import predict
from core.rules.simplification import OrderedRules, simplified_rules
from core.tables.target import ClassTarget
from core.training.preparation import Prepared
from core.training.train import train, training_samples
from core.tree.tree import TreeView

C45 = {"kind": "c45"}


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


def training_figures(columns: Columns) -> Figures:
    """Learnt from all rows, and judged by them."""
    prepared, config = prepared_rows(columns, C45)
    view, rules = learnt(prepared, config)
    n_rows = len(prepared.train)
    by_tree, by_rules = mistakes(view, rules, prepared.train)
    return Figures(n_rows, len(view.leaves), len(rules.rules), by_tree / n_rows, by_rules / n_rows)


def held_out_errors(columns: Columns) -> tuple[float, float]:
    """The shares of rows that a tree and its rules get wrong if they were learnt without them."""
    prepared, config = prepared_rows(columns, C45)
    wrong = np.zeros(2)
    for others, aside in left_out(prepared, config.seed):
        wrong += mistakes(*learnt(others, config), aside.train)
    by_tree, by_rules = (wrong / len(prepared.train)).tolist()
    return by_tree, by_rules


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
