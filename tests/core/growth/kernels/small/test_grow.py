"""Small subtrees whose rows go down both ways are those of the definition, bit for bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.arrays import FloatArray
from core.config.options import Algorithm, Categorical, Committee, Criterion, CriterionKind, Stopping
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.growth.kernels.small.scratch import FEW, MOST_SMALL
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Target
from tests.core.growth.kernels.forest.test_many_trees import assert_same_forest
from tests.examples import examples

pytestmark = pytest.mark.bounds

N_COLUMNS = 5
NUMBERS_OF_ROWS = [2, 9, 33, FEW - 1, FEW, FEW + 1, 150, 260]


def column_of(chance: np.random.Generator, n_rows: int) -> FloatArray:
    """Values that differ or are equal, of which none, some or all are missing."""
    numbers = chance.normal(size=n_rows)
    if chance.random() < 0.4:
        numbers = np.round(numbers, int(chance.choice([0, 1])))
    missing = chance.random(n_rows) < chance.choice([0.0, 0.1, 0.3, 0.9, 1.0], p=[0.1, 0.4, 0.3, 0.15, 0.05])
    return np.where(missing, np.nan, numbers)


def weights_of(chance: np.random.Generator, n_rows: int) -> FloatArray:
    """As bootstrap counts them, of very different size, or so large that rounding is more than a tie."""
    draws = [
        np.ones(n_rows),
        chance.integers(1, 5, n_rows).astype(np.float64),
        chance.uniform(0.5, 1.5, n_rows),
        np.exp(6 * chance.normal(size=n_rows)),
        chance.choice([1.0, 1e13], n_rows),
        np.full(n_rows, 0.1),
    ]
    return draws[int(chance.integers(len(draws)))]


def drawn_target(chance: np.random.Generator, n_rows: int, about: FloatArray) -> Target:
    noisy, n_classes = np.nan_to_num(about) + chance.normal(size=n_rows), int(chance.choice([1, 2, 3, 3, 4]))
    if n_classes > 1:
        ranks = np.argsort(np.argsort(noisy))
        return ClassTarget(tuple(map(str, range(n_classes))), (ranks * n_classes // n_rows).astype(np.int32))
    return NumberTarget(noisy[:, None])


def drawn_samples(seed: int, n_rows: int) -> Samples:
    chance = np.random.default_rng(seed)
    columns = [column_of(chance, n_rows) for _ in range(N_COLUMNS)]
    if chance.random() < 0.3:
        columns[int(chance.integers(N_COLUMNS))] = columns[0]  # every cut of one is a tie with one of the other
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(N_COLUMNS)))
    target = drawn_target(chance, n_rows, columns[int(chance.integers(N_COLUMNS))])
    return Samples(Table(schema, tuple(columns)), target, weights_of(chance, n_rows))


@st.composite
def stopping_rules(draw: st.DrawFn) -> Stopping:
    return Stopping(
        max_depth=draw(st.sampled_from([None, None, 3])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 0.05, 2.5])),
        min_gain=draw(st.sampled_from([0.0, 0.0, 1e-3])),
        min_copy_weight=draw(st.sampled_from([0.0, 0.0, 0.2])),
    )


def assert_same_trees(samples: Samples, stopping: Stopping, n_drawn: int, seed: int, *, bootstrap: bool) -> None:
    is_number = isinstance(samples.target, NumberTarget)
    criterion = Criterion(CriterionKind.SQUARED_ERROR if is_number else CriterionKind.GINI)
    algorithm = Algorithm("cart", criterion, Categorical.TWO_GROUPS, stopping=stopping)
    committee = Committee("random_forest", (algorithm,), n_trees=2, max_features=n_drawn, bootstrap=bootstrap)
    wanted = grow_committee(samples, committee, seed=seed, engine=Engine.DEFINITION)
    assert_same_forest(wanted, grow_committee(samples, committee, seed=seed, engine=Engine.KERNELS, threads=2))


@given(st.integers(0, 2**32), st.sampled_from(NUMBERS_OF_ROWS), st.integers(1, 4), stopping_rules())
@examples(60)
def test_trees_with_copies_are_those_of_the_definition(
    seed: int, n_rows: int, n_drawn: int, stopping: Stopping
) -> None:
    assert_same_trees(drawn_samples(seed, n_rows), stopping, n_drawn, seed % 7, bootstrap=seed % 3 > 0)


@pytest.mark.parametrize("seed", range(2))
def test_a_tree_that_is_small_only_below_its_root_is_that_of_the_definition(seed: int) -> None:
    chance, n_rows = np.random.default_rng(seed), MOST_SMALL + 1
    numbers = np.where(chance.random((N_COLUMNS, n_rows)) < 0.15, np.nan, chance.normal(size=(N_COLUMNS, n_rows)))
    classes = np.searchsorted([-0.3, 0.4], np.nan_to_num(numbers[0] * numbers[1]) + 0.3 * chance.normal(size=n_rows))
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(N_COLUMNS)))
    target = ClassTarget(("a", "b", "c"), classes.astype(np.int32))
    samples = Samples(Table(schema, tuple(numbers)), target, np.ones(n_rows))
    assert_same_trees(samples, Stopping(min_samples_leaf=3), 2, seed, bootstrap=False)
