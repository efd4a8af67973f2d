"""Growing multivariate trees with kernels: `grow` as it is, but for the split of a node.

The kernels say which column or which sum, and where it is cut; its figures come from the definitions, so that both
store the same bytes.
"""

from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from core.config import Algorithm, Categorical, CriterionKind, LinearFit, NumericCorrection, NumericKind
from core.criteria.objective import Objective
from core.growth import best_split as textbook
from core.growth.best_split import Candidate, NodeSamples, place_of_winner, with_figures, with_figures_of
from core.growth.grow import grow
from core.growth.kernel_columns import class_bits_of, classes_of, n_classes_of, row_bits_of
from core.growth.kernel_rules import criterion_of
from core.growth.kernel_threads import GrowthEnded
from core.growth.multivariate import columns_for_sums, evenly_spaced, simpler_or_better, terms_of
from core.growth.samples import Samples
from core.growth.validation_gate import Trial
from core.progress import Watch, nobody
from core.randomness import FOR_DIRECTIONS, key_of
from core.splits.linear import in_units
from core.splits.split import Split, SplitKind, Term
from core.sums import in_row_order
from core.table import FloatArray, RowArray, is_missing
from core.tree import Tree

MOST_BITS = 31  # of an entry, for the class and the row
POLL_SECONDS = 0.25


