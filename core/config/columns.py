"""How a configuration uses the columns of a table: target, attributes, weights, and division."""

from collections.abc import Iterator, Mapping

from core.config.options import ColumnDivision, DatasetsDivision, Division, NoDivision, RandomDivision, TrainingConfig
from core.tables.errors import Fault
from core.tables.parts import Part
from core.tables.schema import Kind, Schema
from core.tables.suggestion import did_you_mean, quoted
from core.tables.target import Task

MOST_CLASSES = 1_000


def attribute_names(schema: Schema, config: TrainingConfig) -> tuple[str, ...]:
    """The configured attributes, in that order, or every column that has no other use."""
    if config.attributes is not None:
        return config.attributes
    taken = {*config.targets, config.sample_weight, division_column(config)}
    return tuple(a.name for a in schema if a.kind is not Kind.IGNORE and a.name not in taken)


def target_words(config: TrainingConfig) -> str:
    """The words for a target in messages; there may be several targets."""
    return "the target" if len(config.targets) == 1 else "a target"


def division_column(config: TrainingConfig) -> str | None:
    """The column that says which part a row belongs to, if one does."""
    return config.division.column if isinstance(config.division, ColumnDivision) else None


def has_validation(division: Division, schema: Schema) -> bool:
    """Whether a division keeps rows aside to validate with."""
    match division:
        case RandomDivision(validation=share):
            return share > 0
        case ColumnDivision(column=name):
            return name in schema and Part.VALIDATION in schema[schema.column(name)].categories
        case DatasetsDivision(validation=dataset):
            return dataset is not None
        case NoDivision():
            return False


def task_of(schema: Schema, target: str | tuple[str, ...], target_kind: str | None) -> Task:
    """The task: regression for a list of targets or if the one target is meant to be numeric, else classification."""
    if not target:
        return Task.ANOMALY_DETECTION
    if not isinstance(target, str):
        return Task.REGRESSION
    meant = schema[schema.column(target)].kind if target_kind is None else Kind(target_kind)
    return Task.REGRESSION if meant is Kind.NUMERIC else Task.CLASSIFICATION


def too_many_classes(target: str, n_classes: int) -> Fault:
    """A fault for a target with too many classes: it is probably an id or a measurement."""
    hint = "choose another target, or one with fewer values"
    return Fault(f"{quoted(target)} has {n_classes} classes, and at most {MOST_CLASSES} are taken", ("target",), hint)


def unknown_classes(class_weights: Mapping[str, float], classes: tuple[str, ...]) -> Iterator[Fault]:
    """A fault for every weight of a class that is not there."""
    for name in class_weights:
        if name not in classes:
            yield Fault(f"{quoted(name)} is not a class", ("class_weights", name), did_you_mean(name, classes))
