"""The kernels grow the tree of the definition, bit for bit."""

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
    GainFilter,
    MissingStrategy,
    Numeric,
    NumericKind,
    Nunez,
    Stopping,
    TanSchlimmer,
)
from core.engine.compilable import can_grow_by_gains
from core.engine.definition import grow
from core.engine.engine import SMALL_ROWS, Engine, grow_with
from core.growth.kernels.inputs.coding import FEW_ROWS
from core.growth.kernels.inputs.columns import weighing_of
from core.growth.kernels.lists import scratch
from core.growth.kernels.lists.grow_fast import grow_fast
from core.growth.kernels.lists.problem import path_of
from core.growth.kernels.lists.renumber import CACHED_WEIGHTS
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget
from tests.core.both_engines import assert_same_bytes
from tests.examples import examples

pytestmark = pytest.mark.bounds

CRITERIA = [
    Criterion(CriterionKind.GINI),
    Criterion(CriterionKind.INFORMATION_GAIN),
    Criterion(CriterionKind.ERROR_RATE),
    *(Criterion(CriterionKind.GAIN_RATIO, gain_filter) for gain_filter in GainFilter),
    Criterion(CriterionKind.SQUARED_ERROR),
]


def generated(seed: int, n_rows: int, criterion: Criterion) -> Samples:
    """Columns with ties, neighbouring floats, holes and orders; weights from equal to very different."""
    chance = np.random.default_rng(seed)
    attributes, columns = [], []
    for column in range(int(chance.integers(1, 6))):
        holes = chance.random(n_rows) < chance.choice([0.0, 0.0, 0.1, 0.5, 1.0], p=[0.4, 0.2, 0.2, 0.15, 0.05])
        if chance.random() < 0.3:
            n_levels = int(chance.choice([1, 2, 5, 11, 14, 40]))
            attributes.append(Attribute(f"x{column}", Kind.CATEGORICAL, tuple(map(str, range(n_levels + 1)))))
            columns.append(np.where(holes, -1, chance.integers(0, n_levels, n_rows)).astype(np.int32))
            continue
        if chance.random() < 0.25:
            attributes.append(Attribute(f"x{column}", Kind.ORDINAL, tuple("abcdef")))
            columns.append(np.where(holes, -1, chance.integers(0, 6, n_rows)).astype(np.int32))
            continue
        values = chance.choice(["normal", "whole", "neighbours", "constant"])
        cells = {
            "normal": chance.normal(size=n_rows),
            "whole": chance.integers(-2, 3, n_rows).astype(np.float64),
            "neighbours": 1 + chance.integers(0, 6, n_rows) * 2.0**-52,
            "constant": np.full(n_rows, -0.0),
        }[values]
        attributes.append(Attribute(f"x{column}", Kind.NUMERIC))
        columns.append(np.where(holes, np.nan, cells))
    n_classes = int(chance.choice([1, 2, 3, 6, 50]))
    weights = {
        0: np.ones(n_rows),
        1: chance.random(n_rows) + 0.1,
        2: 10.0 ** chance.integers(-3, 4, n_rows),
    }[int(chance.integers(3))]
    target: ClassTarget | NumberTarget = ClassTarget(
        tuple(map(str, range(n_classes))), chance.integers(0, n_classes, n_rows).astype(np.int32)
    )
    if criterion.kind is CriterionKind.SQUARED_ERROR:
        n_outputs = int(chance.choice([1, 1, 3]))
        target = NumberTarget(np.round(chance.normal(size=(n_rows, n_outputs)), 1) + chance.choice([0.0, 1e8]))
    return Samples(Table(Schema(tuple(attributes)), tuple(columns)), target, weights)


@st.composite
def limits(draw: st.DrawFn) -> Stopping:
    return Stopping(
        max_depth=draw(st.sampled_from([None, None, 0, 1, 4])),
        max_leaves=draw(st.sampled_from([None, None, None, 1, 2, 7, 20])),
        min_samples_split=draw(st.sampled_from([0, 2, 5.5])),
        min_samples_leaf=draw(st.sampled_from([0, 0.5, 1, 2, 5])),
        min_gain=draw(st.sampled_from([0.0, 0.0, 0.01])),
        min_score=draw(st.sampled_from([0.0, 0.0, 0.05])),
        min_impurity=draw(st.sampled_from([0.0, 0.0, 0.1])),
        min_copy_weight=draw(st.sampled_from([0.0, 0.0, 0.0, 0.2])),
    )


