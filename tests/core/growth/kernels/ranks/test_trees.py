"""Trees grown by ranks are those of the definition, bit for bit: nodes of many rows, of few, and those in between."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.arrays import FloatArray
from core.config.options import Algorithm, Categorical, Committee, Criterion, CriterionKind, Stopping
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.growth.kernels.forest import many_trees
from core.growth.kernels.ranks import trees
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Target
from tests.core.growth.kernels.forest.test_many_trees import assert_same_forest
from tests.examples import examples

pytestmark = pytest.mark.bounds

N_COLUMNS = 7


def column_of(chance: np.random.Generator, n_rows: int) -> FloatArray:
    """Values that differ, that are equal, that stand close together, and some that are far from the others."""
    draws = [
        chance.normal(size=n_rows),
        chance.integers(0, int(chance.choice([1, 2, 5, 300])), n_rows).astype(np.float64),
        np.exp(20 * chance.normal(size=n_rows)),
        np.where(chance.random(n_rows) < 0.99, 1.0, chance.normal(size=n_rows)),
    ]
    return draws[int(chance.integers(len(draws)))]


def drawn_target(chance: np.random.Generator, n_rows: int, about: FloatArray) -> Target:
    n_classes = int(chance.choice([1, 1, 2, 3, 7]))
    if n_classes > 1:
        noisy = np.argsort(np.argsort(about + chance.normal(size=n_rows)))
        return ClassTarget(tuple(map(str, range(n_classes))), (noisy * n_classes // n_rows).astype(np.int32))
    noisy = np.tanh(about) + chance.choice([0.01, 1.0]) * chance.normal(size=n_rows)
    noisy = np.round(noisy, 1) if chance.random() < 0.5 else noisy
    return NumberTarget((chance.choice([1.0, 1e7]) * noisy + chance.choice([0.0, 1e8]))[:, None])


def drawn_samples(seed: int, n_rows: int) -> Samples:
    chance = np.random.default_rng(seed)
    columns = tuple(column_of(chance, n_rows) for _ in range(N_COLUMNS))
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(N_COLUMNS)))
    target = drawn_target(chance, n_rows, columns[int(chance.integers(N_COLUMNS))])
    return Samples(Table(schema, columns), target, chance.choice([[1.0], [1.0, 2.0, 40.0]][seed % 2], n_rows))


@st.composite
def stopping_rules(draw: st.DrawFn) -> Stopping:
    return Stopping(
        max_depth=draw(st.sampled_from([None, None, 1, 4])),
        min_samples_split=draw(st.sampled_from([2, 2, 30])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 2.5, 20])),
        min_gain=draw(st.sampled_from([0.0, 0.0, 1e-3])),
        min_impurity=draw(st.sampled_from([0.0, 0.0, 0.05])),
    )


@given(st.integers(0, 2**32), st.sampled_from([2, 30, 255, 256, 600]), st.integers(1, 6), stopping_rules())
@examples(40)
def test_trees_by_ranks_are_those_of_the_definition(seed: int, n_rows: int, n_drawn: int, stopping: Stopping) -> None:
    samples = drawn_samples(seed, n_rows)
    is_number = isinstance(samples.target, NumberTarget)
    criterion = Criterion(CriterionKind.SQUARED_ERROR if is_number else CriterionKind.GINI)
    algorithm = Algorithm("cart", criterion, Categorical.TWO_GROUPS, stopping=stopping)
    committee = Committee("random_forest", (algorithm,), n_trees=2, max_features=n_drawn, bootstrap=seed % 3 > 0)
    wanted = grow_committee(samples, committee, seed=seed % 7, engine=Engine.DEFINITION)
    assert_same_forest(wanted, grow_committee(samples, committee, seed=seed % 7, engine=Engine.KERNELS, threads=2))


@given(st.integers(0, 2**32), st.sampled_from([300, 600, 1200]), st.integers(1, 6), st.sampled_from([2, 5, 8]))
@examples(20)
def test_ranks_of_many_values_are_read_in_two_parts(seed: int, n_rows: int, n_drawn: int, coarse_bits: int) -> None:
    samples = drawn_samples(seed, n_rows)
    kind = CriterionKind.SQUARED_ERROR if isinstance(samples.target, NumberTarget) else CriterionKind.GINI
    algorithm = Algorithm("cart", Criterion(kind), Categorical.TWO_GROUPS)
    committee = Committee("random_forest", (algorithm,), n_trees=1, max_features=n_drawn)
    wanted = grow_committee(samples, committee, seed=0, engine=Engine.DEFINITION)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(trees, "COARSE_BITS", max(coarse_bits, (n_rows - 1).bit_length() - 8))
        assert_same_forest(wanted, grow_committee(samples, committee, seed=0, engine=Engine.KERNELS))


@pytest.mark.parametrize("weight", [1.0, 1.5])
def test_only_whole_weights_are_grown_by_ranks(weight: float, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = drawn_samples(4, 100)
    asked: list[bool] = []

    def noted(*given: object) -> bool:
        asked.append(is_ranked(*given))  # type: ignore[arg-type]
        return asked[-1]

    is_ranked = many_trees.is_ranked
    monkeypatch.setattr(many_trees, "is_ranked", noted)
    weighed = Samples(samples.attributes, samples.target, np.full(100, weight))
    kind = CriterionKind.SQUARED_ERROR if isinstance(samples.target, NumberTarget) else CriterionKind.GINI
    algorithm = Algorithm("cart", Criterion(kind), Categorical.TWO_GROUPS)
    committee = Committee("random_forest", (algorithm,), n_trees=1, max_features=2)
    grow_committee(weighed, committee, seed=0, engine=Engine.KERNELS)
    assert asked == [weight == 1.0]
