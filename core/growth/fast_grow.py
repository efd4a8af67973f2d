"""Growing by compiled kernels: the same tree as `grow`.

The kernels say which rows stand on both sides of each cut, or which levels go down which branch, and add up every
node's sums in row order; thresholds and figures are computed from those here, by the same formulas as in the
definition, so that both store the same bytes.
"""

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.config import (
    Algorithm,
    Categorical,
    CriterionKind,
    Dialect,
    GainFilter,
    MissingStrategy,
    NumericCorrection,
    NumericKind,
    Nunez,
    TanSchlimmer,
)
from core.criteria.gain import gain_ratio
from core.criteria.objective import Objective
from core.growth.best_first import best_first, deepest_needed
from core.growth.best_split import objective_of, score_with_cost
from core.growth.coding import Coding, as_numbers, coding_of, for_kernels, is_codable
from core.growth.grow import Watch
from core.growth.samples import Samples
from core.splits.candidates import midpoints
from core.splits.split import SplitKind
from core.sums import in_row_order
from core.table import CodeArray, FloatArray, RowArray
from core.target import ClassTarget, Task
from core.tree import LEAF, SPLIT_KINDS, Tree

MOST_BITS = 31  # of an entry, for the class and the row
POLL_SECONDS = 0.25


def is_supported(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether the kernels can grow this tree; the definition can grow every one."""
    class_bits = int(max(1, n_classes_of(samples) - 1)).bit_length()
    return (
        is_codable(samples)
        and (algorithm.numeric.kind is NumericKind.EXACT or algorithm.numeric.is_found_before_growth)
        and algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
        and algorithm.dialect is Dialect.TEXTBOOK
        and algorithm.criterion.numeric_correction is NumericCorrection.NONE
        and not algorithm.stopping.validate_splits
        and row_bits_of(samples) + class_bits <= MOST_BITS
    )


def grow_fast(samples: Samples, algorithm: Algorithm, *, watch: Watch = lambda _: None) -> Tree:
    """The full tree; `watch` hears how much is done several times a second, and may raise to end growth."""
    from core.growth.grow_kernels import DONE, STOP  # compiles: never in a process that answers requests

    max_leaves = algorithm.stopping.max_leaves
    if max_leaves is not None:
        algorithm = without_leaf_limit(algorithm, max_leaves)
    columns = columns_of(samples, algorithm)
    objective = objective_of(algorithm, samples)
    progress, whole = np.zeros(2), float(samples.weights.sum())
    with ThreadPoolExecutor(1) as pool:  # the kernels hold no lock, so this thread can say how far they are
        growing = pool.submit(grown, samples, algorithm, objective, columns, progress)
        try:
            while not wait([growing], POLL_SECONDS).done:
                watch(min(1.0, float(progress[DONE]) / whole))
        except BaseException:
            progress[STOP] = 1.0
            raise
    tree = assembled(samples, algorithm, objective, columns, *growing.result())
    return tree if max_leaves is None else best_first(tree, max_leaves, objective.tolerance)


def without_leaf_limit(algorithm: Algorithm, max_leaves: int) -> Algorithm:
    """The algorithm that grows every node which a tree of so many leaves may have."""
    stopping = algorithm.stopping
    depth = deepest_needed(max_leaves, stopping.max_depth)
    return replace(algorithm, stopping=replace(stopping, max_leaves=None, max_depth=depth))


@dataclass(frozen=True)
class Column:
    """A column as the kernels get it: its first candidate slot, how many it has, and its codes unless it is a list."""

    slot: int
    n_slots: int
    coding: Coding | None


def columns_of(samples: Samples, algorithm: Algorithm) -> list[Column]:
    """Every column, in order."""
    columns: list[Column] = []
    slot = 0
    for column, attribute in enumerate(samples.attributes.schema):
        coding = coding_of(samples, algorithm, column)
        is_one_hot = algorithm.categorical is Categorical.ONE_HOT and not attribute.has_order
        columns.append(Column(slot, len(attribute.categories) if is_one_hot else 1, coding))
        slot += columns[-1].n_slots
    return columns


def grown(
    samples: Samples, algorithm: Algorithm, objective: Objective, columns: list[Column], progress: FloatArray
) -> tuple[Any, ...]:
    """The kernels' nodes: links, figures, branch figures, branches of levels."""
    from core.growth import grow_kernels as kernels

    has_missing = samples.attributes.has_missing
    problem = problem_of(samples, columns, has_missing=has_missing)
    rules = rules_of(samples, algorithm, objective, columns, has_missing=has_missing)
    result: tuple[Any, ...] = kernels.grow_tree(problem, rules, work_for(samples, columns), progress)
    return result


def problem_of(samples: Samples, columns: list[Column], *, has_missing: bool) -> tuple[Any, ...]:
    """The samples as sorted lists and codes: the fields of the kernels' `Problem`."""
    n_rows, row_bits = len(samples), row_bits_of(samples)
    listed = [number for number, column in enumerate(columns) if column.coding is None]
    coded = [column.coding for column in columns if column.coding is not None]
    classes, numbers = classes_of(samples), numbers_of(samples)
    missing = np.zeros((n_rows, (len(listed) + 63) // 64), dtype=np.uint64)
    lists = np.empty((len(listed), 2 * n_rows if has_missing else n_rows), dtype=np.uint32)
    lengths = np.zeros(len(listed), dtype=np.int64)
    for place, column in enumerate(listed):
        values = as_numbers(samples, column)
        lengths[place] = fill_list(values, classes, row_bits, lists[place])
        if lengths[place] < n_rows:
            missing[:, place // 64] |= np.isnan(values).astype(np.uint64) << np.uint64(place % 64)
    codes = np.empty((n_rows, len(coded)), dtype=np.uint16)
    for place, coding in enumerate(coded):
        codes[:, place] = coding.codes
    rows = np.empty(2 * n_rows if has_missing else n_rows, dtype=np.uint32)
    rows[:n_rows] = np.arange(n_rows)
    return (
        lists,
        lengths,
        np.array([columns[column].slot for column in listed], dtype=np.int64),
        rows,
        n_rows,
        classes,
        numbers,
        np.array(samples.weights, dtype=np.float64),
        missing,
        has_missing,
        codes,
        np.arange(len(coded)),
        np.arange(n_rows, dtype=np.uint32),
        row_bits,
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
        keys = np.argsort(values, kind="stable")[: len(keys)].astype(np.uint64)  # without upper bits
    list_entries(keys, values, classes, row_bits, entries)
    return len(keys)


def rules_of(
    samples: Samples, algorithm: Algorithm, objective: Objective, columns: list[Column], *, has_missing: bool
) -> tuple[Any, ...]:
    """The algorithm in the kernels' terms: the fields of their `Rules`."""
    from core.growth import growth_state as state
    from core.growth import table_kernels as tables
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
        GainFilter.ABOVE_AVERAGE: state.ABOVE_AVERAGE,
        GainFilter.BETTER_HALF: state.BETTER_HALF,
    }.get(algorithm.criterion.filter or GainFilter.NONE, state.NO_FILTER)
    kinds = {
        SplitKind.THRESHOLD: tables.ORDERED,
        SplitKind.MULTIWAY: tables.MULTIWAY,
        SplitKind.INTERVALS: tables.MULTIWAY,
        SplitKind.GROUPS: tables.GROUPS,
        SplitKind.ONE_VS_REST: tables.ONE_HOT if algorithm.categorical is Categorical.ONE_HOT else tables.ONE_VS_REST,
    }
    coded = [(column, column.coding) for column in columns if column.coding is not None]
    costs = algorithm.attribute_costs
    is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
    is_unit = not has_missing and bool((samples.weights == 1).all())
    is_counted = is_unit and isinstance(samples.target, ClassTarget)

    def n_looked_up(by: int) -> int:
        """How far a table goes that only counted classes and one criterion look into."""
        return n_rows if is_counted and criterion == by else 1

    large_unit = 2.0 ** (60 - int(np.ceil(np.log2(max(2, n_rows) * np.log2(max(2, n_rows)) + 1))))
    return (
        criterion,
        is_ratio,
        is_ratio or costs is not None,
        gain_filter,
        n_classes_of(samples),
        is_counted,
        is_unit,
        stopping.max_depth if stopping.max_depth is not None else n_rows + 1,
        float(stopping.min_samples_split),
        float(stopping.min_samples_leaf),
        float(stopping.min_gain),
        float(stopping.min_score),
        float(stopping.min_impurity),
        float(stopping.min_copy_weight),
        float(algorithm.min_category_weight),
        objective.tolerance,
        {TanSchlimmer: state.TAN_SCHLIMMER, Nunez: state.NUNEZ}.get(type(costs), state.NO_COSTS),
        costs.w if isinstance(costs, Nunez) else 0.0,
        np.repeat(
            [float(algorithm.cost_of(attribute.name)) for attribute in samples.attributes.schema],
            [column.n_slots for column in columns],
        ),
        np.array([column.slot for column, _ in coded], dtype=np.int64),
        np.array([kinds[coding.kind] for _, coding in coded], dtype=np.int64),
        np.array([coding.n_levels for _, coding in coded], dtype=np.int64),
        np.cumsum([0, *(coding.n_levels + 1 for _, coding in coded)], dtype=np.int64)[:-1],
        np.concatenate([[0.0], 1 / np.arange(1, n_looked_up(scans.GINI) + 1)]),
        times_log2_table(min(n_looked_up(scans.ENTROPY), scans.SMALL_COUNT), scans.SMALL_UNIT),
        times_log2_table(n_looked_up(scans.ENTROPY), large_unit),
        scans.SMALL_UNIT,
        large_unit,
    )


def times_log2_table(n: int, unit: float) -> NDArray[np.int64]:
    """n log2 n for whole numbers up to n, as whole numbers of 1/unit."""
    numbers = np.arange(n + 1, dtype=np.float64)
    return np.rint(numbers * np.log2(np.maximum(numbers, 1.0)) * unit).astype(np.int64)


def work_for(samples: Samples, columns: list[Column]) -> tuple[Any, ...]:
    """Room for the kernels to work in: the fields of their `Work`."""
    from core.splits.categorical_kernels import space_for

    n_rows, n_slots = len(samples), sum(column.n_slots for column in columns)
    n_lists, n_classes, n_sums = len(columns), n_classes_of(samples), n_sums_of(samples)
    n_levels = [column.coding.n_levels for column in columns if column.coding is not None]
    most_levels, n_all_levels = max(n_levels, default=0), sum(n_levels) + len(n_levels)
    n_branches = max(2, most_levels)
    return (
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(2 * n_sums),
        np.zeros(n_sums),
        np.zeros((n_lists, n_sums)),
        np.zeros(n_slots),
        np.zeros(n_slots),
        np.zeros((n_slots, 4), dtype=np.int64),
        np.zeros(n_slots, dtype=np.bool_),
        np.zeros(n_branches),
        np.zeros(n_rows, dtype=np.uint8),
        np.zeros(n_rows if most_levels else 0, dtype=np.uint16),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.zeros((n_all_levels, n_sums)),
        np.zeros(n_all_levels),
        np.zeros(most_levels, dtype=np.bool_),
        np.zeros(most_levels + 1, dtype=np.uint16),
        np.zeros((4, n_branches), dtype=np.int64),
        np.zeros(most_levels),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        space_for(max(1, most_levels), n_sums),
    )


def assembled(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    links: Any,
    figures: FloatArray,
    sums: FloatArray,
    levels: NDArray[np.uint16],
) -> Tree:
    """The tree from the kernels' nodes: numbered depth first, with thresholds and figures by the definitions."""
    from core.growth import grow_kernels as kernels

    sizes, order = kernels.depth_first(links)
    links, figures = links[order], figures[order]  # the tree's node i was grown as order[i]
    is_inner = links[:, kernels.SLOT] >= 0
    first_slots = np.array([column.slot for column in columns])
    column = np.where(is_inner, np.searchsorted(first_slots, links[:, kernels.SLOT], side="right") - 1, LEAF)
    gain, score, share = split_figures(samples, algorithm, objective, column, links, figures[:, 0], sums, order)
    values, variances, impurity = node_values(figures, objective)
    branch_start, branch_of = branches_of(columns, column, links, levels)
    return Tree(
        task=samples.target.task,
        size=sizes,
        column=column.astype(np.int32),
        kind=kinds_of(column, columns),
        threshold=thresholds_of(samples, columns, column, links),
        branch_start=branch_start,
        branch_of=branch_of,
        share=share,
        weight=figures[:, 0].copy(),
        impurity=impurity,
        gain=gain,
        score=score,
        values=values,
        variances=variances,
        cuts=samples.cuts,
    )


def split_figures(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    column: RowArray,
    links: Any,
    weights: FloatArray,
    sums: FloatArray,
    order: RowArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gain and score of every split, as `best_split.with_figures` has them, NaN in leaves; every node's share."""
    from core.growth import grow_kernels as kernels

    gain, score, share = np.full(len(links), np.nan), np.full(len(links), np.nan), np.ones(len(links))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    first_child = np.full(len(links), -1)  # as grown: a node's children stand next to each other
    is_first = (links[:, kernels.BRANCH] == 0) & (links[:, kernels.PARENT] >= 0)
    first_child[number[links[is_first, kernels.PARENT]]] = order[is_first]
    width = n_sums_of(samples)
    n_branches = np.where(column >= 0, links[:, kernels.N_BRANCHES], 0)
    for n in np.unique(n_branches[n_branches > 0]):
        nodes = np.flatnonzero(n_branches == n)
        here = sums[links[nodes, kernels.SUMS][:, None] + np.arange(n * (1 + width))]
        branch_weights, branches = here[:, :n], here[:, n:].reshape(len(nodes), n, width)
        known = in_row_order(branch_weights.T)
        rho = np.where(links[nodes, kernels.IS_COMPLETE].astype(bool), 1.0, known / weights[nodes])
        gain[nodes] = rho * objective.decrease(branches, branch_weights)
        is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
        score[nodes] = gain_ratio(gain[nodes], branch_weights) if is_ratio else gain[nodes]
        children = first_child[nodes][:, None] + np.arange(n)
        share[number[children]] = branch_weights / known[:, None]
    if algorithm.attribute_costs is not None:
        for node in np.flatnonzero(column >= 0):
            name = samples.attributes.schema[int(column[node])].name
            score[node] = score_with_cost(float(gain[node]), float(score[node]), algorithm, name)
    return gain, score, share


def node_values(figures: FloatArray, objective: Objective) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Class weights, or means and variances, and the impurity of every node; all 0 where there are no rows."""
    weight = figures[:, :1]
    if objective.task is Task.CLASSIFICATION:
        values = figures[:, 1:].copy()
        return values, np.empty((len(figures), 0)), np.where(weight[:, 0] > 0, objective.impurity(values), 0.0)
    centre, moment, square, around = np.split(figures[:, 1:], 4, axis=1)
    divisor = np.where(weight > 0, weight, 1.0)
    return (
        centre + moment / divisor,
        around / divisor,
        np.where(weight[:, 0] > 0, objective.impurity(np.hstack([weight, moment, square])), 0.0),
    )


def kinds_of(column: RowArray, columns: list[Column]) -> NDArray[np.int8]:
    """The kind of every node's split, as a place in SPLIT_KINDS; `LEAF` in a leaf."""
    by_column = [
        SPLIT_KINDS.index(SplitKind.THRESHOLD if each.coding is None else each.coding.kind) for each in columns
    ]
    return np.array([*by_column, LEAF], dtype=np.int8)[column]


def branches_of(
    columns: list[Column], column: RowArray, links: Any, levels: NDArray[np.uint16]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The branch of each declared category in every split by categories, and where those of each node start."""
    from core.growth import grow_kernels as kernels

    by_categories = (SplitKind.MULTIWAY, SplitKind.GROUPS, SplitKind.ONE_VS_REST)
    codings = [each.coding if each.coding and each.coding.kind in by_categories else None for each in columns]
    n_branches = np.array([*(coding.n_levels if coding else 0 for coding in codings), 0])[column]
    branch_start = np.concatenate([[0], np.cumsum(n_branches)])
    branch_of = np.empty(branch_start[-1], dtype=np.int32)
    for number, coding in enumerate(codings):
        if coding is not None:
            here, each_level = np.flatnonzero(column == number)[:, None], np.arange(coding.n_levels)
            is_multiway = coding.kind is SplitKind.MULTIWAY
            chosen = each_level if is_multiway else levels[links[here, kernels.LEVELS] + each_level]
            branch_of[branch_start[here] + each_level] = chosen
    return branch_start, branch_of


def thresholds_of(samples: Samples, columns: list[Column], column: RowArray, links: Any) -> FloatArray:
    """The threshold of each cut, from the rows or the levels on both sides of it; NaN where there is none."""
    from core.growth import grow_kernels as kernels

    thresholds = np.full(len(column), np.nan)
    for number, each in enumerate(columns):
        if each.coding is not None and each.coding.kind is not SplitKind.THRESHOLD:
            continue
        here = np.flatnonzero(column == number)
        low, high = links[here, kernels.LOW], links[here, kernels.HIGH]
        if each.coding is None:
            values = as_numbers(samples, number)
            thresholds[here] = midpoints(values[low], values[high])
        else:
            is_coded = links[here, kernels.IS_CODED].astype(bool)
            low = np.where(is_coded, low, each.coding.codes[np.where(is_coded, 0, low)])
            high = np.where(is_coded, high, each.coding.codes[np.where(is_coded, 0, high)])
            thresholds[here] = each.coding.thresholds(low, high)
    return thresholds


def classes_of(samples: Samples) -> CodeArray:
    """Class codes; all 0 for numbers."""
    target = samples.target
    if isinstance(target, ClassTarget):
        return for_kernels(target.codes, np.int32)
    return np.zeros(len(samples), dtype=np.int32)


def numbers_of(samples: Samples) -> FloatArray:
    """The numbers to predict, by row and output; no outputs for classes."""
    target = samples.target
    if isinstance(target, ClassTarget):
        return np.empty((len(samples), 0))
    return for_kernels(target.numbers, np.float64)


def n_classes_of(samples: Samples) -> int:
    """How many classes there are; 1 for numbers."""
    return len(samples.target.classes) if isinstance(samples.target, ClassTarget) else 1


def n_sums_of(samples: Samples) -> int:
    """How many sums a set of rows has: one for each class, or the moments of the numbers."""
    target = samples.target
    return len(target.classes) if isinstance(target, ClassTarget) else 1 + 2 * target.numbers.shape[1]


def row_bits_of(samples: Samples) -> int:
    """How many bits number the rows."""
    return max(1, (len(samples) - 1).bit_length())
