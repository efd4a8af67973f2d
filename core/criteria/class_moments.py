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
    """Sums in row order; each class is told from its own first value c_k, and all of them from that of the first class.

        m_k - c_k  =  sum w (x - c_k) / N_k        variation  =  sum w (x - c_k)^2 - N_k (m_k - c_k)^2

    c_k is one of its values, so that what is taken away is at most N_k/w times what is left, w being the weight of that
    row. A class of one value varies by 0 to the last bit.
    """
    present, first = np.unique(classes, return_index=True)
    centres = np.zeros(n_classes)
    centres[present] = values[first]
    centre = float(centres[present[0]]) if len(present) else 0.0
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


def levene_test(moments: ClassMoments) -> Significance:
    """The test that all classes vary alike: the analysis of variance of |x - mean of its class|.

    Levene 1960. What these distances vary by counts as at least TIE of their squares: less is rounding.
    """
    divisor = np.where(moments.weights > 0, moments.weights, 1.0)
    varied = moments.variations - moments.deviations**2 / divisor
    return analysis_of_variance(
        moments.weights, moments.deviations / divisor, np.maximum(varied, TIE * moments.variations)
    )
