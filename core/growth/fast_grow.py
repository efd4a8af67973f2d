"""Growing by compiled kernels: the same tree as `grow`.

The kernels say which rows stand on both sides of each cut, or which levels go down which branch, and add up every
node's sums in row order; thresholds and figures are computed from those here, by the same formulas as in the
definition, so that both store the same bytes.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.config import (
    Algorithm,
    Categorical,
    CriterionKind,
    Dialect,
    GainFilter,
    MissingStrategy,
    Numeric,
    NumericCorrection,
    NumericKind,
    Nunez,
    TanSchlimmer,
)
from core.criteria.gain import corrected_gain, gain_ratio
from core.criteria.objective import Objective
from core.growth.best_first import best_first, deepest_needed
from core.growth.best_split import objective_of, score_with_cost
from core.growth.coding import Coding, as_numbers, coding_of, for_kernels, is_codable
from core.growth.release8 import counts_in_average, gain_and_ratio
from core.growth.release8_tolerances import TOLERANCE
from core.growth.samples import Samples
from core.progress import Watch, nobody, part_of, watched
from core.randomness import root_key
from core.splits.candidates import midpoints
from core.splits.split import SplitKind
from core.sums import in_row_order
from core.table import CodeArray, FloatArray, RowArray
from core.target import ClassTarget, Task
from core.ties import TIE
from core.tree import LEAF, SPLIT_KINDS, Tree

Room = TypeVar("Room")

MOST_BITS = 31  # of an entry, for the class and the row
MOST_COUNTS = 4_000_000  # kept for waiting nodes
POLL_SECONDS = 0.25
PIECES = 8  # nodes with at most this part of the rows are grown by one thread
CODING, SORTING = 0.05, 0.15  # the parts of the work that these take, about
SORTED = 2  # a place in `progress`, after those of the kernels: the part of the lists that is sorted


class GrowthEnded(Exception):
    """Nobody waits for this tree any more."""


class Rooms(Generic[Room]):
    """Room to work in for so many threads; who takes one gives it back, whatever happens."""

    def __init__(self, rooms: Iterable[Room]) -> None:
        self._free: SimpleQueue[Room] = SimpleQueue()
        for room in rooms:
            self._free.put(room)

    @contextmanager
    def one(self) -> Iterator[Room]:
        """One that nobody else has meanwhile."""
        room = self._free.get()
        try:
            yield room
        finally:
            self._free.put(room)


def is_supported(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether the kernels can grow this tree; the definition can grow every one."""
    return (
        is_codable(samples)
        and algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
        and not algorithm.stopping.validate_splits
        and row_bits_of(samples) + class_bits_of(samples) <= MOST_BITS
    )


def grow_fast(
    samples: Samples, algorithm: Algorithm, *, seed: int = 0, threads: int = 1, watch: Watch = nobody
) -> Tree:
    """The full tree; `watch` hears how much is done several times a second, and may raise to end growth."""
    from core.growth.grow_kernels import DONE, STOP  # compiles: never in a process that answers requests

    max_leaves = algorithm.stopping.max_leaves
    if max_leaves is not None:
        algorithm = without_leaf_limit(algorithm, max_leaves)
    if algorithm.dialect is Dialect.RELEASE8:
        algorithm = in_release8(algorithm)
    weighing = weighing_of(samples)
    columns = columns_of(samples, algorithm, weighing, part_of(watch, 0.0, CODING))
    objective = objective_of(algorithm, samples)
    progress, whole = np.zeros((1 + threads, 3)), float(samples.weights.sum())
    with ThreadPoolExecutor(1) as pool:  # the kernels hold no lock, so this thread can say how far they are
        growing = pool.submit(grown, samples, algorithm, objective, columns, weighing, seed, threads, progress)
        try:
            while not wait([growing], POLL_SECONDS).done:
                done = min(1.0, float(progress[:, DONE].sum()) / whole)
                watch(CODING + SORTING * float(progress[0, SORTED]) + (1 - CODING - SORTING) * done)
        except BaseException:
            progress[:, STOP] = 1.0
            raise
    tree = assembled(samples, algorithm, objective, columns, *growing.result())
    watch(1.0)
    return tree if max_leaves is None else best_first(tree, max_leaves, objective.tolerance)


