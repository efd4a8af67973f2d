"""From a table and a configuration to the samples for training, validation and test."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.config.columns import (
    MOST_CLASSES,
    attribute_names,
    target_words,
    task_of,
    too_many_classes,
    unknown_classes,
)
from core.config.options import ColumnDivision, CostComplexityPruning, RandomDivision, TrainingConfig
from core.growth.samples import Samples
from core.tables.errors import Fault, InvalidConfig, raise_any
from core.tables.parts import Part
from core.tables.raw_values import category_text
from core.tables.schema import Attribute, Schema
from core.tables.table import MISSING_CODE, Column, Table
from core.tables.target import ClassTarget, NumberTarget, Target, Task
from core.training.division import divide_at_random


@dataclass(frozen=True)
class Prepared:
    """The samples of each part (None if it has no rows), and warnings about rows left out.

    `rows` are the row numbers of a part's samples in their table.
    """

    parts: Mapping[Part, Samples | None]
    warnings: tuple[str, ...]
    rows: Mapping[Part, RowArray] = field(default_factory=dict)

    @property
    def train(self) -> Samples:
        train = self.parts[Part.TRAIN]
        assert train is not None
        return train


def prepare(table: Table, config: TrainingConfig, others: Mapping[Part, Table]) -> Prepared:
    """Divide the table's rows, and take validation and test rows from `others` if the division says so.

    Rows without weight, or with a missing target, are left out and counted in a warning.
    """
    names = attribute_names(table.schema, config)
    whole = samples_of(table, table, names, config)
    usable = whole.target.is_known & (whole.weights > 0)
    warnings = [
        _left_out(int(np.count_nonzero(~whole.target.is_known)), f"{target_words(config)} is missing"),
        _left_out(int(np.count_nonzero(whole.target.is_known & ~usable)), "the weight is 0"),
    ]
    rows, part_warning = divided_rows(table, config, whole.target, np.flatnonzero(usable))
    parts: dict[Part, Samples | None] = {part: take(whole, rows[part]) for part in Part}
    for part, other in others.items():
        aside = samples_of(other, table, names, config)
        is_usable = aside.target.is_known & (aside.weights > 0)
        rows[part] = np.flatnonzero(is_usable)
        parts[part] = take(aside, rows[part])
        what = f"{target_words(config)} is missing, not a class of the training dataset, or without weight"
        warnings.append(_left_out(int(np.count_nonzero(~is_usable)), f"in the {part} dataset, {what}"))
    if parts[Part.TRAIN] is None:
        raise InvalidConfig(
            Fault("no row is left to train on", ("division",), "look at the target, the weights and the division")
        )
    if config.needs_validation and parts[Part.VALIDATION] is None:
        if is_left_to_chance(config):
            warnings.append("the division left no validation rows: alpha is chosen by cross-validation instead")
        else:
            raise InvalidConfig(
                Fault(
                    "this configuration judges by validation rows, and the division left none",
                    ("division",),
                    "give validation a larger share, or more rows of each class",
                )
            )
    said = [warning for warning in [*warnings, part_warning] if warning is not None]
    prepared = Prepared(parts, tuple(said), rows)
    if isinstance(whole.target, ClassTarget) and prepared.train.target.is_pure(prepared.train.rows):
        said.append("all training rows have one class: the tree is a single leaf")
    return Prepared(parts, tuple(said), rows)


def is_left_to_chance(config: TrainingConfig) -> bool:
    """Whether validation rows only choose alpha; then cross-validation can choose it if there are none."""
    return isinstance(config.pruning, CostComplexityPruning) and not config.algorithm.stopping.validate_splits


def samples_of(table: Table, reference: Table, names: tuple[str, ...], config: TrainingConfig) -> Samples:
    """All rows of a table as samples, coded as in the reference table that the model is trained on."""
    attributes = recoded(table.select(names), reference.select(names).schema)
    target = target_of(table, reference, config)
    weights = np.ones(table.n_rows) if config.sample_weight is None else numbers(table.values(config.sample_weight))
    return Samples(attributes, target, weights)


def target_of(table: Table, reference: Table, config: TrainingConfig) -> Target:
    """The target as numbers or as classes; classes are in declared order, or else in order of first appearance.

    If nothing is predicted, there are no numbers.
    """
    if not config.targets:
        return NumberTarget(np.empty((table.n_rows, 0)))
    if task_of(reference.schema, config.target, config.target_kind) is Task.REGRESSION:
        return NumberTarget(np.stack([numbers(table.values(name)) for name in config.targets], axis=1))
    (name,) = config.targets
    attribute, values = reference.schema[reference.schema.column(name)], table.values(name)
    if not attribute.is_numeric:
        source = table.schema[table.schema.column(name)]
        return ClassTarget(attribute.categories, _recode(values, source, attribute).astype(np.int32))
    known = reference.values(name)
    known = known[~np.isnan(known)]
    distinct, first = np.unique(known, return_index=True)
    if len(distinct) > MOST_CLASSES:
        raise InvalidConfig(too_many_classes(name, len(distinct)))
    ordered = [float(number) for number in distinct[np.argsort(first)]]
    position = {number: code for code, number in enumerate(ordered)}
    codes = np.array([position.get(float(value), MISSING_CODE) for value in values], dtype=np.int32)
    return ClassTarget(tuple(category_text(number) for number in ordered), codes)


def divided_rows(
    table: Table, config: TrainingConfig, target: Target, usable: RowArray
) -> tuple[dict[Part, RowArray], str | None]:
    """The usable rows of each part, and a warning about rows that belong to none."""
    ignore_progress = np.empty(0, dtype=np.int64)
    match config.division:
        case RandomDivision() as division:
            is_by_class = division.stratified and isinstance(target, ClassTarget)
            classes = target.codes[usable] if is_by_class and isinstance(target, ClassTarget) else None
            positions = divide_at_random(division, len(usable), classes, config.seed)
            return {part: usable[positions[part]] for part in Part}, None
        case ColumnDivision(column=name):
            categories = table.schema[table.schema.column(name)].categories
            codes = table.values(name)[usable]
            rows = {p: usable[codes == (categories.index(p) if p in categories else -2)] for p in Part}
            return rows, _left_out(int(np.count_nonzero(codes == MISSING_CODE)), f"{name} does not say which part")
        case _:
            return {Part.TRAIN: usable, Part.VALIDATION: ignore_progress, Part.TEST: ignore_progress}, None


def take(samples: Samples, rows: RowArray) -> Samples | None:
    """The samples of these rows; None if there are none."""
    if len(rows) == 0:
        return None
    return Samples(samples.attributes.take(rows), samples.target.take(rows), samples.weights[rows])


def with_class_weights(samples: Samples, class_weights: Mapping[str, float] | None) -> Samples:
    """Training samples, each weight multiplied by that of its class; a class not listed weighs 1."""
    if class_weights is None or not isinstance(samples.target, ClassTarget):
        return samples
    raise_any(InvalidConfig, unknown_classes(class_weights, samples.target.classes))
    factors = np.array([class_weights.get(name, 1.0) for name in samples.target.classes])
    return Samples(samples.attributes, samples.target, samples.weights * factors[samples.target.codes])


def recoded(table: Table, schema: Schema) -> Table:
    """The cells recoded for another schema of the same columns; a category unknown to it becomes missing."""
    columns = tuple(map(_recode, table.columns, table.schema, schema))
    return Table(schema, columns)


def _recode(values: Column, source: Attribute, wanted: Attribute) -> Column:
    if source.categories == wanted.categories:
        return values
    codes = {name: code for code, name in enumerate(wanted.categories)}
    mapping = np.array([*(codes.get(name, MISSING_CODE) for name in source.categories), MISSING_CODE], dtype=np.int32)
    return mapping[values.astype(np.int64)]


def numbers(values: Column) -> FloatArray:
    """A numeric column; as weights, it has no missing values, since such a configuration is refused before."""
    assert values.dtype == np.float64
    return values.astype(np.float64)


def _left_out(n_rows: int, why: str) -> str | None:
    return None if n_rows == 0 else f"{n_rows} {'row is' if n_rows == 1 else 'rows are'} left out: {why}"
