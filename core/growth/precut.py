"""Cuts found once, on all training rows, before growth: for MDLP and for splits into intervals."""

from dataclasses import replace

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.ties import TIE
from core.config.options import Numeric, NumericKind
from core.growth.samples import Samples
from core.splits.candidates import equal_frequency, equal_width, midpoint
from core.splits.mdlp import mdlp_cuts
from core.splits.numeric import distinct_values
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.table import is_missing
from core.tables.target import ClassTarget


def with_cuts(
    samples: Samples, numeric: Numeric, watch: Watch = ignore_progress, *, numbers_only: bool = False
) -> Samples:
    """The samples with the cuts of every column that has an order, if the algorithm needs any before growth.

    With `numbers_only`, ordinal columns are not cut, since their values are categories already.
    """
    if not numeric.is_found_before_growth:
        return samples
    schema = samples.attributes.schema
    is_cut = [attribute.is_numeric if numbers_only else attribute.has_order for attribute in schema]
    columns = watched(range(len(schema)), watch)
    return replace(samples, cuts=tuple(cuts_of(samples, c, numeric) if is_cut[c] else None for c in columns))


def cuts_of(samples: Samples, column: int, numeric: Numeric) -> tuple[float, ...]:
    """The cuts of one column, ascending, from the rows whose value is known."""
    cells = samples.attributes.columns[column]
    known = np.flatnonzero(~is_missing(cells))
    if len(known) == 0:
        return ()
    is_complete = len(known) == len(cells)
    values, weights = (cells, samples.weights) if is_complete else (cells[known], samples.weights[known])
    values = values.astype(np.float64, copy=False)
    if numeric.kind is NumericKind.MDLP:
        assert isinstance(samples.target, ClassTarget)
        return mdlp_cuts(values, samples.target.statistics(known, weights))
    return bin_cuts(values, weights, numeric)


def bin_cuts(values: FloatArray, weights: FloatArray, numeric: Numeric) -> tuple[float, ...]:
    """The cuts between bins of equal weight, or of equal width."""
    if numeric.kind is NumericKind.QUANTILE and (weights == 1).all():
        return equal_count_cuts(values, numeric.bins)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    distinct = distinct_values(values, weights[:, None], weights, last)
    way = equal_frequency if numeric.kind is NumericKind.QUANTILE else equal_width
    return way(distinct, numeric.bins).all_thresholds(distinct.values)


def equal_count_cuts(values: FloatArray, bins: int) -> tuple[float, ...]:
    """The cuts of `equal_frequency` where every row weighs 1: only the ends of bins need their sorted positions.

    values   ... <= end <= ... <= next end <= ...        a cut lies between an end and the least value above it
    """
    whole = float(len(values))
    wanted = np.arange(1, bins) * whole / bins - TIE * whole
    ends = np.unique(np.ceil(wanted).astype(np.int64) - 1)
    placed, cuts = np.partition(values, ends), []
    for end, next_end in zip(ends, [*ends[1:], len(values) - 1], strict=True):
        after = placed[end + 1 : next_end + 1]
        above = after[after > placed[end]]
        if len(above) > 0:
            cuts.append(midpoint(float(placed[end]), float(above.min())))
    return tuple(cuts)
