"""What the kernels get to know of samples: how they are weighed, each column as a list or codes, how many sums."""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray
from core.config.options import Algorithm, Categorical, MissingStrategy, NumericCorrection
from core.growth.kernels.inputs.coding import Coding, coding_of, for_kernels
from core.growth.samples import Samples
from core.tables.progress import Watch, nobody, watched
from core.tables.target import ClassTarget

MOST_WHOLE = 2.0**31  # the sum of whole weights whose square is a whole number of 64 bits


@dataclass(frozen=True)
class Weighing:
    """What rows weigh: whether some go down several branches, whether all count one, and whether these are classes.

    `is_whole` where weights are whole numbers, and stay so, whose squares are exact.
    """

    has_missing: bool
    is_unit: bool
    is_counted: bool
    is_whole: bool


def weighing_of(samples: Samples, *, is_counting: bool = True) -> Weighing:
    """How the samples are weighed; where nothing is to be counted, rows of weight 1 are weighed too."""
    has_missing = samples.attributes.has_missing
    is_unit = is_counting and not has_missing and bool((samples.weights == 1).all())
    is_whole = not has_missing and bool((samples.weights == np.floor(samples.weights)).all())
    is_exact = is_whole and float(samples.weights.max()) * len(samples) < MOST_WHOLE
    return Weighing(has_missing, is_unit, is_unit and isinstance(samples.target, ClassTarget), is_exact)


@dataclass(frozen=True)
class Column:
    """A column as the kernels get it: its first candidate slot, how many it has, and its codes unless it is a list.

    Codes of two levels may be bits.
    """

    slot: int
    n_slots: int
    coding: Coding | None
    is_bit: bool


def columns_of(
    samples: Samples, algorithm: Algorithm, weighing: Weighing, watch: Watch = nobody, *, has_draws: bool = False
) -> list[Column]:
    """Every column, in order. Where nodes draw columns or look for surrogates, few values are no reason to code one."""
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
    """Where the levels of each coded column start when all stand below each other, each with one more for missing."""
    return np.cumsum([0, *(each.coding.n_levels + 1 for each in columns if each.coding is not None)], dtype=np.int64)[
        :-1
    ]


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
