"""Rows about growing forests: ours beside those of scikit-learn and YDF, on two threads each.

Every forest has trees grown in full from bootstrap samples, and √d attributes are drawn in each node, for numbers too.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import ydf
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from bench.growing import TreeRow
from bench.ours import Ours, table_of
from bench.peers import YDF, ScikitLearn, ydf_columns
from bench.tables import CodeArray, Data, FloatArray
from core.config.options import Committee, FeatureShare
from core.engine.engine import Engine
from core.ensembles.forest import Forest
from core.ensembles.growing import grow_committee
from core.growth.samples import Samples
from core.prediction.predictor import Predictor
from core.tree.tree import full_view

N_TREES, N_THREADS = 100, 2
QUICK_ROWS, QUICK_TREES = 10_000, 5  # of fewer rows, fewer trees


def n_trees_for(n_rows: int) -> int:
    """How many trees are grown: few on the small tables of `--quick`, and while everything is being compiled."""
    return N_TREES if n_rows > QUICK_ROWS else QUICK_TREES


@dataclass(frozen=True)
class ForestRow(TreeRow):
    """A forest each, in turn; every round on another table. CPU time of both threads."""

    threads = N_THREADS


@dataclass(frozen=True)
class OurForest(Ours):
    """A random forest of CART trees."""

    threads: int = N_THREADS

    def fit(self, prepared: Samples) -> Any:
        committee = Committee(
            "random_forest",
            (self.algorithm(prepared.target.task),),
            n_trees=n_trees_for(len(prepared)),
            max_features=FeatureShare.SQRT,
        )
        return grow_committee(prepared, committee, seed=0, engine=Engine.KERNELS, threads=self.threads)

    def n_nodes(self, model: Any) -> int:
        assert isinstance(model, Forest)
        return model.n_nodes

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        assert isinstance(model, Forest)
        table, answers = table_of(data), np.zeros(1)
        for number in range(len(model)):
            votes = Predictor(full_view(model.tree(number))).batch(table, kernels=True)
            answers = answers + votes / len(model)
        return answers.argmax(axis=1) if data.n_classes else answers[:, 0]


@dataclass(frozen=True)
class ScikitForest(ScikitLearn):
    """`RandomForestClassifier`, or `RandomForestRegressor`."""

    def fit(self, prepared: Data) -> Any:
        forest = RandomForestClassifier if prepared.n_classes else RandomForestRegressor
        options = {"n_jobs": N_THREADS, "max_features": "sqrt", "random_state": 0}
        return forest(n_trees_for(len(prepared)), **options).fit(prepared.numbers, prepared.answers)

    def n_nodes(self, model: Any) -> int:
        return sum(int(tree.tree_.node_count) for tree in model.estimators_)


@dataclass(frozen=True)
class YDFForest(YDF):
    """`RandomForestLearner`, whose trees vote with their shares, as those of the others do.

    It searches one attribute more than it is told (with 19 of 20 it grows the same forest as with 20), so it is told
    one less than √d.
    """

    def fit(self, prepared: Any) -> Any:
        rows, n_classes = prepared
        seen = rows.data_spec()
        learner = ydf.RandomForestLearner(
            label="answer",
            task=ydf.Task.CLASSIFICATION if n_classes else ydf.Task.REGRESSION,
            num_trees=n_trees_for(seen.created_num_rows),
            max_depth=-1,
            min_examples=self.min_leaf,
            num_candidate_attributes=int((len(seen.columns) - 1) ** 0.5) - 1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=N_THREADS,
        )
        return learner.train(rows)

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        if data.n_classes:
            return super().predict(model, data)
        # Trees of numbers have more nodes than its faster engines take.
        return np.asarray(model.predict(ydf_columns(data), use_slow_engine=True, num_threads=1))
