"""The algorithm as the kernels take it: numbers, constants for options, and lookup tables of costly functions."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import log2
from core.arithmetic.randomness import root_key
from core.config.options import (
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
from core.criteria.kernels import impurity as impurity_kernels
from core.criteria.kernels.impurity import ENTROPY, GINI, MOST_CLASSES
from core.criteria.objective import Objective
from core.growth.column_draw import ColumnDraw
from core.growth.kernels.inputs.columns import Column, Weighing, first_levels, n_classes_of
from core.growth.kernels.lists import coded_columns as tables
from core.growth.kernels.lists import routing as missing_ways
from core.growth.kernels.node import state
from core.growth.release8 import counts_in_average
from core.growth.samples import Samples
from core.splits.kernels import candidates as ways
from core.splits.kernels import numeric as scans
from core.splits.kernels.candidates import EVERY_GAP
from core.splits.kernels.numeric import MOST_LANES
from core.splits.split import SplitKind
from core.tables.target import ClassTarget


def rules_of(
    samples: Samples,
    algorithm: Algorithm,
    objective: Objective,
    columns: list[Column],
    weighing: Weighing,
    seed: int,
    draw: ColumnDraw | None = None,
    *,
    keeps_small: bool = False,
) -> tuple[Any, ...]:
    """The algorithm in the kernels' terms: the fields of their `Rules`.

    With `keeps_small`, the nodes of small subtrees are stored apart from the others; the caller checks `has_small`
    first.
    """
    n_rows, stopping = len(samples), algorithm.stopping
    criterion = criterion_of(algorithm)
    kinds = {
        SplitKind.THRESHOLD: tables.ORDERED,
        SplitKind.MULTIWAY: tables.MULTIWAY,
        SplitKind.INTERVALS: tables.MULTIWAY,
        SplitKind.GROUPS: tables.GROUPS,
        SplitKind.ONE_VS_REST: tables.ONE_HOT if algorithm.categorical is Categorical.ONE_HOT else tables.ONE_VS_REST,
    }
    coded = [(column, column.coding) for column in columns if column.coding is not None]
    costs = algorithm.attribute_costs
    n_slots = [column.n_slots for column in columns]

    return (
        criterion,
        is_ratio(algorithm),
        is_ratio(algorithm) or costs is not None,
        filter_of(algorithm),
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
        *tables_of(n_rows if weighing.is_counted else 1, criterion),
        *way_of(algorithm),
        algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8,
        np.repeat(np.arange(len(columns)), n_slots),
        np.repeat(columns_in_average(samples, algorithm), n_slots),
        np.uint64(root_key(seed)),
        *draw_of(columns, draw),
        np.append([column.slot for column in columns], sum(n_slots)),
        weighing.is_whole,
        keeps_small,
        strategy_of(algorithm),
    )


def strategy_of(algorithm: Algorithm) -> int:
    """What happens to rows without the value of a split, as a constant of `growth.kernels.lists.routing`."""
    return {
        MissingStrategy.DISTRIBUTION: missing_ways.DRAWN,
        MissingStrategy.SURROGATE: missing_ways.FOLLOWING,
    }.get(algorithm.missing, missing_ways.COPIED)


def criterion_of(algorithm: Algorithm) -> int:
    """The criterion that scans maximise, as a constant of `criteria.kernels.impurity`."""
    return {
        CriterionKind.GINI: impurity_kernels.GINI,
        CriterionKind.INFORMATION_GAIN: impurity_kernels.ENTROPY,
        CriterionKind.GAIN_RATIO: impurity_kernels.ENTROPY,
        CriterionKind.ERROR_RATE: impurity_kernels.ERROR,
        CriterionKind.SQUARED_ERROR: impurity_kernels.SQUARED,
    }[algorithm.criterion.kind]


def is_ratio(algorithm: Algorithm) -> bool:
    """Whether attributes are compared by gain ratio."""
    return algorithm.criterion.kind is CriterionKind.GAIN_RATIO


def filter_of(algorithm: Algorithm) -> int:
    """Which candidates the criterion may choose from, as a constant of `growth.kernels.node.state`."""
    return {
        GainFilter.ABOVE_AVERAGE: state.ABOVE_AVERAGE,
        GainFilter.BETTER_HALF: state.BETTER_HALF,
    }.get(algorithm.criterion.filter or GainFilter.NONE, state.NO_FILTER)


def draw_of(columns: list[Column], draw: ColumnDraw | None) -> tuple[Any, ...]:
    """The columns that nodes may test, how many each draws (0 for all), and each column's coded index, or -1."""
    is_coded = np.array([column.coding is not None for column in columns])
    every = np.arange(len(columns)) if draw is None else np.array(draw.columns, dtype=np.int64)
    return every, 0 if draw is None else draw.n_drawn, np.where(is_coded, np.cumsum(is_coded) - 1, -1)


