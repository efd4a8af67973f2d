"""CHAID's split of a node found by kernels; equals `chaid.best_split`.

Kernels sum up the codes of all attributes and merge the categories of each. Only attributes that may have the smallest
p, usually one, are then tested by the definition. Where rounding could change a kernel's result, the definition merges
the attribute instead.
"""

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.logarithms import log10
from core.config.options import Algorithm
from core.criteria.objective import Objective
from core.growth.best_split import Candidate, NodeSamples
from core.growth.kernels.inputs.row_by_row import row_by_row
from core.growth.samples import Samples
from core.methods.chaid.chaid import (
    candidate,
    candidate_of,
    categories_of,
    has_own_category,
    merging_of,
    most_significant_of,
)
from core.methods.chaid.fast_merging import fast_merged, rules_of
from core.methods.chaid.kernels import chaid as kernels
from core.methods.chaid.kernels.merging import DOUBT
from core.methods.chaid.merging import assessed
from core.tables.target import ClassTarget

NEAR = 1e-6  # the difference of two log10 p above which rounding cannot change their order


class Outline(NamedTuple):
    """An attribute's groups before they become a candidate: the branch of each code and an approximate log10 p."""

    column: int
    sums: FloatArray
    weights: FloatArray
    branch_of: RowArray
    log10_adjusted_p: float


class ChaidSearch:
    """A tree's codes stored row by row, with the rules for merging the categories of each column."""

    def __init__(self, samples: Samples, algorithm: Algorithm) -> None:
        self.width = len(samples.attributes.schema)
        self.codes = row_by_row(samples.categories, len(samples), self.width, np.uint16)
        self.n_codes = np.array([samples.n_categories(column) for column in range(self.width)])
        self.how, self.is_own = merging_of(algorithm), has_own_category(algorithm)
        self.rules = [
            rules_of(self.how, has_order=attribute.has_order, missing_code=int(n_codes) if self.is_own else -1)
            for attribute, n_codes in zip(samples.attributes.schema, self.n_codes, strict=True)
        ]

    def best_split(
        self,
        samples: Samples,
        node: NodeSamples,
        algorithm: Algorithm,
        _objective: Objective,
        _spent: Collection[int],
    ) -> Candidate | None:
        """`chaid.best_split`: the split by the attribute of smallest adjusted p; None if that p is above alpha."""
        assert algorithm.chaid is not None
        outlines, certain = self.outlines(samples, node, algorithm)
        logs = [*(one.log10_adjusted_p for one in outlines), *(one.log10_adjusted_p for one in certain)]
        limit = min([log10(algorithm.chaid.alpha), *logs]) + NEAR
        near = [self.candidate_of(samples, one) for one in outlines if one.log10_adjusted_p <= limit]
        return most_significant_of(sorted([*near, *certain], key=lambda one: one.split.column), algorithm)

    def outlines(
        self, samples: Samples, node: NodeSamples, algorithm: Algorithm
    ) -> tuple[list[Outline], list[Candidate]]:
        """Outlines of attributes with at least two groups, and candidates of those that the definition had to merge."""
        columns = [column for column in range(self.width) if column not in node.undrawn]
        outlines, certain = list[Outline](), list[Candidate]()
        for column, sums in zip(columns, self.sums_of_codes(samples, node, columns), strict=True):
            node.tick()
            weights = sums.sum(axis=1) if isinstance(samples.target, ClassTarget) else sums[:, 0].copy()
            n = int(self.n_codes[column]) + self.is_own
            branch_of = np.empty(n, dtype=np.int64)
            found = fast_merged(sums[:n], weights[:n], self.rules[column], branch_of, bonferroni=self.how.bonferroni)
            if found.n_groups > 1:
                outlines.append(Outline(column, sums, weights, branch_of, found.log10_adjusted_p))
            elif found.n_groups == DOUBT and (one := candidate(samples, node, column, algorithm)) is not None:
                certain.append(one)
        return outlines, certain

    def candidate_of(self, samples: Samples, outline: Outline) -> Candidate:
        """The candidate for an outline, tested by the definition."""
        column, sums, weights, branch_of, _ = outline
        present = np.flatnonzero(branch_of >= 0)
        branches = branch_of[present]
        categories = categories_of(samples, column, sums[present], weights[present], present)
        groups = [tuple(np.flatnonzero(branches == branch).tolist()) for branch in range(int(branches.max()) + 1)]
        return candidate_of(samples, column, weights, present, categories, assessed(groups, categories, self.how))

    def sums_of_codes(self, samples: Samples, node: NodeSamples, columns: list[int]) -> list[FloatArray]:
        """The sums of `chaid.sums_of_codes` for each of these columns."""
        target = samples.target
        n_sums = len(target.classes) if isinstance(target, ClassTarget) else node.sums.shape[1]
        ends = np.cumsum((self.n_codes[columns] + 1) * n_sums)
        starts, sums = np.append(0, ends[:-1]).astype(np.uint64), np.empty(ends[-1])
        where = self.codes, self.width, np.array(columns, dtype=np.uint64), starts, node.rows
        if isinstance(target, ClassTarget):
            kernels.add_up_classes(*where, target.codes[node.rows], node.weights, n_sums, sums)
        else:
            kernels.add_up_moments(*where, node.sums, sums)
        return [part.reshape(-1, n_sums) for part in np.split(sums, ends[:-1])]
