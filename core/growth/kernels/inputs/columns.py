"""What kernels need to know of samples: how rows are weighted, which columns are lists or codes, how many sums."""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray
from core.config.options import Algorithm, Categorical, MissingStrategy, NumericCorrection
from core.growth.kernels.inputs.coding import Coding, coding_of, for_kernels
from core.growth.samples import Samples
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.target import ClassTarget

MOST_WHOLE = 2.0**31  # the square of a sum of whole weights below this fits into 64 bits


@dataclass(frozen=True)
class Weighing:
    """How rows are weighted.

    `has_missing`: some rows may go down several branches. `is_unit`: every row counts one. `is_counted`: every row
    counts one, and classes are predicted. `is_whole`: weights are whole numbers and stay so, and the squares of their
    sums are exact.
    """

    has_missing: bool
    is_unit: bool
    is_counted: bool
    is_whole: bool


def weighing_of(samples: Samples, *, is_counting: bool = True) -> Weighing:
    """How the samples are weighted; without `is_counting`, rows of weight 1 are treated like any others."""
    has_missing = samples.attributes.has_missing
    is_unit = is_counting and not has_missing and bool((samples.weights == 1).all())
    is_whole = not has_missing and bool((samples.weights == np.floor(samples.weights)).all())
    is_exact = is_whole and float(samples.weights.max()) * len(samples) < MOST_WHOLE
    return Weighing(has_missing, is_unit, is_unit and isinstance(samples.target, ClassTarget), is_exact)


@dataclass(frozen=True)
class Column:
    """A column as the kernels get it: its first candidate slot, its number of slots, and its codes unless it is a list.

    With `is_bit`, its codes are stored as bits.
    """

    slot: int
    n_slots: int
    coding: Coding | None
    is_bit: bool


def columns_of(
    samples: Samples,
    algorithm: Algorithm,
    weighing: Weighing,
    watch: Watch = ignore_progress,
    *,
    has_draws: bool = False,
) -> list[Column]:
    """Every column, in order. Few distinct values are no reason to code one if nodes draw columns or use surrogates."""
    columns: list[Column] = []
    few_values = not has_draws and algorithm.missing is not MissingStrategy.SURROGATE
    slot, is_corrected = 0, algorithm.criterion.numeric_correction is NumericCorrection.RELEASE8
    can_be_bits = weighing.is_counted and not is_corrected
    for column, attribute in enumerate(watched(samples.attributes.schema.columns, watch)):
        coding = coding_of(samples, algorithm, column, few_values=few_values)
        is_one_hot = algorithm.categorical is Categorical.ONE_HOT and not attribute.has_order
        is_bit = can_be_bits and coding is not None and coding.is_one_cut
        columns.append(Column(slot, len(attribute.categories) if is_one_hot else 1, coding, is_bit))
        slot += columns[-1].n_slots
    return columns


def first_levels(columns: list[Column]) -> RowArray:
    """Where the codes of each coded column start if they follow one another, each column with one more for missing."""
    return np.cumsum([0, *(each.coding.n_levels + 1 for each in columns if each.coding is not None)], dtype=np.int64)[
        :-1
    ]


def classes_of(samples: Samples) -> CodeArray:
    """The class codes of the rows; all 0 for numbers."""
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
    """The number of classes; 1 for numbers."""
    return len(samples.target.classes) if isinstance(samples.target, ClassTarget) else 1


def n_sums_of(samples: Samples) -> int:
    """How many sums describe a set of rows: one for each class, or the moments of the numbers."""
    target = samples.target
    return len(target.classes) if isinstance(target, ClassTarget) else 1 + 2 * target.numbers.shape[1]


def row_bits_of(samples: Samples) -> int:
    """How many bits a row number takes."""
    return max(1, (len(samples) - 1).bit_length())


def class_bits_of(samples: Samples) -> int:
    """How many bits a class takes."""
    return max(1, n_classes_of(samples) - 1).bit_length()
