"""Multivariate trees: the best test on one attribute, or a test on a weighted sum of several if that gains more.

A sum is learnt on attributes whose values are mostly known: attributes are taken in descending order of known weight,
as long as the samples that know all of them hold half of the weight. A sum must gain more than the best test on one
attribute by more than TIE; otherwise the simpler test is kept.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.randomness import FOR_DIRECTIONS, key_of
from core.arithmetic.sums import in_row_order, weights_by
from core.config.options import Algorithm
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth.best_split import Candidate, NodeSamples, with_figures_of
from core.growth.samples import Samples
from core.methods.oblique.linear import Scene, direction, in_units
from core.splits.numeric import best_cuts
from core.splits.split import Split, SplitKind, Term, weighted_sums
from core.tables.table import is_missing

MOST_ROWS = 2_000  # evenly spaced rows of a node on which a direction is learnt; its threshold comes from all rows
MOST_CATEGORIES = 50  # an attribute with more is not part of sums
KNOWN_PART = 0.5
LEAST_SPREAD = 1e-12  # of values scaled to a largest of 1; a smaller one is rounding


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The best test on one attribute, or a sum that is better; None if there is no valid test."""
    simple = textbook.best_split(samples, node, algorithm, objective, spent)
    linear = linear_candidate(samples, node, algorithm, objective)
    if simple is None or linear is None:
        return simple or linear
    return linear if linear.score > simple.score + objective.tolerance else simple


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """A candidate for every attribute with a valid split, in column order, and then the sum."""
    linear = linear_candidate(samples, node, algorithm, objective)
    simple = textbook.all_candidates(samples, node, algorithm, objective, spent)
    return simple if linear is None else [*simple, linear]


def linear_candidate(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The best test on a sum of at least two terms; None if there is none."""
    assert algorithm.linear is not None
    node.tick()
    least = algorithm.stopping.min_samples_leaf
    learnt = learning_rows(samples, node)
    features = features_of(samples, node, learnt)
    if len(features.terms) < 2:
        return None
    sums, weights = node.sums[learnt.positions], node.weights[learnt.positions]
    part = float(in_row_order(weights) / in_row_order(node.weights))
    scene = Scene(features.standardised, sums, weights, objective, least * part)
    options, key = algorithm.linear, key_of(node.key, FOR_DIRECTIONS)
    found = direction(scene, options.fit, options.max_terms, key)
    terms = () if found is None else terms_of(features.terms, in_units(found, features.scales).tolist())
    return None if len(terms) < 2 else with_threshold(terms, samples, node, algorithm, objective)


def terms_of(features: Sequence[tuple[int, int]], weights: Sequence[float]) -> tuple[Term, ...]:
    """The terms of a sum, from column and code of each feature; features of weight 0 are left out."""
    pairs = zip(features, weights, strict=True)
    return tuple(Term(column, weight, code) for (column, code), weight in pairs if weight != 0)


def with_threshold(
    terms: tuple[Term, ...], samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The sum as a candidate, with the best threshold on all samples of the node whose sum is known."""
    along = weighted_sums(terms, samples.attributes.columns, node.rows)
    along[~np.isfinite(along)] = np.nan
    min_weight = algorithm.stopping.min_samples_leaf
    (cut,) = best_cuts(along[None, :], node.sums, node.weights, objective, min_weight=min_weight)
    if cut is None:
        return None
    split = Split(terms[0].column, SplitKind.LINEAR, 2, threshold=cut.threshold, terms=terms)
    branch = split.branches_of(samples.attributes.columns, node.rows)
    return with_figures_of(split, branch, node, algorithm.criterion.kind, objective, cut.n_thresholds)


@dataclass(frozen=True)
class LearningRows:
    """The columns that a sum may have, and the positions in a node of rows that know them all."""

    columns: list[int]
    positions: RowArray


def learning_rows(samples: Samples, node: NodeSamples) -> LearningRows:
    """The columns and rows on which a direction is learnt, as described in the module."""
    columns = [column for column in columns_for_sums(samples) if column not in node.undrawn]
    known = {c: ~is_missing(samples.attributes.columns[c][node.rows]) for c in columns}
    by_weight = sorted(columns, key=lambda column: (-weight_of(known[column], node.weights), column))
    taken, is_complete = list[int](), np.ones(len(node.rows), dtype=np.bool_)
    for column in by_weight:
        both: BoolArray = is_complete & known[column]
        if weight_of(both, node.weights) >= KNOWN_PART * in_row_order(node.weights):
            taken.append(column)
            is_complete = both
    return LearningRows(sorted(taken), evenly_spaced(np.flatnonzero(is_complete)))


def columns_for_sums(samples: Samples) -> list[int]:
    """The columns that may be part of a sum."""
    return [c for c, a in enumerate(samples.attributes.schema) if len(a.categories) <= MOST_CATEGORIES]


def evenly_spaced(positions: RowArray) -> RowArray:
    """At most MOST_ROWS of the positions, evenly spaced."""
    if len(positions) <= MOST_ROWS:
        return positions
    return positions[np.linspace(0, len(positions) - 1, MOST_ROWS).astype(np.int64)]


def weight_of(chosen: BoolArray, weights: FloatArray) -> float:
    """The weight of the chosen rows."""
    return float(in_row_order(np.where(chosen, weights, 0.0)))


@dataclass(frozen=True)
class Features:
    """The features of a sum: column and code of each, `standardised[row, feature]`, and the scale of each."""

    terms: list[tuple[int, int]]
    standardised: FloatArray
    scales: FloatArray


def features_of(samples: Samples, node: NodeSamples, learnt: LearningRows) -> Features:
    """Features that vary: every number, and a 0/1 feature for every category present except a column's last."""
    terms, columns, scales = list[tuple[int, int]](), list[FloatArray](), list[float]()
    rows, weights = node.rows[learnt.positions], node.weights[learnt.positions]
    for column in learnt.columns:
        attribute, values = samples.attributes.schema[column], samples.attributes.columns[column][rows]
        codes = [-1]
        if not attribute.is_numeric:
            present = weights_by(values.astype(np.int64), weights, len(attribute.categories))
            codes = np.flatnonzero(present > 0)[:-1].tolist()
        for code in codes:
            found = standardised((values if code < 0 else values == code).astype(np.float64), weights)
            if found is not None:
                terms.append((column, code))
                columns.append(found[0])
                scales.append(found[1])
    return Features(terms, np.stack(columns, axis=1) if columns else np.empty((len(rows), 0)), np.array(scales))


def standardised(values: FloatArray, weights: FloatArray) -> tuple[FloatArray, float] | None:
    """The values scaled to mean 0 and variance 1, and their scale; None if they do not vary."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return None
    shrunk, total = values / largest, in_row_order(weights)  # otherwise squares of the largest numbers overflow
    centred = shrunk - in_row_order(weights * shrunk) / total
    spread = float(np.sqrt(in_row_order(weights * (centred * centred)) / total))
    return None if spread <= LEAST_SPREAD else (centred / spread, spread * largest)
