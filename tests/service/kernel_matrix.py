"""Trainings for processes that have only compiled code from disk: other tables than those of the warm-up."""

from itertools import product
from typing import Any

import numpy as np

from core.config.options import Algorithm, Categorical, Committee, FeatureShare
from core.config.presets import resolve
from core.engine.engine import Engine, grow_with
from core.ensembles.growing import grow_committee
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.prediction.routing import predict
from core.tables.schema import Attribute, Kind, Schema
from core.tables.table import Column, Table
from core.tables.target import ClassTarget, NumberTarget, Target
from core.tree.tree import TreeView
from tests.service.compiled_files import all_modules

CLASS_CRITERIA = [
    {"kind": "gini"},
    {"kind": "information_gain"},
    {"kind": "error_rate"},
    {"kind": "gain_ratio", "filter": "better_half"},
]
N_ROWS = 6_000


def train_all() -> None:
    """Grow by kernels and predict: every criterion, with and without weights, missing values and categories."""
    for weighted, holes, categorical in product((False, True), (False, True), (None, *Categorical)):
        for target in targets():
            samples = Samples(
                table(holes=holes, has_categories=categorical is not None), target, row_weights(weighted=weighted)
            )
            for criterion in CLASS_CRITERIA if isinstance(target, ClassTarget) else [{"kind": "squared_error"}]:
                options: dict[str, Any] = {"criterion": criterion, "stopping": {"max_depth": 2}}
                if categorical is not None:
                    options["categorical"] = categorical
                algorithm = resolve("cart", options, target.task)
                tree, _ = grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)
            predict(TreeView(tree, tree.size == 1), samples.attributes)
            grow_forests(samples, algorithm)
            algorithm = resolve("chaid", {"stopping": {"max_depth": 2}}, target.task)
            cut = with_cuts(samples, algorithm.numeric, numbers_only=True)
            grow_with(Engine.KERNELS, cut, algorithm, validation=None, seed=0)
            if isinstance(target, ClassTarget):
                algorithm = resolve("multivariate", {"stopping": {"max_depth": 1}}, target.task)
                grow_with(Engine.KERNELS, samples, algorithm, validation=None, seed=0)


def grow_forests(samples: Samples, algorithm: Algorithm) -> None:
    """Two trees, of columns drawn in each node and of all."""
    for max_features, bootstrap in ((FeatureShare.SQRT, True), (FeatureShare.ALL, False)):
        committee = Committee("bagging", (algorithm,), n_trees=2, max_features=max_features, bootstrap=bootstrap)
        grow_committee(samples, committee, seed=0, engine=Engine.KERNELS)


def targets() -> list[Target]:
    chance = np.random.default_rng(7)
    classes = [ClassTarget(tuple("abcdefg")[:n], chance.integers(n, size=N_ROWS).astype(np.int32)) for n in (2, 3, 7)]
    return [*classes, NumberTarget(chance.normal(size=(N_ROWS, 1)))]


def table(*, holes: bool, has_categories: bool) -> Table:
    chance = np.random.default_rng(8)
    columns: dict[Attribute, Column] = {
        Attribute("distinct", Kind.NUMERIC): chance.normal(size=N_ROWS),
        Attribute("few", Kind.NUMERIC): chance.integers(100, size=N_ROWS).astype(np.float64),
        Attribute("low to high", Kind.ORDINAL, ("l", "m", "h")): chance.integers(3, size=N_ROWS).astype(np.int32),
    }
    if has_categories:
        for n in (2, 9):
            attribute = Attribute(f"{n} levels", Kind.CATEGORICAL, tuple(map(str, range(n))))
            columns[attribute] = chance.integers(n, size=N_ROWS).astype(np.int32)
    if holes:
        for values in columns.values():
            values[chance.random(N_ROWS) < 0.1] = np.nan if values.dtype == np.float64 else -1
    return Table(Schema(tuple(columns)), tuple(columns.values()))


def row_weights(*, weighted: bool) -> Any:
    return np.random.default_rng(9).uniform(0.1, 3.0, N_ROWS) if weighted else np.ones(N_ROWS)


def all_kernels() -> list[Any]:
    """Every kernel there is, each once."""
    from numba.core.dispatcher import Dispatcher

    found = {id(value): value for module in all_modules() for value in vars(module).values()}
    return [kernel for kernel in found.values() if isinstance(kernel, Dispatcher)]


def never_called() -> list[str]:
    """The kernels that the warm-up does not run, and that no other kernel uses."""
    from core.warm_up.every_kernel import run_every_kernel

    run_every_kernel()
    kernels = all_kernels()
    used_by_others = {name for kernel in kernels for name in kernel.py_func.__code__.co_names}
    return [k.__qualname__ for k in kernels if not k.signatures and k.__name__ not in used_by_others]
