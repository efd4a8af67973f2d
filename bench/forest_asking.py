"""Kinds of rows about asking a forest: class probabilities of many rows, of one record, and how large it is stored.

All libraries have two threads; CPU time is that of both.
"""

import io
import time
import zlib
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
import onnxruntime
import ydf
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.ensemble import RandomForestClassifier

from bench.asking import N_RECORDS, Ask, Limit, compared, in_turn, unseen
from bench.findings import Finding, Result, Setting
from bench.ours import samples_of, table_of
from bench.peers import ydf_columns
from bench.tables import Data, Tables
from bench.timing import wall_seconds
from core.config.options import Committee, FeatureShare
from core.config.presets import resolve
from core.engine.engine import Engine
from core.ensembles.growing import grow_committee
from core.ensembles.model import ForestModel
from core.ensembles.prediction.predictor import ForestPredictor
from core.storage.pieces import pieces
from core.storage.serialization import dump
from core.tables.target import ClassTarget, Task
from core.tree.model import training_ranges

N_TREES, THREADS = 100, 2


@dataclass(frozen=True)
class ForestAsked:
    """Forests of a depth, grown from these tables by us and by others."""

    name: str
    title: str
    tables: Tables
    depth: int | None
    floor: float
    goal: float


@dataclass(frozen=True)
class ForestManyRows(ForestAsked):
    """CPU time for as many rows as the forest was grown from in one call, from float64, beside the fastest other."""

    def run(self, setting: Setting) -> Result:
        asked = unseen(self.tables, self.tables.n_rows, setting)
        train = self.tables.division(0, quick=setting.quick).train
        assert self.depth is not None
        theirs, others = their_forest(train, self.depth), ydf_forest(train, self.depth)
        session, numbers, table = onnx_session(theirs, asked.numbers.shape[1]), asked.numbers, table_of(asked)
        columns, predictor = ydf_columns(asked), ForestPredictor(our_forest(train, self.depth).forest)
        asks: dict[str, Ask] = {
            "scikit-learn": lambda: theirs.predict_proba(numbers),
            "onnxruntime": lambda: session.run(None, {"rows": numbers.astype(np.float32)}),
            "YDF": lambda: others.predict(columns, num_threads=THREADS),
            "Niwaki": lambda: predictor.average(table, kernels=True, threads=THREADS),
        }
        measured = in_turn(asks, setting, cpu_seconds_of_all)
        fastest = min(each.median for label, each in measured.items() if label != "Niwaki")
        finding = Finding("speed / the fastest other's", fastest / measured["Niwaki"].median, self.floor, self.goal)
        return Result(self.name, self.title, tuple(measured.values()), (finding,))


@dataclass(frozen=True)
class ForestOneRecord(ForestAsked):
    """Wall time of a call with one record, another one each time, in the form that its library likes best."""

    def run(self, setting: Setting) -> Result:
        numbers = unseen(self.tables, N_RECORDS, replace(setting, quick=False)).numbers
        train = self.tables.division(0, quick=setting.quick).train
        predictor = ForestPredictor(our_forest(train, self.depth).forest)
        session = onnx_session(their_forest(train, self.depth), numbers.shape[1], threads=1)  # two take longer
        short, records = np.split(numbers.astype(np.float32), N_RECORDS), numbers.tolist()
        asks: dict[str, Ask] = {
            "onnxruntime": lambda: [session.run(None, {"rows": row}) for row in short],
            "Niwaki": lambda: [predictor.one(record, kernels=True) for record in records],
        }
        measured = in_turn(asks, setting, lambda ask: wall_seconds(ask) / N_RECORDS)
        return compared(self.name, self.title, measured, (Limit("onnxruntime", self.floor, self.goal),))


@dataclass(frozen=True)
class ForestSize(ForestAsked):
    """The bytes of a forest in the database, which are compressed, beside scikit-learn's in a file of joblib.

    joblib does not compress unless it is told to; so the bytes before compression are told too, and how both stand to
    a file that joblib compresses as it does by default when told to.
    """

    def run(self, setting: Setting) -> Result:
        train = self.tables.division(0, quick=setting.quick).train
        content = dump(our_forest(train, self.depth))
        packed = sum(len(zlib.compress(piece)) for piece in pieces(content))  # as the store does
        plain, compressed = (joblib_bytes(their_forest(train, self.depth), level) for level in (0, 3))
        sizes = {
            "stored size / joblib file": packed / plain,
            "before compression / joblib file": len(content) / plain,
            "stored size / compressed joblib file": packed / compressed,
        }
        findings = (Finding(what, value, self.floor, self.goal, at_most=True) for what, value in sizes.items())
        return Result(self.name, self.title, (), tuple(findings))


def cpu_seconds_of_all(ask: Ask) -> float:
    """How long all threads together compute."""
    start = time.process_time()
    ask()
    return time.process_time() - start


def our_forest(train: Data, depth: int | None) -> ForestModel:
    """Ours: a random forest of CART trees."""
    samples = samples_of(train)
    assert isinstance(samples.target, ClassTarget)
    algorithm = resolve("cart", {"stopping": {"max_depth": depth}}, Task.CLASSIFICATION)
    committee = Committee("random_forest", (algorithm,), n_trees=N_TREES, max_features=FeatureShare.SQRT)
    forest = grow_committee(samples, committee, seed=0, engine=Engine.KERNELS, threads=THREADS)
    shares = np.bincount(samples.target.codes) / len(samples)
    schema, ranges = samples.attributes.schema, training_ranges(samples.attributes)
    return ForestModel(Task.CLASSIFICATION, "y", samples.target.classes, schema, ranges, forest, shares)


def their_forest(train: Data, depth: int | None) -> Any:
    """scikit-learn's."""
    forest = RandomForestClassifier(N_TREES, max_depth=depth, n_jobs=THREADS, random_state=0)
    return forest.fit(train.numbers, train.answers)


def ydf_forest(train: Data, depth: int) -> Any:
    """YDF's, whose trees answer with shares as the others' do; it counts the root as depth 1."""
    learner = ydf.RandomForestLearner(
        label="answer",
        num_trees=N_TREES,
        max_depth=depth + 1,
        winner_take_all=False,
        compute_oob_performances=False,
        num_threads=THREADS,
    )
    return learner.train(ydf_columns(train) | {"answer": train.answers})


def onnx_session(model: Any, n_columns: int, threads: int = THREADS) -> onnxruntime.InferenceSession:
    """A scikit-learn forest in onnxruntime; its trees take float32. Threads that wait do not spin."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    kinds = [("rows", FloatTensorType([None, n_columns]))]
    graph = to_onnx(model, initial_types=kinds, options={"zipmap": False}).SerializeToString()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])


def joblib_bytes(model: Any, level: int) -> int:
    """How large joblib's file is."""
    file = io.BytesIO()
    joblib.dump(model, file, compress=level)
    return len(file.getvalue())
