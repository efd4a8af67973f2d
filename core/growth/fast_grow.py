"""Growing by compiled kernels: the same tree as `grow`, for thresholds on numeric and ordinal attributes.

The kernels say which rows stand on both sides of each cut and add up every node's sums in row order; thresholds and
figures are computed from those here, by the same formulas as in the definition, so that both store the same bytes.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

import numpy as np

from core.config import Algorithm, CriterionKind, Dialect, GainFilter, MissingStrategy, NumericCorrection, NumericKind
from core.criteria.gain import gain_ratio
from core.criteria.objective import Objective
from core.growth.best_split import objective_of
from core.growth.grow import Watch
from core.growth.samples import Samples
from core.splits.candidates import midpoint
from core.splits.split import SplitKind
from core.table import CodeArray, FloatArray, RowArray
from core.target import ClassTarget, Task
from core.tree import LEAF, SPLIT_KINDS, Tree

MOST_BITS = 31  # of an entry, for the class and the row
POLL_SECONDS = 0.25


def is_supported(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether the kernels can grow this tree; the definition can grow every one."""
    class_bits = int(max(1, n_classes_of(samples) - 1)).bit_length()
    return (
        all(attribute.has_order for attribute in samples.attributes.schema)
        and algorithm.numeric.kind is NumericKind.EXACT
        and algorithm.missing is MissingStrategy.WEIGHTED
        and algorithm.stopping.max_leaves is None
        and algorithm.stopping.min_copy_weight == 0
        and algorithm.attribute_costs is None
        and algorithm.dialect is Dialect.TEXTBOOK
        and algorithm.criterion.numeric_correction is NumericCorrection.NONE
        and not algorithm.stopping.validate_splits
        and (isinstance(samples.target, ClassTarget) or samples.target.numbers.shape[1] == 1)
        and row_bits_of(samples) + class_bits <= MOST_BITS
    )


def grow_fast(samples: Samples, algorithm: Algorithm, *, watch: Watch = lambda _: None) -> Tree:
    """The full tree; `watch` hears how much is done twice a second or more."""
    from core.growth.grow_kernels import grow_subtree  # compiles: never in a process that answers requests

    objective = objective_of(algorithm, samples)
    problem = problem_of(samples)
    rules = rules_of(samples, algorithm, objective, is_complete=not problem.has_missing)
    done, whole = np.zeros(1), float(samples.weights.sum())
    with ThreadPoolExecutor(1) as pool:  # the kernel holds no lock, so this thread can say how far it is
        growing = pool.submit(grow_subtree, problem, rules, 0, done)
        while not wait([growing], POLL_SECONDS).done:
            watch(min(1.0, float(done[0]) / whole))
    return assembled(samples, algorithm, objective, *growing.result())


