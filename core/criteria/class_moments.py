"""A column's values by class, in a few sums, and whether classes vary alike."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE
from core.criteria.significance import Significance, significances, variance_tests


@dataclass(frozen=True, slots=True)
class ClassMoments:
    """A column's values by class: weight, mean, sum of squares about that mean, and sum of distances from it.

    Means are told from a value of the column, its `centre`, so that they keep the digits by which classes differ.
    """

    centre: float
    weights: FloatArray
    means: FloatArray
    variations: FloatArray
    deviations: FloatArray


def class_moments(values: FloatArray, classes: CodeArray, weights: FloatArray, n_classes: int) -> ClassMoments:
    """Sums in row order; each class is told from its own first value c_k, and all of them from that of the first class.

        m_k - c_k  =  sum w (x - c_k) / N_k        variation  =  sum w (x - c_k)^2 - N_k (m_k - c_k)^2

    c_k is one of its values, so that what is taken away is at most N_k/w times what is left, w being the weight of that
    row. A class of one value varies by 0 to the last bit.
    """
    centres = np.zeros(n_classes)
    centres[classes[::-1]] = values[::-1]  # of a class that stands there several times, the last one stays
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
    """For each column the test that all classes have one mean: the analysis of variance."""
    weights, means, variations, _ = _side_by_side(columns)
    return significances(variance_tests(weights, means, variations))


def levene_tests(columns: Sequence[ClassMoments]) -> list[Significance]:
    """For each column the test that all classes vary alike: the analysis of variance of |x - mean of its class|.

    Levene 1960. What these distances vary by counts as at least TIE of their squares: less is rounding.
    """
    weights, _, variations, deviations = _side_by_side(columns)
    divisor = np.where(weights > 0, weights, 1.0)
    varied = variations - deviations**2 / divisor
    return significances(variance_tests(weights, deviations / divisor, np.maximum(varied, TIE * variations)))


def _side_by_side(columns: Sequence[ClassMoments]) -> FloatArray:
    """`[:, column, class]`: weights, means, variations and deviations."""
    return np.array([[each.weights, each.means, each.variations, each.deviations] for each in columns]).swapaxes(0, 1)
