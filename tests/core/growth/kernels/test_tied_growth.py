"""Where columns tie, the kernels choose the column of the definition: the earlier one.

Small tables of few distinct values, in which most nodes are small and several columns cut them equally well. Every test
goes through all parts that can be combined: which cuts are candidates, the criterion, how categories are split, what
becomes of missing values, the task, and whether nodes draw their columns.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from core.config.options import (
    Algorithm,
    BinsAs,
    Categorical,
    Committee,
    Criterion,
    CriterionKind,
    GainFilter,
    MissingStrategy,
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
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.growth.column_draw import ColumnDraw
from core.growth.kernels.lists.grow_fast import grow_fast
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Table
from core.tables.target import ClassTarget, NumberTarget, Task
from tests.core.both_engines import assert_same_bytes
from tests.core.growth.kernels.lists.test_grow_fast import CRITERIA
from tests.examples import IS_FUZZING

pytestmark = pytest.mark.bounds

CUTS = {
    "exact": Numeric(),
    "boundary": Numeric(NumericKind.BOUNDARY),
    "quantile": Numeric(NumericKind.QUANTILE, bins=5),
    "uniform": Numeric(NumericKind.UNIFORM, bins=7),
    "random": Numeric(NumericKind.RANDOM, draws=3),
    "mdlp": Numeric(NumericKind.MDLP),
    "intervals": Numeric(NumericKind.QUANTILE, bins=4, bins_as=BinsAs.INTERVALS),
}
STRATEGIES = [MissingStrategy.WEIGHTED, MissingStrategy.DISTRIBUTION, MissingStrategy.SURROGATE]
RELEASE8 = resolve("c45", {"dialect": "release8"}, Task.CLASSIFICATION)
N_TABLES = 4 if IS_FUZZING else 1  # for each combination
FOLLOWS = 0.8  # the share of rows whose target follows from the columns


def tied_samples(chance: np.random.Generator, task: Task, *, holes: bool) -> Samples:
    """Columns of few values, some made of others: mirrored, stretched, with two values made one."""
    n_rows = int(chance.integers(20, 100))
    attributes, columns = [], []
    latent = [np.round(chance.normal(size=n_rows), int(chance.integers(0, 2))) for _ in range(3)]
    for position in range(int(chance.integers(3, 7))):
        cells = latent[int(chance.integers(3))] if chance.random() < 0.5 else np.round(chance.normal(size=n_rows), 1)
        kind = chance.choice(["as it is", "mirrored", "stretched", "clipped", "ordinal", "categories"])
        is_known = chance.random(n_rows) >= (chance.choice([0.0, 0.02, 0.3]) if holes else 0.0)
        if kind in ("ordinal", "categories"):
            n_levels = int(chance.integers(2, 7))
            codes = np.clip(np.floor(cells * n_levels / 4 + n_levels / 2), 0, n_levels - 1).astype(np.int32)
            of_kind = Kind.ORDINAL if kind == "ordinal" else Kind.CATEGORICAL
            attributes.append(Attribute(f"x{position}", of_kind, tuple("abcdefgh"[: n_levels + chance.integers(2)])))
            columns.append(np.where(is_known, codes, -1).astype(np.int32))
            continue
        made = {
            "as it is": cells,
            "mirrored": -cells,
            "stretched": cells * np.where(cells > 0, 3.0, 0.5),
            "clipped": np.clip(cells, -0.5, 1.0),
        }[str(kind)]
        attributes.append(Attribute(f"x{position}", Kind.NUMERIC))
        columns.append(np.where(is_known, made, np.nan))
    weights = [np.ones(n_rows), np.ones(n_rows), chance.integers(1, 4, n_rows) * 1.0, chance.choice([0.1, 0.7], n_rows)]
    score = (latent[0] > 0) + 1.0 * (latent[1] > 0.5) + (latent[0] * latent[1] > 0.2)
    told = np.where(chance.random(n_rows) < FOLLOWS, score, chance.integers(0, 4, n_rows))
    table = Table(Schema(tuple(attributes)), tuple(columns))
    target: ClassTarget | NumberTarget
    if task is Task.REGRESSION:
        offset = chance.choice([0.0, 0.0, 1e6])
        target = NumberTarget(np.stack([told + offset, told % 2][: chance.integers(1, 3)], axis=1))
    else:
        n_classes = int(chance.integers(2, 5))
        target = ClassTarget(tuple("pqrs"[:n_classes]), (told % n_classes).astype(np.int32))
    return Samples(table, target, weights[int(chance.integers(4))])


def task_of(criterion: Criterion) -> Task:
    return Task.REGRESSION if criterion.kind is CriterionKind.SQUARED_ERROR else Task.CLASSIFICATION


def combinations(cut: str) -> Iterator[Algorithm]:
    """Every algorithm with these cuts, and limits that leave small nodes to be split."""
    for criterion, categorical, missing in product(CRITERIA, Categorical, STRATEGIES):
        numeric = CUTS[cut]
        is_of_classes = numeric.kind in (NumericKind.BOUNDARY, NumericKind.MDLP)
        if is_of_classes and criterion.kind is CriterionKind.SQUARED_ERROR:
            continue
        follows = missing is MissingStrategy.SURROGATE
        if follows and (categorical is Categorical.MULTIWAY or numeric.is_found_before_growth):
            continue
        yield Algorithm("cart", criterion, categorical, numeric=numeric, missing=missing)


def cases(cut: str, kind: int, n_tables: int) -> Iterator[tuple[Samples, Algorithm, np.random.Generator]]:
    """Tables for each combination, some with holes, by limits that take turns."""
    limits = [
        Stopping(),
        Stopping(min_samples_leaf=2),
        Stopping(),
        Stopping(max_leaves=9),
        Stopping(min_samples_leaf=5),
    ]
    for position, algorithm in enumerate(combinations(cut)):
        for table in range(n_tables):
            chance = np.random.default_rng([kind, list(CUTS).index(cut), position, table])
            samples = tied_samples(chance, task_of(algorithm.criterion), holes=(position + table) % 2 == 1)
            stopping = limits[(position + table) % len(limits)]
            costs = None
            if algorithm.criterion.kind is CriterionKind.INFORMATION_GAIN and (position + table) % 3 == 0:
                costs = (TanSchlimmer({"x0": 3.0}), Nunez({"x1": 0.5}, w=0.7))[position % 2]
            one = replace(algorithm, stopping=stopping, attribute_costs=costs)
            yield with_cuts(samples, algorithm.numeric), one, chance


def assert_same_growth(samples: Samples, algorithm: Algorithm, draw: ColumnDraw | None = None, seed: int = 0) -> None:
    assert can_grow_by_gains(samples, algorithm)
    wanted = grow(samples, algorithm, seed=seed, draw=draw)
    assert_same_bytes(wanted, grow_fast(samples, algorithm, seed=seed, draw=draw))


@pytest.mark.parametrize("cut", CUTS)
def test_kernels_break_ties_as_the_definition_does(cut: str) -> None:
    for samples, algorithm, chance in cases(cut, 0, N_TABLES):
        assert_same_growth(samples, algorithm, seed=int(chance.integers(100)))


@pytest.mark.parametrize("cut", CUTS)
def test_kernels_break_ties_among_drawn_columns_too(cut: str) -> None:
    for samples, algorithm, chance in cases(cut, 1, 1):
        n_columns = len(samples.attributes.schema)
        draw = ColumnDraw(tuple(range(n_columns)), int(chance.integers(1, n_columns + 1)))
        assert_same_growth(samples, algorithm, draw, seed=int(chance.integers(100)))


@pytest.mark.parametrize("cut", CUTS)
def test_committees_break_ties_as_the_definition_does(cut: str) -> None:
    for samples, algorithm, chance in cases(cut, 2, 1):
        committee = Committee(
            "random_forest", (algorithm,), n_trees=2, max_features=2, bootstrap=bool(chance.integers(2))
        )
        wanted, found = (
            grow_committee(samples, committee, seed=3, engine=engine) for engine in (Engine.DEFINITION, Engine.KERNELS)
        )
        for tree in range(len(wanted)):
            assert_same_bytes(wanted.tree(tree), found.tree(tree))


@pytest.mark.parametrize("correction", NumericCorrection)
@pytest.mark.parametrize("gain_filter", GainFilter)
def test_release8_breaks_ties_as_the_definition_does(correction: NumericCorrection, gain_filter: GainFilter) -> None:
    criterion = Criterion(CriterionKind.GAIN_RATIO, gain_filter, correction)
    for table in range(6):
        chance = np.random.default_rng([3, table])
        samples = tied_samples(chance, Task.CLASSIFICATION, holes=table % 2 == 1)
        assert_same_growth(samples, replace(RELEASE8, criterion=criterion))
        for cut in ("exact", "boundary", "random"):
            assert_same_growth(samples, Algorithm("c45", criterion, Categorical.MULTIWAY, numeric=CUTS[cut]))
