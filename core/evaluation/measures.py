"""Measures of answers, on rows whose true target is known."""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray
from core.arithmetic.logarithms import log_each
from core.arithmetic.sums import sum_of_products, weights_by
from core.growth.held_out import labels_of

SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  # the least probability of a class in the log loss


@dataclass(frozen=True, slots=True)
class ClassMeasures:
    """Precision, recall and their harmonic mean for one class, 0 if the denominator is 0; support is a weight."""

    label: str
    precision: float
    recall: float
    f1: float
    support: float


@dataclass(frozen=True, slots=True)
class ClassificationMeasures:
    """`matrix[actual][predicted]` holds weights. AUC is of one class against the rest, averaged over the classes.

    `mean_cost` is None if wrong answers have no costs.
    """

    rows: int
    weight: float
    accuracy: float
    log_loss: float
    auc: float | None
    classes: tuple[str, ...]
    matrix: tuple[tuple[float, ...], ...]
    per_class: tuple[ClassMeasures, ...]
    mean_cost: float | None = None


@dataclass(frozen=True, slots=True)
class TargetMeasures:
    """Mean absolute error, root mean squared error and R² for one of several targets."""

    target: str
    mae: float
    rmse: float
    r2: float | None


@dataclass(frozen=True, slots=True)
class RegressionMeasures:
    """Mean absolute error, root mean squared error and R²; the latter is None if the target does not vary.

    For several targets they are averages over the targets (R² over those that vary), which are in `per_target`.
    """

    rows: int
    weight: float
    mae: float
    rmse: float
    r2: float | None
    per_target: tuple[TargetMeasures, ...] = ()


Measures = ClassificationMeasures | RegressionMeasures


def measure_classes(
    probabilities: FloatArray,
    actual: CodeArray,
    weights: FloatArray,
    classes: tuple[str, ...],
    costs: FloatArray | None = None,
) -> ClassificationMeasures:
    """The measures of class answers to at least one row; `costs[actual, predicted]` decide labels."""
    n, total = len(classes), float(weights.sum())
    predicted = labels_of(probabilities, costs)
    matrix = weights_by(actual.astype(np.int64) * n + predicted, weights, n * n).reshape(n, n)
    chance = np.maximum(probabilities[np.arange(len(actual)), actual], SMALLEST_PROBABILITY)
    return ClassificationMeasures(
        rows=len(actual),
        weight=total,
        accuracy=float(np.trace(matrix)) / total,
        log_loss=max(0.0, float(-sum_of_products(weights, log_each(chance))) / total),
        auc=mean_auc(probabilities, actual, weights),
        classes=classes,
        matrix=tuple(tuple(float(cell) for cell in row) for row in matrix),
        per_class=tuple(_class_measures(label, matrix, index) for index, label in enumerate(classes)),
        mean_cost=None if costs is None else float((matrix * costs).sum()) / total,
    )


def _class_measures(label: str, matrix: FloatArray, index: int) -> ClassMeasures:
    right, claimed, actual = float(matrix[index, index]), float(matrix[:, index].sum()), float(matrix[index].sum())
    precision = right / claimed if claimed else 0.0
    recall = right / actual if actual else 0.0
    f1 = 2 * precision * recall / (precision + recall) if right else 0.0
    return ClassMeasures(label, precision, recall, f1, actual)


def mean_auc(probabilities: FloatArray, actual: CodeArray, weights: FloatArray) -> float | None:
    """The area under the ROC curve of each class against the rest, averaged; None if only one class occurs."""
    areas = [
        area_under_curve(probabilities[:, code], actual == code, weights)
        for code in range(probabilities.shape[1])
        if weights[actual == code].sum() > 0 and (actual != code).any()
    ]
    return float(np.mean(areas)) if areas else None


def area_under_curve(scores: FloatArray, is_positive: BoolArray, weights: FloatArray) -> float:
    """The probability that a positive row scores higher than a negative one; equal scores count half."""
    distinct, rank = np.unique(scores, return_inverse=True)
    positive, negative = (
        weights_by(rank, weights * are_such, len(distinct)) for are_such in (is_positive, ~is_positive)
    )
    below = np.concatenate([[0.0], np.cumsum(negative)[:-1]])
    return float(sum_of_products(positive, below + negative / 2) / (positive.sum() * negative.sum()))


def measure_numbers(
    answers: FloatArray, actual: FloatArray, weights: FloatArray, targets: tuple[str, ...] = ()
) -> RegressionMeasures:
    """The measures of numeric answers to at least one row; `targets` names the outputs if there are several."""
    total = float(weights.sum())
    errors = answers - actual
    absolute, squared = sum_of_products(weights, np.abs(errors)) / total, sum_of_products(weights, errors**2) / total
    variance = sum_of_products(weights, (actual - sum_of_products(weights, actual) / total) ** 2) / total
    varies = (actual != actual[0]).any(axis=0)  # not by the variance: that of equal numbers may round above 0
    explained = [
        float(1 - s / v) if is_varied and v > 0 else None
        for s, v, is_varied in zip(squared, variance, varies, strict=True)
    ]
    known = [r2 for r2 in explained if r2 is not None]
    return RegressionMeasures(
        rows=len(actual),
        weight=total,
        mae=float(absolute.mean()),
        rmse=float(np.sqrt(squared).mean()),
        r2=float(np.mean(known)) if known else None,
        per_target=tuple(
            TargetMeasures(name, float(absolute[output]), float(np.sqrt(squared[output])), explained[output])
            for output, name in enumerate(targets)
        ),
    )
