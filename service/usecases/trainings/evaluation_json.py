"""Evaluations as JSON values, in the form in which they are stored and sent."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.ensembles.insight.evaluation import ForestEvaluation
from core.ensembles.insight.retraining import Retrained, UnseenRows
from core.ensembles.isolation.evaluation import ScoreMeasures
from core.evaluation.curve import CurvePoint
from core.evaluation.evaluate import Evaluation
from core.evaluation.importance import Fall
from core.evaluation.measures import ClassificationMeasures, Measures, RegressionMeasures
from core.tables.parts import Part


def evaluation_json(evaluation: Evaluation) -> dict[str, Any]:
    """The evaluation of a single tree; parts without rows are null, and so is `out_of_bag`."""
    return {
        "parts": parts_json(evaluation.parts),
        "baseline": parts_json(evaluation.baseline),
        "curve": [
            {
                "step": point.step,
                "leaves": point.leaves,
                "alpha": point.alpha,
                **{part.value: point.errors[part] for part in Part},
                "cross_validation": point.cross_validation,
                "spread": point.spread,
            }
            for point in evaluation.curve
        ],
    }


def forest_evaluation_json(evaluation: ForestEvaluation) -> dict[str, Any]:
    """The evaluation of a committee, with out-of-bag rows and a curve over the number of trees."""
    out_of_bag, simplest = _measures(evaluation.out_of_bag), _measures(evaluation.baseline_out_of_bag)
    return {
        "parts": {**parts_json(evaluation.parts), "out_of_bag": out_of_bag},
        "baseline": {**parts_json(evaluation.baseline), "out_of_bag": simplest},
        "curve": [],
        "trees": [{"trees": p.trees, "rows": p.rows, "out_of_bag": p.error} for p in evaluation.curve],
    }


def isolation_evaluation_json(parts: Mapping[Part, ScoreMeasures | None]) -> dict[str, Any]:
    """The evaluation of an isolation forest: scores by part, without a baseline."""
    measured = {part.value: None if (one := parts[part]) is None else asdict(one) for part in Part}
    return {"parts": measured}


def retrained_json(retrained: Retrained) -> dict[str, Any]:
    """Importance by retraining, in the order of the attributes, as stored with an evaluation."""
    return {"rows": retrained.rows.value, "falls": [asdict(fall) for fall in retrained.falls]}


def retrained_from_json(plain: Mapping[str, Any]) -> Retrained:
    """The inverse of `retrained_json`."""
    return Retrained(UnseenRows(plain["rows"]), tuple(Fall(**fall) for fall in plain["falls"]))


def curve_from_json(curve: Sequence[Mapping[str, Any]]) -> list[CurvePoint]:
    """The points of a stored curve."""
    return [
        CurvePoint(
            step=point["step"],
            leaves=point["leaves"],
            alpha=point["alpha"],
            errors={part: point[part.value] for part in Part},
            cross_validation=point["cross_validation"],
            spread=point["spread"],
        )
        for point in curve
    ]


def parts_json(parts: Mapping[Part, Measures | None]) -> dict[str, Any]:
    """The measures of each part."""
    return {**{part.value: _measures(parts[part]) for part in Part}, "out_of_bag": None}


def error_in(measures: Mapping[str, Any]) -> float:
    """The error that the curve shows, from the measures of a part.

    For classes the mean cost, or the share answered wrongly if there are no costs; for numbers the mean squared error,
    summed over the targets.
    """
    if "accuracy" in measures:
        cost: float | None = measures.get("mean_cost")
        rows = enumerate(measures["confusion"]["matrix"])
        wrong = sum(weight for actual, row in rows for predicted, weight in enumerate(row) if predicted != actual)
        return cost if cost is not None else wrong / float(measures["weight"])
    return sum(float(one["rmse"]) ** 2 for one in measures.get("per_target") or [measures])


def _number_measures(measures: RegressionMeasures) -> dict[str, Any]:
    """Measures of numeric answers; also those of each target, if the target is a list."""
    shown: dict[str, Any] = {
        "rows": measures.rows,
        "weight": measures.weight,
        "mae": measures.mae,
        "rmse": measures.rmse,
        "r2": measures.r2,
    }
    if measures.per_target:
        shown["per_target"] = [asdict(one) for one in measures.per_target]
    return shown


def _measures(measures: Measures | None) -> dict[str, Any] | None:
    if measures is None:
        return None
    if not isinstance(measures, ClassificationMeasures):
        return _number_measures(measures)
    return {
        "rows": measures.rows,
        "weight": measures.weight,
        "accuracy": measures.accuracy,
        "log_loss": measures.log_loss,
        "auc": measures.auc,
        "mean_cost": measures.mean_cost,
        "confusion": {"classes": list(measures.classes), "matrix": [list(row) for row in measures.matrix]},
        "per_class": [
            {"label": c.label, "precision": c.precision, "recall": c.recall, "f1": c.f1, "support": c.support}
            for c in measures.per_class
        ],
    }
