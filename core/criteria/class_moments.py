"""Moments of a column's values by class, and tests of whether classes differ in mean or in spread."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE
from core.criteria.significance import Significance, significances, variance_tests


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """For each class: weight, mean, sum of squares about that mean, and sum of distances from it.

    Means are relative to a value of the column, its `centre`, so that they keep the digits in which classes differ.
    """

    centre: float
    weights: FloatArray
    means: FloatArray
    variations: FloatArray
    deviations: FloatArray


def class_moments(values: FloatArray, classes: CodeArray, weights: FloatArray, n_classes: int) -> ClassMoments:
    """The moments by class, summed in row order and relative to a value of the column.

    A class is relative to its own first value c_k, and the means are relative to that of the first class.

        m_k - c_k  =  sum w (x - c_k) / N_k        variation  =  sum w (x - c_k)^2 - N_k (m_k - c_k)^2

    Since c_k is a value of the class, what is subtracted is at most N_k/w times what is left, w being the weight of
    that row. The variation of a class with a single value is exactly 0.
    """
    centres = np.zeros(n_classes)
    centres[classes[::-1]] = values[::-1]  # the last assignment to a class wins: its first value
    centre = float(centres[classes.min()]) if len(classes) else 0.0
    by_class, apart = weights_by(classes, weights, n_classes), values - centres[classes]
    moved = weights * apart
    sums = weights_by(classes, moved, n_classes)
    shifts = sums / np.where(by_class > 0, by_class, 1.0)
    return ClassMoments(
        centre=centre,
        weights=by_class,
        means=centres - centre + shifts,
        variations=np.maximum(weights_by(classes, moved * apart, n_classes) - sums * shifts, 0.0),
        deviations=weights_by(classes, weights * np.abs(apart - shifts[classes]), n_classes),
    )


def mean_tests(columns: Sequence[ClassMoments]) -> list[Significance]:
    """For each column the test of whether all classes have the same mean: the analysis of variance."""
    weights, means, variations, _ = _side_by_side(columns)
    return significances(variance_tests(weights, means, variations))


def levene_tests(columns: Sequence[ClassMoments]) -> list[Significance]:
    """For each column the test of whether all classes vary alike: the analysis of variance of |x - mean of its class|.

    Levene 1960. The variation of these distances counts as at least TIE times the sum of their squares: less is
    rounding.
    """
    weights, _, variations, deviations = _side_by_side(columns)
    divisor = np.where(weights > 0, weights, 1.0)
    varied = variations - deviations**2 / divisor
    return significances(variance_tests(weights, deviations / divisor, np.maximum(varied, TIE * variations)))


def _side_by_side(columns: Sequence[ClassMoments]) -> FloatArray:
    """`[:, column, class]`: weights, means, variations and deviations."""
    return np.array([[each.weights, each.means, each.variations, each.deviations] for each in columns]).swapaxes(0, 1)
