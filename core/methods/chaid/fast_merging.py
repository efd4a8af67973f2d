"""Merging by kernels: the groups that `merging.merged` finds."""

from functools import lru_cache
from math import nan
from typing import NamedTuple

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.logarithms import log10
from core.criteria.significance import Test, likelihood_ratio_tests, moment_tests, pearson_tests
from core.methods.chaid.kernels.merging import merged
from core.methods.chaid.merging import Merging, multiplier

TESTS: tuple[Test, ...] = (
    pearson_tests,
    likelihood_ratio_tests,
    moment_tests,
)  # as numbered in `criteria.kernels.significance`


class Rules(NamedTuple):
    """Merging options for kernels; unused alphas are NaN, and the missing code is -1 if missing is no category."""

    test: int
    has_order: bool
    missing_code: int
    is_exhaustive: bool
    divides: bool
    log10_alpha_merge: float
    log10_alpha_split: float
    min_weight: float


class Found(NamedTuple):
    """The number of groups and log10 of the adjusted p, which equals that of `Merged` up to rounding.

    If the number is below two or `methods.chaid.kernels.merging.DOUBT`, there are no groups to use.
    """

    n_groups: int
    log10_adjusted_p: float


@lru_cache
def rules_of(how: Merging, *, has_order: bool, missing_code: int) -> Rules:
    """The merging options of a column for kernels."""
    return Rules(
        test=TESTS.index(how.test),
        has_order=has_order,
        missing_code=missing_code,
        is_exhaustive=how.alpha_merge is None,
        divides=how.alpha_split is not None and how.alpha_merge is not None,
        log10_alpha_merge=nan if how.alpha_merge is None else log10(how.alpha_merge),
        log10_alpha_split=nan if how.alpha_split is None else log10(how.alpha_split),
        min_weight=float(how.min_weight),
    )


def fast_merged(
    table: FloatArray, weights: FloatArray, rules: Rules, branch_of: RowArray, *, bonferroni: bool
) -> Found:
    """Merge a column's categories; `branch_of[code]` receives the group of each code, or -1."""
    n_categories, n_groups, has_missing, log = merged(table, weights, rules, branch_of)
    if n_groups < 2 or not bonferroni:
        return Found(n_groups, log)
    count = multiplier(has_order=rules.has_order, has_missing=has_missing, exhaustive=rules.is_exhaustive)
    return Found(n_groups, min(0.0, log + log10(count(n_categories, n_groups))))
