"""The importance of an attribute if others may replace it: how much worse models are that are trained without it.

Its values are shuffled among the training rows, and among the validation rows, and the model is trained again. It then
learns from other attributes what they know as well, so falls are smaller than those of a model that relies on it. Rows
to measure with are never trained on and not shuffled. Hooker, Mentch and Zhou 2021: permute and relearn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Committee, TrainingConfig
from core.engine.engine import Engine, prefers_kernels
from core.ensembles.insight import evaluation
from core.ensembles.insight.importance import worth_of
from core.ensembles.insight.out_of_bag import judge_out_of_bag
from core.ensembles.prediction.predictor import ForestPredictor
from core.ensembles.sampling import leaves_rows_out
from core.ensembles.training import train_forest
from core.evaluation.evaluate import answers_to, as_trained
from core.evaluation.importance import Fall, fall_from, with_shuffled
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.pruning.choose_alpha import fold_of_rows
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress, part_of
from core.training.preparation import Prepared, take
from core.training.train import Report, costs_of, train

MOST_FOLDS = 5
TRAINING = 0.9  # the approximate part of the work that trains; the rest predicts
STAGES: Mapping[str, tuple[float, float]] = {"growing": (0.0, 0.7), "pruning": (0.7, 1.0)}  # approximate parts


class UnseenRows(StrEnum):
    """Rows used to measure: test rows, or else training rows, each predicted by a model or trees trained without it."""

    TEST = "test"
    OUT_OF_BAG = "out_of_bag"
    CROSS_VALIDATION = "cross_validation"


@dataclass(frozen=True, slots=True)
class Retrained:
    """The fall of each attribute, in their order, and the rows by which it was measured."""

    rows: UnseenRows
    falls: tuple[Fall, ...]


def falls_when_retrained(
    prepared: Prepared,
    config: TrainingConfig,
    *,
    engine: Engine = Engine.AUTO,
    threads: int = 1,
    watch: Watch = ignore_progress,
) -> Retrained | None:
    """For each attribute, by how much the measure falls if the model is trained again with the attribute shuffled.

    This takes a training for every attribute and repeat, and five times that if folds are left out. `watch` is called
    with the progress, from 0 to 1, and may raise to end it. None if the configuration does not ask for it, or if there
    is no measure: no row can be used, or the target does not vary.
    """
    if config.importance is None:
        return None
    repeats, n_columns = range(config.importance.repeats), len(prepared.train.attributes.schema)
    n_trainings = 1 + n_columns * len(repeats)
    watches = (part_of(watch, n / n_trainings, (n + 1) / n_trainings) for n in range(n_trainings))
    retrainer = Retrainer(prepared, config, engine_for(prepared, config, n_trainings, engine), threads)
    whole = retrainer.worth_after(prepared, next(watches))
    if whole is None:
        return None
    falls = []
    for column in range(n_columns):
        shuffles = (without(prepared, column, config.seed, repeat) for repeat in repeats)
        falls.append(fall_from(whole, [retrainer.worth_after(one, next(watches)) for one in shuffles]))
    return Retrained(retrainer.rows, tuple(falls))


def engine_for(prepared: Prepared, config: TrainingConfig, n_trainings: int, engine: Engine) -> Engine:
    """The engine for `n_trainings` trainings: for many, kernels are worth compiling even for small trees."""
    n_trees = config.ensemble.n_trees if isinstance(config.ensemble, Committee) else 1
    return Engine.KERNELS if prefers_kernels(engine, prepared.train, n_trainings * n_trees) else engine


def without(prepared: Prepared, column: int, seed: int, repeat: int) -> Prepared:
    """The rows with a column shuffled, in each part that a training uses."""
    parts = dict(prepared.parts)
    for part in (Part.TRAIN, Part.VALIDATION):
        if (samples := parts[part]) is not None:
            parts[part] = replace(samples, attributes=with_shuffled(samples.attributes, column, seed, repeat))
    return replace(prepared, parts=parts)


@dataclass(frozen=True)
class Retrainer:
    """Trains as a configuration says, on changed rows, and predicts rows of `prepared` that were not among them."""

    prepared: Prepared
    config: TrainingConfig
    engine: Engine
    threads: int

    @property
    def rows(self) -> UnseenRows:
        """Which rows are predicted: those of the test part if it has any."""
        if self.prepared.parts[Part.TEST] is not None:
            return UnseenRows.TEST
        committee = self.config.ensemble
        if isinstance(committee, Committee) and leaves_rows_out(committee, len(self.prepared.train)):
            return UnseenRows.OUT_OF_BAG
        return UnseenRows.CROSS_VALIDATION

    def worth_after(self, changed: Prepared, watch: Watch) -> float | None:
        """The measure of the answers to rows that were not trained on; None if it is undefined."""
        asked, answers = self._asked(changed, watch)
        return None if asked is None else worth_of(answers, asked, costs_of(self.prepared, self.config))

    def _asked(self, changed: Prepared, watch: Watch) -> tuple[Samples | None, FloatArray]:
        """The rows that can be predicted, and their answers."""
        match self.rows:
            case UnseenRows.TEST:
                test = self.prepared.parts[Part.TEST]
                assert test is not None
                return test, self._answers(changed, test, watch)
            case UnseenRows.OUT_OF_BAG:
                return self._out_of_bag(changed, watch)
            case UnseenRows.CROSS_VALIDATION:
                return self._left_out(changed, watch)

    def _answers(self, changed: Prepared, asked: Samples, watch: Watch) -> FloatArray:
        """The answers of a model trained on changed rows to some other rows."""
        report, asking = _reporting(part_of(watch, 0.0, TRAINING)), part_of(watch, TRAINING, 1.0)
        if self.config.ensemble is None:
            model = train(changed, self.config, report, engine=self.engine, threads=self.threads)
            predictor, records = Predictor(model.view(model.history.selected)), as_trained(model, asked)
            return answers_to(predictor, records.attributes, kernels=self._kernels, watch=asking)
        forest = train_forest(changed, self.config, report, engine=self.engine, threads=self.threads)
        records = as_trained(forest, asked)
        return evaluation.answers_to(
            ForestPredictor(forest.forest),
            records.attributes,
            kernels=self._kernels,
            threads=self.threads,
            watch=asking,
        )

    def _out_of_bag(self, changed: Prepared, watch: Watch) -> tuple[Samples | None, FloatArray]:
        """Each training row is answered by the trees that it was not drawn for."""
        committee, report = self.config.ensemble, _reporting(part_of(watch, 0.0, TRAINING))
        assert isinstance(committee, Committee)
        forest = train_forest(changed, self.config, report, engine=self.engine, threads=self.threads)
        judged = judge_out_of_bag(
            forest,
            ForestPredictor(forest.forest),
            self.prepared.train,
            committee,
            seed=self.config.seed,
            kernels=self._kernels,
            watch=part_of(watch, TRAINING, 1.0),
        )
        return take(self.prepared.train, judged.rows), judged.answers

    def _left_out(self, changed: Prepared, watch: Watch) -> tuple[Samples | None, FloatArray]:
        """Each training row is answered by a model trained without its fold; a single row by none."""
        train_rows, n_folds = self.prepared.train, min(MOST_FOLDS, len(self.prepared.train))
        if n_folds < 2:
            return None, np.empty((0, 0))
        fold_of, found = fold_of_rows(train_rows.target, n_folds, self.config.seed), list[FloatArray]()
        for fold in range(n_folds):
            others = replace(
                changed, parts={**changed.parts, Part.TRAIN: take(changed.train, np.flatnonzero(fold_of != fold))}
            )
            asked = take(train_rows, np.flatnonzero(fold_of == fold))
            assert asked is not None
            found.append(self._answers(others, asked, part_of(watch, fold / n_folds, (fold + 1) / n_folds)))
        return take(train_rows, np.argsort(fold_of, kind="stable")), np.concatenate(found)

    @property
    def _kernels(self) -> bool:
        return prefers_kernels(self.engine, self.prepared.train)


def _reporting(watch: Watch) -> Report:
    """A training's reports of its stages as one number from 0 to 1."""

    def report(stage: str, progress: float) -> None:
        start, end = STAGES[stage]
        watch(start + progress * (end - start))

    return report
