"""CHAID: merges each attribute's categories into groups and splits by the attribute of smallest adjusted p-value.

The groups (`merging`) of every attribute are tested: chi-squared for a class, F for a number. p is multiplied by the
number of ways to form such groups. The attribute of smallest adjusted p is chosen if that p is at most alpha; each
group becomes a branch. Numeric attributes have categories too: the intervals into which they were cut before growth.
"""

import math
from collections.abc import Collection

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.logarithms import log10
from core.arithmetic.sums import in_row_order, sums_by, weights_by
from core.config.options import Algorithm, ChaidMissing, TableStatistic
from core.criteria.objective import Objective
from core.criteria.significance import Test, likelihood_ratio_tests, moment_tests, most_significant, pearson_tests
from core.growth.best_split import Candidate, NodeSamples
from core.growth.samples import Samples
from core.methods.chaid.merging import Categories, Group, Merged, Merging, merged
from core.splits.split import Split, SplitKind
from core.tables.target import ClassTarget

TESTS: dict[TableStatistic | None, Test] = {
    TableStatistic.PEARSON: pearson_tests,
    TableStatistic.LIKELIHOOD_RATIO: likelihood_ratio_tests,
    None: moment_tests,
}


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
) -> Candidate | None:
    """The split by the attribute of smallest adjusted p; None if that p is above alpha."""
    return most_significant_of(all_candidates(samples, node, algorithm, objective, spent), algorithm)


def most_significant_of(candidates: list[Candidate], algorithm: Algorithm) -> Candidate | None:
    """The candidate of smallest adjusted p; None if that p is above alpha or there are no candidates."""
    assert algorithm.chaid is not None
    if not candidates:
        return None
    found = [(one.log10_adjusted_p, one.significance.statistic) for one in candidates if one.significance is not None]
    logs, statistics = (np.array(each) for each in zip(*found, strict=True))
    best = most_significant(logs, statistics)
    return candidates[best] if logs[best] <= log10(algorithm.chaid.alpha) else None


def all_candidates(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, _objective: Objective, _spent: Collection[int]
) -> list[Candidate]:
    """A candidate for every attribute with at least two groups, significant or not, in column order."""
    found = []
    for column in range(len(samples.attributes.schema)):
        node.tick()
        found.append(None if column in node.undrawn else candidate(samples, node, column, algorithm))
    return [one for one in found if one is not None]


def candidate(samples: Samples, node: NodeSamples, column: int, algorithm: Algorithm) -> Candidate | None:
    """The merged groups of an attribute as a candidate; None if only one group is left."""
    sums, weights = sums_of_codes(samples, node, column)
    present = codes_present(samples, column, weights, algorithm)
    if len(present) < 2:
        return None
    categories = categories_of(samples, column, sums[present], weights[present], present)
    found = merged(categories, merging_of(algorithm))
    return None if found is None else candidate_of(samples, column, weights, present, categories, found)


def codes_present(samples: Samples, column: int, weights: FloatArray, algorithm: Algorithm) -> RowArray:
    """The codes that rows of the node have, including that of missing only if missing is a category of its own."""
    return np.flatnonzero(weights[: samples.n_categories(column) + has_own_category(algorithm)] > 0)


def has_own_category(algorithm: Algorithm) -> bool:
    """Whether missing values form a category of their own."""
    assert algorithm.chaid is not None
    return algorithm.chaid.missing is ChaidMissing.OWN_CATEGORY


def categories_of(
    samples: Samples, column: int, sums: FloatArray, weights: FloatArray, present: RowArray
) -> Categories:
    """The categories that rows of the node have, with their sums and weights."""
    return Categories(
        sums=sums,
        weights=weights,
        task=samples.target.task,
        has_order=samples.attributes.schema[column].has_order,
        has_missing=bool(present[-1] == samples.n_categories(column)),
    )


def candidate_of(
    samples: Samples, column: int, weights: FloatArray, present: RowArray, categories: Categories, found: Merged
) -> Candidate:
    """The groups found by merging as a candidate; `weights[code]` are those of all codes."""
    n_codes = samples.n_categories(column)
    groups = tuple(tuple(present[list(group)].tolist()) for group in found.groups)
    branch_weights = np.array([categories.weight_of(group) for group in found.groups])
    return Candidate(
        split=split_of(samples, column, groups, branch_weights),
        gain=math.nan,
        score=math.nan,
        known=float(in_row_order(weights[:n_codes]) / in_row_order(weights)),
        branch_weights=branch_weights,
        n_thresholds=None,
        significance=found.significance,
        adjusted_p_value=10.0**found.log10_adjusted_p,
        log10_adjusted_p=found.log10_adjusted_p,
        groups=groups,
    )


def merging_of(algorithm: Algorithm) -> Merging:
    """The merging options of the algorithm."""
    chaid = algorithm.chaid
    assert chaid is not None
    return Merging(
        test=TESTS[chaid.statistic],
        alpha_merge=chaid.alpha_merge,
        alpha_split=chaid.alpha_split,
        min_weight=algorithm.stopping.min_samples_leaf,
        bonferroni=chaid.bonferroni,
    )


def sums_of_codes(samples: Samples, node: NodeSamples, column: int) -> tuple[FloatArray, FloatArray]:
    """`[code, :]`: class weights or moments of the rows with each code, missing last; and the codes' weights."""
    codes, n_codes = samples.categories[column][node.rows], samples.n_categories(column) + 1
    if not isinstance(samples.target, ClassTarget):
        sums = sums_by(codes, node.sums, n_codes)
        return sums, sums[:, 0]
    n_classes = len(samples.target.classes)
    cells = codes * n_classes + samples.target.codes[node.rows]
    sums = weights_by(cells, node.weights, n_codes * n_classes).reshape(n_codes, n_classes)
    return sums, sums.sum(axis=1)


def split_of(samples: Samples, column: int, groups: tuple[Group, ...], branch_weights: FloatArray) -> Split:
    """A split with one branch per group; categories without rows join the heaviest, intervals a neighbour's branch."""
    n_codes, is_cut = samples.n_categories(column), samples.attributes.schema[column].is_numeric
    branch_of = np.full(n_codes + 1, -1)
    for branch, group in enumerate(groups):
        branch_of[list(group)] = branch
    absent = np.flatnonzero(branch_of[:-1] < 0)
    branch_of[absent] = neighbours(branch_of[:-1])[absent] if is_cut else int(np.argmax(branch_weights))
    kind = SplitKind.MERGED_INTERVALS if is_cut else SplitKind.MERGED
    cuts = (samples.cuts[column] or ()) if is_cut else ()
    return Split(column, kind, len(groups), branch_of=tuple(branch_of.tolist()), cuts=cuts)


def neighbours(branch_of: RowArray) -> RowArray:
    """The branch of every interval; one without rows takes that of the nearest before it, else of the first with rows.

    So the codes of every branch stay intervals.
    """
    known = np.flatnonzero(branch_of >= 0)
    positions = np.searchsorted(known, np.arange(len(branch_of)), side="right") - 1
    return branch_of[known[np.maximum(positions, 0)]]
