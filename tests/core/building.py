"""Samples, models and trees written by hand, in one line each."""

from typing import Any

import numpy as np

from core.config.options import (
    Algorithm,
    Categorical,
    Criterion,
    CriterionKind,
    GainFilter,
    OnTie,
    Pruning,
    ReducedErrorPruning,
    Stopping,
)
from core.growth.samples import Samples
from core.pruning.reduced_error import prune_by_validation, record_trials
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table
from core.tables.target import ClassTarget, NumberTarget
from core.tree.history import Ledger
from core.tree.model import Model, training_ranges
from tests.core.both_engines import grow

GAIN = Criterion(CriterionKind.INFORMATION_GAIN)
GINI = Criterion(CriterionKind.GINI)
SQUARED_ERROR = Criterion(CriterionKind.SQUARED_ERROR)
RATIO = Criterion(CriterionKind.GAIN_RATIO, GainFilter.ABOVE_AVERAGE)


def id3(**stopping: Any) -> Algorithm:
    return Algorithm("id3", GAIN, Categorical.MULTIWAY, stopping=Stopping(**stopping))


def c45(**stopping: Any) -> Algorithm:
    return Algorithm("c45", RATIO, Categorical.MULTIWAY, stopping=Stopping(**stopping))


def cart(**stopping: Any) -> Algorithm:
    return Algorithm("cart", GINI, Categorical.TWO_GROUPS, stopping=Stopping(**stopping))


def cart_for_numbers(**stopping: Any) -> Algorithm:
    return Algorithm("cart", SQUARED_ERROR, Categorical.TWO_GROUPS, stopping=Stopping(**stopping))


def table_of(columns: dict[str, list[Any]], kinds: dict[str, Attribute] | None = None) -> Table:
    """Numbers make a numeric column, text a categorical one in order of appearance; None is missing."""
    made = [_column(name, cells, (kinds or {}).get(name)) for name, cells in columns.items()]
    return Table(Schema(tuple(attribute for attribute, _ in made)), tuple(values for _, values in made))


def samples_of(
    columns: dict[str, list[Any]],
    target: list[Any],
    *,
    weights: list[float] | None = None,
    classes: tuple[str, ...] | None = None,
    kinds: dict[str, Attribute] | None = None,
) -> Samples:
    """Samples with a class target when it is text, else with numbers to predict: one, or a list in each row."""
    table = table_of(columns, kinds)
    drawn = np.ones(len(target)) if weights is None else np.array(weights, dtype=np.float64)
    if isinstance(target[0], str):
        names = classes or tuple(dict.fromkeys(target))
        codes = np.array([names.index(name) for name in target], dtype=np.int32)
        return Samples(table, ClassTarget(names, codes), drawn)
    return Samples(table, NumberTarget(np.array(target, dtype=np.float64).reshape(len(target), -1)), drawn)


def model_of(
    samples: Samples,
    algorithm: Algorithm,
    *,
    validation: Samples | None = None,
    pruning: Pruning | None = None,
    target: str | tuple[str, ...] = "target",
) -> Model:
    """A model grown from samples and pruned on others."""
    gate = validation if algorithm.stopping.validate_splits else None
    tree, trials = grow(samples, algorithm, validation=gate)
    ledger = Ledger(tree)
    if gate is not None:
        record_trials(ledger, gate, trials)
    if isinstance(pruning, ReducedErrorPruning):
        assert validation is not None
        prune_by_validation(ledger, validation, pruning.on_tie)
    return Model(
        task=samples.target.task,
        target=target,
        classes=samples.target.classes if isinstance(samples.target, ClassTarget) else (),
        attributes=samples.attributes.schema,
        ranges=training_ranges(samples.attributes),
        history=ledger.finished(),
    )


KEEP, CUT = ReducedErrorPruning(OnTie.KEEP), ReducedErrorPruning(OnTie.CUT)


def _column(name: str, cells: list[Any], attribute: Attribute | None) -> tuple[Attribute, Column]:
    if attribute is None and all(isinstance(cell, int | float) or cell is None for cell in cells):
        return Attribute(name, Kind.NUMERIC), np.array([np.nan if c is None else c for c in cells], dtype=np.float64)
    names = attribute.categories if attribute else tuple(dict.fromkeys(cell for cell in cells if cell is not None))
    codes = np.array([-1 if cell is None else names.index(cell) for cell in cells], dtype=np.int32)
    return attribute or Attribute(name, Kind.CATEGORICAL, names), codes