@st.composite
def algorithms(draw: st.DrawFn) -> Algorithm:
    criterion = draw(st.sampled_from(CRITERIA))
    costs = None
    if criterion.kind is CriterionKind.INFORMATION_GAIN:
        costs = draw(st.sampled_from([None, TanSchlimmer({"x0": 3.0}), Nunez({"x1": 0.5}, w=0.7)]))
    numeric = Numeric()
    if criterion.kind is not CriterionKind.SQUARED_ERROR and draw(st.integers(0, 4)) == 0:
        numeric = Numeric(NumericKind.MDLP, bins_as=draw(st.sampled_from(BinsAs)))
    elif draw(st.integers(0, 5)) == 0:
        numeric = Numeric(draw(st.sampled_from([NumericKind.QUANTILE, NumericKind.UNIFORM])), bins_as=BinsAs.INTERVALS)
    return Algorithm(
        "cart",
        criterion,
        draw(st.sampled_from(Categorical)),
        numeric=numeric,
        stopping=draw(limits()),
        attribute_costs=costs,
        min_category_weight=draw(st.sampled_from([0.0, 0.0, 4.0])),
    )


@given(st.integers(0, 2**32), st.integers(1, 120), algorithms())
@examples(400)
def test_the_kernels_give_the_bytes_of_the_definition(seed: int, n_rows: int, algorithm: Algorithm) -> None:
    samples = with_cuts(generated(seed, n_rows, algorithm.criterion), algorithm.numeric)
    assert can_grow_by_gains(samples, algorithm)
    assert_same_bytes(grow(samples, algorithm), grow_fast(samples, algorithm))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
def test_also_for_thousands_of_rows_whose_subtrees_are_numbered_anew(seed: int, criterion: Criterion) -> None:
    samples = generated(seed, 20_000, criterion)
    categorical = (Categorical.TWO_GROUPS, Categorical.MULTIWAY)[seed % 2]
    algorithm = Algorithm("cart", criterion, categorical, stopping=Stopping(max_depth=6))
    assert_same_bytes(grow(samples, algorithm), grow_fast(samples, algorithm))


@pytest.mark.parametrize(("weight", "min_copy"), [(1.0, 0.0), (0.3, 0.0), (1.0, 0.2)])
def test_also_for_large_nodes_whose_entries_tell_what_rows_weigh(weight: float, min_copy: float) -> None:
    chance, n_rows = np.random.default_rng(11), CACHED_WEIGHTS + 5_000  # numbered anew where marks are in use
    numbers = chance.normal(size=(2, n_rows))
    scores = numbers[0] * numbers[1] + chance.normal(size=n_rows)
    target = ClassTarget(("a", "b", "c"), np.searchsorted([-0.5, 0.5], scores).astype(np.int32))
    numbers[1] = np.round(numbers[1], 3)  # values that repeat, in a list all the same
    numbers[chance.random(numbers.shape) < 0.15] = np.nan
    schema = Schema((Attribute("x0", Kind.NUMERIC), Attribute("x1", Kind.NUMERIC)))
    samples = Samples(Table(schema, tuple(numbers)), target, np.full(n_rows, weight))
    stopping = Stopping(max_depth=6, min_copy_weight=min_copy)
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, stopping=stopping)
    assert path_of(samples, algorithm, weighing_of(samples)).tolist() == [weight]
    assert_same_bytes(grow(samples, algorithm), grow_fast(samples, algorithm))


@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
def test_columns_of_two_values_give_the_bytes_of_the_definition(criterion: Criterion) -> None:
    chance, n_rows = np.random.default_rng(7), FEW_ROWS + 500
    columns = [(chance.random(n_rows) < share) * 3.0 - 1.0 for share in np.linspace(0.0, 1.0, 70)]
    columns.append(chance.normal(size=n_rows))
    target: ClassTarget | NumberTarget = ClassTarget(("a", "b", "c"), chance.integers(0, 3, n_rows).astype(np.int32))
    if criterion.kind is CriterionKind.SQUARED_ERROR:
        target = NumberTarget(chance.normal(size=(n_rows, 1)))
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(len(columns))))
    samples = Samples(Table(schema, tuple(columns)), target, np.ones(n_rows))
    algorithm = Algorithm("cart", criterion, Categorical.TWO_GROUPS, stopping=Stopping(max_depth=7, min_samples_leaf=3))
    assert_same_bytes(grow(samples, algorithm), grow_fast(samples, algorithm))


@pytest.mark.parametrize("weight", [0.1, 0.3, 1.0, 7.7e6])
def test_a_node_of_twice_the_least_weight_of_a_leaf_is_still_split(weight: float) -> None:
    target = ClassTarget(("a", "b"), np.repeat([0, 1], 10).astype(np.int32))
    table = Table(Schema((Attribute("x", Kind.NUMERIC),)), (np.arange(20.0),))
    samples = Samples(table, target, np.full(20, weight))
    stopping = Stopping(min_samples_leaf=float(np.full(10, weight).cumsum()[-1]))
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, stopping=stopping)
    tree = grow_fast(samples, algorithm)
    assert len(tree) == 3
    assert_same_bytes(grow(samples, algorithm), tree)


