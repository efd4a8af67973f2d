"""The kernels grow the tree of the definition also where only some cuts are candidates, and as C4.5 was programmed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    Algorithm,
    BinsAs,
    Categorical,
    Criterion,
    CriterionKind,
    Dialect,
    GainFilter,
    Numeric,
    NumericCorrection,
    NumericKind,
    Nunez,
    Stopping,
    TanSchlimmer,
)
from core.config.presets import resolve
from core.engine.compilable import can_grow_by_gains
from core.engine.definition import grow
from core.engine.engine import Engine, grow_with
from core.growth.kernels.lists.grow_fast import grow_fast
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, Task
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.kernels.lists.test_grow_fast import CRITERIA, generated, limits
from tests.examples import examples

pytestmark = pytest.mark.bounds

WAYS = [NumericKind.BOUNDARY, NumericKind.QUANTILE, NumericKind.UNIFORM, NumericKind.RANDOM]
RELEASE8 = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)


def assert_same_growth(samples: Samples, algorithm: Algorithm, seed: int = 0) -> None:
    samples = with_cuts(samples, algorithm.numeric)
    assert can_grow_by_gains(samples, algorithm)
    assert_same_bytes(grow(samples, algorithm, seed=seed), grow_fast(samples, algorithm, seed=seed))


@st.composite
def with_named_cuts(draw: st.DrawFn) -> Algorithm:
    kind = draw(st.sampled_from(WAYS))
    criteria = [one for one in CRITERIA if one.kind is not CriterionKind.SQUARED_ERROR or kind != NumericKind.BOUNDARY]
    criterion, costs = draw(st.sampled_from(criteria)), None
    if criterion.kind is CriterionKind.INFORMATION_GAIN:
        costs = draw(st.sampled_from([None, TanSchlimmer({"x0": 3.0}), Nunez({"x1": 0.5}, w=0.7)]))
    return Algorithm(
        "cart",
        criterion,
        draw(st.sampled_from(Categorical)),
        numeric=Numeric(kind, bins=draw(st.sampled_from([2, 3, 10, 50])), draws=draw(st.sampled_from([1, 2, 10, 40]))),
        stopping=draw(limits()),
        attribute_costs=costs,
    )


@st.composite
def corrected(draw: st.DrawFn) -> Algorithm:
    kind = draw(st.sampled_from([NumericKind.EXACT, NumericKind.EXACT, NumericKind.MDLP, *WAYS]))
    return Algorithm(
        "c45",
        Criterion(CriterionKind.GAIN_RATIO, draw(st.sampled_from(GainFilter)), NumericCorrection.RELEASE8),
        draw(st.sampled_from(Categorical)),
        numeric=Numeric(kind, bins=draw(st.sampled_from([2, 5])), draws=3, bins_as=draw(st.sampled_from(BinsAs))),
        stopping=draw(limits()),
    )


@st.composite
def as_programmed(draw: st.DrawFn) -> Algorithm:
    correction = draw(st.sampled_from(NumericCorrection))
    return replace(
        RELEASE8, criterion=replace(RELEASE8.criterion, numeric_correction=correction), stopping=draw(limits())
    )


@given(st.integers(0, 2**32), st.integers(1, 120), with_named_cuts(), st.integers(0, 2**63))
@examples(300)
def test_named_cuts_give_the_bytes_of_the_definition(table: int, n_rows: int, algorithm: Algorithm, seed: int) -> None:
    assert_same_growth(generated(table, n_rows, algorithm.criterion), algorithm, seed)


@given(st.integers(0, 2**32), st.integers(1, 120), corrected())
@examples(150)
def test_so_do_thresholds_that_pay_for_the_choice(table: int, n_rows: int, algorithm: Algorithm) -> None:
    assert_same_growth(generated(table, n_rows, algorithm.criterion), algorithm)


@given(st.integers(0, 2**32), st.integers(1, 120), as_programmed())
@examples(200)
def test_so_does_release8(table: int, n_rows: int, algorithm: Algorithm) -> None:
    assert_same_growth(generated(table, n_rows, algorithm.criterion), algorithm)


@given(st.integers(0, 2**32), st.integers(2, 80), st.sampled_from([1, 2, 3]))
def test_release8_takes_near_values_as_one_wherever_they_stand(table: int, n_rows: int, m: int) -> None:
    chance = np.random.default_rng(table)
    steps = chance.choice([0.0, 4e-6, 9.999e-6, 1e-5, 1.0001e-5, 1.0], (3, n_rows))
    columns = tuple(chance.permutation(np.cumsum(each) + each[0]) for each in steps)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(3)))
    target = ClassTarget(("a", "b"), (columns[0] > np.median(columns[0])).astype(np.int32))
    samples = Samples(Table(schema, columns), target, np.ones(n_rows))
    assert_same_growth(samples, replace(RELEASE8, stopping=Stopping(min_samples_leaf=m)))


LARGE = [
    *(Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, numeric=Numeric(kind)) for kind in WAYS),
    *(Algorithm("cart", CRITERIA[-1], Categorical.TWO_GROUPS, numeric=Numeric(kind)) for kind in WAYS[1:]),
    RELEASE8,
    replace(RELEASE8, dialect=Dialect.TEXTBOOK),
]


@pytest.mark.parametrize("table", [1, 2])
@pytest.mark.parametrize("algorithm", LARGE, ids=lambda one: f"{one.criterion.kind}-{one.numeric.kind}-{one.dialect}")
def test_also_for_thousands_of_rows_whose_subtrees_are_numbered_anew(table: int, algorithm: Algorithm) -> None:
    algorithm = replace(algorithm, stopping=replace(algorithm.stopping, max_depth=6))
    assert_same_growth(generated(table, 20_000, algorithm.criterion), algorithm)


def test_the_seed_of_the_training_names_the_draws_of_the_kernels() -> None:
    samples = generated(3, 300, CRITERIA[0])
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, numeric=Numeric(NumericKind.RANDOM, draws=1))
    trees = [grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=seed)[0] for seed in (1, 2)]
    assert trees[0].threshold.tobytes() != trees[1].threshold.tobytes()
    for seed, tree in zip((1, 2), trees, strict=True):
        assert_same_bytes(tree, grow(samples, algorithm, seed=seed))
