"""The kinds of tables, at the sizes that are measured."""

from dataclasses import replace
from functools import partial

from bench.tables import FEW_LEVELS, Tables, added_up, cover_types, hundred_values, mixed, numeric, regression, slanted

NUMERIC_1M = Tables(numeric, 1_000_000)
NUMERIC_100K = Tables(numeric, 100_000)
NUMERIC_200K = Tables(numeric, 200_000)
ADDED_UP_200K = Tables(added_up, 200_000)
SLANTED_100K = Tables(slanted, 100_000)
SLANTED_3_100K = Tables(partial(slanted, n_classes=3), 100_000)
COVER_TYPES = Tables(cover_types, 500_000)
HUNDRED_VALUES = Tables(hundred_values, 300_000)
REGRESSION = Tables(regression, 500_000)
REGRESSION_100K = Tables(regression, 100_000)
TWO_CLASSES_100K = Tables(partial(numeric, n_classes=2), 100_000)
SEVEN_CLASSES_100K = Tables(partial(numeric, n_classes=7), 100_000)
MIXED_2 = Tables(partial(mixed, n_classes=2), 200_000)
MIXED_FEW_LEVELS = Tables(partial(mixed, n_classes=2, n_categories=FEW_LEVELS), 200_000)
MIXED_4 = Tables(partial(mixed, n_classes=4), 200_000)


def weighted(tables: Tables) -> Tables:
    """The same rows with weights between 0.5 and 1.5."""
    return replace(tables, weighted=True)


def missing(tables: Tables, share: float) -> Tables:
    """The same rows, where this share of the cells is missing."""
    return replace(tables, missing=share)
