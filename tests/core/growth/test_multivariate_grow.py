"""The kernels grow the multivariate tree of the definition, bit for bit."""

import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.config import (
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
from core.growth.engine import Engine, grow_with
from core.growth.grow import grow
from core.growth.multivariate import MOST_ROWS
from core.growth.multivariate_grow import grow_multivariate, is_supported
from core.growth.samples import Samples
from core.splits.split import SplitKind
from core.target import ClassTarget
from core.tree import SPLIT_KINDS
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.test_fast_grow import generated, limits

GINI = Criterion(CriterionKind.GINI)
CRITERIA = [
    GINI,
    GINI,
    Criterion(CriterionKind.INFORMATION_GAIN),
    Criterion(CriterionKind.ERROR_RATE),
    *(Criterion(CriterionKind.GAIN_RATIO, gain_filter) for gain_filter in GainFilter),
]


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
    """The samples in two or three classes, on both sides of planes across all columns that have no holes."""
    chance = np.random.default_rng(seed)
    whole = [values.astype(np.float64) for values in samples.attributes.columns if not (values == -1).any()]
    worth = sum((chance.normal() * values for values in whole if not np.isnan(values).any()), np.zeros(len(samples)))
    bounds = np.quantile(worth, [0.4, 0.8][: int(chance.integers(1, 3))])
    codes = np.searchsorted(bounds, worth).astype(np.int32)
    return replace(samples, target=ClassTarget(("a", "b", "c")[: len(bounds) + 1], codes))


@given(st.integers(0, 2**32), st.integers(1, 120), algorithms(), st.booleans())
@settings(max_examples=100)
def test_the_kernels_give_the_bytes_of_the_definition(seed, n_rows, algorithm, is_slanted):
    samples = generated(seed, n_rows, algorithm.criterion)
    samples = slanted(samples, seed) if is_slanted else samples
    assert is_supported(samples, algorithm)
    tree, _ = grow(samples, algorithm, seed=seed)
    assert_same_bytes(grow_multivariate(samples, algorithm, seed=seed), tree)


def diagonal(n: int, n_columns: int, *, weighted: bool, holes: float) -> Samples:
    """Three classes of noisy planes in numbers, more rows than a direction is learnt on."""
    criterion = GINI
    seed = next(s for s in range(100) if len(generated(s, 2, criterion).attributes.columns) >= n_columns)
    samples = generated(seed, n, criterion)
    chance = np.random.default_rng(n)
    x = chance.normal(size=(n, len(samples.attributes.columns)))
    codes = (x.sum(axis=1) + 0.3 * chance.normal(size=n) > 0).astype(np.int32)
    x[chance.random(x.shape) < holes] = np.nan
    columns = tuple(
        values if samples.attributes.schema[c].categories else x[:, c].copy()
        for c, values in enumerate(samples.attributes.columns)
    )
    weights = chance.uniform(0.5, 2.0, n) if weighted else np.ones(n)
    table = replace(samples.attributes, columns=columns)
    return Samples(table, ClassTarget(("a", "b"), codes), weights)


@pytest.mark.parametrize(("weighted", "holes"), [(False, 0.0), (True, 0.0), (False, 0.05), (True, 0.05)])
def test_large_nodes_too(weighted, holes):
    samples = diagonal(MOST_ROWS + 500, 4, weighted=weighted, holes=holes)
    algorithm = Algorithm(
        "multivariate", GINI, Categorical.ONE_HOT, stopping=Stopping(max_depth=3), linear=LinearTests()
    )
    tree, _ = grow(samples, algorithm, seed=3)
    assert (tree.kind == SPLIT_KINDS.index(SplitKind.LINEAR)).any()
    assert_same_bytes(grow_multivariate(samples, algorithm, seed=3), tree)


@pytest.mark.parametrize(
    "options",
    [
        {"numeric": Numeric(NumericKind.QUANTILE)},
        {"categorical": Categorical.TWO_GROUPS},
        {"missing": MissingStrategy.DISTRIBUTION},
        {"stopping": Stopping(validate_splits=True)},
    ],
    ids=["bins", "groups", "draws", "validation"],
)
def test_what_the_kernels_cannot_do_the_definition_does(options):
    samples = generated(5, 40, GINI)
    algorithm = replace(Algorithm("multivariate", GINI, Categorical.ONE_HOT, linear=LinearTests()), **options)
    assert not is_supported(samples, algorithm)
    by_both = [grow_with(engine, samples, algorithm, validation=None, seed=1)[0] for engine in Engine]
    for tree in by_both[1:]:
        assert_same_bytes(by_both[0], tree)


class Enough(Exception):
    """Raised by a watch."""


def test_growth_tells_how_far_it_is_and_ends_soon_after_it_is_told_to():
    algorithm = Algorithm("multivariate", GINI, Categorical.ONE_HOT, linear=LinearTests())
    heard: list[float] = []
    grow_multivariate(diagonal(3_000, 4, weighted=False, holes=0.0), algorithm, watch=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0

    def stop(_: float) -> None:
        raise Enough

    chance = np.random.default_rng(0)
    wide = diagonal(3_000, 4, weighted=False, holes=0.0)
    wide = replace(wide, target=ClassTarget(("a", "b"), chance.integers(2, size=3_000).astype(np.int32)))
    began = time.thread_time(), threading.active_count()
    with pytest.raises(Enough):
        grow_multivariate(wide, algorithm, watch=stop)
    assert threading.active_count() == began[1]