def without_leaf_limit(algorithm: Algorithm, max_leaves: int) -> Algorithm:
    """The algorithm that grows every node which a tree of so many leaves may have."""
    stopping = algorithm.stopping
    depth = deepest_needed(max_leaves, stopping.max_depth)
    return replace(algorithm, stopping=replace(stopping, max_leaves=None, max_depth=depth))


def in_release8(algorithm: Algorithm) -> Algorithm:
    """The parts that the dialect knows, and its limits with its own tolerance instead of that of ties."""
    stopping = algorithm.stopping
    m, tolerance = stopping.min_samples_leaf, TOLERANCE - TIE
    min_split = max(stopping.min_samples_split, 2 * m - tolerance)
    return replace(
        algorithm,
        categorical=Categorical.MULTIWAY,
        numeric=Numeric(),
        attribute_costs=None,
        stopping=replace(stopping, min_samples_leaf=m - tolerance, min_samples_split=min_split),
    )


def way_of(algorithm: Algorithm) -> tuple[int, int]:
    """Which cuts of a list are candidates, in the kernels' terms, and how many bins or draws there are."""
    from core.splits import candidate_kernels as ways

    if algorithm.dialect is Dialect.RELEASE8:
        return ways.DISTANT_VALUES, 0
    if algorithm.numeric.is_found_before_growth:
        return ways.EVERY_GAP, 0
    numeric = algorithm.numeric
    return {
        NumericKind.BOUNDARY: (ways.CLASS_CHANGES, 0),
        NumericKind.QUANTILE: (ways.EQUAL_FREQUENCY, numeric.bins),
        NumericKind.UNIFORM: (ways.EQUAL_WIDTH, numeric.bins),
        NumericKind.RANDOM: (ways.AT_RANDOM, numeric.draws),
    }.get(numeric.kind, (ways.EVERY_GAP, 0))


@dataclass(frozen=True)
class Weighing:
    """What rows weigh: whether some go down several branches, whether all count one, and whether these are classes."""

    has_missing: bool
    is_unit: bool
    is_counted: bool


def weighing_of(samples: Samples) -> Weighing:
    """How the samples are weighed."""
    has_missing = samples.attributes.has_missing
    is_unit = not has_missing and bool((samples.weights == 1).all())
    return Weighing(has_missing, is_unit, is_unit and isinstance(samples.target, ClassTarget))


@dataclass(frozen=True)
class Column:
    """A column as the kernels get it: its first candidate slot, how many it has, and its codes unless it is a list.

    Codes of two levels may be bits.
    """

    slot: int
    n_slots: int
    coding: Coding | None
    is_bit: bool


def columns_of(samples: Samples, algorithm: Algorithm, weighing: Weighing, watch: Watch = nobody) -> list[Column]:
    """Every column, in order."""
    columns: list[Column] = []
    slot, is_corrected = 0, algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8
    can_be_bits = weighing.is_counted and not is_corrected
    for column, attribute in enumerate(watched(samples.attributes.schema.columns, watch)):
        coding = coding_of(samples, algorithm, column)
        is_one_hot = algorithm.categorical is Categorical.ONE_HOT and not attribute.has_order
        is_bit = can_be_bits and coding is not None and coding.is_one_cut
        columns.append(Column(slot, len(attribute.categories) if is_one_hot else 1, coding, is_bit))
        slot += columns[-1].n_slots
    return columns


def grown(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    weighing: Weighing,
    seed: int,
    threads: int,
    progress: FloatArray,
) -> tuple[Any, ...]:
    """The kernels' nodes: links, figures, branch figures, branches of levels.

    `progress` has a row for what is not divided, then one for each thread.
    """
    from core.growth import grow_kernels as kernels

    problem = problem_of(samples, algorithm, columns, weighing, threads, progress[0])
    rules = rules_of(samples, algorithm, objective, columns, weighing, seed)
    works = [work_for(samples, algorithm, columns, weighing) for _ in range(threads)]
    is_divided = threads > 1 and not weighing.has_missing  # copies would have to be kept until their turn
    few_rows = len(samples) // PIECES if is_divided else 0
    *tree, pieces = kernels.grow_tree(problem, rules, works[0], few_rows, progress[0])
    if len(pieces) == 0:
        return tuple(tree)
    return with_subtrees(tree, pieces[:, 0], subtrees_of(problem, rules, works, tree, pieces, progress[1:]))


