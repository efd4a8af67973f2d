"""The kernels grow the multivariate tree of the definition, bit for bit."""

import time
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    Algorithm,
    Categorical,
    Criterion,
    CriterionKind,
    GainFilter,
    LinearFit,
    LinearTests,
    MissingStrategy,
    Numeric,
    NumericKind,
    Stopping,
)
from core.engine.compilable import can_grow_oblique
from core.engine.definition import grow
from core.engine.engine import Engine, grow_with
from core.growth.samples import Samples
from core.methods.oblique.grow import grow_multivariate
from core.methods.oblique.oblique import MOST_ROWS
from core.splits.split import SplitKind
from core.tables.progress import Watch
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from core.tree.tree import SPLIT_KINDS
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.kernels.lists.test_grow_fast import generated, limits
from tests.examples import examples

pytestmark = pytest.mark.bounds

GINI = Criterion(CriterionKind.GINI)
CRITERIA = [
    GINI,
    GINI,
    Criterion(CriterionKind.INFORMATION_GAIN),
    Criterion(CriterionKind.ERROR_RATE),
    *(Criterion(CriterionKind.GAIN_RATIO, gain_filter) for gain_filter in GainFilter),
]


BY_OC1 = Algorithm("multivariate", GINI, Categorical.ONE_HOT, linear=LinearTests())


@st.composite
def algorithms(draw: st.DrawFn) -> Algorithm:
    return Algorithm(
        "multivariate",
        draw(st.sampled_from(CRITERIA)),
        Categorical.ONE_HOT,
        missing=draw(st.sampled_from([MissingStrategy.WEIGHTED, MissingStrategy.MAJORITY])),
        stopping=draw(limits()),
        linear=LinearTests(draw(st.sampled_from(LinearFit)), draw(st.sampled_from([None, None, 2, 3]))),
    )


def slanted(samples: Samples, seed: int) -> Samples:
    """The samples in two to seven classes, between planes across all columns that have no holes."""
    chance = np.random.default_rng(seed)
    whole = [values.astype(np.float64) for values in samples.attributes.columns if not (values == -1).any()]
    worth = sum((chance.normal() * values for values in whole if not np.isnan(values).any()), np.zeros(len(samples)))
    bounds = np.quantile(worth, np.sort(chance.random(int(chance.integers(1, 7)))))
    codes = np.searchsorted(bounds, worth).astype(np.int32)
    return replace(samples, target=ClassTarget(tuple("abcdefg")[: len(bounds) + 1], codes))


@given(st.integers(0, 2**32), st.integers(1, 120), algorithms(), st.booleans())
@examples(100)
def test_the_kernels_give_the_bytes_of_the_definition(seed, n_rows, algorithm, is_slanted):
    samples = generated(seed, n_rows, algorithm.criterion)
    samples = slanted(samples, seed) if is_slanted else samples
    assert can_grow_oblique(samples, algorithm)
    tree = grow(samples, algorithm, seed=seed)
    assert_same_bytes(grow_multivariate(samples, algorithm, seed=seed), tree)


def diagonal(n: int, *, noise: float = 0.3, weighted: bool = False, holes: float = 0.0, n_classes: int = 2) -> Samples:
    """Classes between planes across four numbers and a category, with noise."""
    chance = np.random.default_rng(n)
    numbers, categories = chance.normal(size=(n, 4)), chance.integers(3, size=n)
    worth = numbers.sum(axis=1) + categories - 1 + noise * chance.normal(size=n)
    numbers[chance.random(numbers.shape) < holes] = np.nan
    schema = Schema(
        (*(Attribute(f"x{i}", Kind.NUMERIC) for i in range(4)), Attribute("c", Kind.CATEGORICAL, tuple("pqr")))
    )
    table = Table(schema, (*numbers.T.copy(), categories.astype(np.int32)))
    weights = chance.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    codes = np.searchsorted(np.quantile(worth, np.arange(1, n_classes) / n_classes), worth).astype(np.int32)
    return Samples(table, ClassTarget(tuple("abcdefg")[:n_classes], codes), weights)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize(("weighted", "holes"), [(False, 0.0), (True, 0.0), (False, 0.05), (True, 0.05)])
def test_large_nodes_too(weighted, holes, n_classes):
    samples = diagonal(MOST_ROWS + 500, weighted=weighted, holes=holes, n_classes=n_classes)
    algorithm = replace(BY_OC1, stopping=Stopping(max_depth=3))
    tree = grow(samples, algorithm, seed=3)
    assert (tree.kind == SPLIT_KINDS.index(SplitKind.LINEAR)).any()
    assert_same_bytes(grow_multivariate(samples, algorithm, seed=3), tree)


@pytest.mark.parametrize(
    "options",
    [
        {"numeric": Numeric(NumericKind.QUANTILE)},
        {"categorical": Categorical.TWO_GROUPS},
        {"missing": MissingStrategy.DISTRIBUTION},
        {"missing": MissingStrategy.SURROGATE},
    ],
    ids=["bins", "groups", "draws", "surrogates"],
)
def test_what_the_kernels_cannot_do_the_definition_does(options):
    samples = generated(5, 40, GINI)
    algorithm = replace(BY_OC1, **options)
    assert not can_grow_oblique(samples, algorithm)
    by_both = [grow_with(engine, samples, algorithm, validation=None, seed=1)[0] for engine in Engine]
    for tree in by_both[1:]:
        assert_same_bytes(by_both[0], tree)


class Enough(Exception):
    """Raised by a watch."""


def seconds_until(watch: Watch) -> float:
    """The CPU time of growing a large tree of nothing but noise, until it is done or the watch has enough."""
    samples, began = diagonal(8_000, noise=1e9), time.process_time()
    with suppress(Enough):
        grow_multivariate(samples, BY_OC1, watch=watch)
    return time.process_time() - began


def test_growth_tells_how_far_it_is_and_ends_when_nobody_wants_it_any_more(monkeypatch):
    monkeypatch.setattr("core.methods.oblique.grow.POLL_SECONDS", 0.01)  # this tree takes a fifth of a second
    heard: list[float] = []
    whole = seconds_until(heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0

    def stop(_: float) -> None:
        raise Enough

    assert seconds_until(stop) < 0.7 * whole
