"""The kernels grow the trees of the definition, bit for bit, on any number of threads."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import (
    Algorithm,
    Categorical,
    Committee,
    Criterion,
    CriterionKind,
    FeatureShare,
    Numeric,
    NumericKind,
)
from core.engine.engine import Engine
from core.ensembles.forest import Forest
from core.ensembles.growing import grow_committee
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.kernels.lists.test_grow_fast import CRITERIA, algorithms, generated
from tests.examples import examples

pytestmark = pytest.mark.bounds

FEATURES = (FeatureShare.SQRT, FeatureShare.ALL, 1, 2, 0.7)


@st.composite
def committees(draw: st.DrawFn) -> Committee:
    return Committee(
        "random_forest",
        (draw(algorithms()),),
        n_trees=3,
        max_features=draw(st.sampled_from(FEATURES)),
        features_per_tree=draw(st.sampled_from([None, None, 2, 0.6])),
        sample_size=draw(st.sampled_from([1.0, 1.0, 0.5])),
        bootstrap=draw(st.sampled_from([True, True, False])),
    )


def assert_same_forest(one: Forest, other: Forest) -> None:
    assert len(one) == len(other)
    for tree in range(len(one)):
        assert_same_bytes(one.tree(tree), other.tree(tree))
    assert set(one.columns) == set(other.columns)  # also what is left out, and how the rest is kept
    for name, values in one.columns.items():
        assert values.dtype == other.columns[name].dtype, name
        assert values.tobytes() == other.columns[name].tobytes(), name


def by_both(samples: Samples, committee: Committee, seed: int = 0) -> None:
    """Grow by definition, and by kernels on one thread and on two."""
    wanted = grow_committee(samples, committee, seed=seed, engine=Engine.DEFINITION)
    for threads in (1, 2):
        found = grow_committee(samples, committee, seed=seed, engine=Engine.KERNELS, threads=threads)
        assert_same_forest(wanted, found)


@given(st.integers(0, 2**32), st.integers(1, 120), committees())
@examples(300)
def test_the_kernels_give_the_bytes_of_the_definition(seed: int, n_rows: int, committee: Committee) -> None:
    (algorithm,) = committee.members
    by_both(with_cuts(generated(seed, n_rows, algorithm.criterion), algorithm.numeric), committee, seed % 5)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
def test_also_for_thousands_of_rows(seed: int, criterion: Criterion) -> None:
    samples = generated(seed, 4_200, criterion)  # more than few values are worth a code for
    categorical = (Categorical.TWO_GROUPS, Categorical.MULTIWAY)[seed % 2]
    algorithm = Algorithm("cart", criterion, categorical)
    by_both(samples, Committee("random_forest", (algorithm,), n_trees=2, max_features=FeatureShare.SQRT), seed)


@pytest.mark.parametrize("draws", [1, 3])
@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
def test_extra_trees_give_the_bytes_of_the_definition(criterion: Criterion, draws: int) -> None:
    algorithm = Algorithm("cart", criterion, Categorical.TWO_GROUPS, numeric=Numeric(NumericKind.RANDOM, draws=draws))
    for seed in range(10):
        samples = generated(seed, 90, criterion)
        by_both(samples, Committee("extra_trees", (algorithm,), n_trees=2, max_features=2, bootstrap=False), seed)


def large(n_rows: int, n_columns: int) -> Samples:
    chance = np.random.default_rng(3)
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(n_columns)))
    table = Table(schema, tuple(chance.normal(size=n_rows) for _ in range(n_columns)))
    return Samples(table, ClassTarget(("a", "b"), chance.integers(0, 2, n_rows).astype(np.int32)), np.ones(n_rows))


def test_growth_says_how_far_it_is() -> None:
    heard: list[float] = []
    committee = Committee("random_forest", (Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS),), n_trees=4)
    grow_committee(large(20_000, 5), committee, seed=0, engine=Engine.KERNELS, threads=2, watch=heard.append)
    assert heard == sorted(heard)
    assert heard[-1] == 1.0


class Ended(Exception):
    pass


def test_who_no_longer_waits_ends_growth_soon() -> None:
    def give_up(done: float) -> None:
        if done > 0:
            raise Ended

    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS)
    committee = Committee("random_forest", (algorithm,), n_trees=2_000, max_features=FeatureShare.SQRT)
    begun = time.monotonic()
    with pytest.raises(Ended):
        grow_committee(large(20_000, 5), committee, seed=0, engine=Engine.KERNELS, threads=2, watch=give_up)
    assert time.monotonic() - begun < 10  # all of it takes a minute


def test_kinds_take_turns() -> None:
    members = [
        Algorithm("cart", Criterion(CriterionKind.GINI), Categorical.TWO_GROUPS),
        Algorithm("c45", CRITERIA[3], Categorical.MULTIWAY),
        Algorithm("c45", CRITERIA[3], Categorical.MULTIWAY, numeric=Numeric(NumericKind.MDLP)),
    ]
    samples = generated(3, 150, CRITERIA[0])
    by_both(samples, Committee("bagging", tuple(members), n_trees=5, max_features=2))


def test_class_weights_and_sample_weights_are_taken_as_they_are() -> None:
    samples, chance = generated(8, 400, CRITERIA[0]), np.random.default_rng(0)
    weighed = Samples(samples.attributes, samples.target, chance.choice([0.1, 1.0, 2.5, 1e6], 400))
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS)
    by_both(weighed, Committee("random_forest", (algorithm,), n_trees=3, max_features=2))