def subtrees_of(
    problem: tuple[Any, ...],
    rules: tuple[Any, ...],
    works: list[tuple[Any, ...]],
    tree: list[Any],
    pieces: RowArray,
    progress: FloatArray,
) -> list[tuple[Any, ...]]:
    """The nodes of each piece, grown by as many threads as there is room to work in, the longest first."""
    from core.growth import grow_kernels as kernels

    links, figures = tree[:2]
    rooms = Rooms(zip(works, progress, strict=True))

    def subtree(piece: Any) -> tuple[Any, ...]:
        with rooms.one() as (work, done):
            node = piece[0]
            found: tuple[Any, ...] = kernels.grow_piece(
                problem, rules, work, piece, links[node, kernels.KEY], figures[node], done
            )
            return found[:4]

    n_rows = pieces[:, 1 + 2 * (len(problem[0]) + 1)]
    longest_first = np.argsort(-n_rows, kind="stable")
    with ThreadPoolExecutor(len(works)) as pool:
        found = dict(zip(longest_first.tolist(), pool.map(subtree, pieces[longest_first]), strict=True))
    return [found[number] for number in range(len(pieces))]


def with_subtrees(tree: list[Any], nodes: RowArray, subtrees: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """`grow_kernels.graft` for all pieces: the first node of each takes the place of the leaf it was left as."""
    from core.growth import grow_kernels as kernels

    links, figures = tree[0].copy(), tree[1].copy()
    parts: list[list[Any]] = [[links], [figures], [tree[2]], [tree[3]]]
    n_nodes, n_sums, n_levels = len(links), len(tree[2]), len(tree[3])
    for node, (links_below, figures_below, sums_below, levels_below) in zip(nodes, subtrees, strict=True):
        placed = links_below.copy()
        placed[:, kernels.SUMS] += n_sums
        placed[:, kernels.LEVELS] += n_levels
        parents = placed[:, kernels.PARENT]
        placed[:, kernels.PARENT] = np.where(parents == 0, node, n_nodes + parents - 1)
        links[node, kernels.SLOT :], figures[node] = placed[0, kernels.SLOT :], figures_below[0]
        for part, below in zip(parts, (placed[1:], figures_below[1:], sums_below, levels_below), strict=True):
            part.append(below)
        n_nodes += len(placed) - 1
        n_sums += len(sums_below)
        n_levels += len(levels_below)
    return tuple(np.concatenate(part) for part in parts)


def problem_of(
    samples: Samples,
    algorithm: Algorithm,
    columns: list[Column],
    weighing: Weighing,
    threads: int,
    progress: FloatArray,
) -> tuple[Any, ...]:
    """The samples as sorted lists and codes: the fields of the kernels' `Problem`."""
    from core.growth.grow_kernels import STOP

    n_rows, row_bits, class_bits = len(samples), row_bits_of(samples), class_bits_of(samples)
    listed = [number for number, column in enumerate(columns) if column.coding is None]
    coded = [(column.coding, column.is_bit) for column in columns if column.coding is not None]
    classes, numbers = classes_of(samples), numbers_of(samples)
    n_words = (len(listed) + 63) // 64 if weighing.has_missing and samples.target.task is Task.REGRESSION else 0
    missing = np.zeros((n_rows, n_words), dtype=np.uint64)
    lists = np.empty((len(listed), 2 * n_rows if weighing.has_missing else n_rows), dtype=np.uint32)
    lengths, distinct = np.zeros(len(listed), dtype=np.int64), np.zeros(len(listed), dtype=np.bool_)
    rooms = Rooms(np.empty(n_rows, dtype=np.uint64) for _ in range(threads))

    def fill(place: int) -> None:
        if progress[STOP]:
            raise GrowthEnded
        values = as_numbers(samples, listed[place])
        with rooms.one() as room:
            lengths[place], distinct[place] = fill_list(values, classes, class_bits, row_bits, room, lists[place])
        progress[SORTED] += 1 / len(listed)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(fill, range(len(listed))))
    for place, column in enumerate(listed if n_words else ()):
        set_bits(missing, place, np.isnan(as_numbers(samples, column)))
    progress[SORTED] = 1.0
    in_codes = [number for number, (_, is_bit) in enumerate(coded) if not is_bit]
    in_bits = [number for number, (_, is_bit) in enumerate(coded) if is_bit]
    codes, starts = np.empty((n_rows, len(in_codes)), dtype=np.uint32), first_levels(columns)
    for place, number in enumerate(in_codes):
        np.add(coded[number][0].codes, starts[number], out=codes[:, place], casting="unsafe")
    bits = np.zeros((n_rows, (len(in_bits) + 63) // 64), dtype=np.uint64)
    for place, number in enumerate(in_bits):
        set_bits(bits, place, coded[number][0].codes)
    rows = np.empty(2 * n_rows if weighing.has_missing else n_rows, dtype=np.uint32)
    rows[:n_rows] = np.arange(n_rows)
    return (
        lists,
        lengths,
        distinct,
        np.array([columns[column].slot for column in listed], dtype=np.int64),
        rows,
        n_rows,
        classes,
        numbers,
        np.array(samples.weights, dtype=np.float64),
        missing,
        weighing.has_missing,
        codes,
        np.array(in_codes, dtype=np.int64),
        bits,
        np.array(in_bits, dtype=np.int64),
        np.arange(n_rows, dtype=np.uint32),
        row_bits,
        values_of(samples, algorithm, listed),
    )


def set_bits(words: NDArray[np.uint64], place: int, marks: NDArray[Any]) -> None:
    """Set that bit of every row whose mark is 1."""
    words[:, place // 64] |= marks.astype(np.uint64) << np.uint64(place % 64)


def first_levels(columns: list[Column]) -> RowArray:
    """Where the levels of each coded column start when all stand below each other, each with one more for missing."""
    return np.cumsum([0, *(each.coding.n_levels + 1 for each in columns if each.coding is not None)], dtype=np.int64)[
        :-1
    ]


def values_of(samples: Samples, algorithm: Algorithm, listed: list[int]) -> FloatArray:
    """`[list, row]`: the values of columns that are lists, if the way to choose cuts looks at them; else nothing."""
    from core.splits import candidate_kernels as ways

    if way_of(algorithm)[0] not in (ways.EQUAL_WIDTH, ways.AT_RANDOM, ways.DISTANT_VALUES) or not listed:
        return np.empty((0, 0))
    return np.array([as_numbers(samples, column) for column in listed])


def fill_list(
    values: FloatArray, classes: CodeArray, class_bits: int, row_bits: int, room: Any, entries: Any
) -> tuple[int, bool]:
    """Write a column's sorted list; how many values are known, and whether all are distinct.

    Packed keys are sorted by NumPy's vector instructions; where too many values are so close that their keys are the
    same, the values are sorted themselves.
    """
    from core.growth.partition_kernels import list_entries, settle_runs, sortable_keys

    keys = room[: int(sortable_keys(values, values.view(np.uint64), classes, class_bits, row_bits, room))]
    keys.sort()
    if not settle_runs(keys, values, class_bits, row_bits):
        rows = np.argsort(values, kind="stable")[: len(keys)].astype(np.uint64)
        keys[:] = (rows << np.uint64(class_bits)) | classes[rows].astype(np.uint64)  # without upper bits
    n_new = list_entries(keys, values, class_bits, row_bits, entries)
    return len(keys), bool(n_new + 1 == len(keys))


def rules_of(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    weighing: Weighing,
    seed: int,
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
    n_slots = [column.n_slots for column in columns]

    def n_looked_up(by: int) -> int:
        """How far a table goes that only counted classes and one criterion look into."""
        return n_rows if weighing.is_counted and criterion == by else 1

    large_unit = 2.0 ** (60 - int(np.ceil(np.log2(max(2, n_rows) * np.log2(max(2, n_rows)) + 1))))
    return (
        criterion,
        is_ratio,
        is_ratio or costs is not None,
        gain_filter,
        n_classes_of(samples),
        weighing.is_counted,
        weighing.is_unit,
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
            n_slots,
        ),
        np.array([column.slot for column, _ in coded], dtype=np.int64),
        np.array([kinds[coding.kind] for _, coding in coded], dtype=np.int64),
        np.array([coding.n_levels for _, coding in coded], dtype=np.int64),
        first_levels(columns),
        np.concatenate([[0.0], 1 / np.arange(1, n_looked_up(scans.GINI) + 1)]),
        times_log2_table(min(n_looked_up(scans.ENTROPY), scans.SMALL_COUNT), scans.SMALL_UNIT),
        times_log2_table(n_looked_up(scans.ENTROPY), large_unit),
        scans.SMALL_UNIT,
        large_unit,
        *way_of(algorithm),
        algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8,
        np.repeat(np.arange(len(columns)), n_slots),
        np.repeat(columns_in_average(samples, algorithm), n_slots),
        np.uint64(root_key(seed)),
    )


def columns_in_average(samples: Samples, algorithm: Algorithm) -> list[bool]:
    """The gains of which columns the dialect takes the average of."""
    columns = range(len(samples.attributes.schema))
    return [algorithm.dialect is Dialect.RELEASE8 and counts_in_average(samples, column) for column in columns]


def times_log2_table(n: int, unit: float) -> NDArray[np.int64]:
    """n log2 n for whole numbers up to n, as whole numbers of 1/unit."""
    numbers = np.arange(n + 1, dtype=np.float64)
    return np.rint(numbers * np.log2(np.maximum(numbers, 1.0)) * unit).astype(np.int64)


def work_for(samples: Samples, algorithm: Algorithm, columns: list[Column], weighing: Weighing) -> tuple[Any, ...]:
    """Room for the kernels to work in: the fields of their `Work`."""
    from core.splits.categorical_kernels import space_for
    from core.splits.numeric_kernels import BLOCK

    n_rows, n_slots = len(samples), sum(column.n_slots for column in columns)
    n_lists, n_classes, n_sums = len(columns), n_classes_of(samples), n_sums_of(samples)
    n_levels = [column.coding.n_levels for column in columns if column.coding is not None]
    most_levels, n_all_levels = max(n_levels, default=0), sum(n_levels) + len(n_levels)
    n_branches = max(2, most_levels)
    n_gaps, n_thresholds = most_places(samples, algorithm)
    has_counts_only = weighing.is_unit and algorithm.criterion.kind is not CriterionKind.ERROR_RATE
    return (
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(2 * n_sums),
        np.zeros(n_sums),
        np.empty((0 if has_counts_only else n_rows // BLOCK + 3, n_sums)),
        np.zeros((n_lists, n_sums)),
        np.zeros(n_slots),
        np.zeros(n_slots),
        np.zeros((n_slots, 4), dtype=np.int64),
        np.zeros(n_slots, dtype=np.bool_),
        np.zeros(n_branches),
        np.zeros(n_rows, dtype=np.uint8),
        np.zeros(n_rows if most_levels else 0, dtype=np.uint16),
        np.empty(n_rows if weighing.has_missing else 0, dtype=np.uint32),
        np.zeros((2, 3)),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.zeros((sum(column.is_bit for column in columns), n_classes), dtype=np.uint32),
        np.zeros(counts_for(weighing, n_rows, n_classes, n_all_levels), dtype=np.uint32),
        np.zeros((n_all_levels, n_sums)),
        np.zeros(n_all_levels),
        np.zeros(n_all_levels, dtype=np.int64),
        np.zeros(len(n_levels), dtype=np.int64),
        np.zeros(len(n_levels)),
        np.zeros(len(n_levels), dtype=np.bool_),
        np.zeros(n_all_levels, dtype=np.bool_),
        np.zeros(most_levels + 1, dtype=np.uint16),
        np.zeros(most_levels + 1, dtype=np.uint8),
        np.zeros((4, n_branches), dtype=np.int64),
        np.zeros(most_levels),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        space_for(max(1, most_levels), n_sums),
        np.full(n_slots, np.nan),
        np.zeros(n_slots),
        np.zeros(n_gaps, dtype=np.int64),
        np.zeros(n_thresholds),
        np.zeros(n_gaps),
    )


def counts_for(weighing: Weighing, n_rows: int, n_classes: int, n_levels: int) -> tuple[int, int, int]:
    """Room for the counts of waiting nodes, by class and level: as many as wait in a binary tree, unless all are large.

    The smaller child is grown first, so that each has at most half the rows of the one below it.
    """
    if not weighing.is_counted:
        return 1, 0, 0
    return min(n_rows.bit_length() + 1, 1 + MOST_COUNTS // max(1, n_classes * n_levels)), n_classes, n_levels


def most_places(samples: Samples, algorithm: Algorithm) -> tuple[int, int]:
    """How many cuts of a list are named at once at the most, and how many thresholds that are no midpoints."""
    from core.splits import candidate_kernels as ways

    way, n_parts = way_of(algorithm)
    if way == ways.EVERY_GAP:
        return 0, 0
    return (n_parts, n_parts) if way in (ways.EQUAL_WIDTH, ways.AT_RANDOM) else (len(samples), 0)


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
    kind, more = kinds_of(column, columns), after_branches(samples, links, sums)
    gain, score, share = split_figures(
        samples, algorithm, objective, column, kind, links, figures[:, 0], sums, more, order
    )
    values, variances, impurity = node_values(figures, objective)
    branch_start, branch_of = branches_of(columns, column, links, levels)
    return Tree(
        task=samples.target.task,
        size=sizes,
        column=column.astype(np.int32),
        kind=kind,
        threshold=thresholds_of(samples, columns, column, links, more[:, kernels.THRESHOLD]),
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
    kind: NDArray[np.int8],
    links: Any,
    weights: FloatArray,
    sums: FloatArray,
    more: FloatArray,
    order: RowArray,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Gain and score of every split, as the definitions have them, NaN in leaves; every node's share."""
    from core.growth import grow_kernels as kernels

    gain, score, share = np.full(len(links), np.nan), np.full(len(links), np.nan), np.ones(len(links))
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.arange(len(order))
    first_child = np.full(len(links), -1)  # as grown: a node's children stand next to each other
    is_first = (links[:, kernels.BRANCH] == 0) & (links[:, kernels.PARENT] >= 0)
    first_child[number[links[is_first, kernels.PARENT]]] = order[is_first]
    width = n_sums_of(samples)
    n_branches = np.where(column >= 0, links[:, kernels.N_BRANCHES], 0)
    is_corrected = algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8
    is_paying = is_corrected & (kind == SPLIT_KINDS.index(SplitKind.THRESHOLD))
    for n in np.unique(n_branches[n_branches > 0]):
        nodes = np.flatnonzero(n_branches == n)
        here = sums[links[nodes, kernels.SUMS][:, None] + np.arange(n * (1 + width))]
        branch_weights, branches = here[:, :n], here[:, n:].reshape(len(nodes), n, width)
        known = in_row_order(branch_weights.T)
        n_paid_for = np.where(is_paying[nodes], more[nodes, kernels.N_ALLOWED], 1.0)
        if algorithm.dialect is Dialect.RELEASE8:
            parts = np.column_stack([branch_weights, more[nodes, kernels.MISSING]])
            gain[nodes], score[nodes] = gain_and_ratio(branches, parts, objective, n_paid_for)
        else:
            rho = np.where(links[nodes, kernels.IS_COMPLETE].astype(bool), 1.0, known / weights[nodes])
            gain[nodes] = corrected_gain(rho * objective.decrease(branches, branch_weights), n_paid_for, weights[nodes])
            is_ratio = algorithm.criterion.kind is CriterionKind.GAIN_RATIO
            score[nodes] = gain_ratio(gain[nodes], branch_weights) if is_ratio else gain[nodes]
        children = first_child[nodes][:, None] + np.arange(n)
        share[number[children]] = branch_weights / known[:, None]
    if algorithm.attribute_costs is not None:
        for node in np.flatnonzero(column >= 0):
            name = samples.attributes.schema[int(column[node])].name
            score[node] = score_with_cost(float(gain[node]), float(score[node]), algorithm, name)
    return gain, score, share


def after_branches(samples: Samples, links: Any, sums: FloatArray) -> FloatArray:
    """`[node, :]`: what the kernels say of a split beyond the figures of its branches; NaN in leaves."""
    from core.growth import grow_kernels as kernels

    more, is_inner = np.full((len(links), kernels.N_MORE), np.nan), links[:, kernels.SLOT] >= 0
    begin = links[is_inner, kernels.SUMS] + links[is_inner, kernels.N_BRANCHES] * (1 + n_sums_of(samples))
    more[is_inner] = sums[begin[:, None] + np.arange(kernels.N_MORE)]
    return more


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


def thresholds_of(
    samples: Samples, columns: list[Column], column: RowArray, links: Any, given: FloatArray
) -> FloatArray:
    """The threshold of each cut: the one given, or else from the rows or the levels on both sides; NaN for no cut."""
    from core.growth import grow_kernels as kernels

    thresholds = np.full(len(column), np.nan)
    for number, each in enumerate(columns):
        if each.coding is not None and each.coding.kind is not SplitKind.THRESHOLD:
            continue
        here = np.flatnonzero(column == number)
        low, high = links[here, kernels.LOW], links[here, kernels.HIGH]
        if each.coding is None:
            values = as_numbers(samples, number)
            thresholds[here] = np.where(np.isnan(given[here]), midpoints(values[low], values[high]), given[here])
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


def class_bits_of(samples: Samples) -> int:
    """How many bits number the classes."""
    return max(1, n_classes_of(samples) - 1).bit_length()
