"""The other libraries, each on one thread and in the way that is fastest for it.

All get float64 numbers. scikit-learn, xgboost and LightGBM read a C-ordered matrix (a Fortran-ordered one is no faster
for them); YDF has its own columns of coded categories, made beforehand as ours are.
"""

import json
import logging
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np
import onnxruntime
import xgboost
import ydf
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from bench.contestants import Contestant
from bench.tables import CodeArray, Data, FloatArray

logging.getLogger("absl").setLevel(logging.ERROR)
ydf.verbose(0)


@dataclass(frozen=True)
class ScikitLearn(Contestant):
    """`DecisionTreeClassifier` with Gini, or `DecisionTreeRegressor`."""

    name = "scikit-learn"

    def prepare(self, data: Data) -> Data:
        assert not data.n_categories
        return data

    def fit(self, prepared: Data) -> Any:
        tree = DecisionTreeClassifier if prepared.n_classes else DecisionTreeRegressor
        limits = {"max_depth": self.depth, "min_samples_leaf": self.min_leaf, "random_state": 0}
        return tree(**limits).fit(prepared.numbers, prepared.answers, sample_weight=prepared.weights)

    def n_nodes(self, model: Any) -> int:
        return int(model.tree_.node_count)

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        return np.asarray(model.predict(data.numbers))


@dataclass(frozen=True)
class XGBoost(Contestant):
    """One round of `hist`, as one tree for all classes."""

    name = "xgboost"

    def prepare(self, data: Data) -> Data:
        assert data.n_classes
        assert not data.n_categories
        assert self.depth is not None
        return data

    def fit(self, prepared: Data) -> Any:
        matrix = xgboost.DMatrix(prepared.numbers, label=prepared.answers, nthread=1)
        parameters = {
            "tree_method": "hist",
            "multi_strategy": "multi_output_tree",
            "objective": "multi:softprob",
            "num_class": prepared.n_classes,
            "max_depth": self.depth,
            "min_child_weight": 0,
            "reg_lambda": 0,
            "learning_rate": 1,
            "nthread": 1,
        }
        return xgboost.train(parameters, matrix, num_boost_round=1)

    def n_nodes(self, model: Any) -> int:
        trees = json.loads(bytes(model.save_raw("json")))["learner"]["gradient_booster"]["model"]["trees"]
        return sum(int(tree["tree_param"]["num_nodes"]) for tree in trees)

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        return np.asarray(model.predict(xgboost.DMatrix(data.numbers, nthread=1)).argmax(axis=1))


@dataclass(frozen=True)
class LightGBM(Contestant):
    """One round, binning included: one tree, or for more than two classes one tree each, as it knows no other way."""

    name = "LightGBM"

    def prepare(self, data: Data) -> tuple[FloatArray, Data]:
        return matrix_with_codes(data), data

    def fit(self, prepared: tuple[FloatArray, Data]) -> Any:
        matrix, data = prepared
        assert self.depth is not None  # without one, its histograms for every possible leaf take most of the time
        parameters = {
            "objective": "multiclass" if data.n_classes > 2 else "binary" if data.n_classes else "regression",
            "num_class": data.n_classes if data.n_classes > 2 else 1,
            "max_depth": self.depth,
            "num_leaves": 2**self.depth,
            "min_data_in_leaf": self.min_leaf,
            "min_sum_hessian_in_leaf": 0,
            "learning_rate": 1,
            "force_col_wise": True,  # else it spends time on finding out which way is faster
            "num_threads": 1,
            "verbosity": -1,
        }
        n_numbers = data.numbers.shape[1]
        rows = lightgbm.Dataset(
            matrix,
            data.answers,
            weight=data.weights,
            params=parameters,
            categorical_feature=list(range(n_numbers, matrix.shape[1])),
        )
        return lightgbm.train(parameters, rows, num_boost_round=1)

    def n_nodes(self, model: Any) -> int:
        return sum(2 * tree["num_leaves"] - 1 for tree in model.dump_model()["tree_info"])

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        answers = np.asarray(model.predict(matrix_with_codes(data), num_threads=1))
        if not data.n_classes:
            return answers
        return (answers > 0.5).astype(np.int32) if answers.ndim == 1 else answers.argmax(axis=1)


@dataclass(frozen=True)
class YDF(Contestant):
    """Its CART learner without pruning; it counts the root as depth 1."""

    name = "YDF"

    def prepare(self, data: Data) -> Any:
        columns = ydf_columns(data) | {"answer": data.answers}
        coded = [name for name in columns if name.startswith("c")] + (["answer"] if data.n_classes else [])
        kinds = [(name, ydf.Semantic.CATEGORICAL) for name in coded]
        return ydf.create_vertical_dataset(columns, columns=kinds, include_all_columns=True), data.n_classes

    def fit(self, prepared: Any) -> Any:
        rows, n_classes = prepared
        learner = ydf.CartLearner(
            label="answer",
            task=ydf.Task.CLASSIFICATION if n_classes else ydf.Task.REGRESSION,
            max_depth=-1 if self.depth is None else self.depth + 1,
            min_examples=self.min_leaf,
            validation_ratio=0.0,
            num_threads=1,
        )
        return learner.train(rows)

    def n_nodes(self, model: Any) -> int:
        return int(model.num_nodes())

    def predict(self, model: Any, data: Data) -> CodeArray | FloatArray:
        answers = np.asarray(model.predict(ydf_columns(data), num_threads=1))
        if not data.n_classes:
            return answers
        places = (answers > 0.5).astype(np.int32) if answers.ndim == 1 else answers.argmax(axis=1)
        return np.array([int(name) for name in model.label_classes()])[places]


def matrix_with_codes(data: Data) -> FloatArray:
    """Numbers, then codes, in one float64 matrix; NaN where missing."""
    if not data.n_categories:
        return data.numbers
    return np.hstack([data.numbers, np.where(data.codes < 0, np.nan, data.codes)])


def ydf_columns(data: Data) -> dict[str, Any]:
    """The columns by name: x0, x1, … are numbers, c0, c1, … codes."""
    numbers = {f"x{column}": np.ascontiguousarray(values) for column, values in enumerate(data.numbers.T)}
    return numbers | {f"c{column}": np.ascontiguousarray(codes) for column, codes in enumerate(data.codes.T)}


def onnx_session(model: Any, n_columns: int) -> onnxruntime.InferenceSession:
    """A scikit-learn tree in onnxruntime, on one thread; its trees take float32."""
    kinds = [("rows", FloatTensorType([None, n_columns]))]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    graph = to_onnx(model, initial_types=kinds, options={"zipmap": False}).SerializeToString()
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
