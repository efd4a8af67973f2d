"""Which code grows a tree: the plain definition, or compiled kernels that give the same tree."""

from enum import StrEnum

from core.config import Algorithm
from core.growth.fast_grow import grow_fast, is_supported
from core.growth.grow import Watch, grow
from core.growth.samples import Samples
from core.growth.validation_gate import Trial
from core.table import FloatArray
from core.tree import Tree

SMALL_ROWS = 500  # up to here the definition is always quick enough
COLD_CELLS = 400_000  # up to here the definition is done before the kernels are compiled


class Engine(StrEnum):
    """How to choose: by the size of the data, or one of the two wherever it can."""

    AUTO = "auto"
    AUTO_COLD = "auto_cold"  # as auto, while the kernels are not compiled yet
    DEFINITION = "definition"
    KERNELS = "kernels"


def grow_with(
    engine: Engine,
    samples: Samples,
    algorithm: Algorithm,
    *,
    validation: Samples | None,
    seed: int,
    costs: FloatArray | None = None,
    watch: Watch = lambda _: None,
) -> tuple[Tree, list[Trial]]:
    """`grow`, by the engine that was asked for; what the kernels cannot do, the definition does."""
    if (
        prefers_kernels(engine, len(samples), len(samples.attributes.schema))
        and validation is None
        and is_supported(samples, algorithm)
    ):
        return grow_fast(samples, algorithm, watch=watch), []
    return grow(samples, algorithm, validation=validation, seed=seed, costs=costs, watch=watch)


def prefers_kernels(engine: Engine, n_rows: int, n_columns: int) -> bool:
    """Whether the kernels are to grow a tree of this size if they can."""
    match engine:
        case Engine.AUTO:
            return n_rows > SMALL_ROWS
        case Engine.AUTO_COLD:
            return n_rows * n_columns > COLD_CELLS
        case _:
            return engine is Engine.KERNELS