def way_of(algorithm: Algorithm) -> tuple[int, int]:
    """Which cuts of a list are candidates, as a constant of `splits.kernels.candidates`, and how many bins or draws."""
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


def is_bounded(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether the gains of lists are bounded before the lists are searched; see `growth.kernels.bounds`."""
    return (
        criterion_of(algorithm) in (GINI, ENTROPY)
        and n_classes_of(samples) <= MOST_LANES
        and way_of(algorithm)[0] == EVERY_GAP
    )


def has_small(samples: Samples, algorithm: Algorithm, columns: list[Column]) -> bool:
    """Whether `growth.kernels.small.grow` can grow subtrees of few rows.

    Every column must be a list, every gap a candidate, and attributes have no costs. The criterion must be Gini of few
    classes or squared error of one number, for which `criteria.kernels.impurity` derives the same figures from sums as
    NumPy. Rows without the value of a split must be copied.
    """
    target, kinds = samples.target, (CriterionKind.GINI, CriterionKind.SQUARED_ERROR)
    is_plain = algorithm.criterion.kind in kinds and algorithm.attribute_costs is None
    is_copying = algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
    is_of_few = n_classes_of(samples) <= MOST_CLASSES and (
        isinstance(target, ClassTarget) or target.numbers.shape[1] == 1
    )
    are_lists = all(column.coding is None for column in columns)
    return is_plain and is_copying and is_of_few and are_lists and way_of(algorithm)[0] == EVERY_GAP


def columns_in_average(samples: Samples, algorithm: Algorithm) -> list[bool]:
    """For each column, whether its gain counts in the average gain; only in `release8`."""
    columns = range(len(samples.attributes.schema))
    return [algorithm.dialect is Dialect.RELEASE8 and counts_in_average(samples, column) for column in columns]


def tables_of(n: int, criterion: int) -> tuple[Any, ...]:
    """Lookup tables for scans that count classes: reciprocals for Gini, n log2 n for entropy, for counts up to n.

    The logarithms of small counts are also tabulated in a finer unit. Both units follow the tables.
    """
    large_unit = 2.0 ** (60 - math.ceil(log2(max(2, n) * log2(max(2, n)) + 1)))
    n_logarithms = n if criterion == impurity_kernels.ENTROPY else 1
    return (
        reciprocal_table(n if criterion == impurity_kernels.GINI else 1),
        times_log2_table(min(n_logarithms, scans.SMALL_COUNT), scans.SMALL_UNIT),
        times_log2_table(n_logarithms, large_unit),
        scans.SMALL_UNIT,
        large_unit,
    )


def reciprocal_table(n: int) -> FloatArray:
    """1/n for whole numbers up to n; 0 for 0. Computed in place, since a long table needs much memory."""
    table = np.arange(n + 1, dtype=np.float64)
    np.divide(1.0, table[1:], out=table[1:])
    return table


def times_log2_table(n: int, unit: float) -> NDArray[np.int64]:
    """n log2 n for whole numbers up to n, as integers in units of 1/unit."""
    table = np.zeros(n + 1, dtype=np.int64)
    scans.fill_times_log2(table, unit)
    return table
