"""Grow a tree, prune it, and hand over the model."""

from collections.abc import Callable
from dataclasses import replace

from core.config import Dialect, MissingStrategy, ReducedErrorPruning, TrainingConfig
from core.data_thresholds import data_thresholds
from core.division import Part
from core.errors import InvalidConfig, raise_any
from core.growth.engine import Engine, grow_with, prefers_kernels
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.misclassification import cost_faults, cost_matrix
from core.missing.filling import Fills, filled, filled_by_class, fills_of
from core.model import Model, training_ranges
from core.preparation import Prepared, with_class_weights
from core.progress import Watch, nobody, part_of
from core.pruning.collapse import collapse
from core.pruning.history import Ledger
from core.pruning.reduced_error import prune_by_validation, record_trials
from core.table import FloatArray
from core.target import ClassTarget

Report = Callable[[str, float], None]

CUTTING, COLLAPSING = 0.05, 0.1  # the parts of growing and of pruning that these take, about


def training_samples(prepared: Prepared, config: TrainingConfig, watch: Watch = nobody) -> Samples:
    """The training rows as trees grow from them: weighed by class, filled and cut where the algorithm says so."""
    samples = with_class_weights(prepared.train, config.class_weights)
    return with_cuts(filled_for_growth(samples, config.algorithm.missing), config.algorithm.numeric, watch)


def filled_for_growth(samples: Samples, strategy: MissingStrategy) -> Samples:
    """The samples without missing values, if the strategy fills them before growth."""
    table, weights = samples.attributes, samples.weights
    if strategy is MissingStrategy.MAJORITY:
        return replace(samples, attributes=filled(table, fills_of(table, weights)))
    if strategy is MissingStrategy.CLASS_MAJORITY:
        assert isinstance(samples.target, ClassTarget)
        return replace(samples, attributes=filled_by_class(table, samples.target.codes, weights))
    return samples


def record_fills(prepared: Prepared, config: TrainingConfig) -> Fills:
    """What a record's missing values will be filled with; nothing unless the strategy fills records."""
    if not config.algorithm.missing.fills_records:
        return ()
    samples = with_class_weights(prepared.train, config.class_weights)
    return fills_of(samples.attributes, samples.weights)


def costs_of(prepared: Prepared, config: TrainingConfig) -> FloatArray | None:
    """What wrong answers cost; None when all cost the same. Refused when a class is named that is not there."""
    target = prepared.train.target
    if config.misclassification_costs is None or not isinstance(target, ClassTarget):
        return None
    raise_any(InvalidConfig, cost_faults(config.misclassification_costs, target.classes))
    return cost_matrix(config.misclassification_costs, target.classes)


def train(
    prepared: Prepared,
    config: TrainingConfig,
    report: Report = lambda _stage, _progress: None,
    *,
    engine: Engine = Engine.AUTO,
    threads: int = 1,
) -> Model:
    """The model of the training samples; `report` hears the stage and how much of it is done, and may raise.

    It hears of every stage from 0 to 1, and several times a second however long one takes.
    """

    def growing(done: float) -> None:
        report("growing", done)

    def pruning(done: float) -> None:
        report("pruning", done)

    growing(0.0)
    train_samples = training_samples(prepared, config, part_of(growing, 0.0, CUTTING))
    fills, costs = record_fills(prepared, config), costs_of(prepared, config)
    validation = prepared.parts[Part.VALIDATION]
    if validation is not None and fills:
        validation = replace(validation, attributes=filled(validation.attributes, fills))
    gate_samples = validation if config.algorithm.stopping.validate_splits else None
    tree, trials = grow_with(
        engine,
        train_samples,
        config.algorithm,
        validation=gate_samples,
        seed=config.seed,
        costs=costs,
        threads=threads,
        watch=part_of(growing, CUTTING, 1.0),
    )
    pruning(0.0)
    ledger = Ledger(replace(tree, costs=costs))
    if gate_samples is not None:
        record_trials(ledger, gate_samples, trials)
    by_validation = isinstance(config.pruning, ReducedErrorPruning)
    is_as_programmed = config.algorithm.dialect is Dialect.RELEASE8
    if config.algorithm.collapse and not (by_validation and is_as_programmed):
        collapse(ledger, part_of(pruning, 0.0, COLLAPSING))
    if isinstance(config.pruning, ReducedErrorPruning):
        assert validation is not None
        kernels = prefers_kernels(engine, validation)
        watch = part_of(pruning, COLLAPSING, 1.0)
        prune_by_validation(ledger, validation, config.pruning.on_tie, kernels=kernels, watch=watch)
    pruning(1.0)
    target = train_samples.target
    return Model(
        task=target.task,
        target=config.target,
        classes=target.classes if isinstance(target, ClassTarget) else (),
        attributes=train_samples.attributes.schema,
        ranges=training_ranges(train_samples.attributes),
        history=ledger.finished(),
        missing=config.algorithm.missing,
        fills=fills,
        data_thresholds=data_thresholds(tree, train_samples.attributes) if is_as_programmed else None,
    )
