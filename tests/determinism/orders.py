"""Trainings of every kind on small tables, whose stored models must be the same wherever they are grown.

The tables are made of whole numbers and one division each, so they are the same everywhere too.
"""

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from core import table
from core.arithmetic.randomness import stream
from core.tables.table import Table

N_ROWS = 240
ALL_ROWS: dict[str, Any] = {"division": {"kind": "none"}}
UNPRUNED: dict[str, Any] = {"pruning": {"kind": "none"}}
BY_CLASS: dict[str, Any] = {"target": "class", "attributes": ["a", "b", "c", "d", "e", "f", "g"], **ALL_ROWS}
BY_NUMBER: dict[str, Any] = {**BY_CLASS, "target": "y"}
WHOLE: dict[str, Any] = {**BY_CLASS, **UNPRUNED}
ENTROPY = {"kind": "information_gain"}


class Order(NamedTuple):
    """One training: a name, its data and its configuration."""

    name: str
    data: Table
    config: dict[str, Any]


@cache
def holes(share: float) -> Table:
    """Four numeric, an ordinal and two categorical columns, with that share of their values missing; also targets.

    Weights are multiples of a third: sums of them depend on the order in which they are added.
    """
    bits = stream(20, f"holes {share}")

    def below(limit: int) -> np.ndarray[Any, Any]:
        return (bits.random_raw(N_ROWS) >> np.uint64(40)).astype(np.int64) % limit

    a, b, c, d, e, f, g = (below(limit) for limit in (1000, 37, 400, 12, 5, 4, 9))
    noise = below(60)
    score = a // 8 + 3 * b - 25 * (f == 2) + 9 * e + 11 * (g > 5) + noise
    columns: dict[str, list[Any]] = {
        "a": (a / 7).tolist(),
        "b": (b / 3).tolist(),
        "c": ((c - a // 3) / 11).tolist(),
        "d": d.tolist(),
        "e": [("least", "less", "some", "more", "most")[level] for level in e],
        "f": [("north", "east", "south", "west")[level] for level in f],
        "g": ["abcdefghi"[level] for level in g],
    }
    for name, values in columns.items():
        is_missing = below(1000) < 1000 * share
        columns[name] = [None if missing else value for missing, value in zip(is_missing, values, strict=True)]
    columns["class"] = [("low", "middle", "high")[int(level)] for level in np.searchsorted([150, 220], score)]
    columns["y"] = (score / 7).tolist()
    columns["z"] = ((score - 2 * noise) / 9).tolist()
    columns["weight"] = ((1 + below(9)) / 3).tolist()
    return table(
        columns,
        kinds={"e": "ordinal"},
        categories={"e": ["least", "less", "some", "more", "most"]},
    )


def orders() -> Iterator[Order]:
    """Every method with criteria, cuts, missing strategies, prunings and weights of several kinds."""
    for share, data in ((0.0, holes(0.0)), (0.15, holes(0.15))):
        for name, config in configurations():
            yield Order(f"{name}, {share:.0%} missing", data, config)


def configurations() -> Iterator[tuple[str, dict[str, Any]]]:
    """Names, and what is ordered under them."""
    yield from trees_by_gain()
    yield from methods_by_tests()
    yield from many_trees()


def trees_by_gain() -> Iterator[tuple[str, dict[str, Any]]]:
    """ID3, C4.5 and CART."""

    def c45(**more: Any) -> dict[str, Any]:
        return {"algorithm": {"kind": "c45", **more}, **WHOLE}

    def cart(**more: Any) -> dict[str, Any]:
        return {"algorithm": {"kind": "cart", **more}, **WHOLE}

    weighted = {"sample_weight": "weight"}
    yield "id3", {"algorithm": {"kind": "id3"}, **WHOLE, "attributes": ["f", "g"]}
    yield "c45", c45()
    yield "c45, weighted", c45() | weighted
    yield "c45, release 8", c45(dialect="release8") | {"pruning": {"kind": "confidence", "bound": "normal"}}
    yield "c45, release 8, weighted", c45(dialect="release8") | weighted
    yield "c45, corrected", c45(criterion={"kind": "gain_ratio", "numeric_correction": "release8"})
    yield (
        "c45, better half, two groups",
        c45(criterion={"kind": "gain_ratio", "filter": "better_half"}, categorical="two_groups"),
    )
    yield "c45, information gain", c45(criterion=ENTROPY) | weighted
    yield "c45, confidence", c45() | {"pruning": {"kind": "confidence", "raising": True}}
    yield "c45, reduced error", c45() | {"division": {"kind": "random"}, "pruning": {"kind": "reduced_error"}}
    yield "c45, confidence, weighted", c45() | weighted | {"pruning": {"kind": "confidence", "cf": 0.1}}
    yield "c45, mdlp", c45(numeric={"kind": "mdlp"})
    yield "c45, intervals", c45(numeric={"kind": "quantile", "bins": 5, "as": "intervals"})
    yield "c45, costs", c45(criterion=ENTROPY, attribute_costs={"kind": "nunez", "w": 0.7, "costs": {"a": 3, "b": 0.7}})
    yield (
        "c45, costs squared",
        c45(criterion=ENTROPY, attribute_costs={"kind": "tan_schlimmer", "costs": {"a": 3, "g": 7}}),
    )
    for strategy in ("majority", "class_majority", "distribution"):
        yield f"c45, {strategy}", c45(missing=strategy)
    yield "cart", cart() | {"pruning": {"kind": "cost_complexity"}}
    yield "cart, surrogates", cart(missing="surrogate", stopping={"max_depth": 4}) | weighted
    yield "cart, entropy", cart(criterion=ENTROPY, categorical="one_vs_rest") | weighted
    yield "cart, entropy, two groups", cart(criterion=ENTROPY) | {"pruning": {"kind": "cost_complexity"}}
    yield "cart, error rate", cart(criterion={"kind": "error_rate"})
    yield "cart, boundary", cart(criterion=ENTROPY, numeric={"kind": "boundary"})
    yield "cart, random cuts", cart(criterion=ENTROPY, numeric={"kind": "random", "draws": 5})
    yield (
        "cart, costs of answers",
        cart()
        | weighted
        | {
            "misclassification_costs": {"low": {"high": 3.3}, "high": {"middle": 1.7}},
            "pruning": {"kind": "cost_complexity", "choose": "cross_validation", "folds": 4},
        },
    )
    yield "cart of numbers", {"algorithm": {"kind": "cart"}, **BY_NUMBER, "pruning": {"kind": "cost_complexity"}}
    yield (
        "cart of numbers, validated",
        {
            "algorithm": {"kind": "cart", "stopping": {"validate_splits": True}},
            **BY_NUMBER,
            **weighted,
            "division": {"kind": "random"},
            "pruning": {"kind": "reduced_error"},
        },
    )
    yield "cart of several numbers", {"algorithm": {"kind": "cart"}, **BY_NUMBER, **UNPRUNED, "target": ["y", "z"]}


def methods_by_tests() -> Iterator[tuple[str, dict[str, Any]]]:
    """CHAID, QUEST and multivariate trees."""
    small = {"min_samples_split": 10, "min_samples_leaf": 3}
    yield "chaid", {"algorithm": {"kind": "chaid", "stopping": small}, **WHOLE}
    yield (
        "chaid, likelihood ratio",
        {"algorithm": {"kind": "chaid", "statistic": "likelihood_ratio", "stopping": small}, **WHOLE},
    )
    yield (
        "chaid, exhaustive, weighted",
        {
            "algorithm": {"kind": "chaid", "exhaustive": True, "missing": "weighted", "stopping": small},
            **WHOLE,
            "sample_weight": "weight",
        },
    )
    yield "chaid of numbers", {"algorithm": {"kind": "chaid", "stopping": small}, **BY_NUMBER, **UNPRUNED}
    yield "quest", {"algorithm": {"kind": "quest"}, **WHOLE, "pruning": {"kind": "cost_complexity"}}
    yield "quest, weighted", {"algorithm": {"kind": "quest"}, **WHOLE, "sample_weight": "weight"}
    for fit in ("oc1", "lda", "logistic"):
        yield f"multivariate, {fit}", {"algorithm": {"kind": "multivariate", "fit": fit}, **WHOLE}


def many_trees() -> Iterator[tuple[str, dict[str, Any]]]:
    """Committees and isolation forests."""
    yield "random forest", {"algorithm": {"kind": "random_forest", "n_trees": 3}, **BY_CLASS}
    yield (
        "random forest by entropy",
        {"algorithm": {"kind": "random_forest", "n_trees": 3, "criterion": ENTROPY}, **BY_CLASS},
    )
    yield "extra trees", {"algorithm": {"kind": "extra_trees", "n_trees": 3}, **BY_NUMBER}
    yield (
        "isolation forest",
        {"algorithm": {"kind": "isolation_forest", "n_trees": 5}, "attributes": list("abcde"), **ALL_ROWS},
    )
