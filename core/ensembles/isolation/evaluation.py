"""The scores that an isolation forest gives to each part of the data; there are no true labels to compare with."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from core.ensembles.isolation.model import IsolationModel
from core.ensembles.isolation.scores import IsolationPredictor
from core.evaluation.curve import Parts, shared_out
from core.tables.parts import Part
from core.tables.progress import Watch, ignore_progress


@dataclass(frozen=True, slots=True)
class ScoreMeasures:
    """The scores of some rows, and how many are above the threshold."""

    rows: int
    anomalies: int
    mean_score: float
    lowest_score: float
    highest_score: float


def evaluate_isolation(
    model: IsolationModel, parts: Parts, *, kernels: bool = False, threads: int = 1, watch: Watch = ignore_progress
) -> Mapping[Part, ScoreMeasures | None]:
    """The scores of each part; None for an empty one. `watch` is called with the progress, and may raise to end it."""
    predictor, watches = IsolationPredictor(model.isolation), shared_out(watch, parts)
    measured: dict[Part, ScoreMeasures | None] = dict.fromkeys(parts)
    for part, samples in parts.items():
        if samples is not None:
            table = samples.attributes
            scores = predictor.scores(table, kernels=kernels, threads=threads, watch=watches[part])
            measured[part] = ScoreMeasures(
                rows=len(scores),
                anomalies=int(np.count_nonzero(scores > model.isolation.threshold)),
                mean_score=float(scores.mean()),
                lowest_score=float(scores.min()),
                highest_score=float(scores.max()),
            )
    return measured
