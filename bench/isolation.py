"""Kinds of rows about isolation forests: the anomaly scores of many rows."""

from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import IsolationForest as PeerForest

from bench.asking import Ask, Limit, compared, in_turn, unseen
from bench.findings import Result, Setting
from bench.ours import table_of
from bench.tables import Tables
from bench.timing import threads_seconds
from core.config.options import Isolation
from core.ensembles.isolation.isolation import grow_isolation
from core.ensembles.isolation.scores import IsolationPredictor

THREADS = 2


@dataclass(frozen=True)
class IsolationScores:
    """CPU time of all threads for the scores of a table, from float64; both forests as published."""

    name: str
    title: str
    tables: Tables
    limit: Limit

    def run(self, setting: Setting) -> Result:
        rows = table_of(self.tables.division(0, quick=setting.quick).train)
        asked = unseen(self.tables, self.tables.n_rows, setting)
        ours = IsolationPredictor(grow_isolation(rows, Isolation(), seed=0))
        theirs = PeerForest(random_state=0, n_jobs=THREADS).fit(np.stack(rows.columns, axis=1))
        table, numbers = table_of(asked), asked.numbers
        asks: dict[str, Ask] = {
            self.limit.rival: lambda: theirs.score_samples(numbers),
            "Niwaki": lambda: ours.scores(table, kernels=True, threads=THREADS),
        }
        return compared(self.name, self.title, in_turn(asks, setting, threads_seconds), (self.limit,))
