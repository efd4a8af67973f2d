"""The kernels grow the tree of the definition also where rows without a value are drawn, or follow surrogates."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Algorithm, Categorical, Committee, Criterion, CriterionKind, MissingStrategy
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.growth.kernels.lists.grow_fast import grow_fast
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.kernels.lists.test_grow_fast import CRITERIA, algorithms, generated
from tests.core.growth.kernels.lists.test_named_cuts import assert_same_growth, with_named_cuts
from tests.examples import examples

pytestmark = pytest.mark.bounds

DRAWN, FOLLOWING = MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE
IN_TWO = [each for each in Categorical if each is not Categorical.MULTIWAY]


@st.composite
def with_surrogates(draw: st.DrawFn) -> Algorithm:
    algorithm = draw(
        st.one_of(algorithms().filter(lambda one: not one.numeric.is_found_before_growth), with_named_cuts())
    )
    return replace(algorithm, categorical=draw(st.sampled_from(IN_TWO)), missing=FOLLOWING)


def related(seed: int, n_rows: int, criterion: Criterion) -> Samples:
    """Samples whose columns tell much of each other, so that there are surrogates, of which many agree equally well."""
    samples, chance = generated(seed, n_rows, criterion), np.random.default_rng(seed)
    latent = chance.integers(0, 12, n_rows)
    attributes, columns = [], []
    for position, (attribute, cells) in enumerate(
        zip(samples.attributes.schema, samples.attributes.columns, strict=True)
    ):
        told = np.where(chance.random(n_rows) < 0.2, chance.integers(0, 12, n_rows), latent)
        is_known = ~np.isnan(cells) if attribute.is_numeric else cells >= 0
        if attribute.is_numeric:
            told = told if position % 2 else -told
            columns.append(np.where(is_known, told / 8.0 if position % 3 else cells + told, np.nan))
        else:
            columns.append(np.where(is_known, told % len(attribute.categories), -1).astype(np.int32))
        attributes.append(attribute)
    return replace(samples, attributes=Table(Schema(tuple(attributes)), tuple(columns)))


@given(st.integers(0, 2**32), st.integers(1, 120), st.one_of(algorithms(), with_named_cuts()))
@examples(150)
def test_drawn_branches_give_the_bytes_of_the_definition(seed: int, n_rows: int, algorithm: Algorithm) -> None:
    assert_same_growth(
        generated(seed, n_rows, algorithm.criterion), replace(algorithm, missing=DRAWN), seed=seed % 1000
    )


@given(st.integers(0, 2**32), st.integers(1, 120), with_surrogates(), st.booleans())
@examples(300)
def test_surrogates_give_the_bytes_of_the_definition(
    seed: int, n_rows: int, algorithm: Algorithm, are_related: bool
) -> None:
    make = related if are_related else generated
    assert_same_growth(make(seed, n_rows, algorithm.criterion), algorithm, seed=seed % 1000)


@pytest.mark.parametrize("strategy", [DRAWN, FOLLOWING])
@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
@pytest.mark.parametrize("seed", range(3))
def test_also_for_thousands_of_rows(seed: int, criterion: Criterion, strategy: MissingStrategy) -> None:
    algorithm = Algorithm("cart", criterion, Categorical.TWO_GROUPS, missing=strategy)
    algorithm = replace(algorithm, stopping=replace(algorithm.stopping, max_depth=7))
    assert_same_growth(related(seed, 20_000, criterion), algorithm, seed=5)


def large(n_rows: int) -> Samples:
    """Three columns that tell much of each other, enough rows for subtrees to be numbered anew."""
    chance = np.random.default_rng(8)
    numbers = chance.normal(size=n_rows) + 0.4 * chance.normal(size=(3, n_rows))
    target = ClassTarget(("a", "b", "c"), np.searchsorted([-0.5, 0.5], numbers.mean(axis=0)).astype(np.int32))
    numbers[chance.random(numbers.shape) < 0.15] = np.nan
    schema = Schema(tuple(Attribute(f"x{position}", Kind.NUMERIC) for position in range(3)))
    return Samples(Table(schema, tuple(numbers)), target, np.ones(n_rows))


@pytest.mark.parametrize("strategy", [DRAWN, FOLLOWING])
def test_subtrees_that_are_numbered_anew_draw_and_follow_by_their_own_rows(strategy: MissingStrategy) -> None:
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, missing=strategy)
    assert_same_growth(large(70_000), replace(algorithm, stopping=replace(algorithm.stopping, max_depth=6)), seed=2)


@pytest.mark.parametrize("strategy", [DRAWN, FOLLOWING])
def test_every_row_goes_whole_down_one_branch(strategy: MissingStrategy) -> None:
    samples = large(3_000)
    tree = grow_fast(samples, Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, missing=strategy))
    assert tree.weight[tree.size == 1].sum() == len(samples)
    assert (tree.weight == np.round(tree.weight)).all()
    assert any(tree.surrogates) == (strategy is FOLLOWING)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_surrogates(threads: int) -> None:
    complete = related(4, 9_000, CRITERIA[0])
    table = complete.attributes
    columns = tuple(np.nan_to_num(each) if each.dtype == np.float64 else np.maximum(each, 0) for each in table.columns)
    samples = replace(complete, attributes=Table(table.schema, columns))
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, missing=FOLLOWING)
    one, several = grow_fast(samples, algorithm), grow_fast(samples, algorithm, threads=threads)
    assert any(one.surrogates)
    assert_same_bytes(one, several)


@pytest.mark.parametrize("strategy", [DRAWN, FOLLOWING])
@pytest.mark.parametrize("criterion", [CRITERIA[0], Criterion(CriterionKind.SQUARED_ERROR)], ids=lambda one: one.kind)
def test_forests_draw_and_follow_as_the_definition_does(strategy: MissingStrategy, criterion: Criterion) -> None:
    samples = related(2, 400, criterion)
    member = Algorithm("cart", criterion, Categorical.TWO_GROUPS, missing=strategy)
    committee = Committee("random_forest", (member,), n_trees=4, max_features=2)
    forests = [
        grow_committee(samples, committee, seed=1, engine=engine) for engine in (Engine.DEFINITION, Engine.KERNELS)
    ]
    for tree in range(4):
        assert_same_bytes(forests[0].tree(tree), forests[1].tree(tree))
