"""Multivariate trees: the best test on one attribute, or one on a weighted sum of several that gains more.

A sum is learnt from the attributes that are known of most samples: in the order of how much weight knows them, as long
as the samples that know all of them hold half of the weight. A sum that gains no more than the best test on one
attribute, within TIE, is not used: the simpler test is kept.
"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from core.config import Algorithm
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth.best_split import Candidate, NodeSamples, with_figures_of
from core.growth.samples import Samples
from core.randomness import FOR_DIRECTIONS, key_of
from core.splits.linear import Scene, direction, in_units
from core.splits.numeric import best_cuts
from core.splits.split import Split, SplitKind, Term, weighted_sums
from core.sums import weights_by
from core.table import BoolArray, FloatArray, RowArray, is_missing

MOST_ROWS = 2_000  # of a node that a direction is learnt on, evenly spaced; where to cut it, all of them tell
MOST_CATEGORIES = 50  # an attribute of more is asked by itself only
KNOWN_PART = 0.5


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The best test on one attribute, or a sum that is better; None when there is no valid one."""
    simple = textbook.best_split(samples, node, algorithm, objective, spent)
    linear = linear_candidate(samples, node, algorithm, objective)
    if simple is None or linear is None:
        return simple or linear
    return linear if linear.score > simple.score + objective.tolerance else simple


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> list[Candidate]:
    """Every attribute with a valid split, in column order, and then the sum."""
    linear = linear_candidate(samples, node, algorithm, objective)
    simple = textbook.all_candidates(samples, node, algorithm, objective, spent)
    return simple if linear is None else [*simple, linear]


def linear_candidate(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The best test on a sum of two terms or more; None when there is none."""
    assert algorithm.linear is not None
    node.tick()
    least = algorithm.stopping.min_samples_leaf
    learnt = learning_rows(samples, node)
    features = features_of(samples, node, learnt)
    if len(features.terms) < 2:
        return None
    sums, weights = node.sums[learnt.places], node.weights[learnt.places]
    part = float(weights.sum() / node.weights.sum())
    scene = Scene(features.standardised, sums, weights, objective, least * part)
    options, key = algorithm.linear, key_of(node.key, FOR_DIRECTIONS)
    found = direction(scene, options.fit, options.max_terms, key)
    in_data_units = None if found is None else in_units(found, features.scales)
    if in_data_units is None:
        return None
    terms = tuple(
        Term(column, weight, code)
        for (column, code), weight in zip(features.terms, in_data_units, strict=True)
        if weight != 0
    )
    return None if len(terms) < 2 else with_threshold(terms, samples, node, algorithm, objective)


def with_threshold(
    terms: tuple[Term, ...], samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective
) -> Candidate | None:
    """The sum with its best threshold, on all samples of the node that know it, and with its figures."""
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
    """The columns that a sum may have, and the places in a node of rows that know them all."""

    columns: list[int]
    places: RowArray


def learning_rows(samples: Samples, node: NodeSamples) -> LearningRows:
    """What a direction is learnt on, as the module says."""
    drawn = [(c, a) for c, a in enumerate(samples.attributes.schema) if c not in node.undrawn]
    columns = [c for c, a in drawn if len(a.categories) <= MOST_CATEGORIES]
    known = {c: ~is_missing(samples.attributes.columns[c][node.rows]) for c in columns}
    by_weight = sorted(columns, key=lambda column: (-float(node.weights[known[column]].sum()), column))
    taken, is_complete = list[int](), np.ones(len(node.rows), dtype=np.bool_)
    for column in by_weight:
        both: BoolArray = is_complete & known[column]
        if node.weights[both].sum() >= KNOWN_PART * node.weights.sum():
            taken.append(column)
            is_complete = both
    places = np.flatnonzero(is_complete)
    if len(places) > MOST_ROWS:
        places = places[np.linspace(0, len(places) - 1, MOST_ROWS).astype(np.int64)]
    return LearningRows(sorted(taken), places)


@dataclass(frozen=True)
class Features:
    """What a sum may be made of: column and code of each term, `standardised[row, term]`, and the unit of each."""

    terms: list[tuple[int, int]]
    standardised: FloatArray
    scales: FloatArray


def features_of(samples: Samples, node: NodeSamples, learnt: LearningRows) -> Features:
    """Numbers, and of other attributes each value that occurs but for the last; what does not vary is left out."""
    terms, columns, scales = list[tuple[int, int]](), list[FloatArray](), list[float]()
    rows, weights = node.rows[learnt.places], node.weights[learnt.places]
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
    """The values with mean 0 and variance 1, and the unit they had; None where they do not vary."""
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0:
        return None
    shrunk, total = values / largest, weights.sum()  # squares of the largest numbers leave the range of float64
    centred = shrunk - (weights * shrunk).sum() / total
    spread = float(np.sqrt((weights * centred**2).sum() / total))
    return None if spread <= 1e-12 else (centred / spread, spread * largest)
