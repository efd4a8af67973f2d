"""The trainings behind `stored/format_1_*.niwaki`.

All are made so that every sum is exact in any order (Gini and squared error, weights that add up to powers of two),
so that their bytes are the same on every machine: logarithms and dot products may differ in the last bit.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from core.config.options import (
    Algorithm,
    Categorical,
    ColumnDivision,
    CriterionKind,
    DatasetsDivision,
    LinearFit,
    LinearTests,
    NoDivision,
    ReducedErrorPruning,
    Stopping,
    TrainingConfig,
)
from core.config.presets import resolve
from core.ensembles.growing_forest import forest_of
from core.ensembles.model import ForestModel
from core.growth.samples import Samples
from core.tables.parts import Part
from core.tables.schema import Attribute, Kind
from core.tables.target import Task
from core.training.preparation import prepare
from core.tree.model import Model, training_ranges
from tests.core.both_engines import grow, train
from tests.core.building import GINI, SQUARED_ERROR, table_of
from tests.golden_tables import PRINTED_ORDER, golden_table

FOLDER = Path(__file__).parent / "stored"

CLASSIFICATION = TrainingConfig(
    target="好瓜",
    algorithm=Algorithm("cart", GINI, Categorical.MULTIWAY),
    attributes=PRINTED_ORDER,
    division=DatasetsDivision(validation="ds_validation"),
    pruning=ReducedErrorPruning(),
)

REGRESSION = TrainingConfig(
    target="price",
    algorithm=Algorithm("cart", SQUARED_ERROR, Categorical.TWO_GROUPS, stopping=Stopping(max_depth=2)),
    division=ColumnDivision("part"),
)

# Two sizes are unknown: those rows go down both branches with half their weight.
PRICES = table_of(
    {
        "size": [1, 2, 1, 2, 1, 2, 1, 6, 5, 6, 5, 6, 5, 6, None, None],
        "colour": ["red", "red", "red", *["blue"] * 4, "red", "red", "red", *["blue"] * 4, "red", "red"],
        "part": ["train"] * 16,
        "price": [0.0, 0.0, 0.0, 8.0, 8.0, 8.0, 8.0, 32.0, 32.0, 32.0, 40.0, 40.0, 40.0, 40.0, 16.0, 16.0],
    },
    {"colour": Attribute("colour", Kind.CATEGORICAL, ("red", "green", "blue"))},
)


SEVERAL = TrainingConfig(
    target=("price", "weight"),
    algorithm=Algorithm("cart", SQUARED_ERROR, Categorical.TWO_GROUPS, stopping=Stopping(max_depth=1)),
    division=NoDivision(),
)

# The weight tells red from the others, the price 1 from 2; the price counts for more.
FRUIT = table_of(
    {
        "size": [1, 1, 2, 2, 1, 1, 2, 2],
        "colour": ["red", "green", "red", "green"] * 2,
        "price": [0.0, 0.0, 8.0, 8.0, 0.0, 0.0, 8.0, 8.0],
        "weight": [1.0, 3.0, 1.0, 3.0, 1.0, 3.0, 1.0, 3.0],
    }
)


# Two columns that tell the class only together; 8 and 8 rows, and weights that are as many halves of a square.
OBLIQUE = TrainingConfig(
    target="side",
    algorithm=Algorithm("multivariate", GINI, Categorical.ONE_HOT, linear=LinearTests(LinearFit.LDA)),
    division=NoDivision(),
)
SQUARE = table_of(
    {
        "east": [float(position % 4) for position in range(16)],
        "north": [float(position // 4) for position in range(16)],
        "side": ["below" if position % 4 > position // 4 or position in (0, 5) else "above" for position in range(16)],
    }
)

MERGED = TrainingConfig(
    target="kind",
    algorithm=resolve("chaid", {"bins": 4, "stopping": {"min_samples_split": 16}}, Task.CLASSIFICATION),
    division=NoDivision(),
)

# Small red and green ones are p. An unknown size is like a large one, an unknown colour like blue; none is white.
CRABS = table_of(
    {
        "colour": [*["red", "green"] * 32, *["blue", None] * 32],
        "size": [*[1, 2, 3, 4] * 16, *[1, 2, None, 4] * 16],
        "kind": [*["p", "p", "q", "q"] * 16, *["q"] * 64],
    },
    {"colour": Attribute("colour", Kind.CATEGORICAL, ("red", "white", "green", "blue"))},
)


# Two trees, so that halves are exact: the first of all rows, the second of those that are not small and blue.
BERRIES = table_of(
    {
        "size": [1, 1, 1, 1, 1, 3, 3, 3],
        "colour": ["red", "red", "red", "red", "blue", "red", "blue", "red"],
        "kind": ["p", "p", "p", "p", "q", "q", "q", "q"],
    }
)


def forest_model() -> ForestModel:
    algorithm = Algorithm("cart", GINI, Categorical.TWO_GROUPS)
    config = TrainingConfig(target="kind", algorithm=algorithm, division=NoDivision())
    samples = prepare(BERRIES, config, {}).train
    some = replace(samples, weights=np.array([1.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 2.0]))
    rows = np.flatnonzero(some.weights)
    some = Samples(some.attributes.take(rows), some.target.take(rows), some.weights[rows])
    trees = [grow(each, algorithm)[0] for each in (samples, some)]
    forest = forest_of(trees, [0, 0], [CriterionKind.GINI], [()])
    ranges = training_ranges(samples.attributes)
    schema, prior = samples.attributes.schema, np.array([0.5, 0.5])
    return ForestModel(Task.CLASSIFICATION, "kind", ("p", "q"), schema, ranges, forest, prior)


def classification_model() -> Model:
    others = {Part.VALIDATION: golden_table("watermelon_2.0_validation")}
    return train(prepare(golden_table("watermelon_2.0_train"), CLASSIFICATION, others), CLASSIFICATION)


def regression_model() -> Model:
    return train(prepare(PRICES, REGRESSION, {}), REGRESSION)


def several_numbers_model() -> Model:
    return train(prepare(FRUIT, SEVERAL, {}), SEVERAL)


def linear_model() -> Model:
    return train(prepare(SQUARE, OBLIQUE, {}), OBLIQUE)


def merged_groups_model() -> Model:
    return train(prepare(CRABS, MERGED, {}), MERGED)


def stored(name: str) -> bytes:
    return (FOLDER / f"format_1_{name}.niwaki").read_bytes()
