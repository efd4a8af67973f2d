"""`grow` and `train` by both engines, which must give the same bytes: what a test finds in one is true of the other.

Every test of a worked figure grows its trees here.
"""

from dataclasses import fields

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.config.options import Algorithm, TrainingConfig
from core.engine.engine import Engine, grow_with
from core.growth.samples import Samples
from core.growth.validation_gate import Trial
from core.storage.serialization import dump
from core.training import train as training
from core.training.preparation import Prepared
from core.tree.model import Model
from core.tree.tree import Tree

BOTH = (Engine.DEFINITION, Engine.KERNELS)


def grow(
    samples: Samples,
    algorithm: Algorithm,
    *,
    validation: Samples | None = None,
    seed: int = 0,
    costs: FloatArray | None = None,
) -> tuple[Tree, list[Trial]]:
    """`core.growth.grow.grow`; what the kernels cannot do, the definition does for them."""
    by_definition, by_kernels = (
        grow_with(engine, samples, algorithm, validation=validation, seed=seed, costs=costs) for engine in BOTH
    )
    assert_same_bytes(by_definition[0], by_kernels[0])
    return by_definition


def train(prepared: Prepared, config: TrainingConfig) -> Model:
    """`core.training.train.train`."""
    by_definition, by_kernels = (training.train(prepared, config, engine=engine) for engine in BOTH)
    assert dump(by_definition) == dump(by_kernels)
    return by_definition


def assert_same_bytes(one: Tree, other: Tree) -> None:
    """Two trees are equal to the last bit of every figure."""
    for field in fields(Tree):
        expected, found = getattr(one, field.name), getattr(other, field.name)
        if isinstance(expected, np.ndarray):
            assert expected.dtype == found.dtype, field.name
            assert expected.shape == found.shape, field.name
            assert expected.tobytes() == found.tobytes(), field.name
        else:
            assert expected == found, field.name
