"""Merging by `methods.chaid.kernels.merging`: the groups that `merged` finds."""

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
)  # as `criteria.kernels.significance` numbers them


class Rules(NamedTuple):
    """How kernels merge; alphas that are not used are NaN, the code of missing is -1 where it is no category."""

    test: int
    has_order: bool
    missing_code: int
    is_exhaustive: bool
    divides: bool
    log10_alpha_merge: float
    log10_alpha_split: float
    min_weight: float


class Found(NamedTuple):
    """How many groups there are, fewer than two or `methods.chaid.kernels.merging.DOUBT` where there is nothing to tell
    of them.

    `log10_adjusted_p` is that of `Merged` but for its last digits.
    """

    n_groups: int
    log10_adjusted_p: float


@lru_cache
def rules_of(how: Merging, *, has_order: bool, missing_code: int) -> Rules:
    """How kernels merge the categories of a column."""
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
    """What there is to know of a column's groups; `branch_of[code]` is told which one each code is in, or -1."""
    n_categories, n_groups, has_missing, log = merged(table, weights, rules, branch_of)
    if n_groups < 2 or not bonferroni:
        return Found(n_groups, log)
    count = multiplier(has_order=rules.has_order, has_missing=has_missing, exhaustive=rules.is_exhaustive)
    return Found(n_groups, min(0.0, log + log10(count(n_categories, n_groups))))