def is_supported(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether the kernels can grow this tree; the definition can grow every one."""
    return algorithm.linear is not None and row_bits_of(samples) + class_bits_of(samples) <= MOST_BITS


def grow_multivariate(
    samples: Samples,
    algorithm: Algorithm,
    *,
    validation: Samples | None = None,
    seed: int = 0,
    costs: FloatArray | None = None,
    watch: Watch = nobody,
) -> tuple[Tree, list[Trial]]:
    """`grow`; `watch` hears how much is done several times a second, and may raise to end growth."""
    search = Search(samples, algorithm)
    with ThreadPoolExecutor(1) as pool:  # the kernels hold no lock, so this thread can say how far they are
        growing = pool.submit(
            grow,
            samples,
            algorithm,
            validation=validation,
            seed=seed,
            costs=costs,
            watch=search.hear,
            choose=search.best_split,
        )
        try:
            while not wait([growing], POLL_SECONDS).done:
                watch(search.done)
        except BaseException:
            search.end()
            raise
    watch(1.0)
    return growing.result()


class Search:
    """The samples as the kernels take them: `cells[column, row]` as numbers, NaN where missing, categories as codes."""

    def __init__(self, samples: Samples, algorithm: Algorithm) -> None:
        from core.splits import linear_kernels as kernels  # compiles: never in a process that answers requests

        columns, schema = samples.attributes.columns, samples.attributes.schema
        self.cells = np.array([np.where(is_missing(each), np.nan, each) for each in columns], dtype=np.float64)
        self.has_missing = bool(np.isnan(self.cells).any())
        self.classes, self.n_classes = classes_of(samples), n_classes_of(samples)
        self.criterion = criterion_of(algorithm)
        self.n_levels = np.array([0 if each.is_numeric else len(each.categories) for each in schema])
        self.n_unordered = np.array([0 if each.has_order else len(each.categories) for each in schema])
        self.first_slots = np.cumsum([0, *np.maximum(self.n_unordered, 1)])
        self.for_sums = np.array(columns_for_sums(samples), dtype=np.int64)
        assert algorithm.linear is not None
        self.fit = {
            LinearFit.OC1: kernels.OC1,
            LinearFit.LDA: kernels.LEAST_SQUARES,
            LinearFit.LOGISTIC: kernels.LOGISTIC,
        }[algorithm.linear.fit]
        self.max_terms = algorithm.linear.max_terms or 0
        self.progress, self.done = np.zeros(1), 0.0

    def hear(self, done: float) -> None:
        """Note how much is done, for another thread to tell."""
        self.done = done
        if self.progress[0]:
            raise GrowthEnded

    def end(self) -> None:
        """Nobody waits for this tree any more."""
        self.progress[0] = 1.0

    def best_split(
        self, samples: Samples, node: NodeSamples, algorithm: Algorithm, objective: Objective, spent: Collection[int]
    ) -> Candidate | None:
        """`multivariate.best_split`."""
        from core.splits.unsorted_kernels import Marks

        node.tick()
        values = self.cells.take(node.rows, axis=1)
        min_weight = float(algorithm.stopping.min_samples_leaf)
        marks = Marks(self.classes[node.rows], node.weights, self.n_classes, self.criterion, min_weight)
        if is_searched(algorithm):
            simple = self.best_simple(samples, node, algorithm, objective, values, marks)
        else:
            simple = textbook.best_split(samples, node, algorithm, objective, spent)
        return simpler_or_better(simple, self.best_linear(node, algorithm, objective, values, marks), objective)

    def best_simple(
        self,
        samples: Samples,
        node: NodeSamples,
        algorithm: Algorithm,
        objective: Objective,
        values: FloatArray,
        marks: Any,
    ) -> Candidate | None:
        """The best test on one attribute."""
        from core.growth.multivariate_kernels import best_of_columns

        gains, bits, thresholds, n_cuts = best_of_columns(
            values, marks, self.n_unordered, self.first_slots, self.progress
        )
        node.tick()
        slots = np.flatnonzero(~np.isnan(gains))
        if len(slots) == 0:
            return None
        criterion = algorithm.criterion.kind
        scores = gains / bits if criterion is CriterionKind.GAIN_RATIO else gains
        slot = slots[place_of_winner(gains[slots], scores[slots], algorithm, objective)]
        column = int(np.searchsorted(self.first_slots, slot, side="right")) - 1
        cells = samples.attributes.columns[column][node.rows]
        if self.n_unordered[column] == 0:
            split = Split(column, SplitKind.THRESHOLD, 2, threshold=float(thresholds[slot]))
            return with_figures(split, cells, node, criterion, objective, int(n_cuts[slot]))
        alone = slot - self.first_slots[column]
        branch_of = tuple(int(code != alone) for code in range(self.n_unordered[column]))
        split = Split(column, SplitKind.ONE_VS_REST, 2, branch_of=branch_of)
        return with_figures(split, cells, node, criterion, objective, None)

    def best_linear(
        self, node: NodeSamples, algorithm: Algorithm, objective: Objective, values: FloatArray, marks: Any
    ) -> Candidate | None:
        """`multivariate.linear_candidate`."""
        from core.growth.multivariate_kernels import features
        from core.splits.linear_kernels import direction

        columns, places = self.learning_rows(values, node.weights)
        weights = node.weights[places]
        terms, scales, x = features(values, places, weights, columns, self.n_levels)
        if len(terms) < 2:
            return None
        part = float(in_row_order(weights) / in_row_order(node.weights))
        learnt = marks._replace(classes=marks.classes[places], weights=weights, min_weight=marks.min_weight * part)
        key = np.uint64(key_of(node.key, FOR_DIRECTIONS))
        found = direction(x, learnt, self.fit, self.max_terms, key, self.progress)
        node.tick()
        chosen = terms_of(terms.tolist(), in_units(found, scales)) if found.any() else ()
        return None if len(chosen) < 2 else with_threshold(chosen, node, algorithm, objective, values, marks)

    def learning_rows(self, values: FloatArray, weights: FloatArray) -> tuple[RowArray, RowArray]:
        """The columns that a sum may have, and places of rows that know them all."""
        from core.growth.multivariate_kernels import known_together

        if not self.has_missing:
            return self.for_sums, evenly_spaced(np.arange(len(weights)))
        is_taken, is_complete = known_together(values, weights, self.for_sums)
        return self.for_sums[is_taken], evenly_spaced(np.flatnonzero(is_complete))


def is_searched(algorithm: Algorithm) -> bool:
    """Whether the kernels look for the best attribute too: every midpoint, and every category by itself."""
    return (
        algorithm.numeric.kind is NumericKind.EXACT
        and algorithm.categorical is Categorical.ONE_HOT
        and algorithm.criterion.numeric_correction is NumericCorrection.NONE
        and algorithm.attribute_costs is None
    )


def with_threshold(
    terms: tuple[Term, ...],
    node: NodeSamples,
    algorithm: Algorithm,
    objective: Objective,
    values: FloatArray,
    marks: Any,
) -> Candidate | None:
    """`multivariate.with_threshold`."""
    from core.growth.multivariate_kernels import best_cut_of_sums, sums_of

    columns, codes = np.array([term.column for term in terms]), np.array([term.code for term in terms])
    sums = sums_of(values, columns, codes, np.array([term.weight for term in terms]))
    threshold, n_cuts = best_cut_of_sums(sums, marks)
    if np.isnan(threshold):
        return None
    split = Split(terms[0].column, SplitKind.LINEAR, 2, threshold=threshold, terms=terms)
    branch = np.where(np.isnan(sums), -1, (sums > threshold).astype(np.int64))
    return with_figures_of(split, branch, node, algorithm.criterion.kind, objective, n_cuts)
