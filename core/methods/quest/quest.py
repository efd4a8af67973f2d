"""QUEST: statistical tests choose the attribute to split on, then discriminant analysis finds the split.

There are M attributes (those sampled for the node, if it samples some), M1 of them ordered. The tests use the rows
whose value is known; weights count as numbers of rows:

    1. analysis of variance for ordered attributes, chi-squared for categorical ones: take the smallest p if p < alpha/M
    2. otherwise Levene's test for the ordered ones: take the smallest p if p < alpha/(M + M1)
    3. otherwise the smallest p of 1, or no split at all

So an attribute with many values is no more likely to be chosen than one with few. Loh and Shih 1997.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import log10
from core.arithmetic.sums import in_row_order, sums_by, weights_by
from core.arithmetic.ties import TIE
from core.config.options import Algorithm, QuestTests, WhenInsignificant
from core.criteria.class_moments import ClassMoments, class_moments, levene_tests, mean_tests
from core.criteria.objective import Objective
from core.criteria.significance import Significance, most_significant, pearson
from core.growth.best_split import Candidate, NodeSamples
from core.growth.samples import Samples
from core.methods.quest.discriminant_cuts import best_cut, best_groups
from core.splits.split import Split, SplitKind
from core.tables.table import is_missing
from core.tables.target import ClassTarget

SAME_STATISTIC = 1e-9  # relative; the statistics of a column in other units differ in their last bits


@dataclass(frozen=True, slots=True)
class AttributeTests:
    """The tests of an attribute in a node, Levene's only if it is ordered; `known` is rho, the known share."""

    column: int
    association: Significance
    levene: Significance | None
    known: float


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, _objective: Objective, _spent: Collection[int]
) -> Candidate | None:
    """The split on the attribute that the tests choose; if that has no valid split, on their next choice."""
    assert algorithm.quest is not None
    if in_row_order(node.weights) < 2 * (algorithm.stopping.min_samples_leaf - TIE):
        return None
    tests = tests_of(samples, node)
    return chosen_split(samples, node, tests, algorithm.quest, algorithm.stopping.min_samples_leaf)


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, _objective: Objective, _spent: Collection[int]
) -> list[Candidate]:
    """A candidate for every attribute, in column order; only the chosen one has a computed split."""
    assert algorithm.quest is not None
    tests = tests_of(samples, node)
    chosen = chosen_split(samples, node, tests, algorithm.quest, algorithm.stopping.min_samples_leaf)
    others = (unsplit(samples, each, len(tests)) for each in tests)
    return [chosen if chosen and chosen.split.column == one.split.column else one for one in others]


def chosen_split(
    samples: Samples, node: NodeSamples, tests: list[AttributeTests], options: QuestTests, min_weight: float
) -> Candidate | None:
    """The split on the first attribute in the order of the tests that has a valid one; None for a leaf."""
    left = tests
    while (chosen := choice(left, options, n_attributes=len(tests), n_ordered=n_ordered(tests))) is not None:
        split = split_of(samples, node, chosen.column, min_weight)
        if split is not None:
            return with_branches(samples, node, split, chosen, len(tests))
        left = [one for one in left if one is not chosen]
    return None


def n_ordered(tests: Sequence[AttributeTests]) -> int:
    """M1: the number of ordered attributes."""
    return sum(one.levene is not None for one in tests)


def choice(
    tests: list[AttributeTests], options: QuestTests, *, n_attributes: int, n_ordered: int
) -> AttributeTests | None:
    """The attribute to split on by the module's three steps; None if none is left or significant enough."""
    if not tests:
        return None
    first = tests[first_of([one.association for one in tests])]
    if first.association.log10_p_value < log10(options.alpha / n_attributes):
        return first
    ordered = [(one, one.levene) for one in tests if one.levene is not None]
    if ordered:
        best = first_of([levene for _, levene in ordered])
        if ordered[best][1].log10_p_value < log10(options.alpha / (n_attributes + n_ordered)):
            return ordered[best][0]
    return first if options.when_insignificant is WhenInsignificant.SMALLEST_P else None


