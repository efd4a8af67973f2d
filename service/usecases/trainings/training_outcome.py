"""Training a model, its evaluation and its facts: for one tree, a committee and an isolation forest."""

from collections.abc import Callable
from typing import Any

import numpy as np

from core.config.options import Committee, Isolation, TrainingConfig
from core.engine.engine import Engine, prefers_kernels
from core.ensembles.forest import Forest
from core.ensembles.insight.evaluation import evaluate_forest
from core.ensembles.insight.retraining import falls_when_retrained
from core.ensembles.isolation.evaluation import evaluate_isolation
from core.ensembles.isolation.model import IsolationModel
from core.ensembles.model import ForestModel
from core.ensembles.training import train_forest, train_isolation
from core.evaluation.evaluate import evaluate
from core.storage.serialization import AnyModel
from core.training.preparation import Prepared
from core.training.train import train
from core.tree.model import Model
from core.tree.tree import times_covered
from service.usecases.trainings.evaluation_json import (
    evaluation_json,
    forest_evaluation_json,
    isolation_evaluation_json,
    retrained_json,
)

Report = Callable[[str, float], None]

NOTHING_TO_MEASURE = (
    "importance by retraining is not known: the target of the rows that measure does not vary, or there are none"
)


def trained(prepared: Prepared, config: TrainingConfig, report: Report, *, engine: Engine, threads: int) -> AnyModel:
    """Train the model that a configuration describes."""
    match config.ensemble:
        case None:
            return train(prepared, config, report, engine=engine, threads=threads)
        case Committee():
            return train_forest(prepared, config, report, engine=engine, threads=threads)
        case Isolation():
            return train_isolation(prepared, config, report)


def evaluated(
    model: AnyModel,
    prepared: Prepared,
    config: TrainingConfig,
    *,
    engine: Engine,
    threads: int,
    watch: Callable[[float], None],
) -> dict[str, Any]:
    """The evaluation of a model, in the form in which it is stored."""
    kernels = prefers_kernels(engine, prepared.train)
    match model:
        case Model():
            evaluation = evaluate(model, model.history.selected, prepared.parts, kernels=kernels, watch=watch)
            return evaluation_json(evaluation)
        case ForestModel():
            return forest_evaluation_json(
                evaluate_forest(model, prepared, config, kernels=kernels, threads=threads, watch=watch)
            )
        case IsolationModel():
            return isolation_evaluation_json(
                evaluate_isolation(model, prepared.parts, kernels=kernels, threads=threads, watch=watch)
            )


def with_importance(
    evaluation: dict[str, Any],
    prepared: Prepared,
    config: TrainingConfig,
    *,
    engine: Engine,
    threads: int,
    watch: Callable[[float], None],
) -> tuple[dict[str, Any], list[str]]:
    """The evaluation with importance by retraining, if that is configured, and warnings about it."""
    if config.importance is None:
        return evaluation, []
    retrained = falls_when_retrained(prepared, config, engine=engine, threads=threads, watch=watch)
    if retrained is None:
        return evaluation, [NOTHING_TO_MEASURE]
    return evaluation | {"retraining": retrained_json(retrained)}, []


def facts_of(model: AnyModel, unused_columns: list[str]) -> dict[str, Any]:
    """Facts that are known of a model without loading it; records may have its `unused_columns`, too."""
    told = {
        "classes": list(model.classes),
        "n_attributes": len(model.attributes),
        "unused_columns": unused_columns,
    }
    match model:
        case Model():
            return told | tree_facts(model)
        case ForestModel():
            return told | many_facts(model.forest)
        case IsolationModel():
            return told | many_facts(model.isolation.forest)


def tree_facts(model: Model) -> dict[str, Any]:
    """Facts of the tree that is served."""
    view = model.view(model.history.selected)
    return {
        "n_nodes": len(view.nodes),
        "n_leaves": len(view.leaves),
        "depth": view.max_depth,
        "n_steps": len(model.history.steps),
        "selected_step": model.history.selected,
    }


def many_facts(forest: Forest) -> dict[str, Any]:
    """Facts of all trees of a model, which are never pruned."""
    sizes = np.split(forest.columns["size"].astype(np.int32), forest.start[1:-1])
    return {
        "n_trees": len(forest),
        "n_nodes": forest.n_nodes,
        "n_leaves": int(np.count_nonzero(forest.columns["size"] == 1)),
        "depth": max(int(times_covered(size, np.arange(len(size))).max()) for size in sizes),
        "n_steps": 0,
        "selected_step": 0,
    }
