"""Kinds of rows about asking a forest: class probabilities of many rows, of one record, and how large it is stored.

All libraries have as many threads. CPU time counts those of all threads.
"""

import io
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import joblib
import numpy as np
import onnxruntime
import ydf
from sklearn.ensemble import RandomForestClassifier
from skl2onnx import to_onnx
from skl2onnx.common.data_types import FloatTensorType

from bench.asking import N_RECORDS, Ask, Limit, compared, in_turn, unseen
from bench.findings import Finding, Measured, Result, Setting
from bench.ours import samples_of, table_of
from bench.peers import YDF, ydf_columns
from bench.tables import Data, Tables
from bench.timing import wall_seconds
from core.config import Committee
from core.content_pieces import pieces
from core.ensembles.forest import forest_of
from core.ensembles.forest_model import ForestModel
from core.ensembles.forest_predictor import ForestPredictor
from core.ensembles.sampling import tree_samples
from core.growth.engine import Engine, grow_with
from core.model import training_ranges
from core.presets import resolve
from core.serialization import dump
from core.target import ClassTarget, Task
from service.store.models import pack

N_TREES, THREADS = 100, 2
"""
