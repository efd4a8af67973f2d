"""Grow a tree, prune it, and hand over the model."""

from collections.abc import Callable

from core.config import ReducedErrorPruning, TrainingConfig
from core.division import Part
from core.growth.grow import grow
from core.model import Model, training_ranges
from core.preparation import Prepared, with_class_weights
from core.pruning.history import Ledger
from core.pruning.reduced_error import prune_by_validation, record_trials
from core.target import ClassTarget

Report = Callable[[str, float], None]


def train(prepared: Prepared, config: TrainingConfig, report: Report = lambda _stage, _progress: None) -> Model:
    """The model of the training samples; `report` hears the stage and how much of it is done, and may raise."""
    train_samples = with_class_weights(prepared.train, config.class_weights)
    validation = prepared.parts[Part.VALIDATION]
    gate_samples = validation if config.algorithm.stopping.validate_splits else None
    report("growing", 0.0)
    tree, trials = grow(
        train_samples,
        config.algorithm,
        validation=gate_samples,
        watch=lambda progress: report("growing", progress),
    )
    report("pruning", 0.0)
    ledger = Ledger(tree)
    if gate_samples is not None:
        record_trials(ledger, gate_samples, trials)
    if isinstance(config.pruning, ReducedErrorPruning):
        assert validation is not None
        prune_by_validation(ledger, validation, config.pruning.on_tie)
    target = train_samples.target
    return Model(
        task=target.task,
        target=config.target,
        classes=target.classes if isinstance(target, ClassTarget) else (),
        attributes=train_samples.attributes.schema,
        ranges=training_ranges(train_samples.attributes),
        history=ledger.finished(),
    )
