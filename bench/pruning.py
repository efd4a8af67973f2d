"""Kinds of rows about pruning a tree by cost-complexity."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.tree import DecisionTreeClassifier
from sklearn.tree._tree import ccp_pruning_path

from bench.findings import Finding, Measured, Result, Setting
from bench.growing import n_log_n
from bench.ours import Ours, samples_of
from bench.tables import QUICK_SHARE, Data, Tables
from bench.timing import cpu_seconds
from core.config.options import Choose, Cost, CostComplexityPruning, NoDivision, TrainingConfig
from core.engine.engine import Engine
from core.pruning.cost_complexity import weakest_link_steps
from core.tables.parts import Part
from core.tables.target import Task
from core.training.preparation import Prepared
from core.training.train import train
from core.tree.history import Ledger, Steps
from core.tree.model import Model
from core.tree.tree import LEAF, Tree, full_view

FOLDS, ALPHAS = 5, 20
FITS_MEASURED = 2


def sequence(tree: Tree) -> Steps:
    """The whole sequence, from nothing but the arrays of a tree to a ledger of all steps."""
    ledger = Ledger(Tree(**{name: getattr(tree, name) for name in tree.__dataclass_fields__}))
    ledger.extend(weakest_link_steps(ledger.view, Cost.GINI, grown_by=Cost.GINI, kernels=True))
    return ledger.finished().steps


@dataclass(frozen=True)
class SequenceRow:
    """The sequence of a tree against growing it, and against scikit-learn's of its own tree."""

    name: str
    title: str
    tables: Tables
    share_floor: float
    share_goal: float
    speed_floor: float
    speed_goal: float

    def run(self, setting: Setting) -> Result:
        growing, ours, theirs = Measured("Niwaki, growing"), Measured("Niwaki, sequence"), Measured("scikit-learn")
        for seed in range(setting.repeat):
            data = self.tables.division(seed, quick=setting.quick).train
            seconds, tree = cpu_seconds(partial(Ours().fit, samples_of(data)))
            growing.seconds.append(seconds)
            growing.nodes.append(len(tree))
            peer = DecisionTreeClassifier(random_state=0).fit(data.numbers, data.answers)
            theirs.seconds.append(cpu_seconds(partial(ccp_pruning_path, peer.tree_))[0])
            ours.seconds.append(min(cpu_seconds(partial(sequence, tree))[0] for _ in range(3)))
        findings = (
            Finding("time / growing", ours.median / growing.median, self.share_floor, self.share_goal, at_most=True),
            Finding("speed / scikit-learn's", theirs.median / ours.median, self.speed_floor, self.speed_goal),
        )
        return Result(self.name, self.title, (growing, ours, theirs), findings)


@dataclass(frozen=True)
class CrossValidationRow:
    """All alphas by our cross-validation, the growth of the tree included, against a grid of some by scikit-learn.

    Of the grid's fits a few are measured, with their predictions; all take about the same, so the whole is their mean
    times their number, and one more fit to all rows.
    """

    name: str
    title: str
    tables: Tables
    floor: float
    goal: float

    def run(self, setting: Setting) -> Result:
        ours = Measured("Niwaki")
        theirs = Measured(f"GridSearchCV over {ALPHAS} alphas, from {FITS_MEASURED} of its {FOLDS * ALPHAS + 1} fits")
        for seed in range(setting.repeat):
            data = self.tables.division(seed, quick=setting.quick).train
            seconds, model = cpu_seconds(partial(cross_validated, data))
            ours.seconds.append(seconds)
            ours.nodes.append(len(model.tree))
            theirs.seconds.append(grid_seconds(data, model))
        finding = Finding("speed / scikit-learn's", theirs.median / ours.median, self.floor, self.goal)
        return Result(self.name, self.title, (ours, theirs), (finding,))


def cross_validated(data: Data) -> Model:
    """CART with alpha chosen by cross-validation."""
    pruning = CostComplexityPruning(Cost.GINI, choose=Choose.CROSS_VALIDATION, folds=FOLDS)
    config = TrainingConfig("y", Ours().algorithm(Task.CLASSIFICATION), division=NoDivision(), pruning=pruning)
    parts = {Part.TRAIN: samples_of(data), Part.VALIDATION: None, Part.TEST: None}
    return train(Prepared(parts, ()), config, engine=Engine.KERNELS)


def grid_seconds(data: Data, model: Model) -> float:
    """What the search over alphas from our sequence takes, from some fits at a large and at a small one."""
    alphas = np.quantile(model.history.steps.alpha, np.linspace(0, 1, ALPHAS))
    (inside, outside), *_ = StratifiedKFold(FOLDS).split(data.numbers, data.answers)
    spent = []
    for alpha in alphas[:: ALPHAS // FITS_MEASURED][:FITS_MEASURED]:

        def fit_and_score(alpha: float = float(alpha)) -> float:
            peer = DecisionTreeClassifier(ccp_alpha=alpha, random_state=0)
            peer.fit(data.numbers[inside], data.answers[inside])
            return float(peer.score(data.numbers[outside], data.answers[outside]))

        spent.append(cpu_seconds(fit_and_score)[0])
    return float(np.mean(spent)) * (FOLDS * ALPHAS + FOLDS / (FOLDS - 1))


@dataclass(frozen=True)
class DeepSequenceRow:
    """The sequence of trees that are one long path: none takes longer, for its n log n, than the first."""

    name: str
    title: str
    sizes: tuple[int, ...]

    def run(self, setting: Setting) -> Result:
        sizes = [size // QUICK_SHARE if setting.quick else size for size in self.sizes]
        measured = [Measured(f"Niwaki, {size:,} nodes on a path") for size in sizes]
        for seed in range(setting.repeat):
            for size, each in zip(sizes, measured, strict=True):
                view = full_view(path_of(size, np.random.default_rng(seed)))
                run = partial(weakest_link_steps, view, Cost.GINI, grown_by=Cost.GINI, kernels=True)
                each.seconds.append(min(cpu_seconds(run)[0] for _ in range(3)))
        per_step = [each.median / n_log_n(size) for each, size in zip(measured, sizes, strict=True)]
        findings = [
            Finding(f"time / n log n, {size:,} / {sizes[0]:,}", each / per_step[0], 1.2, 1.0, at_most=True)
            for size, each in zip(sizes[1:], per_step[1:], strict=True)
        ]
        return Result(self.name, self.title, tuple(measured), tuple(findings))


def path_of(n_inner: int, chance: np.random.Generator) -> Tree:
    """A tree of which every inner node has a leaf and the rest below it; each link is weaker than those above."""
    n = 2 * n_inner + 1
    inner = np.arange(0, n - 1, 2)
    size = np.ones(n, dtype=np.int32)
    size[inner] = n - inner
    impurity = np.zeros(n)
    impurity[inner] = np.cumsum(np.sort(chance.uniform(1.0, 2.0, n_inner)))[::-1]
    empty = np.zeros(n)
    return Tree(
        task=Task.CLASSIFICATION,
        size=size,
        column=np.where(size > 1, 0, LEAF).astype(np.int32),
        kind=np.zeros(n, dtype=np.int8),
        threshold=empty,
        branch_start=np.zeros(n + 1, dtype=np.int64),
        branch_of=np.empty(0, dtype=np.int32),
        share=np.ones(n),
        weight=np.ones(n),
        impurity=impurity,
        gain=empty,
        score=empty,
        values=np.ones((n, 1)),
        variances=np.empty((n, 0)),
    )
