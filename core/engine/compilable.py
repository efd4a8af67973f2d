"""Which trees the kernels can grow; this is checked before any compiled code is imported.

The definition can grow every tree.
"""

from core.config.options import Algorithm, Categorical, MissingStrategy, NumericCorrection, NumericKind
from core.growth.kernels.inputs.coding import is_codable
from core.growth.kernels.inputs.columns import class_bits_of, row_bits_of
from core.growth.samples import Samples

MOST_BITS = 31  # for the class and the row, in an entry of a sorted list


def can_grow_by_gains(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether `growth.kernels` can grow this tree."""
    return (
        algorithm.chaid is None
        and algorithm.quest is None
        and algorithm.linear is None
        and is_codable(samples)
        and not (algorithm.missing is MissingStrategy.SURROGATE and algorithm.numeric.is_found_before_growth)
        and fits_in_entries(samples)
    )


def can_grow_quest(algorithm: Algorithm) -> bool:
    """Whether `methods.quest.kernels` can grow this tree."""
    return (
        algorithm.quest is not None
        and algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
        and algorithm.stopping.max_leaves is None
    )


def can_grow_oblique(samples: Samples, algorithm: Algorithm) -> bool:
    """Whether `methods.oblique.kernels` can grow this tree."""
    return (
        algorithm.linear is not None
        and algorithm.numeric.kind is NumericKind.EXACT
        and algorithm.categorical is Categorical.ONE_HOT
        and algorithm.criterion.numeric_correction is NumericCorrection.NONE
        and algorithm.attribute_costs is None
        and algorithm.missing not in (MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE)
        and fits_in_entries(samples)
    )


def fits_in_entries(samples: Samples) -> bool:
    """Whether a row's number and its class fit into an entry of a sorted list."""
    return row_bits_of(samples) + class_bits_of(samples) <= MOST_BITS
