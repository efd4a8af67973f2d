"""Trains a model: grows a tree, prunes it, and returns the model."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.config.options import Dialect, MissingStrategy, TrainingConfig
from core.criteria.misclassification import cost_faults, cost_matrix
from core.engine.engine import Engine, for_trees, grow_with, prefers_kernels
from core.growth.data_thresholds import data_thresholds
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.missing.filling import Fills, filled, filled_by_class, fills_of
from core.pruning.prune import Evidence, collapse_if_asked, n_folds_of, prune
from core.pruning.reduced_error import record_trials
from core.tables.errors import InvalidConfig, raise_any
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress, part_of
from core.tables.target import ClassTarget
from core.training.preparation import Prepared, take, with_class_weights
from core.tree.history import History, Ledger, Method
from core.tree.model import Model, training_ranges

Report = Callable[[str, float], None]

CUTTING = 0.05  # the approximate part of growing that finds cuts on all rows


def training_samples(prepared: Prepared, config: TrainingConfig, watch: Watch = ignore_progress) -> Samples:
    """The training rows as trees grow from them: weighted by class, filled and cut as the algorithm says."""
    samples = with_class_weights(prepared.train, config.class_weights)
    filled_samples, algorithm = filled_for_growth(samples, config.algorithm.missing), config.algorithm
    return with_cuts(filled_samples, algorithm.numeric, watch, numbers_only=algorithm.chaid is not None)


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
    """The values that fill a record's missing ones; empty unless the strategy fills records."""
    if not config.algorithm.missing.fills_records:
        return ()
    samples = with_class_weights(prepared.train, config.class_weights)
    return fills_of(samples.attributes, samples.weights)


def costs_of(prepared: Prepared, config: TrainingConfig) -> FloatArray | None:
    """The costs of wrong answers; None if all cost the same; InvalidConfig if they name an unknown class."""
    target = prepared.train.target
    if config.misclassification_costs is None or not isinstance(target, ClassTarget):
        return None
    raise_any(InvalidConfig, cost_faults(config.misclassification_costs, target.classes))
    return cost_matrix(config.misclassification_costs, target.classes)


def grown(
    prepared: Prepared,
    config: TrainingConfig,
    samples: Samples,
    *,
    engine: Engine,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> Ledger:
    """A tree of these samples, with the splits that were judged by validation rows during growth."""
    costs, gate = costs_of(prepared, config), None
    if config.algorithm.stopping.validate_splits:
        gate = as_records(prepared.parts[Part.VALIDATION], record_fills(prepared, config))
    tree, trials = grow_with(
        engine,
        samples,
        config.algorithm,
        validation=gate,
        seed=config.seed,
        costs=costs,
        threads=threads,
        watch=watch,
    )
    ledger = Ledger(replace(tree, costs=costs))
    if gate is not None:
        record_trials(ledger, gate, trials)
    return ledger


def as_records(samples: Samples | None, fills: Fills) -> Samples | None:
    """Samples as records of a model: with missing values filled in, if the model does so for records."""
    return samples if samples is None or not fills else replace(samples, attributes=filled(samples.attributes, fills))


def pruned(
    ledger: Ledger,
    prepared: Prepared,
    config: TrainingConfig,
    train_samples: Samples,
    fills: Fills,
    *,
    engine: Engine,
    threads: int,
    watch: Watch,
) -> History:
    """Prune the tree as the configuration says; returns the history."""

    def leave_out(rows: RowArray, watch: Watch) -> tuple[Ledger, Samples]:
        others = np.setdiff1d(prepared.train.rows, rows, assume_unique=True)
        fold = replace(prepared, parts={**prepared.parts, Part.TRAIN: take(prepared.train, others)})
        samples = training_samples(fold, config)
        without = grown(fold, config, samples, engine=engine, threads=threads, watch=watch)
        collapse_if_asked(without, config.pruning, config.algorithm)
        left_out = as_records(take(prepared.train, rows), record_fills(fold, config))
        assert left_out is not None
        return without, left_out

    validation = as_records(prepared.parts[Part.VALIDATION], fills)
    rows = Evidence(train_samples, validation, leave_out)
    kernels = prefers_kernels(engine, train_samples)
    return prune(ledger, config.pruning, config.algorithm, rows, seed=config.seed, kernels=kernels, watch=watch)


def train(
    prepared: Prepared,
    config: TrainingConfig,
    report: Report = lambda _stage, _progress: None,
    *,
    engine: Engine = Engine.AUTO,
    threads: int = 1,
) -> Model:
    """The model of the training samples; `report` is called with the stage and its progress, and may raise.

    It is called for every stage from 0 to 1, several times a second however long a stage takes.
    """
    growing, pruning = partial(report, "growing"), partial(report, "pruning")
    growing(0.0)
    samples = training_samples(prepared, config, part_of(growing, 0.0, CUTTING))
    fills, watch = record_fills(prepared, config), part_of(growing, CUTTING, 1.0)
    n_folds = n_folds_of(config.pruning, samples, prepared.parts[Part.VALIDATION])
    engine = for_trees(engine, samples, config.algorithm, 1 + n_folds)
    ledger = grown(prepared, config, samples, engine=engine, threads=threads, watch=watch)
    pruning(0.0)
    history = pruned(ledger, prepared, config, samples, fills, engine=engine, threads=threads, watch=pruning)
    pruning(1.0)
    target, is_as_programmed = samples.target, config.algorithm.dialect is Dialect.RELEASE8
    return Model(
        task=target.task,
        target=config.target,
        classes=target.classes if isinstance(target, ClassTarget) else (),
        attributes=samples.attributes.schema,
        ranges=training_ranges(samples.attributes),
        history=history,
        missing=config.algorithm.missing,
        fills=fills,
        data_thresholds=data_thresholds(history.tree, samples.attributes) if is_as_programmed else None,
    )


def prune_again(
    model: Model,
    config: TrainingConfig,
    prepared: Prepared,
    report: Report = lambda _stage, _progress: None,
    *,
    engine: Engine = Engine.AUTO,
    threads: int = 1,
) -> Model:
    """The model with its full tree pruned again as the configuration says, without growing it again.

    `config` is that of the model's training with another `pruning`, `prepared` its rows (validation rows may differ).
    Splits that validation rows refused during growth stay refused.
    """
    pruning = partial(report, "pruning")
    pruning(0.0)
    samples = training_samples(prepared, config, part_of(pruning, 0.0, CUTTING))
    ledger = Ledger(model.tree, model.history.steps.made_by(Method.VALIDATE_SPLITS))
    watch = part_of(pruning, CUTTING, 1.0)
    n_folds = n_folds_of(config.pruning, samples, prepared.parts[Part.VALIDATION])
    engine = for_trees(engine, samples, config.algorithm, n_folds)
    history = pruned(ledger, prepared, config, samples, model.fills, engine=engine, threads=threads, watch=watch)
    pruning(1.0)
    return replace(model, history=history)
