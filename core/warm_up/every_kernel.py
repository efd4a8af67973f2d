"""Runs every kernel on tables of a few rows, so that all of them are compiled, or loaded, before they are needed.

Kernels are compiled for each combination of argument types. So the tables differ in everything that makes the engine
choose another kernel or another type: the criterion, classes or numbers, weights, missing values, kinds of attributes
and their numbers of categories, and the options of the configuration. A test trains larger tables afterwards and finds
nothing left to compile; another test finds kernels that nothing here has called.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from core.compiler.raw_memory import END, address_of
from core.config.options import (
    Algorithm,
    Categorical,
    Committee,
    ConfidencePruning,
    Cost,
    CriterionKind,
    Dialect,
    GainFilter,
    Isolation,
    MissingStrategy,
    NumericCorrection,
    NumericKind,
)
from core.config.presets import resolve
from core.engine.compilable import can_grow_by_gains
from core.engine.engine import Engine, grow_with
from core.ensembles.balance.synthetic import near_rows
from core.ensembles.growing import grow_committee
from core.ensembles.growing_forest import forest_of
from core.ensembles.insight.permutation import ShuffledAnswers
from core.ensembles.isolation.isolation import grow_isolation
from core.ensembles.isolation.scores import IsolationPredictor
from core.ensembles.prediction.predictor import ForestPredictor
from core.growth.kernels.inputs.coding import coding_of_few
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.missing.filling import filled, fills_of
from core.prediction.block_walk import BlockWalk
from core.prediction.routing import MissingPolicy
from core.pruning.confidence import Expectation, steps_without_raising
from core.pruning.cost_complexity import weakest_link_steps
from core.pruning.held_out_tree import HeldOutTree
from core.records.columns_in_memory import ColumnsInMemory, NumbersInMemory, TextsInMemory
from core.records.joined_texts import TextsSideBySide
from core.records.json_scan import RecordScanner
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import MISSING_CODE, Column, Table
from core.tables.target import ClassTarget, NumberTarget, Target
from core.tree.layout import Layout
from core.tree.tree import Tree, TreeView, full_view

N_ROWS = 40
MANY_LEVELS, MANY_CLASSES = 300, 70  # more than a byte, or the small tables of some kernels, can hold

Order = tuple[Samples, Algorithm]
Options = Mapping[str, Any]

INTERVALS: Options = {
    "numeric": {"kind": NumericKind.QUANTILE, "bins": 4, "as": "intervals"},
    "categorical": "multiway",
}
CORRECTED: Options = {"kind": CriterionKind.GAIN_RATIO, "numeric_correction": NumericCorrection.RELEASE8}
SURROGATES: Options = {"missing": MissingStrategy.SURROGATE}


def run_every_kernel() -> None:
    """Run all kernels: of growth with every option, of balancing, permutation, pruning and prediction."""
    run_usual_kernels()
    for samples, algorithm in orders():
        if can_grow_by_gains(samples, algorithm):
            grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0, threads=2)
    run_committee_kernels()
    run_chaid_kernels()
    run_quest_kernels()
    run_multivariate_kernels()
    run_balancing_kernels()
    run_permutation_kernels()
    run_pruning_kernels()
    run_prediction_kernels()


def run_usual_kernels() -> None:
    """Run what most trainings need, so that it is compiled before the first one."""
    coding_of_few(np.zeros(N_ROWS))
    for target in targets():
        samples = chosen(samples_of(target, weighted=False, holes=False), ("number",))
        grow_with(Engine.KERNELS, samples, algorithm_of(target, {}), validation=None, seed=0, threads=2)


def run_committee_kernels() -> None:
    """Run what the trees of a committee need beyond those that grow alone."""
    forest_targets: tuple[Target, ...] = class_target(3), number_target(1)
    for target, holes in product(forest_targets, (False, True)):
        samples = chosen(samples_of(target, weighted=False, holes=holes), ("number", "few numbers", "binary"))
        committee = Committee("random_forest", (algorithm_of(target, {}),), n_trees=2, max_features=1)
        grow_committee(samples, committee, seed=0, engine=Engine.KERNELS, threads=2)


def run_chaid_kernels() -> None:
    """Grow by CHAID for classes and for numbers: the same kernels serve all other tables."""
    for target in (class_target(3), number_target(1)):
        algorithm = resolve("chaid", {"stopping": {"max_depth": 3}}, target.task)
        samples = with_cuts(samples_of(target, weighted=True, holes=True), algorithm.numeric, numbers_only=True)
        grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)


def run_quest_kernels() -> None:
    """Grow by QUEST: one kernel serves all tables."""
    samples = samples_of(class_target(3), weighted=True, holes=True)
    algorithm = resolve("quest", {"stopping": {"max_depth": 3}}, samples.target.task)
    grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)


def run_multivariate_kernels() -> None:
    """Grow by linear tests: one kernel serves all tables."""
    samples = samples_of(class_target(3), weighted=True, holes=True)
    algorithm = resolve("multivariate", {"stopping": {"max_depth": 3}}, samples.target.task)
    grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)


def run_balancing_kernels() -> None:
    """Find the neighbours of rows."""
    near_rows(samples_of(class_target(2), weighted=False, holes=True).attributes, 5, kernels=True)


def run_pruning_kernels() -> None:
    """Compute the effect of pruning on held-out rows, and the pruning methods that go through all nodes."""
    samples, algorithm = next(prediction_orders())
    tree, _ = grow_with(Engine.DEFINITION, samples, algorithm, validation=None, seed=0)
    HeldOutTree(full_view(tree), samples, kernels=True).credit_if_cut(0)
    weakest_link_steps(full_view(tree), Cost.GINI, kernels=True)
    expected = Expectation.of(ConfidencePruning(), algorithm, tree)
    steps_without_raising(full_view(tree), expected, kernels=True)


def run_prediction_kernels() -> None:
    """Run only what answers requests, on trees that the definition grows."""
    for samples, algorithm in prediction_orders():
        tree, _ = grow_with(Engine.DEFINITION, samples, algorithm, validation=None, seed=0)
        run_predictions(tree, samples.attributes)
    run_isolation_kernels()
    run_forest_kernels()
    run_scans()
    run_columns_in_memory()
    TextsSideBySide([b"one", b"two"]).of(np.array([1, 0]), b"", b"")


def run_predictions(tree: Tree, records: Table) -> None:
    """Predict with the whole tree and with its root alone, under every policy for missing values."""
    for view in (full_view(tree), TreeView(tree, np.ones(len(tree), dtype=np.bool_))):
        walk = BlockWalk(Layout(tree), view)
        for policy in MissingPolicy:
            walk.answers(records, policy)
            walk.ends(records, policy)
        list(walk.arrivals(records, MissingPolicy.WEIGHTED))


def run_permutation_kernels() -> None:
    """Predict by small forests with a column shuffled: with thresholds only, and with all kinds of tests."""
    for samples, algorithm in prediction_orders():
        if algorithm.missing is MissingStrategy.SURROGATE:
            continue
        tree, _ = grow_with(Engine.DEFINITION, samples, algorithm, validation=None, seed=0)
        forest = forest_of([tree], [0], [algorithm.criterion.kind], [samples.cuts])
        answers = ShuffledAnswers(forest, samples.attributes, kernels=True)
        column = int(tree.column[0])
        answers.when_shuffled(column)(np.arange(N_ROWS)[::-1])


def run_isolation_kernels() -> None:
    """Predict by an isolation forest: one kernel serves all tables."""
    table = samples_of(class_target(2), weighted=False, holes=False).attributes
    isolation = grow_isolation(table, Isolation(n_trees=2), seed=0)
    IsolationPredictor(isolation).path_lengths(table, kernels=True)


def run_forest_kernels() -> None:
    """Predict by a forest in every way: the same kernels serve all forests."""
    samples, algorithm = next(prediction_orders())
    tree, _ = grow_with(Engine.DEFINITION, samples, algorithm, validation=None, seed=0)
    predictor, records = ForestPredictor(forest_of([tree], [0], [algorithm.criterion.kind], [()])), samples.attributes
    predictor.average(records, kernels=True)
    predictor.by_tree(records, kernels=True)
    for cells in ([0.0, 0.0], [0.0, np.nan]):
        predictor.one(cells, kernels=True)
        predictor.ends(cells, kernels=True)
        predictor.possible_ends(cells, kernels=True)
    list(predictor.running_sums(records, [np.ones(records.n_rows, dtype=np.bool_)], kernels=True))


def run_scans() -> None:
    """Parse a request body of records and one of columns."""
    scanner = RecordScanner(Schema((Attribute("number", Kind.NUMERIC), levels("category", Kind.CATEGORICAL, 2))), ())
    scanner.records(b'[{"number": 1.5, "category": "1"}, {"number": null, "category": 0}]', 0)
    scanner.columns(b'{"number": [1.5, 12345678901234567890], "category": ["1", "2"]}', 0)


def run_columns_in_memory() -> None:
    """Read a column of numbers and one of text."""
    offsets, text = np.array([0, 1, 2], dtype=np.int32), np.frombuffer(END + b"10" + END, dtype=np.uint8)
    attributes = Schema((Attribute("number", Kind.NUMERIC), levels("category", Kind.CATEGORICAL, 2)))
    texts = TextsInMemory(int(address_of(offsets)), int(address_of(text)) + len(END), 2)
    numbers = np.zeros(2)
    ColumnsInMemory(attributes).as_numbers([NumbersInMemory(int(address_of(numbers))), texts], 2)


def orders() -> Iterator[Order]:
    """Tiny tables, each with an algorithm, that together use all kernels for growing trees."""
    for (target, options), weighted, holes in product(criteria(), (False, True), (False, True)):
        samples = samples_of(target, weighted=weighted, holes=holes)
        for names, categorical in KINDS_OF_TABLES:
            yield chosen(samples, names), algorithm_of(target, {**options, "categorical": categorical})
    for target, weighted, holes in product(targets(), (False, True), (False, True)):
        samples = samples_of(target, weighted=weighted, holes=holes)
        for options in further_options(samples):
            yield prepared(samples, algorithm_of(target, options))


def prediction_orders() -> Iterator[Order]:
    """Tiny tables with missing values, whose trees have thresholds only, or every kind of split."""
    for target in (class_target(3), number_target(2)):
        samples = samples_of(target, weighted=False, holes=True)
        yield chosen(samples, ("number", "few numbers")), algorithm_of(target, {})
        for options in (*map(split_by, Categorical), INTERVALS, SURROGATES):
            yield prepared(samples, algorithm_of(target, options))


def criteria() -> Iterator[tuple[Target, Options]]:
    """Every criterion with every kind of target that it supports."""
    for target in targets():
        if isinstance(target, NumberTarget):
            yield target, {}
            continue
        for kind in (CriterionKind.GINI, CriterionKind.INFORMATION_GAIN, CriterionKind.ERROR_RATE):
            yield target, {"criterion": {"kind": kind}}
        for choice in GainFilter:
            yield target, {"criterion": {"kind": CriterionKind.GAIN_RATIO, "filter": choice}}


def further_options(samples: Samples) -> Iterator[Options]:
    """Options that lead to other code than the defaults, one at a time."""
    kinds = set(NumericKind) - {NumericKind.EXACT}
    if isinstance(samples.target, NumberTarget):
        kinds -= {NumericKind.BOUNDARY, NumericKind.MDLP}
    for kind in sorted(kinds):
        yield {"numeric": {"kind": kind}}
    for missing in (MissingStrategy.MAJORITY, MissingStrategy.DISTRIBUTION):
        yield {"missing": missing}
    yield from (INTERVALS, SURROGATES, {"min_category_weight": 3.0})
    if isinstance(samples.target, ClassTarget):
        yield {"criterion": CORRECTED}
        yield {"criterion": CORRECTED, "dialect": Dialect.RELEASE8, "categorical": Categorical.MULTIWAY}
    yield {"stopping": {"max_leaves": 5}}
    yield {"stopping": {"max_depth": 3, "min_copy_weight": 0.1}}


def split_by(categorical: Categorical) -> Options:
    """The option for a way to split categories."""
    return {"categorical": categorical}


def algorithm_of(target: Target, options: Options) -> Algorithm:
    """CART of depth 3 with some options replaced; CART supports all of them."""
    return resolve("cart", {"stopping": {"max_depth": 3}, **options}, target.task)


def prepared(samples: Samples, algorithm: Algorithm) -> Order:
    """The samples, with missing values filled and columns cut as in a training."""
    if algorithm.missing is MissingStrategy.MAJORITY:
        table = samples.attributes
        samples = replace(samples, attributes=filled(table, fills_of(table, samples.weights)))
    return with_cuts(samples, algorithm.numeric), algorithm


def targets() -> Iterator[Target]:
    """Two classes, three, many; one number, two."""
    yield from map(class_target, (2, 3, MANY_CLASSES))
    yield from map(number_target, (1, 2))


def class_target(n_classes: int) -> ClassTarget:
    """Classes drawn at random."""
    codes = np.random.default_rng(n_classes).integers(n_classes, size=N_ROWS).astype(np.int32)
    return ClassTarget(tuple(map(str, range(n_classes))), codes)


def number_target(n_outputs: int) -> NumberTarget:
    """Numbers drawn at random, `n_outputs` for each row."""
    return NumberTarget(np.random.default_rng(n_outputs).normal(size=(N_ROWS, n_outputs)))


def tables_with(*names: str) -> list[tuple[tuple[str, ...], Categorical]]:
    """A choice of columns with every way to split categories."""
    return [(names, categorical) for categorical in Categorical]


KINDS_OF_TABLES = (
    (("number",), Categorical.TWO_GROUPS),
    (("number", "ordinal", "few numbers", "binary"), Categorical.TWO_GROUPS),
    *tables_with("category", "many categories"),
    *tables_with("number", "few numbers", "category", "many categories"),
)


def samples_of(target: Target, *, weighted: bool, holes: bool) -> Samples:
    """A table with one column of each kind."""
    chance = np.random.default_rng(2)
    columns: dict[Attribute, Column] = {
        Attribute("number", Kind.NUMERIC): chance.normal(size=N_ROWS),
        Attribute("few numbers", Kind.NUMERIC): chance.integers(5, size=N_ROWS).astype(np.float64),
        Attribute("binary", Kind.NUMERIC): chance.integers(2, size=N_ROWS).astype(np.float64),
        levels("ordinal", Kind.ORDINAL, 4): chance.integers(4, size=N_ROWS).astype(np.int32),
        levels("category", Kind.CATEGORICAL, 4): chance.integers(4, size=N_ROWS).astype(np.int32),
        levels("many categories", Kind.CATEGORICAL, MANY_LEVELS): (np.arange(N_ROWS) % 30 * 10).astype(np.int32),
    }
    if holes:
        for values in columns.values():
            values[chance.random(N_ROWS) < 0.2] = np.nan if values.dtype == np.float64 else MISSING_CODE
    weights = chance.uniform(0.5, 2.0, size=N_ROWS) if weighted else np.ones(N_ROWS)
    return Samples(Table(Schema(tuple(columns)), tuple(columns.values())), target, weights)


def levels(name: str, kind: Kind, n_levels: int) -> Attribute:
    """An attribute with `n_levels` categories."""
    return Attribute(name, kind, tuple(map(str, range(n_levels))))


def chosen(samples: Samples, names: tuple[str, ...]) -> Samples:
    """The samples with some of their attributes."""
    return replace(samples, attributes=samples.attributes.select(names))
