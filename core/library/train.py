"""The engine without the service: tables from arrays or lists, training, prediction, and inspecting models.

    data = table({"outlook": ["sunny", "rain", None, "rain"], "play": ["no", "yes", "yes", "yes"]})
    trained = train(data, {"target": "play", "algorithm": {"kind": "c45"}, "division": {"kind": "none"}})
    trained.classes({"outlook": ["sunny", None]})

Mistakes raise a `core.tables.errors.CoreError`, which says where the mistake is and what would be valid.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from core.config.checks import check
from core.config.from_plain import Plain, config_from_plain
from core.config.options import Committee, DatasetsDivision, Isolation, TrainingConfig
from core.engine.engine import Engine
from core.ensembles.insight.retraining import falls_when_retrained
from core.ensembles.training import train_forest, train_isolation
from core.library.tables import named_columns, records_for, table
from core.library.trained_forest import TrainedForest, TrainedIsolation
from core.library.trained_tree import Trained
from core.tables.errors import Fault, InvalidConfig
from core.tables.parts import Part
from core.tables.suggestion import quoted
from core.tables.summary import summarize
from core.tables.table import Table
from core.training import train as training
from core.training.preparation import prepare

__all__ = ["Trained", "TrainedForest", "TrainedIsolation", "named_columns", "records_for", "table", "train"]

Report = Callable[[str, float], None]


def train(
    data: Table,
    config: Plain | TrainingConfig,
    *,
    validation: Table | None = None,
    test: Table | None = None,
    engine: str = Engine.AUTO,
    threads: int = 1,
    report: Report = lambda _stage, _progress: None,
) -> Trained | TrainedForest | TrainedIsolation:
    """Grow and prune a tree, or grow a forest.

    `config` is the body of a training in the HTTP API, without name and dataset. Validation and test rows come from the
    table, as `division` says, or from tables of their own. `report` is called with the stage and its progress; it may
    raise to stop the training. `engine` is auto, definition or kernels; `threads` is the number of threads that kernels
    may use. Neither changes the trees.
    """
    if engine not in tuple(Engine):
        raise InvalidConfig(Fault(f"{quoted(engine)} is no engine", ("engine",), "use auto, definition or kernels"))
    if threads < 1:
        raise InvalidConfig(Fault(f"there cannot be {threads} threads", ("threads",), "use 1 or more"))
    chosen = config
    if not isinstance(chosen, TrainingConfig):
        chosen = config_from_plain(chosen, data.schema, validated_elsewhere=validation is not None)
    others = {part: t for part, t in ((Part.VALIDATION, validation), (Part.TEST, test)) if t is not None}
    if others:
        words = {part: part.value for part in others}
        chosen = replace(chosen, division=DatasetsDivision(words.get(Part.VALIDATION), words.get(Part.TEST)))
    check(
        chosen,
        summarize(data),
        {part: summarize(other) for part, other in others.items()},
        members_listed=not isinstance(config, TrainingConfig) and config["algorithm"].get("members") is not None,
    )
    prepared = prepare(data, chosen, others)
    retrain = partial(falls_when_retrained, prepared, chosen, watch=partial(report, "retraining"))
    match chosen.ensemble:
        case None:
            model = training.train(prepared, chosen, report, engine=Engine(engine), threads=threads)
            retrained = retrain(engine=Engine(engine), threads=threads)
            return Trained(model, prepared.warnings, Engine(engine), retrained)
        case Committee():
            forest = train_forest(prepared, chosen, report, engine=Engine(engine), threads=threads)
            retrained = retrain(engine=Engine(engine), threads=threads)
            return TrainedForest(forest, prepared.warnings, Engine(engine), retrained)
        case Isolation():
            return TrainedIsolation(train_isolation(prepared, chosen, report), prepared.warnings, Engine(engine))
