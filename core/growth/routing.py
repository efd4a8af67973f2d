"""How the training rows of a node get to its children, by the strategy for missing values."""

from dataclasses import dataclass

from core.arithmetic.arrays import FloatArray, RowArray
from core.config.options import Algorithm, MissingStrategy
from core.growth.samples import Samples
from core.missing.distribution import drawn_branches
from core.missing.fractional_weights import send_down, without_light_copies
from core.missing.surrogates import Surrogate, find_surrogates, followed
from core.splits.split import Split


@dataclass(frozen=True)
class Route:
    """What decides where a row goes: the split, r_v of its branches, its surrogates, and the key of the node's draw."""

    split: Split
    shares: FloatArray
    surrogates: tuple[Surrogate, ...]
    key: int


def routed(
    samples: Samples, algorithm: Algorithm, rows: RowArray, weights: FloatArray, route: Route
) -> list[tuple[RowArray, FloatArray]]:
    """The rows and weights that each branch receives; rows that lack the value go as the strategy says.

    Rows filled before growth have every value, except in columns where all values are missing.
    """
    branch = route.split.branches_of(samples.attributes.columns, rows)
    match algorithm.missing:
        case MissingStrategy.DISTRIBUTION:
            branch = drawn_branches(rows, branch, route.shares, route.key)
        case MissingStrategy.SURROGATE:
            branch = followed(samples.attributes, rows, branch, route.surrogates, route.shares)
        case MissingStrategy.WEIGHTED if algorithm.stopping.min_copy_weight > 0:
            branch = without_light_copies(weights, branch, route.shares, algorithm.stopping.min_copy_weight)
        case _:
            pass
    return send_down(rows, weights, branch, route.shares)


def surrogates_of(samples: Samples, rows: RowArray, weights: FloatArray, split: Split) -> tuple[Surrogate, ...]:
    """The surrogates of a split, found on the rows of its node."""
    branch = split.branches_of(samples.attributes.columns, rows)
    return find_surrogates(samples.attributes, rows, weights, split, branch)
