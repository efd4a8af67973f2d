"""Kinds of rows about what a forest relies on: how far its accuracy falls when attributes are shuffled."""

from dataclasses import dataclass
from functools import partial

from sklearn.ensemble import RandomForestClassifier
from sklearn.inspection import permutation_importance

from bench.asking import Ask, Limit, compared, in_turn
from bench.findings import Result, Setting
from bench.ours import Ours, samples_of
from bench.tables import Tables
from bench.timing import threads_seconds
from core.config.options import Committee, FeatureShare
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.ensembles.insight.importance import forest_falls_when_shuffled
from core.tables.target import Task

N_TREES = 100
N_REPEATS = 5  # scikit-learn's own choice
N_ASKED = 10_000  # rows: scikit-learn predicts them a hundred times
THREADS = 2


@dataclass(frozen=True)
class PermutationImportance:
    """CPU time of all threads for the falls of all attributes, of forests of equal depth."""

    name: str
    title: str
    tables: Tables
    depth: int
    limit: Limit

    def run(self, setting: Setting) -> Result:
        division = self.tables.division(0, quick=setting.quick)
        train, asked = division.train, division.held_out.rows(0, N_ASKED)
        algorithm = Ours(depth=self.depth).algorithm(Task.CLASSIFICATION)
        committee = Committee("random_forest", (algorithm,), n_trees=N_TREES, max_features=FeatureShare.SQRT)
        ours = grow_committee(samples_of(train), committee, seed=0, engine=Engine.KERNELS, threads=THREADS)
        theirs = RandomForestClassifier(N_TREES, max_depth=self.depth, random_state=0, n_jobs=THREADS)
        theirs.fit(train.numbers, train.answers)
        samples = samples_of(asked)
        falls = partial(forest_falls_when_shuffled, ours, samples, repeats=N_REPEATS, seed=0)
        asks: dict[str, Ask] = {
            self.limit.rival: lambda: permutation_importance(
                theirs, asked.numbers, asked.answers, n_repeats=N_REPEATS, random_state=0
            ),
            "Niwaki": lambda: falls(kernels=True, threads=THREADS),
        }
        return compared(self.name, self.title, in_turn(asks, setting, threads_seconds), (self.limit,))