def first_of(tests: Sequence[Significance]) -> int:
    """The index of the smallest p; ties by larger statistic, then by column order."""
    logs, statistics = (np.array(each) for each in zip(*((t.log10_p_value, t.statistic) for t in tests), strict=True))
    return most_significant(logs, statistics, tolerance=SAME_STATISTIC)


def tests_of(samples: Samples, node: NodeSamples) -> list[AttributeTests]:
    """The tests of every attribute on the rows of a node whose value is known."""
    assert isinstance(samples.target, ClassTarget)
    classes, n_classes = samples.target.codes[node.rows], len(samples.target.classes)
    moments, associations, known_shares = dict[int, ClassMoments](), dict[int, Significance](), dict[int, float]()
    for column, attribute in enumerate(samples.attributes.schema):
        node.tick()
        if column in node.undrawn:
            continue
        values = samples.attributes.columns[column][node.rows]
        is_known = ~is_missing(values)
        known, known_shares[column] = values[is_known], float(node.weights[is_known].sum() / node.weights.sum())
        if attribute.has_order:
            moments[column] = class_moments(
                known.astype(np.float64), classes[is_known], node.weights[is_known], n_classes
            )
        else:
            table = sums_by(known.astype(np.int64), node.sums[is_known], len(attribute.categories))
            associations[column] = pearson(table)
    ordered = list(moments.values())
    associations |= zip(moments, mean_tests(ordered) if ordered else [], strict=True)
    levenes = dict(zip(moments, levene_tests(ordered) if ordered else [], strict=True))
    return [
        AttributeTests(column, associations[column], levenes.get(column), rho) for column, rho in known_shares.items()
    ]


def split_of(samples: Samples, node: NodeSamples, column: int, min_weight: float) -> Split | None:
    """The attribute's split by discriminant analysis; None if no split leaves enough weight on both sides."""
    assert isinstance(samples.target, ClassTarget)
    attribute, values = samples.attributes.schema[column], samples.attributes.columns[column][node.rows]
    is_known = ~is_missing(values)
    if not attribute.has_order:
        table = sums_by(values[is_known].astype(np.int64), node.sums[is_known], len(attribute.categories))
        mask = best_groups(table, min_weight=min_weight)
        branch_of = () if mask is None else tuple(int(not first) for first in mask)
        return None if mask is None else Split(column, SplitKind.GROUPS, 2, branch_of=branch_of)
    classes, weights = samples.target.codes[node.rows][is_known], node.weights[is_known]
    threshold = best_cut(
        values[is_known].astype(np.float64), classes, weights, len(samples.target.classes), min_weight=min_weight
    )
    return None if threshold is None else Split(column, SplitKind.THRESHOLD, 2, threshold=threshold)


def with_branches(
    samples: Samples, node: NodeSamples, split: Split, tests: AttributeTests, n_attributes: int
) -> Candidate:
    """The candidate of a split to be made, with its branch weights added up in row order."""
    branch = split.branches(samples.attributes.columns[split.column][node.rows])
    known = branch >= 0
    return candidate(split, tests, n_attributes, weights_by(branch[known], node.weights[known], split.n_branches))


def unsplit(samples: Samples, tests: AttributeTests, n_attributes: int) -> Candidate:
    """The candidate of an attribute whose split was not computed."""
    kind = SplitKind.THRESHOLD if samples.attributes.schema[tests.column].has_order else SplitKind.GROUPS
    return candidate(Split(tests.column, kind, 2), tests, n_attributes, np.empty(0))


def candidate(split: Split, tests: AttributeTests, n_attributes: int, branch_weights: FloatArray) -> Candidate:
    """A candidate with its attribute's tests; it has no gain and no score."""
    adjusted = min(1.0, n_attributes * tests.association.p_value)
    return Candidate(
        split, math.nan, math.nan, tests.known, branch_weights, None, tests.association, adjusted, tests.levene
    )