def problem_of(samples: Samples) -> Any:
    """The samples as sorted lists, one for each column."""
    from core.growth.grow_kernels import Problem

    n_rows, n_columns, row_bits = len(samples), len(samples.attributes.schema), row_bits_of(samples)
    classes, numbers = classes_of(samples), numbers_of(samples)
    columns = [as_numbers(samples, column) for column in range(n_columns)]
    known = [~np.isnan(values) for values in columns]
    has_missing = not all(bool(each.all()) for each in known)
    missing = np.zeros((n_rows, (n_columns + 63) // 64), dtype=np.uint64)
    lists = np.empty((n_columns, 2 * n_rows if has_missing else n_rows), dtype=np.uint32)
    lengths = np.zeros(n_columns, dtype=np.int64)
    for column, values in enumerate(columns):
        lengths[column] = fill_list(values, classes, row_bits, lists[column])
        missing[:, column // 64] |= (~known[column]).astype(np.uint64) << np.uint64(column % 64)
    rows = np.empty(lists.shape[1], dtype=np.uint32)
    rows[:n_rows] = np.arange(n_rows)
    return Problem(
        lists, lengths, rows, n_rows, classes, numbers, samples.weights.copy(), missing, has_missing, row_bits
    )


def fill_list(values: FloatArray, classes: CodeArray, row_bits: int, entries: Any) -> int:
    """Write a column's sorted list; how many values are known.

    Packed keys are sorted by NumPy's vector instructions; where too many values are so close that their keys are the
    same, the values are sorted themselves.
    """
    from core.growth.partition_kernels import list_entries, settle_runs, sortable_keys

    keys = np.empty(len(values), dtype=np.uint64)
    keys = keys[: int(sortable_keys(values, values.view(np.uint64), row_bits, keys))]
    keys.sort()
    if not settle_runs(keys, values, row_bits):
        keys = np.argsort(values, kind="stable")[: len(keys)].astype(np.uint64)
    list_entries(keys, values, classes, row_bits, entries)
    return len(keys)


def rules_of(samples: Samples, algorithm: Algorithm, objective: Objective, *, is_complete: bool) -> Any:
    """The algorithm in the kernels' terms."""
    from core.growth import grow_kernels as kernels
    from core.splits import numeric_kernels as scans

    n_rows, stopping = len(samples), algorithm.stopping
    criterion = {
        CriterionKind.GINI: scans.GINI,
        CriterionKind.INFORMATION_GAIN: scans.ENTROPY,
        CriterionKind.GAIN_RATIO: scans.ENTROPY,
        CriterionKind.ERROR_RATE: scans.ERROR,
        CriterionKind.SQUARED_ERROR: scans.SQUARED,
    }[algorithm.criterion.kind]
    gain_filter = {
        GainFilter.ABOVE_AVERAGE: kernels.ABOVE_AVERAGE,
        GainFilter.BETTER_HALF: kernels.BETTER_HALF,
    }.get(algorithm.criterion.filter or GainFilter.NONE, kernels.NO_FILTER)
    large_unit = 2.0 ** (60 - int(np.ceil(np.log2(max(2, n_rows) * np.log2(max(2, n_rows)) + 1))))
    return kernels.Rules(
        criterion=criterion,
        is_ratio=algorithm.criterion.kind is CriterionKind.GAIN_RATIO,
        gain_filter=gain_filter,
        n_classes=n_classes_of(samples),
        is_counted=bool(is_complete and (samples.weights == 1).all()),
        max_depth=stopping.max_depth if stopping.max_depth is not None else n_rows + 1,
        min_split=float(stopping.min_samples_split),
        min_leaf=float(stopping.min_samples_leaf),
        min_gain=float(stopping.min_gain),
        min_score=float(stopping.min_score),
        min_impurity=float(stopping.min_impurity),
        tolerance=objective.tolerance,
        reciprocal=np.concatenate([[0.0], 1 / np.arange(1, n_rows + 1)]),
        small_logs=times_log2_table(min(n_rows, scans.SMALL_COUNT), scans.SMALL_UNIT),
        large_logs=times_log2_table(n_rows, large_unit),
        small_unit=scans.SMALL_UNIT,
        large_unit=large_unit,
    )


def times_log2_table(n: int, unit: float) -> Any:
    """n log2 n for whole numbers up to n, as whole numbers of 1/unit."""
    numbers = np.arange(n + 1, dtype=np.float64)
    return np.rint(numbers * np.log2(np.maximum(numbers, 1.0)) * unit).astype(np.int64)


def assembled(samples: Samples, algorithm: Algorithm, objective: Objective, links: Any, figures: FloatArray) -> Tree:
    """The tree from the kernels' nodes: numbered depth first, with thresholds and figures by the definitions."""
    from core.growth import grow_kernels as kernels

    sizes, order = kernels.depth_first(links)
    links, figures = links[order], figures[order]  # the tree's node i was grown as order[i]
    n_figures = 1 + n_classes_of(samples) if samples.target.task is Task.CLASSIFICATION else 5
    is_inner = links[:, kernels.COLUMN] >= 0
    gain, score, shares = split_figures(
        figures[is_inner], n_figures, links[is_inner, kernels.IS_COMPLETE].astype(bool), algorithm, objective
    )
    values, variances, impurity = node_values(figures[:, :n_figures], objective)
    column = np.where(is_inner, links[:, kernels.COLUMN], LEAF)
    return Tree(
        task=samples.target.task,
        size=sizes,
        column=column.astype(np.int32),
        kind=np.where(is_inner, SPLIT_KINDS.index(SplitKind.THRESHOLD), LEAF).astype(np.int8),
        threshold=thresholds_of(samples, column, links[:, kernels.LOW_ROW], links[:, kernels.HIGH_ROW]),
        branch_start=np.zeros(len(sizes) + 1, dtype=np.int64),
        branch_of=np.empty(0, dtype=np.int32),
        share=node_shares(sizes, is_inner, shares),
        weight=figures[:, 0].copy(),
        impurity=impurity,
        gain=spread_over(is_inner, gain),
        score=spread_over(is_inner, score),
        values=values,
        variances=variances,
    )


def split_figures(
    figures: FloatArray, n_figures: int, is_complete: Any, algorithm: Algorithm, objective: Objective
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gain, score and branch shares of every split, as `best_split.with_figures` has them."""
    branch_weights = figures[:, n_figures : n_figures + 2]
    branches = figures[:, n_figures + 2 :].reshape(len(figures), 2, (figures.shape[1] - n_figures - 2) // 2)
    known = branch_weights.sum(axis=-1)
    rho = np.where(is_complete, 1.0, known / figures[:, 0])
    gain = rho * objective.decrease(branches, branch_weights)
    is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
    return gain, gain_ratio(gain, branch_weights) if is_ratio else gain, branch_weights / known[:, None]


def node_values(figures: FloatArray, objective: Objective) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Class weights, or means and variances, and the impurity of every node."""
    if objective.task is Task.CLASSIFICATION:
        values = figures[:, 1:].copy()
        return values, np.empty((len(figures), 0)), objective.impurity(values)
    weight, centre, moment, square, around = figures.T
    means = centre + moment / weight
    moments = np.stack([weight, moment, square], axis=1)
    return means[:, None], (around / weight)[:, None], objective.impurity(moments)


def thresholds_of(samples: Samples, column: RowArray, low_rows: RowArray, high_rows: RowArray) -> FloatArray:
    """The midpoint of the values on both sides of each cut; NaN in a leaf."""
    thresholds = np.full(len(column), np.nan)
    for c in range(len(samples.attributes.schema)):
        here = np.flatnonzero(column == c)
        values = as_numbers(samples, c)
        low, high = values[low_rows[here]].tolist(), values[high_rows[here]].tolist()
        thresholds[here] = list(map(midpoint, low, high))
    return thresholds


def node_shares(sizes: Any, is_inner: Any, shares: FloatArray) -> FloatArray:
    """The share of each node in its parent; 1 at the root."""
    share, inner = np.ones(len(sizes)), np.flatnonzero(is_inner)
    first = inner + 1
    share[first] = shares[:, 0]
    share[first + sizes[first]] = shares[:, 1]
    return share


def spread_over(is_inner: Any, values: FloatArray) -> FloatArray:
    """The values of inner nodes, NaN in leaves."""
    spread = np.full(len(is_inner), np.nan)
    spread[is_inner] = values
    return spread


def as_numbers(samples: Samples, column: int) -> FloatArray:
    """A column with an order as numbers, NaN where it is missing."""
    values = samples.attributes.columns[column]
    if samples.attributes.schema[column].is_numeric:
        return np.ascontiguousarray(values, dtype=np.float64)
    return np.where(values < 0, np.nan, values).astype(np.float64)


def classes_of(samples: Samples) -> CodeArray:
    """Class codes; all 0 for numbers."""
    target = samples.target
    return target.codes if isinstance(target, ClassTarget) else np.zeros(len(samples), dtype=np.int32)


def numbers_of(samples: Samples) -> FloatArray:
    """The numbers to predict; all 0 for classes."""
    target = samples.target
    return np.zeros(len(samples)) if isinstance(target, ClassTarget) else np.ascontiguousarray(target.numbers[:, 0])


def n_classes_of(samples: Samples) -> int:
    """How many classes there are; 1 for numbers."""
    return len(samples.target.classes) if isinstance(samples.target, ClassTarget) else 1


def row_bits_of(samples: Samples) -> int:
    """How many bits number the rows."""
    return max(1, (len(samples) - 1).bit_length())
