"""Rows about CHAID, beside the package of that name.

Both build the same tree: without Bonferroni's multipliers, which the package does not know, and without dividing groups
again. The package gets categories and bins as codes, made beforehand; ours makes its bins while it is measured. The
package tests every pair of categories anew after every merger, so one split of columns of 200 levels takes it most of a
minute; if it takes too long it is stopped, and the figure is a lower bound.
"""

import signal
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from bench.findings import Finding, Measured, Result, Setting
from bench.ours import samples_of
from bench.tables import Data, Tables
from bench.timing import cpu_seconds
from core.arithmetic.arrays import RowArray
from core.config.options import Algorithm
from core.config.presets import resolve
from core.engine.engine import Engine, grow_with
from core.growth.precut import with_cuts
from core.growth.samples import Samples
from core.prediction.routing import MissingPolicy, leaves_reached
from core.tables.target import Task
from core.tree.tree import Tree, full_view

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it draws graphs with packages that are not there
    from CHAID import Tree as PackageTree

MIN_SPLIT, MIN_LEAF = 100, 50
Answer = TypeVar("Answer")


class Stopped(Exception):
    """The time is up."""


@dataclass(frozen=True)
class ChaidRow:
    """A tree of ours on each table, and one of the package on the first: how long, and whether they are the same."""

    name: str
    title: str
    tables: Tables
    depth: int
    most_seconds: float
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        ours, package = Measured("Niwaki"), Measured("CHAID")
        tables = [self.tables.division(seed, quick=setting.quick).train for seed in range(setting.repeat)]
        models = []
        self.grown(samples_of(self.tables.division(0, quick=True).train))  # compiles, or loads, the kernels
        for data in tables:
            seconds, tree = cpu_seconds(partial(self.grown, samples_of(data)))
            ours.seconds.append(seconds)
            ours.nodes.append(len(tree))
            models.append(tree)
        codes = codes_of(samples_of(tables[0]))
        seconds, rival = cpu_seconds(partial(within, self.most_seconds, partial(self.built, codes, tables[0])))
        package.seconds.append(seconds)
        speed = f"speed / CHAID's{', at least' if rival is None else ''}"
        findings = [Finding(speed, package.median / ours.median, self.floor, self.goal)]
        if rival is not None:
            package.nodes.append(len(rival.tree_store))
            same = share_of_same_leaves(leaves_of(models[0], tables[0]), package_leaves(rival, len(tables[0])))
            findings.append(Finding("share of leaves with the same rows", same, 1.0, 1.0))
        return Result(self.name, self.title, (ours, package), tuple(findings))

    def algorithm(self) -> Algorithm:
        """CHAID as the package has it."""
        stopping = {"max_depth": self.depth, "min_samples_split": MIN_SPLIT, "min_samples_leaf": MIN_LEAF}
        return resolve("chaid", {"bonferroni": False, "alpha_split": None, "stopping": stopping}, Task.CLASSIFICATION)

    def grown(self, samples: Samples) -> Tree:
        """Our tree, its bins included."""
        algorithm = self.algorithm()
        cut = with_cuts(samples, algorithm.numeric, numbers_only=True)
        return grow_with(Engine.AUTO, cut, algorithm, validation=None, seed=0)[0]

    def built(self, codes: Any, data: Data) -> Any:
        """The package's tree."""
        kinds = ["ordinal"] * data.numbers.shape[1] + ["nominal"] * data.codes.shape[1]
        tree = PackageTree.from_numpy(
            codes,
            data.answers,
            max_depth=self.depth,
            min_parent_node_size=MIN_SPLIT,
            min_child_node_size=MIN_LEAF,
            variable_types=kinds,
        )
        tree.build_tree()
        return tree


def codes_of(samples: Samples) -> Any:
    """`[row, column]`: bins and categories as numbers, which is what the package takes."""
    cut = with_cuts(samples, resolve("chaid", {}, Task.CLASSIFICATION).numeric, numbers_only=True)
    return np.stack(cut.categories, axis=1).astype(np.float64)


def within(seconds: float, run: Callable[[], Answer]) -> Answer | None:
    """What it gives; None if that would take more CPU time than so many seconds."""

    def stop(_: int, __: FrameType | None) -> None:
        raise Stopped

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        return run()
    except Stopped:
        return None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def leaves_of(tree: Tree, data: Data) -> RowArray:
    """The leaf of every row in our tree."""
    reached = leaves_reached(full_view(tree), samples_of(data).attributes, MissingPolicy.WEIGHTED)
    return np.array([leaf for ((leaf, _),) in reached])


def package_leaves(tree: Any, n_rows: int) -> RowArray:
    """The leaf of every row in the package's tree: of the nodes with a row, the last."""
    leaves = np.full(n_rows, -1)
    for node in tree.tree_store:
        leaves[node.indices] = node.node_id
    return leaves


def share_of_same_leaves(ours: RowArray, theirs: RowArray) -> float:
    """Of our leaves, how many have the rows of one of theirs."""
    pairs = np.unique(np.stack([ours, theirs]), axis=1)
    is_alone = np.ones(pairs.shape[1], dtype=np.bool_)
    for side in pairs:
        _, index, n_met = np.unique(side, return_inverse=True, return_counts=True)
        is_alone &= n_met[index] == 1
    return float(np.count_nonzero(is_alone) / len(np.unique(ours)))