@pytest.mark.parametrize("most_counts", [scratch.MOST_COUNTS, 2_000, 0])
@pytest.mark.parametrize(
    ("categorical", "criterion"),
    [
        (Categorical.TWO_GROUPS, Criterion(CriterionKind.GINI)),
        (Categorical.TWO_GROUPS, Criterion(CriterionKind.INFORMATION_GAIN)),
        (Categorical.MULTIWAY, Criterion(CriterionKind.GAIN_RATIO)),
        (Categorical.ONE_HOT, Criterion(CriterionKind.GINI)),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_counts_of_siblings_give_the_bytes_of_the_definition(
    monkeypatch: pytest.MonkeyPatch, n_classes: int, categorical: Categorical, criterion: Criterion, most_counts: int
) -> None:
    monkeypatch.setattr(scratch, "MOST_COUNTS", most_counts)
    chance, n_rows = np.random.default_rng(n_classes), FEW_ROWS + 2_000
    codes = [(n * chance.random(n_rows) ** 2).astype(np.int32) for n in (2, 3, 14, 60)]
    attributes = [Attribute(f"c{n}", Kind.CATEGORICAL, tuple(map(str, range(n)))) for n in (2, 3, 14, 60)]
    columns = [*codes, np.floor(chance.random(n_rows) * 30), chance.normal(size=n_rows)]
    attributes += [Attribute("few", Kind.NUMERIC), Attribute("many", Kind.NUMERIC)]
    worth = chance.gumbel(size=(n_rows, n_classes)) + columns[-1][:, None] * np.arange(n_classes)
    for column, n in zip(codes, (2, 3, 14, 60), strict=True):
        worth += chance.normal(size=(n, n_classes))[column]
    target = ClassTarget(tuple(map(str, range(n_classes))), worth.argmax(axis=1).astype(np.int32))
    samples = Samples(Table(Schema(tuple(attributes)), tuple(columns)), target, np.ones(n_rows))
    for min_samples_leaf in (1, 20):
        stopping = Stopping(max_depth=8, min_samples_leaf=min_samples_leaf)
        algorithm = Algorithm("cart", criterion, categorical, stopping=stopping)
        assert_same_bytes(grow(samples, algorithm), grow_fast(samples, algorithm))


@pytest.mark.parametrize("threads", [2, 3])
@pytest.mark.parametrize("criterion", [CRITERIA[0], CRITERIA[3], CRITERIA[-1]], ids=lambda criterion: criterion.kind)
@pytest.mark.parametrize("seed", range(6))
def test_threads_do_not_change_a_byte(seed: int, criterion: Criterion, threads: int) -> None:
    samples = generated(seed, 9_000, criterion)
    categorical = (Categorical.TWO_GROUPS, Categorical.MULTIWAY)[seed % 2]
    algorithm = Algorithm("cart", criterion, categorical, stopping=Stopping(min_samples_leaf=20))
    assert_same_bytes(grow_fast(samples, algorithm), grow_fast(samples, algorithm, threads=threads))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_column_that_cannot_be_sorted_ends_growth(monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    def no_memory(*_: object) -> tuple[int, bool]:
        raise MemoryError

    monkeypatch.setattr("core.growth.kernels.lists.problem.fill_list", no_memory)
    columns = tuple(np.arange(9.0) for _ in range(5))
    schema = Schema(tuple(Attribute(f"x{column}", Kind.NUMERIC) for column in range(5)))
    samples = Samples(Table(schema, columns), ClassTarget(("a", "b"), np.arange(9, dtype=np.int32) % 2), np.ones(9))
    with pytest.raises(MemoryError):
        grow_fast(samples, Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS), threads=threads)


def test_a_raising_watch_ends_all_threads() -> None:
    samples = generated(0, 100_000, CRITERIA[0])

    def give_up(_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grow_fast(samples, Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS), threads=2, watch=give_up)


def test_progress_is_told_and_ends_below_or_at_1() -> None:
    samples = generated(1, 20_000, CRITERIA[0])
    told: list[float] = []
    grow_fast(samples, Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS), watch=told.append)
    assert all(0 <= progress <= 1 for progress in told)
    assert told == sorted(told)


def test_what_the_kernels_cannot_do_the_definition_does() -> None:
    cuts = Numeric(NumericKind.MDLP)
    samples = with_cuts(generated(3, 60, CRITERIA[0]), cuts)
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, cuts, missing=MissingStrategy.SURROGATE)
    assert not can_grow_by_gains(samples, algorithm)  # stand-ins may cut elsewhere
    tree, _ = grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)
    assert_same_bytes(tree, grow(samples, algorithm))


def test_small_data_does_not_wait_for_a_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    grower = "core.growth.kernels.lists.grow_fast.grow_fast"
    monkeypatch.setattr(grower, lambda samples, *_, **__: asked.append(len(samples)))
    algorithm = Algorithm("cart", CRITERIA[0], Categorical.TWO_GROUPS, stopping=Stopping(max_depth=1))
    for n_rows in (SMALL_ROWS, SMALL_ROWS + 1):
        grow_with(Engine.AUTO, generated(5, n_rows, CRITERIA[0]), algorithm, validation=None, seed=0)
    grow_with(Engine.DEFINITION, generated(5, 600, CRITERIA[0]), algorithm, validation=None, seed=0)
    assert asked == [SMALL_ROWS + 1]
