"""The split of a node by CHAID's kernels: the same as that of `chaid`.

Kernels merge the categories of every attribute. Only those that may have the smallest p are then tested by the
definition, most often one; and where a kernel is in doubt the definition merges too.
"""

from collections.abc import Collection
from math import log10
from typing import NamedTuple

import numpy as np

from core.config import Algorithm
from core.criteria.objective import Objective
from core.growth.best_split import Candidate, NodeSamples
from core.growth.chaid import (
    candidate,
    candidate_of,
    categories_of,
    has_own_category,
    merging_of,
    most_significant_of,
)
from core.growth.samples import Samples
from core.splits.fast_merging import fast_merged, rules_of
from core.splits.merging import tested
from core.table import FloatArray, RowArray
from core.target import ClassTarget

NEAR = 1e-6  # how far apart the logarithms of two p must be, for rounding not to matter


class Outline(NamedTuple):
    """An attribute's groups before they are a candidate: the branch of each code, and how small p is, about."""

    column: int
    sums: FloatArray
    weights: FloatArray
    branch_of: RowArray
    log10_adjusted_p: float


def best_split(
    samples: Samples, node: NodeSamples, algorithm: Algorithm, _objective: Objective, _spent: Collection[int]
) -> Candidate | None:
    """`chaid.best_split`: the groups of smallest adjusted p; None where it is above alpha."""
    assert algorithm.chaid is not None
    outlines, certain = all_outlines(samples, node, algorithm)
    logs = [one.log10_adjusted_p for one in (*outlines, *certain)]
    limit = min([*logs, log10(algorithm.chaid.alpha)]) + NEAR
    near = [as_candidate(samples, one, algorithm) for one in outlines if one.log10_adjusted_p <= limit]
    return most_significant_of(sorted([*near, *certain], key=lambda one: one.split.column), algorithm)


def all_outlines(
    samples: Samples, node: NodeSamples, algorithm: Algorithm
) -> tuple[list[Outline], list[Candidate]]:
    """Every attribute with two groups or more, and those among them that the definition had to merge."""
    from core.splits.merging_kernels import DOUBT

    how, is_own = merging_of(algorithm), has_own_category(algorithm)
    classes = samples.target.codes[node.rows] if isinstance(samples.target, ClassTarget) else None
    outlines, certain = [], []
    for column, attribute in enumerate(samples.attributes.schema):
        node.tick()
        if column in node.undrawn:
            continue
        n_codes = samples.n_categories(column)
        sums, weights = sums_of_codes(samples, node, column, classes)
        branch_of, n = np.empty(n_codes + is_own, dtype=np.int64), n_codes + is_own
        rules = rules_of(how, has_order=attribute.has_order, missing_code=n_codes if is_own else -1)
        found = fast_merged(sums[:n], weights[:n], rules, branch_of, bonferroni=how.bonferroni)
        if found.n_groups > 1:
            outlines.append(Outline(column, sums, weights, branch_of, found.log10_adjusted_p))
        elif found.n_groups == DOUBT and (one := candidate(samples, node, column, algorithm)) is not None:
            certain.append(one)
    return outlines, certain


def as_candidate(samples: Samples, outline: Outline, algorithm: Algorithm) -> Candidate:
    """The groups as the definition makes a candidate of them."""
    column, sums, weights, branch_of, _ = outline
    present = np.flatnonzero(branch_of >= 0)
    categories = categories_of(samples, column, sums[present], weights[present], present)
    branches = branch_of[present]
    groups = [tuple(np.flatnonzero(branches == branch).tolist()) for branch in range(int(branches.max()) + 1)]
    found = tested(groups, categories, merging_of(algorithm))
    return candidate_of(samples, column, weights, present, categories, found)


def sums_of_codes(
    samples: Samples, node: NodeSamples, column: int, classes: RowArray | None
) -> tuple[FloatArray, FloatArray]:
    """`chaid.sums_of_codes`; `classes` are those of the node's rows, None where the target is a number."""
    from core.growth.chaid_kernels import add_up_classes, add_up_moments

    codes, n_codes = samples.categories[column], samples.n_categories(column) + 1
    if classes is None:
        sums = np.empty((n_codes, node.sums.shape[1]))
        add_up_moments(codes, node.rows, node.sums, sums.ravel())
        return sums, sums[:, 0].copy()
    assert isinstance(samples.target, ClassTarget)
    n_classes = len(samples.target.classes)
    sums = np.empty((n_codes, n_classes))
    add_up_classes(codes, node.rows, classes, node.weights, n_classes, sums.ravel())
    return sums, sums.sum(axis=1)
