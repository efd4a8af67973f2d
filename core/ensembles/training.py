"""Trains a committee or an isolation forest, and returns the model."""

from functools import partial

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Committee, Isolation, TrainingConfig
from core.criteria.impurity import shares
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.ensembles.isolation.isolation import grow_isolation
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.model import ForestModel
from core.growth.samples import Samples
from core.tables.progress import part_of
from core.tables.target import ClassTarget
from core.training.preparation import Prepared
from core.training.train import CUTTING, Report, costs_of, record_fills, training_samples
from core.tree.model import training_ranges


def train_forest(
    prepared: Prepared,
    config: TrainingConfig,
    report: Report = lambda _stage, _progress: None,
    *,
    engine: Engine = Engine.AUTO,
    threads: int = 1,
) -> ForestModel:
    """The committee of the training samples; `report` is called with the progress, and may raise to end it."""
    committee, growing = config.ensemble, partial(report, "growing")
    assert isinstance(committee, Committee)
    growing(0.0)
    samples = training_samples(prepared, config, part_of(growing, 0.0, CUTTING))
    forest = grow_committee(
        samples,
        committee,
        seed=config.seed,
        costs=costs_of(prepared, config),
        engine=engine,
        threads=threads,
        watch=part_of(growing, CUTTING, 1.0),
    )
    target = samples.target
    return ForestModel(
        task=target.task,
        target=config.target,
        classes=target.classes if isinstance(target, ClassTarget) else (),
        attributes=samples.attributes.schema,
        ranges=training_ranges(samples.attributes),
        forest=forest,
        prior=prior_of(samples),
        missing=config.algorithm.missing,
        fills=record_fills(prepared, config),
    )


def train_isolation(
    prepared: Prepared,
    config: TrainingConfig,
    report: Report = lambda _stage, _progress: None,
) -> IsolationModel:
    """The isolation forest of the training rows; `report` is called with the progress, and may raise to end it."""
    isolation, growing, table = config.ensemble, partial(report, "growing"), prepared.train.attributes
    assert isinstance(isolation, Isolation)
    growing(0.0)
    forest = grow_isolation(table, isolation, seed=config.seed, watch=growing)
    return IsolationModel(attributes=table.schema, ranges=training_ranges(table), isolation=forest)


def prior_of(samples: Samples) -> FloatArray:
    """The answer without any tree: the share of each class, or the mean of each target."""
    values, _ = samples.target.summary(np.arange(len(samples)), samples.weights)
    return shares(values[None])[0] if isinstance(samples.target, ClassTarget) else values
