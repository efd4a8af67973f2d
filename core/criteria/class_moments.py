"""A column's values by class, in a few sums, and whether classes vary alike."""

from dataclasses import dataclass

import numpy as np

from core.criteria.significance import Significance, analysis_of_variance
from core.sums import weights_by
from core.table import CodeArray, FloatArray
from core.ties import TIE


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
    """Sums in row order. The centre is the first value: where all are the same, the means are 0 to the last bit."""
    centre = float(values[0]) if len(values) else 0.0
    by_class, shifted = weights_by(classes, weights, n_classes), values - centre
    means = weights_by(classes, weights * shifted, n_classes) / np.where(by_class > 0, by_class, 1.0)
    apart = np.abs(shifted - means[classes])
    return ClassMoments(
        centre=centre,
        weights=by_class,
        means=means,
        variations=weights_by(classes, weights * apart * apart, n_classes),
        deviations=weights_by(classes, weights * apart, n_classes),
    )


def levene_test(moments: ClassMoments) -> Significance:
    """The test that all classes vary alike: the analysis of variance of |x - mean of its class|.

    Levene 1960. What these distances vary by counts as at least TIE of their squares: less is rounding.
    """
    divisor = np.where(moments.weights > 0, moments.weights, 1.0)
    varied = moments.variations - moments.deviations**2 / divisor
    return analysis_of_variance(
        moments.weights, moments.deviations / divisor, np.maximum(varied, TIE * moments.variations)
    )
