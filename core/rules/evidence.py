"""The evidence behind a rule: the confidence interval of its class share or of its means, and its lift.

Intervals contain the true share or mean in 95 % of cases. Weights count as samples.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import RowArray
from core.criteria.binomial import two_sided_limits
from core.criteria.student import mean_limits
from core.rules.extraction import Rule
from core.tree.tree import Tree

SURE = 0.95

Interval = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ClassEvidence:
    """`confidence` is the share of the rule's class among the rows it covers, or the parent's share if it covers none.

    `interval` is Clopper and Pearson's, 0 to 1 if no row is covered. `lift` is the confidence divided by the share of
    the class in all training rows; None if no row has the class.
    """

    confidence: float
    interval: Interval
    lift: float | None


@dataclass(frozen=True, slots=True)
class NumberEvidence:
    """Mean and standard deviation of each target; `intervals` of the means (Student's) are None below two samples."""

    means: tuple[float, ...]
    spreads: tuple[float, ...]
    intervals: tuple[Interval, ...] | None


def class_evidence(tree: Tree, rules: Sequence[Rule]) -> list[ClassEvidence]:
    """The evidence for each rule of, or simplified from, a classification tree."""
    labels = np.array([rule.label for rule in rules], dtype=np.int64)
    weights = np.array([rule.weights for rule in rules], dtype=np.float64).reshape(len(rules), tree.values.shape[1])
    total, own = weights.sum(axis=1), np.take_along_axis(weights, labels[:, None], axis=1)[:, 0]
    instead = tree.answers[_leaves(rules), labels]
    confidences = np.where(total > 0, own / np.where(total > 0, total, 1.0), instead)
    limits = two_sided_limits(own, total, SURE)
    return [
        ClassEvidence(confidence, (lower, upper), confidence / share if share > 0 else None)
        for confidence, (lower, upper), share in zip(
            confidences.tolist(), limits.tolist(), tree.answers[0][labels].tolist(), strict=True
        )
    ]


def number_evidence(tree: Tree, rules: Sequence[Rule]) -> list[NumberEvidence]:
    """The evidence for each rule of a tree that predicts numbers."""
    leaves = _leaves(rules)
    means, variances = tree.answers[leaves], tree.variances[tree.answering[leaves]]
    limits = mean_limits(means, variances, tree.weight[leaves], SURE)
    is_known = [bool(np.isfinite(ends).all()) for ends in limits]
    return [
        NumberEvidence(tuple(mean), tuple(spread), tuple((low, high) for low, high in ends) if is_told else None)
        for mean, spread, ends, is_told in zip(
            means.tolist(), np.sqrt(variances).tolist(), limits.tolist(), is_known, strict=True
        )
    ]


def _leaves(rules: Sequence[Rule]) -> RowArray:
    return np.array([rule.leaf for rule in rules], dtype=np.int64)
